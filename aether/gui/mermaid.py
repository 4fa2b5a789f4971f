"""Repairs of Mermaid as models write it: the faults that keep a drawing from parsing.

Deterministic and free of Qt; a repair is tried only after the source itself did not parse.
"""

from __future__ import annotations

import re

KINDS = (
    "flowchart", "graph", "sequenceDiagram", "classDiagram", "stateDiagram", "stateDiagram-v2",
    "erDiagram", "gantt", "pie", "mindmap", "timeline", "journey", "gitGraph", "quadrantChart",
    "requirementDiagram", "C4Context", "block-beta", "architecture-beta", "sankey-beta",
    "xychart-beta", "packet-beta", "kanban",
)  # fmt: skip
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u00a0": " "})
_ARROWS = (
    (re.compile(r"[\u2014\u2013]+>"), "-->"),
    (re.compile(r"\u2192"), "-->"),
    (re.compile(r"(?<=[\w\])}])\s+->\s+(?=[\w(\[{])"), " --> "),
    (re.compile(r"\|>\s*(?=[\w(\[{])"), "| "),
    (re.compile(r"--\s*>"), "-->"),
)
# a label between one pair of brackets that is not quoted yet
_LABELS = (
    re.compile(r"(?<=\w)(?P<open>\[)(?P<text>[^\[\]\"]+)(?P<close>\])"),
    re.compile(r"(?<=\w)(?P<open>\{)(?P<text>[^{}\"]+)(?P<close>\})"),
    re.compile(r"(?<=\w)(?P<open>\()(?P<text>[^()\"]+)(?P<close>\))(?!\))"),
)
_NEEDS_QUOTES = re.compile(r"[()\[\]{}:;,/\\@#<>&=+*%']|\bend\b")
_ID_WITH_SPACES = re.compile(
    r"^(\s*)([A-Za-z]\w*(?: \w+)+)(?=\s*-->)|(?<=--> )([A-Za-z]\w*(?: \w+)+)$"
)


def kind_of(source: str) -> str:
    """The kind of diagram, "" where the first line names none."""
    for line in source.splitlines():
        word = line.strip().split(" ")[0]
        if word and not word.startswith(("%%", "---")):
            return word if word in KINDS else ""
    return ""


def repaired(source: str) -> str:
    """The source with the usual faults mended; equal to it where there is nothing to mend."""
    text = re.sub(r"^\s*```(?:mermaid)?\s*\n|\n\s*```\s*$", "", source).translate(_QUOTES)
    text = "\n".join(line.rstrip().removesuffix(";") for line in text.strip("\n").splitlines())
    if not kind_of(text):
        text = ("sequenceDiagram\n" if "->>" in text else "flowchart TD\n") + text
    if kind_of(text) in ("flowchart", "graph"):
        head, _, body = text.partition("\n")
        text = head + "\n" + "\n".join(_flow_line(line) for line in body.splitlines())
        text = _close_subgraphs(text)
    return re.sub(r"<br>", "<br/>", text)


def _flow_line(line: str) -> str:
    if line.lstrip().startswith(("%%", "style ", "classDef ", "class ", "click ", "linkStyle ")):
        return line
    for pattern, arrow in _ARROWS:
        line = pattern.sub(arrow, line)
    line = _ID_WITH_SPACES.sub(_named, line)
    for label in _LABELS:
        line = label.sub(_quoted, line)
    return re.sub(r"(?<![\w\"])end(?=\s*(?:-->|\[|\())|(?<=--> )end$|(?<=\| )end$", "End", line)


def _named(match: re.Match[str]) -> str:
    """A node that is called by several words gets an id, and the words as its label."""
    words = match.group(2) or match.group(3)
    indent = match.group(1) or ""
    if words.split()[0] in ("subgraph", "direction"):
        return match.group()
    ident = re.sub(r"\W+", "_", words)
    return f'{indent}{ident}["{words}"]'


def _quoted(match: re.Match[str]) -> str:
    text = match.group("text").strip()
    if text.startswith(("(", "[", "/", "\\")) or not _NEEDS_QUOTES.search(text):
        return match.group()
    return f'{match.group("open")}"{text}"{match.group("close")}'


def _close_subgraphs(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    missing = sum(x.startswith("subgraph") for x in lines) - lines.count("end")
    return text + "\nend" * max(0, missing)
