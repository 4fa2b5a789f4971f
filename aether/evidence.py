"""Sections of web pages -> the passages that fit a question, cut, scored and spread over pages.

Apart from `extract.py`, which knows pages but no question: here is the one formula that says how
well a passage of the web answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aether.extract import blocks
from aether.hosts import Place
from aether.page import Page
from aether.records import Hit, Section
from aether.text import content_words, coverage, estimate_tokens, fold, idf

MIN_TOKENS = 120
MAX_TOKENS = 260
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
    title = frozenset(content_words(page.title))
    return tuple(
        Draft(page, place, locator, body, frozenset(content_words(f"{locator} {body}")), title)
        for locator, body in passages(page.sections)
    )


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


def passages(sections: Iterable[Section]) -> list[tuple[str, str]]:
    """Cut sections into (locator, text) of about 120 to 260 estimated tokens each.

    A short section takes the following ones in, heading and all; tables repeat their head.
    """
    out: list[tuple[str, str]] = []
    for section in sections:
        locator = " > ".join(section.headings)
        for body in _pieces(section.text):
            last = out[-1] if out else ("", "")
            heading = section.headings[-1] if section.headings and locator != last[0] else ""
            joined = f"{last[1]}\n\n{heading}\n{body}" if heading else f"{last[1]}\n\n{body}"
            if (
                last[1]
                and estimate_tokens(last[1]) < MIN_TOKENS
                and estimate_tokens(joined) <= MAX_TOKENS
            ):
                out[-1] = (last[0], joined)
            else:
                out.append((locator, body))
    return out


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


def _pieces(text: str) -> Iterator[str]:
    """Yield pieces of at most 260 estimated tokens, filled block by block."""
    held = ""
    for part in (p for block in blocks(text) for p in _halved(block)):
        joined = f"{held}\n\n{part}" if held else part
        if held and estimate_tokens(joined) > MAX_TOKENS:
            yield held
            held = part
        else:
            held = joined
    if held:
        yield held


def _halved(block: str) -> list[str]:
    """Cut a block that is too long in two, at a line, a sentence or a word, until all fit."""
    if estimate_tokens(block) <= MAX_TOKENS:
        return [block]
    lines = block.split("\n")
    fence = ["```"] if len(lines) > 3 and block.startswith("```") else []
    top = lines[:2] if len(lines) > 3 and lines[1].startswith("|--") else fence
    if len(lines) == 1:
        cut = _near_middle(block)
        return _halved(block[:cut].rstrip()) + _halved(block[cut:])
    middle = max(len(top) + (len(lines) - len(top)) // 2, 1)
    first = "\n".join([*lines[:middle], *fence])
    second = "\n".join([*top, *lines[middle:]])
    return _halved(first) + _halved(second)


def _near_middle(line: str) -> int:
    """Where to cut a long line: after the sentence or the word that ends next to its middle."""
    half = len(line) // 2
    for mark in (". ", " "):
        after, before = line.find(mark, half, 3 * half // 2), line.rfind(mark, half // 2, half)
        if after >= 0 or before >= 0:
            return (after if after >= 0 else before) + len(mark)
    return half
