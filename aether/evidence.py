"""Sections of web pages -> the passages that fit a question, cut, scored and spread over pages.

Apart from `extract.py`, which knows pages but no question: here is the one formula that says how
well a passage of the web answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from aether.chunks import chunk
from aether.hosts import Place
from aether.page import Page
from aether.records import Document, Hit
from aether.text import content_words, coverage, fold, idf

MIN_COVERAGE = 0.2
FULL_COVERAGE = 0.6  # people ask in other words than manuals answer
PER_PAGE = 3
BEST = 8


@dataclass(frozen=True, slots=True)
class Draft:
    """A passage of a page before it is known how well it fits."""

    page: Page
    place: Place
    locator: str
    text: str
    words: frozenset[str]  # of the text and its headings
    title: frozenset[str]


def drafts(page: Page, place: Place) -> tuple[Draft, ...]:
    """Cut a page into passages; the costly half of ranking, done where the page was fetched."""
    title = _words(page.title)
    cut = chunk(Document(page.title, page.sections))
    return tuple(
        Draft(page, place, p.heading, p.text, _words(f"{p.heading} {p.text}"), title) for p in cut
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


def rank(query: str, found: Iterable[Draft]) -> tuple[Hit, ...]:
    """Return the best passages of all pages, best first: at most 3 of one page, 8 in all.

    coverage is the idf-weighted share of the query's content words, with idf over all passages of
    this call; c = 0.8 * coverage(passage and its headings) + 0.2 * coverage(those and the title).
    Passages rank by c; below c = 0.2 they are not about the question. score = min(1, c / 0.6).
    """
    need = content_words(query)
    every = tuple(found)
    weights = idf(draft.words for draft in every)
    scored: list[tuple[float, Draft]] = []
    for draft in every:
        alone = coverage(need, draft.words, weights)
        titled = coverage(need, draft.words | draft.title, weights)
        scored.append((round(0.8 * alone + 0.2 * titled, 6), draft))
    fitting = [row for row in scored if row[0] >= MIN_COVERAGE]
    fitting.sort(key=lambda row: (-row[0], -row[1].place.tier))  # else in the order of the page
    return tuple(_hit(c, draft) for c, draft in _spread(fitting))


def _spread(scored: Iterable[tuple[float, Draft]]) -> list[tuple[float, Draft]]:
    taken: Counter[str] = Counter()
    seen: set[str] = set()
    best: list[tuple[float, Draft]] = []
    for c, draft in scored:
        same = fold(draft.text)
        if len(best) == BEST or taken[draft.page.key] == PER_PAGE or same in seen:
            continue
        taken[draft.page.key] += 1
        seen.add(same)
        best.append((c, draft))
    return best


def _hit(c: float, draft: Draft) -> Hit:
    page, place = draft.page, draft.place
    version = f"version {page.version}" if page.version not in page.title else ""
    extra = ", ".join(part for part in (version, page.kind) if part)
    return Hit(
        text=draft.text,
        title=f"{page.title} ({extra})" if extra else page.title,
        url=page.url,
        source=place.id,
        origin="web",
        score=round(min(1.0, c / FULL_COVERAGE), 4),
        locator=draft.locator,
        vendor=place.vendor,
        date=page.date,
        tier=place.tier,
    )
