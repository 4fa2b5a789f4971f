"""Documents cut into passages that fit the embedder and know where they come from.

Pure functions. Headings, lists, tables and code stay whole where they fit; what is too long is
cut at rows, items, lines or sentences, and small sections join their neighbours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from aether.records import Document, Passage, Section
from aether.text import sentences

# The embedder reads 256 word pieces and drops the rest; estimates err by a tenth.
LIMIT = 225  # estimated pieces of title, heading and text together
SMALL = 120  # a section below this joins its neighbour
_MARGIN = 1.05  # the mean of real to estimated pieces over 2,400 stretches of technical prose
_FLOOR = 60  # what is left to the text under an absurdly long heading
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\w\s]|_|[^\W\d_A-Za-z]+")
_ITEM = re.compile(r"(?:[-*+\u2022]|\d{1,3}[.)])\s+")
_RULE_ROW = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that belong together; `line` counts from 0 within the section."""

    kind: str  # text, list, table, code
    lines: tuple[str, ...]
    line: int

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def chunk(document: Document) -> tuple[Passage, ...]:
    """Cut a document into passages, in reading order; () where it holds no text."""
    out: list[Passage] = []
    for section in _merged(document):
        path = _path(document.title, section.headings)
        room = max(_FLOOR, LIMIT - pieces(f"{document.title}\n{path}"))
        for line, text in _pack(_blocks(section.text), room):
            out.append(Passage(text, document.title, path, _locator(section, line), len(out)))
    return tuple(out)


def indexed(title: str, heading: str, text: str) -> str:
    """The text that is embedded and searched for a passage: title, heading, text."""
    return "\n".join(part for part in (title, heading, text) if part)


@lru_cache(maxsize=1_000)  # joining and filling ask again for the same stretch
def pieces(text: str) -> int:
    """Word pieces of `text`, estimated without the tokenizer.

    A word of up to 8 letters is one, longer ones one more per 5 letters, capitals one per 3,
    digits one per two, a sign one; camelCase counts by its parts.
    """
    return round(sum(map(_cost, _PART.findall(text))) * _MARGIN)


@lru_cache(maxsize=50_000)  # words repeat
def _cost(part: str) -> float:
    size = len(part)
    if part.isdigit():
        return (size + 1) // 2
    if not part.isascii():
        return size / 2 + 0.5
    if part.isupper():
        return max(1.0, size / 3)
    return 1 if size <= 8 else 1 + (size - 8) / 5


def _path(title: str, headings: Sequence[str]) -> str:
    names = [h for h in headings if h]
    if names and names[0].casefold() == title.casefold():
        names = names[1:]
    return " > ".join(names)


def _locator(section: Section, line: int) -> str:
    if section.page:
        return f"page {section.page}"
    return f"line {section.line + line}" if section.line else ""


def _merged(document: Document) -> Iterator[Section]:
    """Sections with text; a small one takes in the next of the same page and parent heading."""
    held: Section | None = None
    for section in document.sections:
        if not section.text.strip():
            continue
        if held is not None and _may_join(held, section):
            held = _join(held, section)
            continue
        if held is not None:
            yield held
        held = section
    if held is not None:
        yield held


def _may_join(a: Section, b: Section) -> bool:
    if a.page != b.page or min(pieces(a.text), pieces(b.text)) >= SMALL:
        return False
    if pieces(a.text) + pieces(b.text) > LIMIT - 30:
        return False
    if a.headings == b.headings:
        return True
    return bool(b.headings) and b.headings[:-1] in (a.headings, a.headings[:-1])


def _join(a: Section, b: Section) -> Section:
    """Both texts under the headings that they share; what they do not share moves into the text."""
    common = tuple(x for x, y in zip(a.headings, b.headings, strict=False) if x == y)
    if a.headings == b.headings:
        return replace(a, text=f"{a.text.rstrip()}\n\n{b.text.lstrip()}")
    left = [a.text.rstrip()]
    if len(a.headings) > len(common):
        left.insert(0, f"{a.headings[-1]}:")
    text = "\n".join(left) + f"\n\n{b.headings[-1]}:\n{b.text.lstrip()}"
    return replace(a, text=text, headings=common)


def _blocks(text: str) -> list[_Block]:
    """Split a section into paragraphs, lists, tables and fenced code."""
    lines = text.splitlines()
    marked: list[tuple[str, int, str]] = []
    fence = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            marked.append(("code", number, line))
            fence = "" if found and found.group(1) == fence else fence
        elif found:
            fence = found.group(1)
            marked.append(("code", number, line))
        else:
            marked.append((_kind(line, marked), number, line))
    out: list[_Block] = []
    for kind, group in groupby(marked, key=lambda m: m[0]):
        rows = list(group)
        if kind != "blank":
            out.append(_Block(kind, tuple(r[2].rstrip() for r in rows), rows[0][1]))
    return out


def _kind(line: str, before: Sequence[tuple[str, int, str]]) -> str:
    bare = line.strip()
    if not bare:
        return "blank"
    if bare.startswith("|"):
        return "table"
    if _ITEM.match(bare):
        return "list"
    # an indented or lazy line goes on with the item above it
    return "list" if before and before[-1][0] == "list" and line[:1].isspace() else "text"


def _pack(blocks: Sequence[_Block], room: int) -> Iterator[tuple[int, str]]:
    """Fill passages evenly up to `room` pieces: (line within the section, text)."""
    small = [part for block in blocks for part in _fit(block, room)]
    sizes = [pieces(part.text) for part in small]
    left = sum(sizes)
    held: list[_Block] = []
    filled = 0
    for part, size in zip(small, sizes, strict=True):
        if held and (filled + size > room or filled >= _share(filled + left, room)):
            yield held[0].line, _joined(held)
            held, filled = [], 0
        held.append(part)
        filled += size
        left -= size
    if held:
        yield held[0].line, _joined(held)


def _share(remaining: int, room: int) -> float:
    """Pieces at which a passage is full when the rest is spread evenly, less a small slack."""
    return 0.92 * remaining / -(-remaining // room) if remaining > room else math.inf


def _joined(parts: Sequence[_Block]) -> str:
    """Blocks with a blank line between them; pieces of one block only a line break."""
    out = parts[0].text
    for before, part in zip(parts, parts[1:], strict=False):
        gap = part.line - (before.line + len(before.lines))
        tight = before.kind == part.kind and gap <= 0
        out += ("\n" if tight else "\n\n") + part.text
    return out.strip("\n")


def _fit(block: _Block, room: int) -> list[_Block]:
    """The block itself where it fits, else the parts into which its kind may be cut."""
    if pieces(block.text) <= room:
        return [block]
    cut: dict[str, Callable[[_Block, int], list[_Block]]] = {
        "table": _cut_table,
        "code": _cut_code,
        "list": _cut_list,
    }
    return cut.get(block.kind, _cut_text)(block, room)


def _cut_table(block: _Block, room: int) -> list[_Block]:
    """Groups of rows, each under the header row."""
    has_header = len(block.lines) > 2 and bool(_RULE_ROW.match(block.lines[1].strip()))
    head = block.lines[:2] if has_header else ()
    if pieces("\n".join(head)) > room // 2:  # a header that leaves no room for rows
        head = ()
    return _wrapped(block, block.lines[len(head) :], len(head), head, (), room)


def _cut_code(block: _Block, room: int) -> list[_Block]:
    """Groups of lines, each within its own fence."""
    opening = block.lines[:1]
    closed = len(block.lines) > 1 and bool(_FENCE.match(block.lines[-1]))
    body = block.lines[1:-1] if closed else block.lines[1:]
    closing = block.lines[-1:] if closed else ("```",)
    return _wrapped(block, body, 1, opening, closing, room)


def _wrapped(
    block: _Block,
    lines: Sequence[str],
    offset: int,
    head: tuple[str, ...],
    tail: tuple[str, ...],
    room: int,
) -> list[_Block]:
    """Groups of `lines` that fit between a repeated head and tail."""
    space = max(20, room - pieces("\n".join((*head, *tail))))
    return [
        _Block(block.kind, (*head, *group, *tail), block.line + offset + start)
        for start, group in _groups(lines, space)
    ]


def _cut_list(block: _Block, room: int) -> list[_Block]:
    """One part an item; an item that is too long falls into sentences."""
    starts = [i for i, line in enumerate(block.lines) if i == 0 or _ITEM.match(line.strip())]
    out: list[_Block] = []
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        item = _Block("list", block.lines[start:end], block.line + start)
        out += [item] if pieces(item.text) <= room else _cut_text(item, room)
    return out


def _cut_text(block: _Block, room: int) -> list[_Block]:
    """Groups of sentences; the place of each is told by the line that it begins in."""
    units = [(i, s) for i, line in enumerate(block.lines) for s in sentences(line)]
    flat = [(i, bit) for i, s in units for bit in _bits(s, room)]
    return [
        _Block(block.kind, (" ".join(group),), block.line + flat[start][0])
        for start, group in _groups([bit for _, bit in flat], room)
    ]


def _groups(units: Iterable[str], room: int) -> Iterator[tuple[int, list[str]]]:
    """Consecutive units in even groups up to `room` pieces: (index of the first, units)."""
    bits = [(i, bit, pieces(bit)) for i, unit in enumerate(units) for bit in _bits(unit, room)]
    left = sum(size for _, _, size in bits)
    held: list[str] = []
    start = filled = 0
    for index, bit, size in bits:
        if held and (filled + size > room or filled >= _share(filled + left, room)):
            yield start, held
            held, filled = [], 0
        if not held:
            start = index
        held.append(bit)
        filled += size
        left -= size
    if held:
        yield start, held


def _bits(text: str, room: int) -> Iterator[str]:
    """`text` itself where it fits, else runs of words; a word of endless length is cut too."""
    if pieces(text) <= room:
        yield text
        return
    held: list[str] = []
    filled = 0
    for word in text.split():
        for bit in (word[i : i + 200] for i in range(0, len(word), 200)):
            size = pieces(bit)
            if held and filled + size > room:
                yield " ".join(held)
                held, filled = [], 0
            held.append(bit)
            filled += size
    if held:
        yield " ".join(held)
