"""reStructuredText and AsciiDoc: their headings made Markdown's, the rest left as it is."""

from __future__ import annotations

import re
from pathlib import Path

from aether.readers.decode import decode
from aether.readers.outline import first_heading, sections
from aether.records import Document

_ASCIIDOC = {".adoc", ".asciidoc"}
_LISTINGS = {"----", "...."}
_EQUALS = re.compile(r"(={1,6})\s+(\S.*)$")
_ADORNMENT = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_ROLE = re.compile(r":[a-z:+-]+:`(?:~?([^`<]+?))(?:\s*<[^`>]*>)?`")
_NOISE = re.compile(
    r"\.\. (?:_[^:]+|toctree|contents|index|only|meta|image|figure)::?|:[\w-]+:\s*$"
)


def read(path: Path) -> Document:
    """Read an .rst or .adoc file; sections follow its headings."""
    lines = decode(path.read_bytes()).split("\n")
    made = _asciidoc(lines) if path.suffix.lower() in _ASCIIDOC else _rst(lines)
    parts = sections("\n".join(made))
    return Document(title=first_heading(parts) or path.stem, sections=parts)


def _asciidoc(lines: list[str]) -> list[str]:
    out: list[str] = []
    fence = ""
    for line in lines:
        bare = line.rstrip()
        if bare in _LISTINGS and fence in ("", bare):
            fence = "" if fence else bare
            out.append("```")
            continue
        found = None if fence else _EQUALS.match(line)
        out.append(f"{'#' * len(found.group(1))} {found.group(2)}" if found else line)
    return out


def _rst(lines: list[str]) -> list[str]:
    """Title lines with a line of signs below (and perhaps above) as `#`; line numbers stay."""
    out = [_ROLE.sub(r"\1", line) for line in lines]
    levels: list[tuple[str, bool]] = []
    for number in range(1, len(lines)):
        rule = _ADORNMENT.match(lines[number])
        title = lines[number - 1].strip()
        if not rule or not title or _ADORNMENT.match(title) or lines[number - 1][:1] in " |+.":
            continue
        if len(lines[number].rstrip()) < len(title):
            continue
        over = number > 1 and lines[number - 2].rstrip() == lines[number].rstrip()
        style = (rule.group(1), over)
        if style not in levels:
            levels.append(style)
        out[number - 1] = f"{'#' * min(6, levels.index(style) + 1)} {title}"
        out[number] = ""
        if over:
            out[number - 2] = ""
    return ["" if _NOISE.match(line) else line for line in out]
