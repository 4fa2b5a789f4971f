"""Where the question is written: experts on `@`, earlier questions on arrow up, files dropped."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel, QTextCursor
from PySide6.QtWidgets import (
    QCompleter,
    QFrame,
    QHBoxLayout,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from aether.gui.ladder import Expert
from aether.gui.shortcuts import keys
from aether.gui.theme import Theme
from aether.gui.widgets import label, tool

LEAST, MOST = 1, 9  # lines
MAX_HISTORY = 200


class Editor(QPlainTextEdit):
    """Grows with the question; Return sends it."""

    sent = Signal()
    dropped = Signal(list)
    recalled = Signal(int)  # -1 an earlier question, 1 a later one

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setAccessibleName(self.tr("Your question"))
        self.setPlaceholderText(self.tr("Ask about infrastructure; @ chooses an expert"))
        self.setProperty("role", "editor")
        self.picker = QCompleter(self)
        self.picker.setWidget(self)
        self.offers = QListView()
        self.offers.setMinimumWidth(380)
        self.offers.setAccessibleName(self.tr("Experts"))
        self.picker.setPopup(self.offers)
        self.picker.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self.picker.setFilterMode(Qt.MatchFlag.MatchContains)
        self.picker.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.picker.activated.connect(self._picked)
        self.textChanged.connect(self._fit)
        self._fit()

    def set_experts(self, experts: Sequence[Expert]) -> None:
        """What `@` offers: ids, with the name beside them."""
        model = QStandardItemModel(self.picker)
        for expert in experts:
            item = QStandardItem(f"{expert.id}  \u00b7  {expert.name}")
            item.setToolTip(expert.description)
            model.appendRow(item)
        self.picker.setModel(model)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return sends, arrows at the edge recall, `@` picks."""
        if self.offers.isVisible() and event.key() in (
            Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab, Qt.Key.Key_Escape,
        ):  # fmt: skip
            event.ignore()  # the picker takes these
            return
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
            self.sent.emit()
        elif event.key() == Qt.Key.Key_Up and plain and self._on_line(first=True):
            self.recalled.emit(-1)
        elif event.key() == Qt.Key.Key_Down and plain and self._on_line(first=False):
            self.recalled.emit(1)
        else:
            super().keyPressEvent(event)
            self._offer()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Files are welcome too."""
        return source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Files go to the knowledge base, everything else is pasted as plain text."""
        files = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if files:
            self.dropped.emit(files)
        elif source.hasText():
            self.insertPlainText(source.text())

    def minimumSizeHint(self) -> QSize:
        """One line."""
        return QSize(120, 20)

    def _fit(self) -> None:
        lines = self.document().documentLayout().documentSize().height()  # counts lines
        shown = min(MOST, max(LEAST, round(lines)))
        margins = 2 * self.document().documentMargin() + 16
        self.setFixedHeight(round(shown * self.fontMetrics().lineSpacing() + margins))

    def _on_line(self, first: bool) -> bool:
        cursor = self.textCursor()
        probe = QTextCursor(cursor)
        move = QTextCursor.MoveOperation.Up if first else QTextCursor.MoveOperation.Down
        return not probe.movePosition(move)

    def _offer(self) -> None:
        word = self._at_word()
        if word is None:
            self.offers.hide()
            return
        self.picker.setCompletionPrefix(word)
        if self.picker.completionCount() == 0:
            self.offers.hide()
            return
        place = self.cursorRect()
        place.setWidth(380)
        self.picker.complete(place)
        self.offers.setCurrentIndex(self.picker.completionModel().index(0, 0))

    def _at_word(self) -> str | None:
        """What stands behind an `@` at the start of the question, None elsewhere."""
        before = self.toPlainText()[: self.textCursor().position()]
        word = before.lstrip()
        if not word.startswith("@") or any(c.isspace() for c in word):
            return None
        return word[1:]

    def _picked(self, text: str) -> None:
        agent = text.split()[0]
        rest = self.toPlainText()[self.textCursor().position() :].lstrip()
        self.setPlainText(f"@{agent} {rest}")
        self.moveCursor(QTextCursor.MoveOperation.End)
        self.offers.hide()


class Composer(QFrame):
    """The editor with its buttons, a history and the hint of an edit under way."""

    asked = Signal(str, bool)  # text, without the web
    stop = Signal()
    files = Signal(list)
    changed = Signal(str)

    def __init__(self, theme: Theme, web: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "composer")
        self._history: list[str] = []
        self._at = 0
        self._pending = ""
        self.editor = Editor()
        self.hint = label("", "muted")
        self.hint.hide()
        self.web = tool(theme, "web", "", checkable=True)
        self.web.toggled.connect(self._web_words)
        self.allow_web(web)
        self.send = QPushButton(self.tr("Send"))
        self.send.setProperty("role", "primary")
        self.send.setToolTip(self.tr("Send the question ({})").format(keys("send")))
        self.halt = QPushButton(self.tr("Stop"))
        self.halt.setToolTip(self.tr("Stop the answer ({})").format(keys("stop")))
        self.halt.hide()
        self._lay_out()
        self.editor.sent.connect(self._send)
        self.editor.dropped.connect(self.files)
        self.editor.recalled.connect(self._recall)
        self.editor.textChanged.connect(self._typed)
        self.send.clicked.connect(self._send)
        self.halt.clicked.connect(self.stop)
        self._typed()

    @property
    def text(self) -> str:
        """What is written so far."""
        return self.editor.toPlainText()

    @property
    def offline(self) -> bool:
        """Whether the web is left out."""
        return self.web.isEnabled() and not self.web.isChecked()

    def allow_web(self, allowed: bool) -> None:
        """Whether the settings let questions look on the web."""
        if allowed != self.web.isEnabled() or not allowed:
            self.web.setEnabled(allowed)
            self.web.setChecked(allowed)
        self._web_words()

    def set_text(self, text: str) -> None:
        """Put a text into the editor, the cursor behind it."""
        self.editor.setPlainText(text)
        self.editor.moveCursor(QTextCursor.MoveOperation.End)
        self._at = len(self._history)

    def set_history(self, questions: Sequence[str]) -> None:
        """Questions that arrow up brings back, oldest first."""
        self._history = list(questions)[-MAX_HISTORY:]
        self._at = len(self._history)

    def set_busy(self, busy: bool) -> None:
        """Stop in place of Send while an answer is written."""
        self.halt.setVisible(busy)
        self.send.setVisible(not busy)
        self._typed()

    def set_hint(self, text: str) -> None:
        """A line above the editor, such as what an edit replaces; "" takes it away."""
        self.hint.setText(text)
        self.hint.setVisible(bool(text))

    def _send(self) -> None:
        text = self.text.strip()
        if text and self.halt.isHidden():
            self._history.append(text)
            self.asked.emit(text, self.offline)

    def _recall(self, step: int) -> None:
        if not self._history:
            return
        if self._at == len(self._history):
            self._pending = self.text
        at = min(len(self._history), max(0, self._at + step))
        if at == self._at:
            return
        text = self._pending if at == len(self._history) else self._history[at]
        self.set_text(text)
        self._at = at

    def _typed(self) -> None:
        self.send.setEnabled(bool(self.text.strip()))
        self.changed.emit(self.text)

    def _web_words(self) -> None:
        if not self.web.isEnabled():
            words = self.tr("The web is switched off in the settings")
        elif self.web.isChecked():
            words = self.tr("Looks on the web too; click to use the knowledge base alone")
        else:
            words = self.tr("Uses the knowledge base alone; click to look on the web too")
        self.web.setToolTip(words)
        self.web.setAccessibleName(self.tr("Look on the web"))
        self.web.setAccessibleDescription(words)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.editor, 1)
        for button in (self.web, self.send, self.halt):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 6)
        column.setSpacing(4)
        column.addWidget(self.hint)
        column.addLayout(row)
