"""Step three: look. The web first, the knowledge base where the web is thin; one list of passages.

Also R of the confidence formula: how well what was found covers what was asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aether.cancel import Cancel
from aether.errors import EmbedError, StoreError
from aether.protocols import Searchable, Web, WebResult
from aether.records import Hit, KbStatus, Plan, Retrieval
from aether.text import content_words, coverage

KB_K = 6  # more passages cost seconds before the first word, and small models lose the thread
MOST_HITS = 10
# cosine where a passage starts to count, and where it counts in full; fitted with the coverage
# terms on 65 questions that the starter notes cover and 56 of the same fields that they do not
KB_LOW, KB_HIGH, KB_TRUST = 0.20, 0.50, 0.85
BARE, FULL_COVERAGE = 0.3, 0.6  # what is left of R without coverage, and the share that is enough
BESIDE = 0.5  # of the best passage's strength: what is weaker would only distract
CORROBORATION = 0.08  # for each further document that says as much, at most two


@dataclass(frozen=True, slots=True)
class WebRules:
    """When and how long the web is asked: seconds, and the fewest useful characters."""

    enabled: bool = True
    budget_s: float = 8.0
    min_chars: int = 1200


def retrieve(
    question: str, plan: Plan, web: Web | None, store: Searchable, rules: WebRules, cancel: Cancel
) -> Retrieval:
    """Passages for one attempt, numbered from 1, best first; raises Cancelled, nothing else.

    A failing web or knowledge base is a status in the result: the other may still answer.
    """
    found = _ask_web(plan, web, rules, cancel)
    cancel.check()
    kb_hits: tuple[Hit, ...] = ()
    kb: KbStatus = "not_asked"
    detail = ""
    if sum(len(hit.text) for hit in found.hits) < rules.min_chars:
        kb_hits, kb, detail = _ask_kb(question, plan, store)
    cancel.check()
    ranked = sorted(_relevant(found.hits, kb_hits), key=lambda hit: -strength(hit))
    hits = tuple(replace(hit, n=i) for i, hit in enumerate(_distinct(ranked)[:MOST_HITS], 1))
    quality, parts = quality_of(question, hits)
    return Retrieval(hits, found.status, found.detail, kb, detail, quality, parts)


def _ask_web(plan: Plan, web: Web | None, rules: WebRules, cancel: Cancel) -> WebResult:
    if web is None or not rules.enabled:
        return WebResult("off", (), "web search is switched off")
    if not plan.hosts:
        return WebResult("off", (), "no site on the list fits this question")
    return web.lookup(plan.query, plan.hosts, rules.budget_s, cancel)


def _ask_kb(question: str, plan: Plan, store: Searchable) -> tuple[tuple[Hit, ...], KbStatus, str]:
    try:
        hits = store.search(question, plan.namespaces, KB_K)
    except (StoreError, EmbedError) as error:
        return (), "kb_error", str(error)
    return hits, "ok" if hits else "kb_empty", "" if hits else "nothing found in the knowledge base"


def strength(hit: Hit) -> float:
    """Evidence value of one passage, 0-1, on one scale for web and knowledge base.

    Web: the trust of the place times the passage's own score. Knowledge base: the cosine mapped
    linearly from 0.20 … 0.50 to 0 … 0.85.
    """
    if hit.origin == "web":
        return hit.tier * min(1.0, hit.score)
    return KB_TRUST * min(1.0, max(0.0, (hit.score - KB_LOW) / (KB_HIGH - KB_LOW)))


def _relevant(web: Sequence[Hit], kb: Sequence[Hit]) -> list[Hit]:
    """Without what says nothing, or much less than the best."""
    best = max((strength(hit) for hit in (*web, *kb)), default=0.0)
    return [hit for hit in (*web, *kb) if strength(hit) > max(0.05, BESIDE * best)]


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Without passages that say the same words again."""
    kept: dict[str, Hit] = {}
    for hit in hits:
        kept.setdefault(" ".join(content_words(hit.text)), hit)
    return list(kept.values())


def quality_of(
    question: str, hits: Sequence[Hit], weights: Mapping[str, float] | None = None
) -> tuple[float, tuple[tuple[str, float], ...]]:
    """R = strength * query coverage * corroboration, 0-1, with its terms.

    Coverage counts the question's words in the three best passages together, softened to
    0.3 + 0.7 * share / 0.6, because people ask in other words than manuals answer.
    """
    if not hits:
        return 0.0, (("strength", 0.0), ("coverage", 0.0), ("corroboration", 1.0))
    best = strength(hits[0])
    have = {w for hit in hits[:3] for w in content_words(f"{hit.title} {hit.locator} {hit.text}")}
    share = coverage(content_words(question), have, weights or {})
    softened = BARE + (1 - BARE) * min(1.0, share / FULL_COVERAGE)
    places = {hit.path or hit.url for hit in hits if strength(hit) >= 0.7 * best}
    corroboration = 1 + CORROBORATION * min(2, len(places) - 1)
    quality = min(1.0, best * softened * corroboration)
    return quality, (("strength", best), ("coverage", share), ("corroboration", corroboration))
