"""A scripted model server over real HTTP on loopback, in the flavours that people run.

    with ModelServer(["First answer.", Reply("Second", cut_after=1)]) as server:
        settings = Settings(llm=LlmSettings(base_url=server.url))
        ...
        assert server.requests[0].question == "What is a VLAN?"

A reply is text (streamed by words), a `Reply`, or what `replies(request)` returns; the last one of
a list repeats. Everything may be changed while it runs: `replies`, `models`, `loading`.
"""

from __future__ import annotations

import json
import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.flavours import FakeModel, tells, tokens_of

Event = dict[str, Any] | bytes  # a JSON event, or raw bytes put on the wire as they are


@dataclass(frozen=True)
class Reply:
    """One scripted answer; everything but `text` is for the odd ones."""

    text: str = ""  # streamed by words
    per_s: float = 0.0  # words a second, steadily; 0 for as fast as possible
    delay_s: float = 0.0  # silence before the first word
    late_headers: bool = False  # the silence comes before the HTTP headers
    hold_after: int | None = None  # after so many words: silence until `release()`
    cut_after: int | None = None  # after so many words: the connection breaks
    finish: str | None = "stop"
    done: bool = True  # `[DONE]` at the end
    usage: bool | Mapping[str, Any] = True
    reasoning: str = ""  # thoughts, sent first in `reasoning_field`
    reasoning_field: str = "reasoning_content"
    events: Sequence[Event] | None = None  # the whole stream, instead of all of the above
    status: int = 200
    body: Any = None  # a JSON body (or text) instead of a stream
    headers: Mapping[str, str] = field(default_factory=dict)
    chunked: bool = True  # False: the end of the connection is the end of the answer


class Request:
    """One chat request as it came in, and what became of it."""

    def __init__(self, handler: _Handler, body: dict[str, Any]) -> None:
        self.body = body
        self.headers = dict(handler.headers)
        self.connection = handler.connection
        self.closed = threading.Event()  # the client closed the connection before the end
        self.over = threading.Event()  # served, one way or another
        self.closed_before_next: bool | None = None  # as seen when the next request came in

    @property
    def messages(self) -> list[dict[str, str]]:
        return self.body["messages"]

    @property
    def roles(self) -> list[str]:
        return [m["role"] for m in self.messages]

    @property
    def prompt(self) -> str:
        """Everything that the model is given, as one text."""
        return "\n\n".join(m["content"] for m in self.messages)

    @property
    def question(self) -> str:
        """The last user message."""
        return next(m["content"] for m in reversed(self.messages) if m["role"] == "user")


Script = Sequence[str | Reply] | Callable[[Request], str | Reply]


class ModelServer:
    """The server; a context manager. `flavour`: lmstudio, ollama, llama.cpp, vllm or openai."""

    def __init__(
        self,
        replies: Script = ("An answer.",),
        *,
        flavour: str = "openai",
        models: Sequence[FakeModel | str] = ("gemma-3-4b-it",),
        key: str = "",
        port: int = 0,
    ) -> None:
        self.replies = replies
        self.flavour = flavour
        self.models = [FakeModel(m) if isinstance(m, str) else m for m in models]
        self.key = key
        self.loading = False  # 503 on everything, as llama.cpp while it loads
        self.mute = False  # the list of models is not answered, as by servers that generate
        self.requests: list[Request] = []  # chat requests, in order of arrival
        self.asked: list[str] = []  # every path
        self.released = threading.Event()
        self._port = port
        self._served = 0
        self.lock = threading.Lock()
        self._http: _Server | None = None
        self._thread = threading.Thread()

    def __enter__(self) -> ModelServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def port(self) -> int:
        return self._port

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        """For `llm.base_url`."""
        return f"{self.root}/v1"

    def start(self) -> None:
        """Listen, on the same port as before after a `stop()`."""
        self.released.clear()
        self._http = _Server(("127.0.0.1", self._port), _Handler)
        self._http.fake = self
        self._port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        """Go away as a killed server does: open answers break off."""
        http, self._http = self._http, None
        if http is None:
            return
        http.gone.set()
        http.shutdown()
        for request in self.requests:
            if not request.over.is_set():
                with suppress(OSError):
                    request.connection.shutdown(socket.SHUT_RDWR)
        http.server_close()
        self._thread.join()

    def release(self) -> None:
        """End every silence of `hold_after`."""
        self.released.set()

    def wait_for_request(self, n: int = 1, timeout_s: float = 10.0) -> Request:
        """The n-th chat request, once it is there."""
        end = time.monotonic() + timeout_s
        while len(self.requests) < n and time.monotonic() < end:
            time.sleep(0.005)
        return self.requests[n - 1]

    def next_reply(self, request: Request) -> Reply:
        if callable(self.replies):
            reply = self.replies(request)
        else:
            with self.lock:
                reply = self.replies[min(self._served, len(self.replies) - 1)]
                self._served += 1
        return Reply(reply) if isinstance(reply, str) else reply


def delta(**fields: Any) -> dict[str, Any]:
    """One ordinary chunk with these fields in its delta."""
    choice = {"index": 0, "delta": fields, "finish_reason": None}
    return {"object": "chat.completion.chunk", "choices": [choice]}


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64
    fake: ModelServer

    def __init__(self, *args: Any) -> None:
        self.gone = threading.Event()
        super().__init__(*args)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A broken connection is what these tests are about; anything else is a fault."""
        import sys

        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(json.loads(raw or b"{}"))

    def _answer(self, body: dict[str, Any]) -> None:
        fake = self.server.fake
        self.close_connection = True
        fake.asked.append(self.path)
        if fake.key and self.headers.get("Authorization") != f"Bearer {fake.key}":
            self._json(401, {"error": {"message": "Invalid API Key", "code": 401}})
        elif fake.loading:
            self._json(503, {"error": {"message": "Loading model", "code": 503}})
        elif self.path == "/v1/chat/completions":
            self._chat(body)
        elif self.path == "/v1/models" and fake.mute:
            self._wait(None)
        elif (told := tells(fake.flavour, fake.models, self.path, body)) is None:
            self._json(404, {"error": {"message": f"no route {self.path}"}})
        else:
            self._json(200, told)

    def _json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        raw = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        kind = "text/plain" if isinstance(value, str) else "application/json"
        for name, text in {"Content-Type": kind, **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(raw)

    def _chat(self, body: dict[str, Any]) -> None:
        fake = self.server.fake
        request = Request(self, body)
        with fake.lock:
            for earlier in fake.requests:
                if earlier.closed_before_next is None:
                    earlier.closed_before_next = earlier.over.is_set() or _closed(
                        earlier.connection
                    )
            fake.requests.append(request)
        try:
            self._reply(fake.next_reply(request), request)
        except OSError:
            request.closed.set()
        finally:
            request.over.set()

    def _reply(self, reply: Reply, request: Request) -> None:
        if reply.late_headers:
            self._wait(reply.delay_s, request)
        if reply.body is not None or reply.status != 200:
            self._json(reply.status, reply.body or {}, reply.headers)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if reply.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        if not reply.late_headers:
            self._wait(reply.delay_s, request)
        if reply.events is not None:
            for event in reply.events:
                self._event(event, reply)
        elif not self._words(reply, request):
            return  # cut
        if reply.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _words(self, reply: Reply, request: Request) -> bool:
        """Stream an ordinary answer; False where the script breaks it off."""
        self._event(delta(role="assistant", content=""), reply)
        for word in _split(reply.reasoning):
            self._event(delta(**{reply.reasoning_field: word}), reply)
        start = time.perf_counter()
        words = _split(reply.text)
        for n, word in enumerate([*words, None]):
            if n == reply.cut_after:
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                return False
            if n == reply.hold_after:
                self._wait(None, request)
            if word is None:
                break
            if reply.per_s:
                self._wait(start + n / reply.per_s - time.perf_counter(), request)
            self._event(delta(content=word), reply)
        for event in _closing(reply, request, len(words)):
            self._event(event, reply)
        return True

    def _event(self, event: Event, reply: Reply) -> None:
        raw = event if isinstance(event, bytes) else f"data: {json.dumps(event)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw) if reply.chunked and raw else raw)

    def _wait(self, seconds: float | None, request: Request | None = None) -> None:
        """Silence: for so long, or until `release()`; a client that goes away ends it."""
        fake, gone = self.server.fake, self.server.gone
        end = None if seconds is None else time.perf_counter() + seconds
        while not gone.is_set() and not (end is None and fake.released.is_set()):
            left = 0.02 if end is None else min(0.02, end - time.perf_counter())
            if left <= 0:
                return
            readable, _, _ = select.select([self.connection], [], [], left)
            if readable and _closed(self.connection):
                raise ConnectionAbortedError
        if gone.is_set():
            raise ConnectionAbortedError


def _closing(reply: Reply, request: Request, made: int) -> Iterator[Event]:
    if reply.finish:
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish}]}
    if isinstance(reply.usage, Mapping):
        yield {"choices": [], "usage": dict(reply.usage)}
    elif reply.usage and request.body.get("stream_options", {}).get("include_usage"):
        read = sum(tokens_of(m["content"]) for m in request.messages)
        yield {"choices": [], "usage": {"prompt_tokens": read, "completion_tokens": made}}
    if reply.done:
        yield b"data: [DONE]\n\n"


def _split(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _closed(connection: socket.socket) -> bool:
    """Whether the other side has closed: end of file, or the connection is no more."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):
        return True
