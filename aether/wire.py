"""The wire to a model server: breaking it from any thread, and reading events off it.

Apart from `llm.py` because it knows nothing of models: a socket that Stop or a time-out may cut,
the watch that holds the three time limits, and server-sent events as local servers really write
them (comments, raw JSON instead of events, a last line that is torn off).
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, cast

from aether.errors import ModelError, ModelRefused, ModelTimeout

MAX_EVENT = 8_000_000  # bytes of one event; a server that sends more is broken


class Wire:
    """The socket of one stream; `cut` breaks a read that blocks in another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.reason: Exception | None = None

    def attach(self, connection: socket.socket) -> None:
        """Take hold of the socket in use; it is broken at once where `cut` came first."""
        with self._lock:
            self._socket = connection
            if self.reason is not None:
                _break(connection)

    def cut(self, reason: Exception) -> None:
        """Break the wire; the first reason is the one that the reader raises."""
        with self._lock:
            self.reason = self.reason or reason
            if self._socket is not None:
                _break(self._socket)

    def check(self) -> None:
        """Raise the reason where the wire was cut."""
        if self.reason is not None:
            raise self.reason

    @property
    def connected(self) -> bool:
        """Whether a connection was made at all."""
        return self._socket is not None

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Listen to the HTTP library: its `trace` extension names each socket as it is opened."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            connection = info["return_value"].get_extra_info("socket")
            if isinstance(connection, socket.socket):
                self.attach(connection)


def _break(connection: socket.socket) -> None:
    # close() does not wake a blocked recv, shutdown() does; the base class's method, because
    # SSLSocket.shutdown() drops its TLS object under the feet of the reader
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to the first token, between tokens, and in all."""

    first_s: float
    idle_s: float
    total_s: float


class Watch:
    """Cuts a wire when a limit passes; a context manager around one generation.

    A socket time-out would not do: servers send keep-alive comments during a silence.
    """

    def __init__(self, wire: Wire, limits: Limits) -> None:
        self._wire = wire
        self._limits = limits
        self._change = threading.Condition()
        self._started = self._seen = time.monotonic()
        self._first = True
        self._waiting = True
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Watch:
        self._thread = threading.Thread(target=self._run, name="model-watch", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        thread = self._thread
        with self._change:
            self._thread = None
            self._change.notify()
        if thread is not None:
            thread.join()

    @property
    def first_left(self) -> float:
        """Seconds that remain for the first token."""
        return self._started + self._limits.first_s - time.monotonic()

    def token(self) -> None:
        """Note that the server is alive; from the first token on, silence is what counts."""
        with self._change:
            self._seen = time.monotonic()
            if self._first:
                self._first = False
                self._change.notify()

    def pause(self) -> None:
        """Stop the clock of silence while whoever asked is busy with a token."""
        with self._change:
            self._waiting = False

    def resume(self) -> None:
        """Wait for the server again."""
        with self._change:
            self._seen = time.monotonic()
            self._waiting = True
            self._change.notify()

    def _run(self) -> None:
        with self._change:
            while self._thread is not None:
                until, error = self._next()
                left = until - time.monotonic()
                if not self._waiting:
                    self._change.wait()
                elif left > 0:
                    self._change.wait(left)
                else:
                    self._wire.cut(error)
                    return

    def _next(self) -> tuple[float, ModelError]:
        limits = self._limits
        end = self._started + limits.total_s
        until = self._started + limits.first_s if self._first else self._seen + limits.idle_s
        if end < until:
            return end, ModelTimeout(
                f"the answer was not finished after {limits.total_s:g} s",
                advice="ask for less, use a smaller model, or raise llm.total_s",
            )
        if self._first:
            return until, ModelTimeout(
                f"the model sent no first word within {limits.first_s:g} s",
                advice="the server may still be loading its model or reading a long prompt: "
                "look at its log, use a smaller model, or raise llm.first_token_s",
            )
        return until, ModelTimeout(
            f"the model fell silent for {limits.idle_s:g} s in the middle of its answer",
            advice="look at the server's log, ask again, or raise llm.idle_s",
        )


@dataclass(frozen=True, slots=True)
class Done:
    """The server's own word that the stream is over (`[DONE]`)."""


def read_events(chunks: Iterable[bytes]) -> Iterator[dict[str, Any] | Done]:
    """Events of a stream as JSON objects; a body that is plain JSON counts as one event.

    Splits at line feeds only: text may hold U+2028, which line readers take for an end of line.
    Raises ModelRefused where the server sends something that is no JSON.
    """
    reader = _Reader()
    for raw in _lines(chunks):
        event = reader.line(raw.decode("utf-8", "replace").rstrip("\r"))
        if event is not None:
            yield event
        if isinstance(event, Done):
            return
    if (event := reader.end()) is not None:
        yield event


class _Reader:
    """The state between two lines of a stream."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._body: list[str] = []
        self._failed = False  # inside an `error` event

    def line(self, line: str) -> dict[str, Any] | Done | None:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            return Done() if value.strip() == "[DONE]" else self._more(value)
        if field == "event":
            self._failed = value.strip() == "error"
        elif not line:
            if self._data:
                raise _garbled("\n".join(self._data))
            self._failed = False
        elif field not in ("", "id", "retry"):
            self._body.append(line)
        return None

    def end(self) -> dict[str, Any] | None:
        if self._data or not self._body:  # a torn last event is a cut, which the caller sees
            return None
        text = "\n".join(self._body)
        event = _event(text, failed=False)
        if event is None:
            raise _garbled(text)
        return event

    def _more(self, value: str) -> dict[str, Any] | None:
        self._data.append(value)
        event = _event("\n".join(self._data), failed=self._failed)
        if event is not None:
            self._data.clear()
        return event


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = bytearray()
    for chunk in chunks:
        rest += chunk
        if b"\n" in chunk:
            *lines, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            yield from lines
        if len(rest) > MAX_EVENT:
            raise _garbled(rest[:200].decode("utf-8", "replace"))
    if rest:
        yield bytes(rest)


def _event(text: str, *, failed: bool) -> dict[str, Any] | None:
    """The JSON object in `text`; None where it is not whole (more lines may follow)."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError:
        return {"error": text} if failed else None
    if not isinstance(value, dict):
        return {"error": text} if failed else {}
    event = cast(dict[str, Any], value)
    return {"error": event} if failed and "error" not in event else event


def _garbled(text: str) -> ModelRefused:
    return ModelRefused(
        f"the model server sent something that is no JSON: {text[:120]!r}",
        advice="does llm.base_url really name an OpenAI-compatible endpoint (it ends in /v1)?",
    )
