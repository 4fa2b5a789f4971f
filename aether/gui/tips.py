"""The tip over a citation: the passage, where it is from, and how far it carries its claims."""

from __future__ import annotations

from html import escape

from aether.gui.phrases import origin_words, tr, verdict_words
from aether.records import Confidence, Hit

SHOWN = 420  # characters of a passage


def source_tip(hit: Hit, scored: Confidence | None) -> str:
    """Rich text with everything from outside escaped."""
    text = " ".join(hit.text.split())
    if len(text) > SHOWN:
        text = text[:SHOWN].rsplit(" ", 1)[0] + " \u2026"
    lines = [
        f"<b>[{hit.n}] {escape(hit.title or hit.source)}</b>",
        escape(origin_words(hit)),
        escape(text),
    ]
    if support := support_words(hit, scored):
        lines.append(f"<i>{escape(support)}</i>")
    return '<div style="width:420px">' + "<br>".join(lines) + "</div>"


def support_words(hit: Hit, scored: Confidence | None) -> str:
    """How far this passage carries the claims that cite it."""
    claims = [c for c in scored.claims if hit.n in c.citations] if scored else []
    if not claims:
        return ""
    best = max(claims, key=lambda c: c.support)
    if len(claims) == 1:
        words = tr("{}: support {} of 1")
        return words.format(verdict_words(best.verdict), f"{best.support:.2f}")
    held = sum(c.verdict == "supported" for c in claims)
    words = tr("Carries {} of {} claims that cite it; best support {} of 1")
    return words.format(held, len(claims), f"{best.support:.2f}")
