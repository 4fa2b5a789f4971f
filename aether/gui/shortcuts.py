"""Every shortcut in one table, the way to bind one, and the dialog on F1 that lists them.

Whoever wants a key takes it from the table, so that the list on the screen is never wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from aether.gui.pages import PAGES


@dataclass(frozen=True, slots=True)
class Shortcut:
    """One line of the list: a key, where it works, what it does.

    `bound` is False for keys that a widget handles itself while it has the focus.
    """

    name: str
    keys: str
    area: str
    what: str
    bound: bool = True


SHORTCUTS: tuple[Shortcut, ...] = (
    *(
        Shortcut(f"page-{name}", page.shortcut, "Window", f"Show the page {page.title}")
        for name, page in PAGES.items()
    ),
    Shortcut("help", "F1", "Window", "List the shortcuts"),
    Shortcut("larger", "Ctrl++", "Window", "Larger text"),
    Shortcut("smaller", "Ctrl+-", "Window", "Smaller text"),
    Shortcut("normal-size", "Ctrl+0", "Window", "Text in its normal size"),
    Shortcut("quit", "Ctrl+Q", "Window", "Close Aether"),
    Shortcut("new", "Ctrl+N", "Ask", "New conversation"),
    Shortcut("find", "Ctrl+F", "Ask", "Search all conversations"),
    Shortcut("write", "Ctrl+L", "Ask", "Go to the question"),
    Shortcut("stop", "Esc", "Ask", "Stop the answer"),
    Shortcut("regenerate", "Ctrl+R", "Ask", "Answer the last question again"),
    Shortcut("copy-answer", "Ctrl+Shift+C", "Ask", "Copy the last answer as Markdown"),
    Shortcut("export", "Ctrl+E", "Ask", "Export the conversation"),
    Shortcut("list", "Ctrl+B", "Ask", "Show or hide the conversations"),
    Shortcut("inspector", "Ctrl+I", "Ask", "Show or hide the inspector"),
    Shortcut("earlier", "Ctrl+PgUp", "Ask", "The conversation above"),
    Shortcut("later", "Ctrl+PgDown", "Ask", "The conversation below"),
    Shortcut("send", "Return", "Question", "Send the question", bound=False),
    Shortcut("line", "Shift+Return", "Question", "New line", bound=False),
    Shortcut("recall", "Up", "Question", "Earlier questions, from the first line", bound=False),
    Shortcut("pick", "@", "Question", "Choose an expert", bound=False),
    Shortcut("rename", "F2", "Conversations", "Rename", bound=False),
    Shortcut("delete", "Delete", "Conversations", "Delete (can be undone)", bound=False),
    Shortcut("library-add", "Ctrl+O", "Library", "Choose files to add"),
    Shortcut("library-search", "Ctrl+F", "Library", "Search the knowledge base"),
    Shortcut("library-remove", "Delete", "Library", "Remove the marked files", bound=False),
    Shortcut("experts-try", "Ctrl+F", "Experts", "Try a question"),
    Shortcut("experts-save", "Ctrl+S", "Experts", "Save the manifest, and load it", bound=False),
    Shortcut("runs-filter", "Ctrl+F", "Runs", "Filter the runs"),
    Shortcut("runs-replay", "Ctrl+R", "Runs", "Decide the marked run again"),
)
_BY_NAME = {shortcut.name: shortcut for shortcut in SHORTCUTS}


def keys(name: str) -> str:
    """The key of a shortcut as this platform writes it."""
    return QKeySequence(_BY_NAME[name].keys).toString(QKeySequence.SequenceFormat.NativeText)


def bind(widget: QWidget, name: str, run: Callable[[], object]) -> QAction:
    """An action of `widget` with the key and the words of the table."""
    shortcut = _BY_NAME[name]
    action = QAction(_tr(shortcut.what), widget)
    action.setObjectName(f"shortcut-{name}")
    action.setShortcut(QKeySequence(shortcut.keys))
    if shortcut.keys == "Ctrl++":
        action.setShortcuts([QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")])
    action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    if widget.isWindow():
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.triggered.connect(lambda _=False: run())
    widget.addAction(action)
    return action


def show_shortcuts(parent: QWidget) -> QDialog:
    """Open the list; it stays beside the window until it is closed."""
    dialog = QDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(_tr("Keyboard shortcuts"))
    area = QScrollArea()
    area.setWidget(_grid())
    area.setWidgetResizable(True)
    close = QPushButton(_tr("Close"))
    close.clicked.connect(dialog.close)
    foot = QHBoxLayout()
    foot.setContentsMargins(24, 0, 24, 0)
    foot.addStretch(1)
    foot.addWidget(close)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(0, 0, 0, 12)
    column.addWidget(area)
    column.addLayout(foot)
    dialog.resize(520, 640)
    dialog.show()
    return dialog


def _grid() -> QWidget:
    """All shortcuts, a heading before each area."""
    inner = QWidget()
    grid = QGridLayout(inner)
    grid.setContentsMargins(24, 16, 24, 16)
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(4)
    area = ""
    for shortcut in SHORTCUTS:
        row = grid.rowCount()
        if shortcut.area != area:
            area = shortcut.area
            heading = QLabel(_tr(area))
            heading.setProperty("role", "heading")
            heading.setContentsMargins(0, 12 if row > 1 else 0, 0, 4)
            grid.addWidget(heading, row, 0, 1, 2)
            row += 1
        key = QLabel(keys(shortcut.name))
        key.setProperty("role", "key")
        grid.addWidget(key, row, 0, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(QLabel(_tr(shortcut.what)), row, 1)
    grid.setColumnStretch(1, 1)
    grid.setRowStretch(grid.rowCount(), 1)
    return inner


def _tr(text: str) -> str:
    return QCoreApplication.translate("Shortcuts", text)
