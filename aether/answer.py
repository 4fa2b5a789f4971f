"""One answer as it comes in: events of a stream put together, whatever shape the server gives them.

Apart from `llm.py` because no socket is in it: events in, text and at last a ModelEnd out, or the
error that the events amount to.
"""

from __future__ import annotations

import time
from typing import Any, cast

from aether import dialect
from aether.dialect import Quirks
from aether.errors import ModelCut, ModelEmpty, ModelError
from aether.records import ModelEnd, Prompt, Usage
from aether.servers import Server
from aether.thoughts import ThoughtFilter
from aether.wire import Done

_BUSY_S = 0.5  # seconds before a busy server is asked again, doubled each time


class Again(Exception):
    """The server refused before the first word; with `quirks`, or after `wait` s, it may answer."""

    def __init__(self, quirks: Quirks, wait: float, error: ModelError) -> None:
        super().__init__(str(error))
        self.quirks = quirks
        self.wait = wait
        self.error = error


class Answer:
    """The state of one attempt at an answer."""

    def __init__(self, server: Server, prompt: Prompt, quirks: Quirks) -> None:
        self._server = server
        self._prompt = prompt
        self._quirks = quirks
        self._filter = ThoughtFilter()
        self._started = time.perf_counter()
        self._first = self._last = 0.0
        self._pieces = 0
        self._usage: dict[str, Any] = {}
        self._timings: dict[str, Any] = {}
        self._finish = ""
        self._reasoned = False
        self._over = False
        self.begun = False  # a word of the answer has come
        self.lively = False  # the last event held something that the model made

    def take(self, event: dict[str, Any] | Done) -> str:
        """The answer text of one event, often empty; raises Again or ModelError for a refusal."""
        self.lively = False
        if isinstance(event, Done):
            self._over = True
            return ""
        if event.get("error") or event.get("object") == "error":
            raise self.refusal(200, dialect.complaint(event.get("error") or event))
        self._usage = _object(event.get("usage")) or self._usage
        self._timings = _object(event.get("timings")) or self._timings
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices:
            return ""
        choice = _object(cast(list[object], choices)[0])
        self._finish = str(choice.get("finish_reason") or self._finish)
        delta = _object(choice.get("delta")) or _object(choice.get("message"))
        thought = delta.get("reasoning_content") or delta.get("reasoning") or delta.get("thinking")
        self._reasoned = self._reasoned or bool(thought)
        piece = _text(delta.get("content") or choice.get("text"))
        self.lively = bool(piece or thought)
        return self._seen(self._filter.feed(piece)) if piece else ""

    def rest(self) -> str:
        """What was held back as a possible tag and was none."""
        return self._seen(self._filter.finish())

    def refusal(self, status: int, text: str) -> Again | ModelError:
        """What a refusal means: another try, or an error; after the first word always a cut."""
        server = self._server
        if self.begun:
            return ModelCut(
                f"the model server broke off in the middle of the answer: {text[:300]}",
                where=server.base_url,
                advice="ask again, and look at the server's log",
            )
        error = dialect.explain(
            status, text, server=server.kind, where=server.base_url, window=server.context
        )
        if better := dialect.remedy(self._quirks, status, text):
            return Again(better, 0.0, error)
        if dialect.is_busy(status, text):
            return Again(self._quirks, _BUSY_S, error)
        return error

    def end(self) -> ModelEnd:
        """The end record; raises ModelEmpty where no word came, ModelCut where no end came."""
        if not self.begun:
            raise self._empty()
        if not (self._over or self._finish):
            raise ModelCut(
                "the model server ended the connection in the middle of the answer",
                where=self._server.base_url,
                advice="ask again, and look at the server's log",
            )
        finish = "length" if self._finish == "length" else "stop"
        return ModelEnd(finish, self._cost(), (self._first - self._started) * 1000)

    def _seen(self, text: str) -> str:
        if text:
            self._last = time.perf_counter()
            self._first = self._first or self._last
            self._pieces += 1
            self.begun = True
        return text

    def _empty(self) -> ModelEmpty:
        if self._reasoned or self._filter.thought:
            return ModelEmpty(
                "the model only thought, and did not come to an answer",
                where=self._server.base_url,
                advice="turn thinking off in the server, or choose a model that does not think",
            )
        return ModelEmpty(
            "the model ended its answer without a single word",
            where=self._server.base_url,
            advice="the question with its sources is likely too long for the window that is really "
            f"loaded (Aether counted on {self._server.context} tokens): load the model with a "
            "larger context, or set llm.context",
        )

    def _cost(self) -> Usage:
        made = _number(self._usage.get("completion_tokens")) or self._pieces
        details = _object(self._usage.get("prompt_tokens_details"))
        cached = _number(details.get("cached_tokens")) or _number(self._timings.get("cache_n"))
        seconds = self._last - self._first
        speed = self._timings.get("predicted_per_second")
        if not isinstance(speed, int | float):
            speed = (made - 1) / seconds if seconds > 0 else 0.0
        prompt = _number(self._usage.get("prompt_tokens")) or self._prompt.tokens
        return Usage(prompt, cached, made, round(float(speed), 2))


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def _text(value: object) -> str:
    """Text, or the texts of a list of parts, as some servers send content."""
    if isinstance(value, list):
        return "".join(_text(_object(part).get("text")) for part in cast(list[object], value))
    return value if isinstance(value, str) else ""
