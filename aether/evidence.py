"""Sections of web pages -> the passages that fit a question, cut, scored and spread over pages.

Apart from `extract.py`, which knows pages but no question: here is the one formula that says how
well a passage of the web answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from aether import text as words_of
from aether.extract import Page, blocks
from aether.hosts import Place
from aether.records import Hit, Section

MIN_TOKENS = 120
MAX_TOKENS = 260
MIN_COVERAGE = 0.2
FULL_COVERAGE = 0.6  # people ask in other words than manuals answer
PER_PAGE = 3
BEST = 8


def rank(query: str, pages: Sequence[tuple[Page, Place]]) -> tuple[Hit, ...]:
    """Return the best passages of all pages, best first: at most 3 of one page, 8 in all.

    coverage is the idf-weighted share of the query's content words, with idf over all passages of
    this call; c = 0.8 * coverage(passage and its headings) + 0.2 * coverage(those and the title).
    Passages rank by c; below c = 0.2 they are not about the question. score = min(1, c / 0.6).
    """
    need = words_of.content_words(query)
    drafts = [(p, place, loc, body) for p, place in pages for loc, body in passages(p.sections)]
    own = [set(words_of.content_words(f"{loc} {body}")) for _, _, loc, body in drafts]
    weights = words_of.idf(own)
    scored: list[tuple[float, int]] = []
    for i, (page, _, _, _) in enumerate(drafts):
        titled = own[i] | set(words_of.content_words(page.title))
        alone = words_of.coverage(need, own[i], weights)
        scored.append((0.8 * alone + 0.2 * words_of.coverage(need, titled, weights), i))
    scored.sort(key=lambda s: (-round(s[0], 6), -drafts[s[1]][1].tier, s[1]))
    return tuple(_hit(c, *drafts[i]) for c, i in _spread(scored, drafts) if c >= MIN_COVERAGE)


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
            if last[1] and _tokens(last[1]) < MIN_TOKENS and _tokens(joined) <= MAX_TOKENS:
                out[-1] = (last[0], joined)
            else:
                out.append((locator, body))
    return out


def _spread(
    scored: Iterable[tuple[float, int]], drafts: Sequence[tuple[Page, Place, str, str]]
) -> list[tuple[float, int]]:
    taken: Counter[str] = Counter()
    seen: set[str] = set()
    best: list[tuple[float, int]] = []
    for score, i in scored:
        page, _, _, body = drafts[i]
        same = words_of.fold(body)
        if len(best) == BEST or taken[page.key] == PER_PAGE or same in seen:
            continue
        taken[page.key] += 1
        seen.add(same)
        best.append((score, i))
    return best


def _hit(c: float, page: Page, place: Place, locator: str, body: str) -> Hit:
    version = f"version {page.version}" if page.version not in page.title else ""
    extra = ", ".join(part for part in (version, page.kind) if part)
    return Hit(
        text=body,
        title=f"{page.title} ({extra})" if extra else page.title,
        url=page.url,
        source=place.id,
        origin="web",
        score=round(min(1.0, c / FULL_COVERAGE), 4),
        locator=locator,
        vendor=place.vendor,
        date=page.date,
        tier=place.tier,
    )


def _pieces(text: str) -> Iterator[str]:
    """Yield pieces of at most 260 estimated tokens, filled block by block."""
    held = ""
    for part in (p for block in blocks(text) for p in _halved(block)):
        joined = f"{held}\n\n{part}" if held else part
        if held and _tokens(joined) > MAX_TOKENS:
            yield held
            held = part
        else:
            held = joined
    if held:
        yield held


def _halved(block: str) -> list[str]:
    """Cut a block that is too long in two, at a line, a sentence or a word, until all fit."""
    if _tokens(block) <= MAX_TOKENS:
        return [block]
    lines, glue = block.split("\n"), "\n"
    fence = ["```"] if len(lines) > 3 and block.startswith("```") else []
    top = lines[:2] if len(lines) > 3 and lines[1].startswith("|--") else fence
    if len(lines) == 1:
        lines, glue = words_of.sentences(block) if len(block) < 5000 else block.split(), " "
    if len(lines) == 1:
        lines = block.split()
    if len(lines) == 1:
        half = len(block) // 2
        return _halved(block[:half]) + _halved(block[half:])
    middle = max(len(top) + (len(lines) - len(top)) // 2, 1)
    first, second = glue.join([*lines[:middle], *fence]), glue.join([*top, *lines[middle:]])
    return _halved(first) + _halved(second)


def _tokens(text: str) -> int:
    return words_of.estimate_tokens(text)
