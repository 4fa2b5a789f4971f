"""A stretch of an answer as rich text: as tall as its words, inert, with links that only tell.

Apart from the answer that is made of such stretches and of code between them.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QResizeEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QTextEdit, QWidget

from aether.gui.markdown import Block
from aether.gui.theme import Colours
from aether.gui.writer import Writer

ROOM = 6000  # characters after which a new stretch is begun, so that none grows without bound
_SCROLL_KEYS = (
    Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home,
    Qt.Key.Key_End, Qt.Key.Key_Space,
)  # fmt: skip


class Prose(QTextBrowser):
    """Rich text without scroll bars; whoever holds it scrolls."""

    link = Signal(str)  # cite:2, https://…; nothing is opened here
    pointed = Signal(str)  # the link under the pointer, "" where there is none

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "prose")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().setUndoRedoEnabled(False)
        self.document().setIndentWidth(26)
        self.anchorClicked.connect(lambda url: self.link.emit(url.toString()))
        self.highlighted.connect(lambda url: self.pointed.emit(url.toString()))
        self._colours = colours
        self.tucked = 0  # pixels at the top that lie under the part above: the line of a table
        self.trimmed = 0  # pixels at the bottom that are left out, for the same reason
        self._fixed = 0  # end of what will not change any more
        self._live = ""

    def restyle(self, colours: Colours) -> None:
        """Colours for what is added from now on."""
        self._colours = colours

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What Tab goes through."""
        return (self,)

    @property
    def full(self) -> bool:
        """Whether the next block should go to a new stretch."""
        return self._fixed > ROOM

    def add(self, block: Block) -> None:
        """Append a final block."""
        self.truncate()
        self._write(block)
        self._fixed = self.document().characterCount() - 1

    def show_live(self, block: Block) -> None:
        """Show a block behind the final part, in place of what was live before."""
        if block.source != self._live:
            self.truncate()
            self._write(block)
            self._live = block.source

    def truncate(self) -> None:
        """Take the live part away."""
        if not self._live:
            return
        cursor = self._cursor()
        cursor.setPosition(self._fixed)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._live = ""

    def empty(self) -> None:
        """Forget everything."""
        self.clear()
        self._fixed, self._live, self.tucked = 0, "", 0

    def fit(self) -> None:
        """Take exactly the height of the words."""
        height = round(self.document().size().height()) - self.tucked - self.trimmed
        if height != self.height():
            self.setFixedHeight(height)
        self.verticalScrollBar().setValue(self.tucked)

    def light_up(self, ranges: list[tuple[int, int]], colour: str) -> None:
        """Put a colour behind stretches of characters [start, end)."""
        marks: list[QTextEdit.ExtraSelection] = []
        for start, end in ranges:
            mark = QTextEdit.ExtraSelection()
            cursor = self._cursor()
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            mark.cursor = cursor  # type: ignore[attr-defined]
            mark.format.setBackground(QColor(colour))  # type: ignore[attr-defined]
            marks.append(mark)
        self.setExtraSelections(marks)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing is ever loaded: no image, no style, from nowhere."""
        return None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Whoever holds this scrolls."""
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Plain scroll keys go to whoever scrolls."""
        if event.key() in _SCROLL_KEYS and not event.modifiers():
            event.ignore()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width means another height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def minimumSizeHint(self) -> QSize:
        """As narrow as the window wants."""
        return QSize(120, 0)

    def _write(self, block: Block) -> None:
        cursor = self._cursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        Writer(cursor, self._colours, self.font()).write(block)
        cursor.endEditBlock()

    def _cursor(self) -> QTextCursor:
        return QTextCursor(self.document())
