"""Passages as one read-only text: quick for hundreds of them, and inert, whoever wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtWidgets import QTextEdit

from aether.gui.theme import Theme
from aether.records import Hit

MOST = 400  # passages shown of one file


class PassageText(QTextEdit):
    """The passages of one file, each under its place in the file."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._hits: tuple[Hit, ...] = ()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(self.tr("Passages"))
        theme.changed.connect(self._draw)

    def show_passages(self, hits: Sequence[Hit]) -> None:
        """Show these, in order."""
        self._hits = tuple(hits)
        self._draw()

    def say(self, text: str) -> None:
        """Words in the place of passages."""
        self._hits = ()
        self.setPlainText("")
        self.setPlaceholderText(text)

    def _draw(self) -> None:
        if not self._hits:
            return
        muted = self._theme.colours.muted
        parts = [
            f'<p style="margin:0 0 2px 0; color:{muted}">{escape(self._place(i, hit))}</p>'
            f'<p style="margin:0 0 14px 0; white-space:pre-wrap">{escape(hit.text.strip())}</p>'
            for i, hit in enumerate(self._hits[:MOST], 1)
        ]
        if len(self._hits) > MOST:
            rest = self.tr("and {} more passages").format(len(self._hits) - MOST)
            parts.append(f'<p style="color:{muted}">{escape(rest)}</p>')
        self.setHtml("".join(parts))

    def _place(self, number: int, hit: Hit) -> str:
        words = self.tr("Passage {}").format(number)
        return f"{words} \u00b7 {hit.locator}" if hit.locator else words
