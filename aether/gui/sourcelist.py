"""The numbered list of sources under an answer; a click opens the passage in the inspector."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from aether.gui.prose import Prose
from aether.gui.theme import Theme
from aether.gui.widgets import label
from aether.records import Hit


class SourceList(QFrame):
    """Titles with their numbers, cited ones only where the answer cites."""

    cited = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._hits: tuple[Hit, ...] = ()
        self.lines = Prose(theme.colours)
        self.lines.setAccessibleName(self.tr("Sources of this answer"))
        self.lines.link.connect(self._follow)
        self._head = label(self.tr("Sources"), "heading")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._head)
        column.addWidget(self.lines)
        theme.changed.connect(self._write)

    def show_hits(self, hits: Sequence[Hit], answer: str) -> None:
        """List the sources that `answer` cites, or all of them where it cites none."""
        cited = {int(n) for n in re.findall(r"\[(\d{1,3})\]", answer)}
        used = tuple(h for h in hits if h.n in cited)
        self._hits = used or tuple(hits)
        self._head.setText(self.tr("Sources") if used else self.tr("Passages found, none cited"))
        self.setVisible(bool(self._hits))
        self._write()

    def _write(self) -> None:
        self.lines.empty()
        cursor = QTextCursor(self.lines.document())
        line = QTextBlockFormat()
        line.setBottomMargin(3)
        for i, hit in enumerate(self._hits):
            if i:
                cursor.insertBlock()
            cursor.setBlockFormat(line)
            self._line(cursor, hit)
        self.lines.fit()

    def _line(self, cursor: QTextCursor, hit: Hit) -> None:
        c = self._theme.colours
        link = QTextCharFormat()
        link.setAnchor(True)
        link.setAnchorHref(f"cite:{hit.n}")
        link.setForeground(QColor(c.accent))
        cursor.insertText(f"[{hit.n}] {hit.title or hit.url or hit.path}", link)
        quiet = QTextCharFormat()
        quiet.setForeground(QColor(c.muted))
        place = urlsplit(hit.url).hostname or hit.source
        more = " \u00b7 ".join(p for p in (place, hit.locator, hit.date) if p)
        cursor.insertText(f"  {more}", quiet)

    def _follow(self, url: str) -> None:
        if match := re.fullmatch(r"cite:(\d+)", url):
            self.cited.emit(int(match.group(1)))
