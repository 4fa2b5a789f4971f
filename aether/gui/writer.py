"""Writes parsed Markdown into a rich-text document, token by token.

No HTML lies between, so that nothing in an answer can be taken for markup, and spacing, lists and
tables look as they were meant to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token
from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontDatabase,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextList,
    QTextListFormat,
    QTextTable,
    QTextTableFormat,
)

from aether.gui.formula import readable
from aether.gui.markdown import Block, Cells, addresses, cells, column_widths
from aether.gui.theme import Colours

LINE = 122  # per cent
_HEADINGS = {"h1": 1.45, "h2": 1.25, "h3": 1.1}
_BULLETS = (
    QTextListFormat.Style.ListDisc,
    QTextListFormat.Style.ListCircle,
    QTextListFormat.Style.ListSquare,
)
_ALIGN = {"right": Qt.AlignmentFlag.AlignRight, "center": Qt.AlignmentFlag.AlignHCenter}


@dataclass(slots=True)
class _Level:
    """One list that is open: its items hang on `made` once the first is there."""

    ordered: bool
    start: int
    made: QTextList | None = None
    pending: bool = False  # the next block opens an item


class Writer:
    """Writes at the end of one document."""

    def __init__(self, cursor: QTextCursor, colours: Colours, font: QFont) -> None:
        self._cursor, self._c, self._font = cursor, colours, font
        self._lists: list[_Level] = []
        self._quotes = 0
        self._formats: list[QTextCharFormat] = [QTextCharFormat()]
        self._mono = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families()

    def write(self, block: Block) -> None:
        """Append a block; a table that goes on comes without its head."""
        tokens, joins = block.tokens, block.joins
        i = 0
        while i < len(tokens):
            token = tokens[i]
            if token.type == "table_open":
                end = next(k for k in range(i, len(tokens)) if tokens[k].type == "table_close")
                self._table(cells(tokens[i:end]), joins and i == 0, block.widths)
                i = end
            else:
                self._structure(token)
            i += 1

    def _structure(self, token: Token) -> None:
        if "_list_" in token.type or token.type == "list_item_open":
            self._list(token)
        elif token.type in ("blockquote_open", "blockquote_close"):
            self._quotes += token.nesting
        elif token.type == "paragraph_open":
            self._begin(self._paragraph())
        elif token.type == "heading_open":
            self._begin(self._heading(token.tag))
            self._formats.append(self._heading_font(token.tag))
        elif token.type == "heading_close":
            self._formats.pop()
        elif token.type == "inline":
            self._inline(token.children or [])
        elif token.type == "hr":
            self._rule()
        elif token.type in ("fence", "code_block"):
            self._code(token.content.rstrip("\n"))

    def _list(self, token: Token) -> None:
        if token.type == "list_item_open":
            self._lists[-1].pending = True
        elif token.nesting > 0:
            ordered = token.type == "ordered_list_open"
            self._lists.append(_Level(ordered, int(token.attrs.get("start", 1))))
        elif token.type != "list_item_close":
            self._lists.pop()

    # --- blocks -------------------------------------------------------------------------

    def _begin(self, block: QTextBlockFormat) -> None:
        """Go to a fresh block: the current one where it is empty."""
        plain = QTextCharFormat()
        if self._cursor.block().length() > 1:
            self._cursor.insertBlock(block, plain)
        else:
            if self._behind_table():
                block.setTopMargin(block.topMargin() + 6)
            self._cursor.setBlockFormat(block)
            self._cursor.setBlockCharFormat(plain)
            self._cursor.setCharFormat(plain)
        if self._lists:
            self._hang()

    def _behind_table(self) -> bool:
        """Whether the empty block at the end is the one that Qt puts behind a table."""
        before = self._cursor.block().previous()
        return before.isValid() and bool(QTextCursor(before).currentTable())

    def _hang(self) -> None:
        """Make the current block an item, or the further paragraph of one."""
        level = self._lists[-1]
        if not level.pending:
            return
        level.pending = False
        if level.made is not None:
            level.made.add(self._cursor.block())
            return
        style = QTextListFormat()
        depth = len(self._lists)
        style.setStyle(
            QTextListFormat.Style.ListDecimal if level.ordered else _BULLETS[min(depth, 3) - 1]
        )
        style.setIndent(depth)
        if level.ordered:
            style.setStart(level.start)
        level.made = self._cursor.createList(style)

    def _paragraph(self) -> QTextBlockFormat:
        block = QTextBlockFormat()
        inside = bool(self._lists)
        block.setTopMargin(2 if inside else 5)
        block.setBottomMargin(3 if inside else 7)
        block.setLineHeight(LINE, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if inside and not self._lists[-1].pending:
            block.setIndent(len(self._lists))
        if self._quotes:
            block.setLeftMargin(18 * self._quotes)
            block.setRightMargin(18)
        return block

    def _heading(self, tag: str) -> QTextBlockFormat:
        block = self._paragraph()
        block.setTopMargin(16 if tag in ("h1", "h2") else 12)
        block.setBottomMargin(5)
        block.setHeadingLevel(int(tag[1]))
        return block

    def _heading_font(self, tag: str) -> QTextCharFormat:
        style = QTextCharFormat()
        style.setFontWeight(QFont.Weight.DemiBold)
        style.setFontPointSize(self._font.pointSizeF() * _HEADINGS.get(tag, 1.0))
        return style

    def _rule(self) -> None:
        block = QTextBlockFormat()
        block.setProperty(
            QTextFormat.Property.BlockTrailingHorizontalRulerWidth,
            QTextLength(QTextLength.Type.PercentageLength, 100),
        )
        block.setBackground(QColor(self._c.border))
        block.setBottomMargin(8)
        self._begin(block)
        self._cursor.insertText(" ")

    def _code(self, code: str) -> None:
        """Code inside a list or a quotation: plain lines in the fixed font."""
        block = self._paragraph()
        block.setIndent(len(self._lists))
        block.setBackground(QColor(self._c.code))
        block.setLineHeight(100, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        self._begin(block)
        self._cursor.insertText(code.replace("\n", "\u2028"), self._monospace(QTextCharFormat()))

    # --- words --------------------------------------------------------------------------

    def _inline(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.nesting > 0:
                self._formats.append(self._styled(token))
            elif token.nesting < 0:
                self._formats.pop()
            else:
                self._word(token)

    def _styled(self, token: Token) -> QTextCharFormat:
        style = QTextCharFormat(self._formats[-1])
        if token.type == "strong_open":
            style.setFontWeight(QFont.Weight.Bold)
        elif token.type == "em_open":
            style.setFontItalic(True)
        elif token.type == "s_open":
            style.setFontStrikeOut(True)
        elif token.type == "link_open":
            style = self._link(str(token.attrs.get("href", "")))
        return style

    def _word(self, token: Token) -> None:
        style = self._formats[-1]
        match token.type:
            case "text":
                self._text(token.content, style)
            case "code_inline":
                self._cursor.insertText(token.content, self._monospace(style, self._c.raised))
            case "math":
                self._cursor.insertText(readable(token.content), self._monospace(style))
            case "cite":
                self._cursor.insertText(f"[{token.content}]", self._link(f"cite:{token.content}"))
            case "image":
                words = f"[{token.content or 'image'}]"
                self._cursor.insertText(words, self._link(str(token.attrs.get("src", ""))))
            case "hardbreak":
                self._cursor.insertText("\u2028", style)
            case _:
                self._text(" " if token.type == "softbreak" else token.content, style)

    def _text(self, text: str, style: QTextCharFormat) -> None:
        if self._quotes and not style.isAnchor():
            style = QTextCharFormat(style)
            style.setForeground(QColor(self._c.muted))
        for part, url in addresses(text):
            self._cursor.insertText(part, self._link(part) if url else style)

    def _link(self, href: str) -> QTextCharFormat:
        style = QTextCharFormat(self._formats[-1])
        style.setAnchor(True)
        style.setAnchorHref(href)
        style.setForeground(QColor(self._c.accent))
        return style

    def _monospace(self, style: QTextCharFormat, back: str = "") -> QTextCharFormat:
        style = QTextCharFormat(style)
        style.setFontFamilies(self._mono)
        if back:
            style.setBackground(QColor(back))
        return style

    # --- tables -------------------------------------------------------------------------

    def _table(self, rows: Cells, joins: bool, widths: Sequence[int]) -> None:
        head = 0 if joins else 1
        shown = rows[1 - head :]
        if not shown:
            return
        self._begin(tiny())
        table = self._cursor.insertTable(
            len(shown), len(rows[0]), self._table_format(widths or column_widths(rows))
        )
        for r, row in enumerate(shown):
            for c, (cell, align) in enumerate(row[: len(rows[0])]):
                self._cell(table, r, c, cell, align, head=r < head)
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._cursor.setBlockFormat(tiny())

    def _cell(self, table: QTextTable, r: int, c: int, cell: Token, align: str, head: bool) -> None:
        cursor, self._cursor = self._cursor, table.cellAt(r, c).firstCursorPosition()
        block = QTextBlockFormat()
        block.setAlignment(_ALIGN.get(align, Qt.AlignmentFlag.AlignLeft))
        self._cursor.setBlockFormat(block)
        style = QTextCharFormat()
        if head:
            style.setFontWeight(QFont.Weight.DemiBold)
            look = table.cellAt(r, c).format()
            look.setBackground(QColor(self._c.raised))
            table.cellAt(r, c).setFormat(look)
        self._formats.append(style)
        self._inline(cell.children or [])
        self._formats.pop()
        self._cursor = cursor

    def _table_format(self, widths: Sequence[int]) -> QTextTableFormat:
        style = QTextTableFormat()
        style.setCellPadding(6)
        style.setCellSpacing(0)
        style.setBorder(1)
        style.setBorderCollapse(True)
        style.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        style.setBorderBrush(QBrush(QColor(self._c.border)))
        style.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        style.setColumnWidthConstraints(
            [QTextLength(QTextLength.Type.PercentageLength, w) for w in widths]
        )
        return style


def tiny() -> QTextBlockFormat:
    """The block that Qt wants on both sides of a table, one pixel high."""
    block = QTextBlockFormat()
    block.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return block
