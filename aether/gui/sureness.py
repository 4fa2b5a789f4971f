"""How sure the answer is, and why: the gauge, each term in words, every claim with its verdict."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from aether.conversations import Exchange
from aether.gui.claims import ClaimList
from aether.gui.gauge import Gauge
from aether.gui.phrases import term_words
from aether.gui.theme import Theme
from aether.gui.widgets import label, lines_label, restyle
from aether.records import Confidence

SUM = ("pre", "verified", "unsupported", "uncited")


class Sureness(QWidget):
    """The third tab of the inspector."""

    pointed = Signal(object)  # Claim or None
    picked = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.value = label("", "title")
        self.gauge = Gauge(theme)
        self.verdict = lines_label("", "muted")
        self.terms = QGridLayout()
        self.terms.setColumnStretch(0, 1)
        self.terms.setHorizontalSpacing(12)
        self.terms.setVerticalSpacing(4)
        self.claims_head = label("", "heading")
        self.claims = ClaimList(theme)
        self.claims.pointed.connect(self.pointed)
        self.claims.picked.connect(self.picked)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(8)
        column.addWidget(self.value)
        column.addWidget(self.gauge)
        column.addWidget(self.verdict)
        column.addLayout(self.terms)
        column.addWidget(self.claims_head)
        column.addWidget(self.claims, 1)
        self._blank = QWidget()
        column.addWidget(self._blank, 1)

    def show_exchange(self, exchange: Exchange) -> None:
        """The confidence of the answer that is shown, or what there is to say without one."""
        scored = exchange.scored
        for widget in (self.value, self.gauge, self.claims_head, self.claims):
            widget.setVisible(scored is not None)
        self._blank.setVisible(scored is None)
        self._show_terms(scored)
        if scored is None:
            self.verdict.setText(self._without(exchange))
            restyle(self.verdict, "muted")
            return
        self.value.setText(f"{scored.value:.2f}")
        self.gauge.show_value(scored.value, scored.threshold)
        passed = scored.value >= scored.threshold
        words = self.tr("Above the threshold.") if passed else self.tr("Below the threshold.")
        cap = self.tr("Capped, because {}.").format(scored.cap) if scored.cap else ""
        self.verdict.setText(f"{words} {cap}".strip())
        restyle(self.verdict, "good" if passed else "warn")
        held = sum(c.verdict == "supported" for c in scored.claims)
        count = len(scored.claims)
        self.claims_head.setText(
            self.tr("{} of {} claims are carried by their sources").format(held, count)
            if count
            else self.tr("Nothing in this answer can be checked")
        )
        self.claims.set_claims(scored.claims)
        self.claims.setVisible(bool(count))
        self._blank.setVisible(not count)

    def _without(self, exchange: Exchange) -> str:
        if exchange.run is None:
            return self.tr("The confidence is worked out when the answer is written.")
        if exchange.run.outcome == "refused":
            return self.tr("The question is outside the field, so nothing was worked out.")
        return self.tr("This answer was not finished, so its confidence is not known.")

    def _show_terms(self, scored: Confidence | None) -> None:
        while item := self.terms.takeAt(0):
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        if scored is None:
            return
        parts = dict(scored.parts)
        for row, part in enumerate(SUM):
            name, meaning = term_words(part)
            points = parts.get(part, 0.0)
            left = label(name)
            left.setToolTip(meaning)
            role = "bad" if points < -0.005 else "good" if points > 0.005 and row else ""
            self.terms.addWidget(left, row, 0)
            self.terms.addWidget(label(f"{points:+.2f}", role), row, 1)
