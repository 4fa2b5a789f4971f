"""A plain editor with line numbers; lines with problems are marked, others are left in peace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from aether.gui.theme import Theme

INDENT = "  "


class _Margin(QWidget):
    """The strip of line numbers."""

    def __init__(self, edit: CodeEdit) -> None:
        super().__init__(edit)
        self._edit = edit

    def sizeHint(self) -> QSize:
        """As wide as the largest number."""
        return QSize(self._edit.margin_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The numbers of the lines that are seen."""
        self._edit.paint_margin(event)


class CodeEdit(QPlainTextEdit):
    """Text in a fixed font; Tab indents by two spaces, Ctrl+Tab leaves."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._marks: dict[int, str] = {}
        self._margin = _Margin(self)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.blockCountChanged.connect(lambda _: self._make_room())
        self.updateRequest.connect(self._scrolled)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_marks(self, marks: Mapping[int, str]) -> None:
        """Mark lines (counted from 1) with what is wrong there."""
        self._marks = dict(marks)
        self.setExtraSelections(list(self._selections()))
        self._margin.update()

    def go_to(self, line: int) -> None:
        """Put the cursor into a line, counted from 1."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()
        self.setFocus()

    # --- the margin -------------------------------------------------------------------------

    def margin_width(self) -> int:
        """Room for the largest number and its edges."""
        digits = max(3, len(str(self.blockCount())))
        return self.fontMetrics().horizontalAdvance("9") * digits + 18

    def paint_margin(self, event: QPaintEvent) -> None:
        """Draw the numbers, those of marked lines in the colour of a fault."""
        c = self._theme.colours
        painter = QPainter(self._margin)
        painter.fillRect(event.rect(), QColor(c.window))
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        place = self.blockBoundingGeometry(block).translated(self.contentOffset())
        top, height = place.top(), self.fontMetrics().height()
        while block.isValid() and top <= event.rect().bottom():
            if block.isVisible():
                number = block.blockNumber() + 1
                painter.setPen(QColor(c.bad if number in self._marks else c.muted))
                box = QRect(0, round(top), self._margin.width() - 8, height)
                painter.drawText(box, Qt.AlignmentFlag.AlignRight, str(number))
            top += self.blockBoundingRect(block).height()
            block = block.next()
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the margin at the left edge."""
        super().resizeEvent(event)
        box = self.contentsRect()
        self._margin.setGeometry(QRect(box.left(), box.top(), self.margin_width(), box.height()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tab writes spaces, because YAML knows no tabs; Return keeps the indentation."""
        key = event.key()
        if key == Qt.Key.Key_Tab and not self.isReadOnly() and not event.modifiers():
            self.insertPlainText(INDENT)
        elif key == Qt.Key.Key_Tab and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.focusNextChild()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.isReadOnly():
            line = self.textCursor().block().text()
            self.insertPlainText("\n" + line[: len(line) - len(line.lstrip(" "))])
        else:
            super().keyPressEvent(event)

    def _make_room(self) -> None:
        self.setViewportMargins(self.margin_width(), 0, 0, 0)

    def _scrolled(self, area: QRect, dy: int) -> None:
        if dy:
            self._margin.scroll(0, dy)
        else:
            self._margin.update(0, area.y(), self._margin.width(), area.height())

    def _restyle(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(max(8.0, self.font().pointSizeF()))
        self.document().setDefaultFont(font)
        self._make_room()
        self.show_marks(self._marks)

    def _selections(self) -> Iterable[QTextEdit.ExtraSelection]:
        colour = QColor(self._theme.colours.bad)
        colour.setAlpha(36)
        for line in self._marks:
            block = self.document().findBlockByNumber(line - 1)
            if block.isValid():
                made = QTextEdit.ExtraSelection()
                marked: object = made
                marked.format.setBackground(colour)  # type: ignore[attr-defined]
                marked.format.setProperty(QTextFormat.Property.FullWidthSelection, True)  # type: ignore[attr-defined]
                marked.cursor = QTextCursor(block)  # type: ignore[attr-defined]
                yield made
