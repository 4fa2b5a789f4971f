"""Step five: the answer, cleaned while it streams.

Markers that name no served source are removed before anybody sees them and counted against the
answer; control characters never reach a terminal, and a repeated frame of the prompt ends it.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace

from aether.attribution import Attributor
from aether.cancel import Cancel
from aether.claims import source_numbers
from aether.echo import EchoFilter
from aether.errors import Cancelled, ModelCut, ModelError
from aether.events import Delta
from aether.protocols import Model
from aether.records import Answer, Finish, ModelDelta, Prompt
from aether.text import UNSEEN

_OPENERS, _CLOSERS = "[\u3010\uff3b", "]\u3011\uff3d"
_INSIDE = re.compile(r"[\d\s,;\u2013-]{0,24}\Z")


def generate(model: Model, prompt: Prompt, cancel: Cancel) -> Generator[Delta, None, Answer]:
    """Yield cleaned pieces, return the Answer; what came before a fault or a stop is kept.

    Raises ModelError only where not a single word came.
    """
    shown = _Shown(prompt)
    answer = Answer("", "none")
    pieces = model.stream(prompt, cancel)
    try:
        for piece in pieces:
            if isinstance(piece, ModelDelta):
                if clean := shown.feed(piece.text):
                    yield Delta(clean)
                if over := shown.over(clean):
                    answer = replace(answer, finish=over)
                    break
            else:
                answer = replace(answer, finish=piece.finish, usage=piece.usage,
                                 first_token_ms=piece.first_token_ms)  # fmt: skip
    except Cancelled:
        answer = replace(answer, finish="cancelled")
    except ModelError as error:
        if not shown.text and not isinstance(error, ModelCut):
            raise
        answer = replace(answer, finish="cut", error=str(error))
    finally:
        pieces.close()  # the server stops as well, whoever ended it
    if rest := shown.flush(whole=answer.finish in ("stop", "length")):
        yield Delta(rest)
    return shown.on(answer)


class _Shown:
    """What a person sees of a stream: the filters in order, and the text that came through."""

    def __init__(self, prompt: Prompt) -> None:
        self.text = ""
        self._echo = EchoFilter()
        self._cleaner = CitationCleaner(frozenset(hit.n for hit in prompt.hits))
        self._attributor = Attributor(prompt.hits)

    def feed(self, piece: str) -> str:
        clean = self._attributor.feed(self._cleaner.feed(self._echo.feed(piece)))
        self.text += clean
        return clean

    def flush(self, whole: bool) -> str:
        held = self._cleaner.feed(self._echo.flush()) + self._cleaner.flush()
        rest = self._attributor.feed(held) + self._attributor.flush(whole)
        self.text += rest
        return rest

    def over(self, clean: str) -> Finish | None:
        """Why nothing more is wanted, where that is so."""
        if self._echo.ended:
            return "stop"
        return "loop" if "\n" in clean and goes_round(self.text) else None

    def on(self, answer: Answer) -> Answer:
        return replace(
            answer,
            text=self.text.strip(),
            forged=self._cleaner.forged,
            moved=self._attributor.moved,
            attached=self._attributor.attached,
        )


def goes_round(text: str) -> bool:
    """Whether the end of a text says the same lines for the third time, as small models do.

    Blank and short lines do not count: a table rule or a closing brace may well come often.
    """
    lines = [line.strip() for line in text.split("\n")[:-1]]  # the last is still being written
    long = [line for line in lines[-40:] if len(line) >= 40]
    return bool(long) and long.count(long[-1]) >= 3


class CitationCleaner:
    """Takes text in pieces of any size and gives it back without forged markers.

    A marker may be split over pieces: text is held back from an opening bracket until it closes
    or cannot be a marker any more. Inside back-ticks brackets are code and stay as they are.
    """

    def __init__(self, served: frozenset[int]) -> None:
        self.forged = 0
        self._served = served
        self._space = ""  # a blank held back, because it goes when the marker behind it goes
        self._held = ""
        self._ticks = 0
        self._code = 0  # length of the run of back-ticks that opened the code, 0 outside

    def feed(self, piece: str) -> str:
        """The part of the text so far that is safe to show."""
        return "".join(self._take(char) for char in UNSEEN.sub("", piece))

    def flush(self) -> str:
        """What was held back when the stream ended."""
        return self._release("")

    def _take(self, char: str) -> str:
        self._watch_code(char)
        if self._held:
            return self._continue(char)
        if self._code:
            return self._release(char)
        if char == " ":
            out, self._space = self._space, char
            return out
        if char in _OPENERS:
            self._held = char
            return ""
        return self._release(char)

    def _release(self, more: str) -> str:
        out = self._space + self._held + more
        self._space = self._held = ""
        return out

    def _continue(self, char: str) -> str:
        if char in _CLOSERS:
            held, self._held = self._held, ""
            marker = self._marker(held, char)
            out, self._space = (self._space + marker if marker else ""), ""
            return out
        if char in _OPENERS:
            out = self._release("")
            self._held = char
            return out
        self._held += char
        return "" if _INSIDE.match(self._held[1:]) else self._release("")

    def _marker(self, held: str, closer: str) -> str:
        wanted = source_numbers(held[1:])
        if not wanted:  # an empty box, a year, a date
            return held + closer
        good = [n for n in wanted if n in self._served]
        self.forged += len(wanted) - len(good)
        return "".join(f"[{n}]" for n in good)

    def _watch_code(self, char: str) -> None:
        if char == "`":
            self._ticks += 1
            return
        if self._ticks:
            if not self._code:
                self._code = self._ticks
            elif self._ticks == self._code:
                self._code = 0
            self._ticks = 0
        if char == "\n" and self._code and self._code < 3:
            self._code = 0  # an unclosed inline back-tick does not swallow the rest
