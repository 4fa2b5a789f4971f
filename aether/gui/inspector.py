"""The inspector beside the transcript: why this expert, the sources, the confidence."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from aether.conversations import Exchange
from aether.gui.ladder import Expert
from aether.gui.passages import Passages
from aether.gui.sureness import Sureness
from aether.gui.theme import Theme
from aether.gui.why import Why
from aether.records import Claim, Hit

WHY, SOURCES, CONFIDENCE = range(3)


class Inspector(QTabWidget):
    """Shows one exchange in three tabs."""

    pointed = Signal(object)  # the Claim under the pointer, or None

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: dict[str, str] = {}
        self._exchange = Exchange("")
        self.why = Why()
        self.passages = Passages(theme)
        self.sureness = Sureness(theme)
        self.addTab(self.why, self.tr("Why this expert"))
        self.addTab(self.passages, self.tr("Sources"))
        self.addTab(self.sureness, self.tr("Confidence"))
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.setMinimumWidth(300)
        self.setAccessibleName(self.tr("Inspector"))
        self._stale: set[int] = set()
        self.currentChanged.connect(lambda _: self._fill())
        self.sureness.pointed.connect(self.pointed)
        self.sureness.picked.connect(self._show_evidence)
        self.show_exchange(self._exchange)

    def set_experts(self, experts: Sequence[Expert]) -> None:
        """Names for the ids."""
        self._names = {e.id: e.name for e in experts}
        self.why.forget()
        self.show_exchange(self._exchange)

    def show_exchange(self, exchange: Exchange) -> None:
        """Show what is known of this exchange so far."""
        self._exchange = exchange
        hits = hits_of(exchange)
        title = self.tr("Sources ({})").format(len(hits)) if hits else self.tr("Sources")
        self.setTabText(SOURCES, title)
        self._stale = {WHY, SOURCES, CONFIDENCE}
        self._fill()

    def _fill(self) -> None:
        """Fill the tab that can be seen; the others when they are turned to."""
        tab = self.currentIndex()
        if tab not in self._stale:
            return
        self._stale.discard(tab)
        if tab == WHY:
            self.why.show_exchange(self._exchange, lambda a: self._names.get(a, a))
        elif tab == SOURCES:
            self.passages.show_hits(hits_of(self._exchange))
        else:
            self.sureness.show_exchange(self._exchange)

    def open_source(self, number: int, evidence: str = "") -> None:
        """Bring a passage into view."""
        self.setCurrentIndex(SOURCES)
        self.passages.open_source(number, evidence)

    def _show_evidence(self, claim: Claim) -> None:
        if claim.citations:
            self.open_source(claim.citations[0], claim.evidence)


def hits_of(exchange: Exchange) -> tuple[Hit, ...]:
    """The passages that are numbered in the answer on the screen."""
    if exchange.run is not None:
        return exchange.run.hits
    found = [look.retrieval for look in exchange.looks if look.retrieval]
    return found[-1].hits if found else ()
