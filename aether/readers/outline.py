"""Markdown to sections: the shape that Markdown, HTML, Word and slide readers share.

Headings are found outside code only. Link targets, pictures, anchors and comments are dropped,
because they say nothing and cost the embedder its room; what they label stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aether.records import Section

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^)\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\]\[]+)\](?:\((?:<[^>]*>|[^)\s]*)(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])")
_TAG = re.compile(r"</?(?:a|br|span|div|sup|sub|img|p|font|center|b|i|em|strong)\b[^>]*>", re.I)
_COMMENT = re.compile(r"<!--.*?-->")
_EMPHASIS = re.compile(r"(?<!\w)(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>~])")
_NOT_A_HEADING = re.compile(r"\s*(?:$|[|>#]|[-*+]\s|\d+[.)]\s)")


def sections(markdown: str, *, line: int = 1, page: int = 0) -> tuple[Section, ...]:
    """Split at headings; `line` is the number of the first line, 0 where lines mean nothing."""
    out: list[Section] = []
    path: dict[int, str] = {}
    held: list[str] = []
    start = 0
    for number, level, text in _lines(markdown):
        if not level:
            held.append(text)
            continue
        _close(out, held, path, line + start if line else 0, page)
        path = {k: v for k, v in path.items() if k < level}
        path[level] = text
        held, start = [], number + 1
    _close(out, held, path, line + start if line else 0, page)
    return tuple(out)


def first_heading(parts: tuple[Section, ...]) -> str:
    """The heading that the document opens with, if any."""
    return next((s.headings[0] for s in parts if s.headings), "")


def plain(text: str) -> str:
    """One line of Markdown without link targets, pictures, anchors and bold marks."""
    text = _COMMENT.sub("", text)
    text = _IMAGE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _EMPHASIS.sub(r"\2", _TAG.sub(" ", text) if "<" in text else text)
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def table(rows: list[list[str]]) -> str:
    """Rows as a Markdown table; the first row is the header."""
    width = max(len(row) for row in rows)
    lines = [
        "| " + " | ".join(_cell(c) for c in [*row, *[""] * (width - len(row))]) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _cell(value: str) -> str:
    return " ".join(value.split()).replace("|", "\\|")


def _lines(markdown: str) -> Iterator[tuple[int, int, str]]:
    """(number from 0, heading level or 0, text) of each line; a setext pair counts as its rule."""
    fence = ""
    comment = False
    lines = markdown.split("\n")
    for number, text in enumerate(lines):
        found = _FENCE.match(text)
        if fence or found:
            if fence and found and found.group(1).startswith(fence):
                fence = ""
            elif not fence and found:
                fence = found.group(1)
            yield number, 0, text
            continue
        text, comment = _without_comment(text, comment)
        if heading := _ATX.match(text):
            yield number, len(heading.group(1)), plain(heading.group(2) or "").strip()
        elif number + 1 < len(lines) and _opens_setext(text, lines[number + 1]):
            continue
        elif number and (rule := _SETEXT.match(text)) and _opens_setext(lines[number - 1], text):
            yield number, 1 if rule.group(1)[0] == "=" else 2, plain(lines[number - 1]).strip()
        else:
            yield number, 0, plain(text)


def _opens_setext(text: str, below: str) -> bool:
    return bool(_SETEXT.match(below)) and not _NOT_A_HEADING.match(text) and len(text) < 120


def _without_comment(text: str, inside: bool) -> tuple[str, bool]:
    """The line less what a comment over several lines hides; whether it goes on."""
    if inside:
        _, end, text = text.partition("-->")
        if not end:
            return "", True
    text = _COMMENT.sub("", text)
    before, opening, _ = text.partition("<!--")
    return before, bool(opening)


def _close(out: list[Section], held: list[str], path: dict[int, str], line: int, page: int) -> None:
    """Add what was collected, without the blank lines around it; nothing where it is blank."""
    first = next((i for i, text in enumerate(held) if text.strip()), None)
    if first is None:
        return
    text = "\n".join(held[first:]).rstrip()
    headings = tuple(path[level] for level in sorted(path) if path[level])
    out.append(Section(text, headings, page, line + first if line else 0))
