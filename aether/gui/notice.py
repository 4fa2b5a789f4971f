"""The bar under an answer that did not go as wished: what happened, what to do, and Try again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from aether.conversations import Exchange
from aether.gui.phrases import kb_words, sentence, told_fault, tr, web_words
from aether.gui.theme import Theme
from aether.gui.widgets import lines_label, restyle


class NoticeBar(QFrame):
    """One message with its advice."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "notice")
        self._theme = theme
        self._kind = "warn"
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.what = lines_label("", "heading")
        self.advice = lines_label("", "muted")
        self.retry = QPushButton(self.tr("Try again"))
        self.retry.setAutoDefault(False)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.what)
        words.addWidget(self.advice)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 10, 12, 10)
        row.setSpacing(12)
        row.addWidget(self._icon)
        row.addLayout(words, 1)
        row.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignVCenter)
        theme.changed.connect(self._draw)

    def say(
        self, kind: str, what: str, where: str = "", advice: str = "", retry: bool = False
    ) -> None:
        """Show a message; `kind` is good, warn, bad or muted."""
        self._kind = kind
        self.what.setText(what[:1].upper() + what[1:])
        more = "\n".join(part for part in (where, advice) if part)
        self.advice.setText(more)
        self.advice.setVisible(bool(more))
        self.retry.setVisible(retry)
        restyle(self.what, kind if kind in ("warn", "bad") else "heading")
        self._draw()
        self.show()

    def tell(self, exchange: Exchange, notes: Sequence[str]) -> None:
        """Show what a person should know of an exchange that ended; hidden where it is nothing."""
        run = exchange.run
        assert run is not None
        if run.outcome == "failed":
            what, where, advice = told_fault(run.error or tr("The answer could not be finished"))
            kept = tr("What was written so far is kept.") if run.answer else ""
            more = " ".join(p for p in (sentence(advice), kept) if p)
            self.say("bad", what, where, more, retry=True)
        elif run.outcome == "cancelled":
            kept = tr("What was written so far is kept.") if run.answer else ""
            self.say("muted", tr("Stopped"), "", kept, retry=True)
        elif run.outcome == "low_confidence":
            advice = tr(
                "No expert reached the threshold. This is the best answer there is: check it "
                "against its sources."
            )
            self.say("warn", tr("Low confidence"), _ways(exchange), advice)
        elif told := "\n".join(map(sentence, (*_ways(exchange).splitlines(), *run.notes, *notes))):
            self.say("muted", tr("Worth knowing"), told)
        else:
            self.hide()

    def _draw(self) -> None:
        c = self._theme.colours
        colour = {"warn": c.warn, "bad": c.bad, "good": c.good}.get(self._kind, c.muted)
        self._icon.setPixmap(self._theme.icon("warning", colour).pixmap(18, 18))


def _ways(exchange: Exchange) -> str:
    """How web and knowledge base failed, each once."""
    found = [look.retrieval for look in exchange.looks if look.retrieval]
    words = [
        w for r in found for w in (web_words(r), kb_words(r) if r.kb == "kb_error" else "") if w
    ]
    return "\n".join(w[0].upper() + w[1:] for w in dict.fromkeys(words))
