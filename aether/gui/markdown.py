"""Markdown to blocks that the screen writes and the export prints; what a model writes is inert.

HTML is text, images become words, links keep only http and https, `[2]` is a link to source 2.
Free of Qt, so that export and tests use the same blocks as the screen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from aether.gui.formula import readable

Kind = Literal["text", "table", "code", "diagram"]

_CITE = re.compile(r"\[(\d{1,3})\](?!\()")
_MATH = re.compile(
    r"\\\((?P<a>.{1,2000}?)\\\)|\\\[(?P<b>.{1,2000}?)\\\]|\$\$(?P<c>.{1,2000}?)\$\$"
    r"|\$(?P<d>(?![\s\d]+\s)[^\s$](?:[^$\n]{0,300}[^\s$\\])?)\$(?!\d)",
    re.DOTALL,
)
_FORMULA_SIGN = re.compile(r"[\\^_=<>+*/]|^\w$")
_BARE = re.compile(r"https?://[^\s<>\"'`|\\^{}]+[^\s<>\"'`|\\^{}.,;:!?)\]]")
_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_TASK = re.compile(r"\[( |x|X)\] ")
_LIST_OPEN = ("bullet_list_open", "ordered_list_open")


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of an answer. `source` is the code of a code block, else its Markdown.

    `joins` continues the block before it: more rows of a table, more lines of code. `widths` are
    the per cents of a table's columns, so that further rows stand under the first ones.
    """

    kind: Kind
    tokens: tuple[Token, ...]
    source: str
    language: str = ""
    joins: bool = False
    widths: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """A top-level element: its tokens, and its lines as [first, last)."""

    tokens: tuple[Token, ...]
    first: int
    last: int

    @property
    def kind(self) -> str:
        """The type of the token that opens it."""
        return self.tokens[0].type


class _Renderer(RendererHTML):
    """HTML that a rich-text widget understands, with nothing in it that acts by itself."""

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        content = tokens[idx].content
        return escape(content) if _open_link(tokens[:idx]) else _linked(content)

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        words = escape(token.content or "image")
        return f'<a href="{escape(str(token.attrs.get("src", "")))}">[{words}]</a>'

    def cite(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        number = tokens[idx].content
        return f'<a href="cite:{number}">[{number}]</a>'

    def math(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<code>{escape(readable(tokens[idx].content))}</code>"


def _open_link(tokens: Sequence[Token]) -> bool:
    opened = sum(t.type == "link_open" for t in tokens)
    return opened > sum(t.type == "link_close" for t in tokens)


def _linked(text: str) -> str:
    """Escaped text whose bare web addresses can be clicked."""
    return "".join(
        f'<a href="{escape(part)}">{escape(part)}</a>' if url else escape(part)
        for part, url in addresses(text)
    )


def addresses(text: str) -> list[tuple[str, bool]]:
    """A text cut into words and bare web addresses; True marks an address."""
    out, at = list[tuple[str, bool]](), 0
    for match in _BARE.finditer(text):
        if match.start() > at:
            out.append((text[at : match.start()], False))
        out.append((match.group(), True))
        at = match.end()
    if at < len(text):
        out.append((text[at:], False))
    return out


def _cite_rule(state: StateInline, silent: bool) -> bool:
    match = _CITE.match(state.src, state.pos)
    if not match:
        return False
    if not silent:
        state.push("cite", "", 0).content = match.group(1)
    state.pos = match.end()
    return True


def _math_rule(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "\\$":
        return False
    match = _MATH.match(state.src, state.pos)
    if not match or (match.group("d") and not _FORMULA_SIGN.search(match.group("d"))):
        return False
    if not silent:
        state.push("math", "", 0).content = next(g for g in match.groups() if g is not None).strip()
    state.pos = match.end()
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"])
    parser.disable(["reference", "html_block", "html_inline"])
    parser.validateLink = lambda url: bool(_WEB.match(url))  # type: ignore[method-assign]
    parser.inline.ruler.before("escape", "math", _math_rule)
    parser.inline.ruler.before("link", "cite", _cite_rule)
    return parser


_MD = _parser()


def spans(text: str) -> list[Span]:
    """The top-level elements of a text, in order."""
    found: list[Span] = []
    group: list[Token] = []
    for token in _MD.parse(text):
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            first, last = group[0].map or [0, 0]
            found.append(Span(tuple(group), first, last))
            group = []
    return found


def blocks(text: str) -> tuple[Block, ...]:
    """A whole text as blocks."""
    lines = text.splitlines(keepends=True)
    return tuple(render(s, "".join(lines[s.first : s.last])) for s in spans(text))


def render(
    span: Span, source: str, joins: bool = False, start: int = 0, widths: tuple[int, ...] = ()
) -> Block:
    """The block of one element; `start` renumbers an ordered list that was begun before."""
    token = span.tokens[0]
    if span.kind in ("fence", "code_block"):
        return _code(token, joins)
    if span.kind == "table_open":
        found = widths or column_widths(cells(span.tokens))
        return Block("table", span.tokens, source, "", joins, found)
    tokens = _with_tasks(span.tokens)
    if start and span.kind == "ordered_list_open":
        tokens[0].attrSet("start", str(start))
    return Block("text", tuple(tokens), source)


def html(found: Sequence[Block]) -> str:
    """Blocks as safe HTML, for export."""
    return "".join(_MD.renderer.render(b.tokens, _MD.options, {}) for b in found)


def items(span: Span) -> list[tuple[int, int]]:
    """The lines [first, last) of each item of a list; [] for anything else."""
    if span.kind not in _LIST_OPEN:
        return []
    return [
        (t.map[0], t.map[1])
        for t in span.tokens
        if t.type == "list_item_open" and t.level == 1 and t.map
    ]


def rows(span: Span) -> list[int]:
    """The first line of each body row of a table; [] for anything else."""
    if span.kind != "table_open":
        return []
    return [t.map[0] for t in span.tokens if t.type == "tr_open" and t.map][1:]


Cells = list[list[tuple[Token, str]]]  # rows of cells: the words, and how they are aligned


def cells(tokens: Sequence[Token]) -> Cells:
    """The cells of a table, its head first."""
    out: Cells = []
    for i, token in enumerate(tokens):
        if token.type == "tr_open":
            out.append([])
        elif token.type in ("th_open", "td_open"):
            style = str(token.attrs.get("style", ""))
            out[-1].append((tokens[i + 1], style.rpartition(":")[2]))
    return out


def column_widths(table: Cells) -> tuple[int, ...]:
    """Per cent for each column, from head and first row: rows that come later move nothing."""
    first = table[1] if len(table) > 1 else []
    weights: list[int] = []
    for c, (head, _) in enumerate(table[0]):
        body = len(first[c][0].content) if c < len(first) else 0
        weights.append(min(36, max(8, len(head.content), body)))
    return tuple(round(100 * weight / sum(weights)) for weight in weights)


def _code(token: Token, joins: bool) -> Block:
    language = (token.info.split() or [""])[0].strip("{}.").lower() if token.type == "fence" else ""
    kind: Kind = "diagram" if language == "mermaid" else "code"
    return Block(kind, (token,), token.content.rstrip("\n"), language, joins)


def _with_tasks(tokens: Sequence[Token]) -> list[Token]:
    """Task lists show a box instead of brackets."""
    out = list(tokens)
    for i, token in enumerate(out):
        after_item = i >= 2 and out[i - 2].type == "list_item_open"
        first = token.children[0] if after_item and token.children else None
        if first and first.type == "text" and (match := _TASK.match(first.content)):
            box = "\u2610" if match.group(1) == " " else "\u2611"
            first.content = f"{box} {first.content[match.end() :]}"
    return out
