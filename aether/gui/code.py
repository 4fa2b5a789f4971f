"""A block of code in an answer: its language, a copy button, colours, sideways scrolling."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QGuiApplication,
    QKeyEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from aether.gui.theme import Colours, Theme

Runs = list[tuple[int, int, str]]  # start, length, kind of word


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False, ensurenl=False)


def load_lexers() -> None:
    """Import what colours the usual languages; takes a while, so not on the window's thread."""
    for language in ("bash", "python", "yaml", "json", "text"):
        _lexer(language)


def colour_runs(code: str, language: str) -> list[Runs]:
    """For each line of `code`, which characters are which kind of word."""
    lines: list[Runs] = [[]]
    column = 0
    for kind, text in _lexer(language or "text").get_tokens(code):
        for i, part in enumerate(text.split("\n")):
            if i:
                lines.append([])
                column = 0
            if part and (name := _kind(str(kind))):
                lines[-1].append((column, len(part), name))
            column += len(part)
    return lines


def _kind(token: str) -> str:
    table = (
        ("Token.Comment", "comment"), ("Token.Keyword", "keyword"), ("Token.Name.Tag", "keyword"),
        ("Token.Literal.String", "string"), ("Token.Literal.Number", "number"),
        ("Token.Name.Attribute", "name"), ("Token.Name.Function", "name"),
        ("Token.Name.Class", "name"), ("Token.Name.Builtin", "name"),
        ("Token.Name.Variable", "name"),
        ("Token.Operator.Word", "keyword"),
    )  # fmt: skip
    return next((name for prefix, name in table if token.startswith(prefix)), "")


class _Colourist(QSyntaxHighlighter):
    """Paints runs that were worked out when the lines came."""

    def __init__(self, document: QTextDocument, colours: Colours) -> None:
        super().__init__(document)
        self.lines: list[Runs] = []
        self.formats: dict[str, QTextCharFormat] = {}
        self.restyle(colours)

    def restyle(self, colours: Colours) -> None:
        table = {"comment": colours.muted, "keyword": colours.accent, "string": colours.good,
                 "number": colours.warn, "name": colours.accent}  # fmt: skip
        for name, colour in table.items():
            self.formats[name] = QTextCharFormat()
            self.formats[name].setForeground(QColor(colour))

    def highlightBlock(self, text: str) -> None:
        """Qt asks for the colours of one line."""
        number = self.currentBlock().blockNumber()
        if number < len(self.lines):
            for start, length, name in self.lines[number]:
                self.setFormat(start, length, self.formats[name])


class CodeLines(QPlainTextEdit):
    """Code that scrolls sideways only."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "lines")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.font().pointSizeF())
        self.setFont(font)
        self.document().setUndoRedoEnabled(False)
        self.document().setDocumentMargin(0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Sideways here, up and down in the transcript."""
        sideways = abs(event.angleDelta().x()) > abs(event.angleDelta().y())
        if sideways or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Page keys belong to the transcript."""
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def minimumSizeHint(self) -> QSize:
        """As narrow as the window wants."""
        return QSize(120, 0)

    def fit(self, count: int) -> None:
        """Take the height of so many lines, and of the scroll bar where one is needed."""
        height = max(1, count) * self.fontMetrics().lineSpacing() + 2
        wide = self.document().documentLayout().documentSize().width()
        if wide > self.viewport().width():
            height += self.horizontalScrollBar().sizeHint().height()
        if height != self.height():
            self.setFixedHeight(height)


class Code(QFrame):
    """One block of code; grows by lines while it streams."""

    def __init__(self, theme: Theme, language: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "code")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.language = language
        self._theme = theme
        self._fixed: list[str] = []
        self._live: list[str] = []
        self.lines = CodeLines()
        self.lines.setAccessibleName(self.tr("Code: {}").format(language or self.tr("plain text")))
        self._colourist = _Colourist(self.lines.document(), theme.colours)
        self.copy = QToolButton()
        self.copy.setText(self.tr("Copy"))
        self.copy.setToolTip(self.tr("Copy this code"))
        self.copy.setAccessibleName(self.tr("Copy this code"))
        self.copy.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.copy.clicked.connect(self._copy)
        label = QLabel(language or self.tr("text"))
        label.setProperty("role", "muted")
        head = QHBoxLayout()
        head.addWidget(label, 1)
        head.addWidget(self.copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 4, 4, 8)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self.lines)
        theme.changed.connect(self._restyle)
        self._restyle()

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What Tab goes through."""
        return self.copy, self.lines

    @property
    def text(self) -> str:
        """The whole code."""
        return "\n".join((*self._fixed, *self._live))

    def add(self, code: str) -> None:
        """Append final lines."""
        self._set_tail(code.split("\n"), final=True)
        self._fixed += self._live
        self._live = []

    def empty(self) -> None:
        """Forget everything."""
        self._fixed = []
        self._set_tail([])

    def show_live(self, code: str) -> None:
        """Show lines behind the final ones, in place of those that were live before."""
        self._set_tail(code.split("\n") if code else [])

    def fit(self) -> None:
        """Take the height of the lines."""
        self.lines.fit(len(self._fixed) + len(self._live))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A scroll bar may come or go."""
        super().resizeEvent(event)
        self.fit()

    def _set_tail(self, tail: list[str], final: bool = False) -> None:
        if tail == self._live and not final:
            return
        same = 0
        while same < min(len(tail), len(self._live)) and tail[same] == self._live[same]:
            same += 1
        at = len(self._fixed)
        if not final and len(tail) == len(self._live):  # only the last line grew: it stays plain
            self._colourist.lines[at + len(tail) - 1 :] = [[]]
        else:
            self._colourist.lines[at:] = colour_runs("\n".join(tail), self.language)
        self._live = tail
        self._replace_from(at + same, "\n".join(tail[same:]), bool(tail[same:]))

    def _replace_from(self, line: int, text: str, any_left: bool) -> None:
        document = self.lines.document()
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        if line and (line >= document.blockCount() or not any_left):
            block = document.findBlockByNumber(line - 1)
            cursor.setPosition(block.position() + block.length() - 1)
            text = "\n" + text if any_left else ""
        else:
            cursor.setPosition(document.findBlockByNumber(line).position())
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text)
        cursor.endEditBlock()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
        self.copy.setText(self.tr("Copied"))

    def _restyle(self) -> None:
        self.copy.setIcon(self._theme.icon("copy"))
        self._colourist.restyle(self._theme.colours)
        self._colourist.rehighlight()
        self.fit()
