"""A growing answer cut into blocks that will not change any more, and the live rest.

Only the rest is parsed again when more text comes, so that the work is linear in the length: lists
are frozen by item, tables by some rows, code by some lines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aether.gui.markdown import Block, Span, items, render, rows, spans

TABLE_ROWS = 8  # rows of a table that are frozen together
CODE_LINES = 20  # lines of code that are frozen together


@dataclass(frozen=True, slots=True)
class _Open:
    """What the unfinished rest continues: lines to put before it, and the count of a list."""

    prefix: str = ""
    lines: int = 0  # lines of the prefix
    joins: bool = False
    start: int = 0  # the number of the next item of an ordered list
    widths: tuple[int, ...] = ()  # of a table's columns


class Stream:
    """Takes an answer in pieces of any size."""

    def __init__(self) -> None:
        self._rest = ""
        self._open = _Open()

    @property
    def pending(self) -> int:
        """Characters that are not final yet."""
        return len(self._rest)

    def feed(self, piece: str) -> None:
        """More text."""
        self._rest += piece

    def advance(self) -> tuple[list[Block], list[Block]]:
        """The blocks that became final since the last call, and those that may still change."""
        text = self._open.prefix + self._rest
        found = spans(text)
        lines = text.splitlines(keepends=True)
        whole = text.count("\n")  # lines that have come to their end
        done: list[Block] = []
        while len(found) > 1 and found[1].first < whole:
            done.append(self._render(found[0], lines))
            self._open = _Open()
            found = found[1:]
        cut = found[0].first if found and not self._open.prefix else 0
        if found and (inner := self._freeze_inside(found[0], lines, whole)):
            more, cut, following = inner
            done += more
            self._keep(lines, cut)
            self._open = following
            live = self._live_after_cut()
        else:
            if done:
                self._keep(lines, cut)
            live = [self._render(s, lines, live=True) for s in found]
        return done, live

    def finish(self) -> list[Block]:
        """The last blocks; the stream is empty afterwards."""
        done, _ = self.advance()
        text = self._open.prefix + self._rest
        lines = text.splitlines(keepends=True)
        done += [self._render(span, lines) for span in spans(text)]
        self._rest, self._open = "", _Open()
        return done

    def _keep(self, lines: list[str], cut: int) -> None:
        self._rest = "".join(lines[cut:])

    def _live_after_cut(self) -> list[Block]:
        text = self._open.prefix + self._rest
        lines = text.splitlines(keepends=True)
        return [self._render(s, lines, live=True) for s in spans(text)]

    def _render(self, span: Span, lines: list[str], live: bool = False) -> Block:
        opened = self._open if span.first == 0 else _Open()
        source = "".join(lines[max(span.first, opened.lines) : span.last])
        made = render(span, source, opened.joins, opened.start, opened.widths)
        if live and made.kind == "diagram":
            made = replace(made, kind="code")  # drawn when it is whole
        return made

    def _freeze_inside(
        self, span: Span, lines: list[str], whole: int
    ) -> tuple[list[Block], int, _Open] | None:
        """Freeze the finished part of a long list, table or code; None where there is none."""
        if span.kind == "fence":
            return self._freeze_code(span, lines, whole)
        starts = rows(span)
        if len(starts) > TABLE_ROWS and starts[TABLE_ROWS] < whole:
            return self._freeze_rows(span, lines, starts[TABLE_ROWS])
        parts = items(span)
        if len(parts) > 1 and parts[-1][0] < whole:
            return self._freeze_items(span, lines, parts)
        return None

    def _freeze_code(
        self, span: Span, lines: list[str], whole: int
    ) -> tuple[list[Block], int, _Open] | None:
        cut = span.first + 1 + CODE_LINES
        token = span.tokens[0]
        closed = span.last - span.first - 1 > token.content.count("\n")
        if token.info.strip().lower() == "mermaid" or closed or cut >= min(whole, span.last):
            return None
        opening = lines[span.first]
        made = self._part("".join(lines[span.first : cut]), self._open.joins)
        return made, cut, _Open(opening, 1, True)

    def _freeze_rows(
        self, span: Span, lines: list[str], cut: int
    ) -> tuple[list[Block], int, _Open]:
        head = "".join(lines[span.first : span.first + 2])
        made = self._part("".join(lines[span.first : cut]), self._open.joins)
        return made, cut, _Open(head, 2, True, widths=made[0].widths)

    def _freeze_items(
        self, span: Span, lines: list[str], parts: list[tuple[int, int]]
    ) -> tuple[list[Block], int, _Open]:
        cut = parts[-1][0]
        first = self._open.start or int(span.tokens[0].attrs.get("start", 1))
        made = self._part("".join(lines[span.first : cut]), False, first)
        ordered = span.kind == "ordered_list_open"
        return made, cut, _Open(start=first + len(parts) - 1 if ordered else 0)

    def _part(self, text: str, joins: bool, start: int = 0) -> list[Block]:
        lines = text.splitlines(keepends=True)
        return [
            render(span, "".join(lines[span.first : span.last]), joins, start, self._open.widths)
            for span in spans(text)
        ]
