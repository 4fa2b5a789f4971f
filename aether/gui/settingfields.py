"""Controls that hold one setting each: shown as it is, checked and kept as soon as it is changed.

A wrong value is refused by the same check as `settings.toml`; its words stand under the control.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.formlayout import (
    CalmComboBox,
    CalmDoubleSpinBox,
    CalmSpinBox,
    Card,
    side_by_side,
)
from aether.gui.phrases import fault_words
from aether.gui.widgets import lines_label
from aether.settings import Settings, save_settings, set_elsewhere, with_keys

Told = Callable[[str], None]  # is given the words of the fault, "" where all is well


class Saver(QObject):
    """Writes settings one after the other, and has the engine go on with them."""

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._waiting: list[tuple[dict[str, str | None], Told]] = []
        self._busy = False

    def save(self, changes: dict[str, str | None], told: Told) -> None:
        """Keep dotted keys (None: the default); `told` hears how it went."""
        self._waiting.append((changes, told))
        self._next()

    def _next(self) -> None:
        if self._busy or not self._waiting:
            return
        self._busy = True
        changes, told = self._waiting.pop(0)
        home = self._context.home

        def work(_: Cancel) -> Sequence[Settings]:
            return (save_settings(home, changes),)

        self._context.tasks.aside(
            work,
            lambda saved: self._adopt(saved, changes, told),
            lambda error: self._over(error, told),
        )

    def _adopt(self, saved: Settings, changes: dict[str, str | None], told: Told) -> None:
        """The engine changes on its own thread: an answer under way is finished first."""
        engine = self._context.engine
        told("")

        def adopt(_: Cancel) -> None:
            engine.adopt(with_keys(engine.settings, saved, changes))

        self._context.tasks.call(adopt, lambda _: self._adopted(), lambda e: told(str(e)))

    def _adopted(self) -> None:
        self._context.wishes.settings_changed.emit()
        self._context.wishes.say.emit(self.tr("Settings saved"))

    def _over(self, error: Exception | None, told: Told) -> None:
        self._busy = False
        if error is not None:
            what, _, _ = fault_words(error)
            told(what)
        self._next()


class Fields:
    """Makes the controls of one panel, row by row."""

    def __init__(self, context: Context, saver: Saver) -> None:
        self.context, self.saver = context, saver
        self.controls: dict[str, QWidget] = {}
        self.faults: dict[str, QLabel] = {}

    def text(
        self, card: Card, key: str, name: str, hint: str = "", placeholder: str = "",
        secret: bool = False, browse: str = "",
    ) -> QLineEdit:  # fmt: skip
        """A line of text; `browse` is the filter of a file dialog beside it."""
        line = QLineEdit(str(self._now(key)))
        line.setPlaceholderText(placeholder)
        if secret:
            line.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
        line.editingFinished.connect(lambda: self.keep(key, line.text().strip()))
        self._place(card, key, name, line, hint, self._browser(line, key, browse) if browse else ())
        return line

    def check(self, card: Card, key: str, name: str, words: str, hint: str = "") -> QCheckBox:
        """A switch."""
        box = QCheckBox(words)
        box.setChecked(bool(self._now(key)))
        box.setAccessibleName(words)
        box.toggled.connect(lambda on: self.keep(key, "true" if on else "false"))
        self._place(card, key, name, box, hint)
        return box

    def whole(
        self, card: Card, key: str, name: str, most: int, hint: str = "", zero: str = ""
    ) -> CalmSpinBox:
        """A whole number; `zero` are the words for 0."""
        box = CalmSpinBox()
        box.setRange(0, most)
        box.setSpecialValueText(zero)
        box.setSingleStep(max(1, most // 128 // 256 * 256) if most > 1000 else 1)
        box.setValue(int(self._now(key)))
        box.setKeyboardTracking(False)
        box.setMaximumWidth(190)
        box.valueChanged.connect(lambda value: self.keep(key, str(value)))
        self._place(card, key, name, box, hint)
        return box

    def number(
        self, card: Card, key: str, name: str, span: tuple[float, float, float], hint: str = "",
        suffix: str = "", decimals: int = 0,
    ) -> CalmDoubleSpinBox:  # fmt: skip
        """A number; `span` is least, most and step."""
        box = CalmDoubleSpinBox()
        box.setDecimals(decimals)
        box.setRange(span[0], span[1])
        box.setSingleStep(span[2])
        box.setSuffix(suffix)
        box.setValue(float(self._now(key)))
        box.setKeyboardTracking(False)
        box.setMaximumWidth(190)
        box.valueChanged.connect(lambda value: self.keep(key, f"{value:g}"))
        self._place(card, key, name, box, hint)
        return box

    def choice(
        self, card: Card, key: str, name: str, choices: Sequence[str], hint: str = ""
    ) -> CalmComboBox:
        """One of several words."""
        box = CalmComboBox()
        box.addItems(list(choices))
        now = str(self._now(key))
        if now not in choices:
            box.addItem(now)
        box.setCurrentText(now)
        box.setMaximumWidth(260)
        box.activated.connect(lambda _: self.keep(key, box.currentText()))
        self._place(card, key, name, box, hint)
        return box

    def keep(self, key: str, value: str) -> None:
        """Write a changed value; its fault, if any, appears under the control."""
        if value != self.shown(key):
            self.saver.save({key: value}, lambda fault: self._told(key, fault))

    def shown(self, key: str) -> str:
        """A setting as its control writes it."""
        now = self._now(key)
        if isinstance(now, bool):
            return "true" if now else "false"
        return f"{now:g}" if isinstance(now, float) else str(now)

    def refresh(self) -> None:
        """Show what the settings are now, where they were changed elsewhere."""
        for key, control in self.controls.items():
            if control.hasFocus() and not isinstance(control, QCheckBox):
                continue
            control.blockSignals(True)
            if isinstance(control, QLineEdit):
                control.setText(str(self._now(key)))
            elif isinstance(control, QCheckBox):
                control.setChecked(bool(self._now(key)))
            elif isinstance(control, CalmSpinBox):
                control.setValue(int(self._now(key)))
            elif isinstance(control, CalmDoubleSpinBox):
                control.setValue(float(self._now(key)))
            elif isinstance(control, CalmComboBox):
                control.setCurrentText(str(self._now(key)))
            control.blockSignals(False)

    def _told(self, key: str, fault: str) -> None:
        shown = self.faults[key]
        shown.setText(fault[:1].upper() + fault[1:])
        shown.setVisible(bool(fault))

    def _now(self, key: str) -> Any:
        section, _, name = key.partition(".")
        return getattr(getattr(self.context.engine.settings, section), name)

    def _browser(self, line: QLineEdit, key: str, filters: str) -> tuple[QWidget, ...]:
        button = QPushButton(self.saver.tr("Choose\u2026"))
        button.setAutoDefault(False)

        def browse() -> None:
            start = line.text() or str(Path.home())
            path, _ = QFileDialog.getOpenFileName(button, button.text(), start, filters)
            if path:
                line.setText(path)
                self.keep(key, path)

        button.clicked.connect(lambda _=False: browse())
        return (button,)

    def _place(
        self, card: Card, key: str, name: str, control: QWidget, hint: str,
        beside: Sequence[QWidget] = (),
    ) -> None:  # fmt: skip
        control.setObjectName(key)
        control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.controls[key] = control
        fault = self.faults[key] = lines_label("", "bad")
        fault.hide()
        if variable := set_elsewhere(key):
            control.setEnabled(False)
            words = self.saver.tr("Set by the environment variable {}.").format(variable)
            hint = f"{hint}\n{words}" if hint else words
        if not control.accessibleName():
            control.setAccessibleName(name)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        if beside:
            row = side_by_side(control, *beside, stretch=False)
            row.setStretch(0, 1)
            column.addLayout(row)
        else:
            column.addWidget(control)
        column.addWidget(fault)
        head = card.row(name, column, hint)
        head.setBuddy(control)
