"""The two boxes that pages open: a question before something is lost, and a fault with its advice.

Neither blocks: the window goes on behind them.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from aether.errors import Cancelled
from aether.gui.phrases import fault_words


def confirm(
    parent: QWidget, title: str, text: str, more: str, verb: str, run: Callable[[], object]
) -> QMessageBox:
    """Ask before something is lost; `verb` is the word on the button, and no is the default."""
    box = QMessageBox(QMessageBox.Icon.Warning, title, text, parent=parent)
    box.setInformativeText(more)
    yes = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
    no = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(no)
    box.setEscapeButton(no)
    yes.clicked.connect(lambda: run())
    yes.clicked.connect(box.close)
    _show(box)
    return box


def complain(parent: QWidget, error: Exception | None) -> QMessageBox | None:
    """Show a fault as what, where and advice; nothing for None, a stop, or a closed window."""
    parent = parent.window()
    if error is None or isinstance(error, Cancelled) or not parent.isVisible():
        return None
    what, where, advice = fault_words(error)
    box = QMessageBox(
        QMessageBox.Icon.Warning, "Aether", what[:1].upper() + what[1:], parent=parent
    )
    box.setInformativeText("\n\n".join(part for part in (where, advice) if part))
    _show(box)
    return box


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun; `many` holds {} for the number."""
    return one if count == 1 else many.format(f"{count:,}")


def size_words(size: float) -> str:
    """Bytes as a person says them."""
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= least:
            return f"{size / least:.1f} {unit}"
    return QCoreApplication.translate("Dialogs", "{} bytes").format(round(size))


def time_words(left_s: float) -> str:
    """A stretch of time still to come, roughly."""
    if left_s < 90:
        return QCoreApplication.translate("Dialogs", "{} s").format(max(1, round(left_s)))
    if left_s < 5400:
        return QCoreApplication.translate("Dialogs", "{} min").format(round(left_s / 60))
    return QCoreApplication.translate("Dialogs", "{} h").format(f"{left_s / 3600:.1f}")


def _show(box: QMessageBox) -> None:
    box.finished.connect(box.deleteLater)
    box.open()
