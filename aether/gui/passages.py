"""The passages behind an answer: where each comes from, its words, and the way to the place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from aether.gui.phrases import origin_words
from aether.gui.prose import Prose
from aether.gui.theme import Theme
from aether.gui.widgets import label, lines_label, restyle
from aether.records import Hit

_WEB = re.compile(r"https?://", re.IGNORECASE)


def place_of(hit: Hit) -> QUrl | None:
    """The address that opens a passage at its place; None where there is none that may be opened.

    A page is opened at the passage's first words, a file at its page where its kind knows pages.
    """
    if _WEB.match(hit.url):
        words = " ".join(hit.text.split()[:6])
        mark = "" if "#" in hit.url else f"#:~:text={quote(words, safe='')}"
        return QUrl(hit.url + mark)
    if hit.path and Path(hit.path).is_file():
        url = QUrl.fromLocalFile(str(Path(hit.path).resolve()))
        page = re.search(r"page (\d+)", hit.locator)
        if page and hit.path.lower().endswith(".pdf"):
            url.setFragment(f"page={page.group(1)}")
        return url
    return None


class PassageCard(QFrame):
    """One passage."""

    def __init__(self, theme: Theme, hit: Hit) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.hit = hit
        self.title = lines_label(f"[{hit.n}] {hit.title or hit.source}", "heading")
        self.text = Prose(theme.colours)
        self.text.setAccessibleName(self.tr("Passage {}").format(hit.n))
        QTextCursor(self.text.document()).insertText(hit.text.strip())
        self._place = place_of(hit)
        self.open = QPushButton(
            self.tr("Open the page") if _WEB.match(hit.url) else self.tr("Open the file")
        )
        self.open.setAutoDefault(False)
        self.open.setToolTip(hit.url or hit.path)
        if self._place is None:
            self.open.hide()
        self.open.clicked.connect(self._open)
        foot = QHBoxLayout()
        score = self.tr("match {}").format(f"{hit.score:.2f}")
        foot.addWidget(label(score, "muted"), 1)
        foot.addWidget(self.open)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(6)
        column.addWidget(self.title)
        column.addWidget(lines_label(origin_words(hit), "muted"))
        column.addWidget(self.text)
        column.addLayout(foot)

    def _open(self) -> None:
        if self._place is not None:
            QDesktopServices.openUrl(self._place)


class Passages(QScrollArea):
    """The second tab of the inspector."""

    shown = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._hits: tuple[Hit, ...] = ()
        self.cards: dict[int, PassageCard] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(16, 12, 16, 16)
        self._column.setSpacing(12)
        self.empty = lines_label(self.tr("No passages yet. Ask a question first."), "muted")
        self._column.addWidget(self.empty)
        self._column.addStretch(1)
        self.setWidget(inner)

    def show_hits(self, hits: Sequence[Hit]) -> None:
        """The passages of an attempt, in the order of their numbers."""
        if tuple(hits) == self._hits:
            return
        self._hits = tuple(hits)
        for card in self.cards.values():
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = {}
        for i, hit in enumerate(sorted(hits, key=lambda h: h.n)):
            card = PassageCard(self._theme, hit)
            self.cards[hit.n] = card
            self._column.insertWidget(i + 1, card)
        self.empty.setVisible(not hits)

    def open_source(self, number: int, evidence: str = "") -> bool:
        """Bring passage `number` into view and mark it, with the sentence that supports a claim."""
        for n, card in self.cards.items():
            restyle(card, "card-chosen" if n == number else "card")
            found = _place(evidence, card.hit.text) if n == number and evidence else []
            card.text.light_up(found, self._theme.colours.selection)
        card = self.cards.get(number)
        if card is None:
            return False
        self._column.activate()
        self.ensureWidgetVisible(card, 0, 24)
        self.shown.emit(number)
        return True


def _place(evidence: str, text: str) -> list[tuple[int, int]]:
    """Where a stretch of words stands in a passage, whatever white space lies between."""
    words = evidence.split()
    if not words:
        return []
    match = re.search(r"\s+".join(map(re.escape, words)), text.strip())
    return [match.span()] if match else []
