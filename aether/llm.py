"""The door to the model: any OpenAI-compatible server, or the embedded one.

Here is the conversation with a server: who answers, one streamed answer with its time limits, and
what it cost. Helpers lie beside it: `servers` finds them, `wire` breaks and reads the socket,
`answer` puts events together, `dialect` knows their wordings, `embedded` runs llama.cpp itself.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from aether.answer import Again, Answer
from aether.cancel import Cancel
from aether.dialect import Quirks, complaint, parameters, shape
from aether.embedded import EmbeddedServer
from aether.errors import (
    Cancelled,
    ModelCut,
    ModelError,
    ModelTimeout,
    ModelUnavailable,
)
from aether.models import PACKAGED
from aether.probe import Probe, uses_environment
from aether.records import ModelDelta, ModelEnd, ModelInfo, Prompt, Usage
from aether.servers import PLACES, Server, count, find_server, window_of
from aether.settings import Settings
from aether.text import estimate_tokens
from aether.wire import Limits, Watch, Wire, read_events

if TYPE_CHECKING:
    import openai

TRYOUT_TOKENS = 240  # the packaged model has nothing more to say, but would say it slowly
FRESH_S = 10.0  # seconds for which what is known of the server is not asked again
COUNTED = 512  # texts whose token count is remembered
_PER_MESSAGE = 6  # tokens that a chat template adds to each message, about
_NOBODY = (
    "no model server answers at the usual places (LM Studio 1234, Ollama 11434, llama.cpp 8080)"
)


def open_model(
    settings: Settings,
    *,
    notify: Callable[[str], None],
    places: Sequence[tuple[str, str]] = PLACES,
) -> OpenAIModel:
    """The one language model; nothing is asked or started before the first use.

    `notify` is told, in words, what a person is waiting for. `places` are looked at in order where
    `llm.base_url` is empty: the likely kind of server, and its address.
    """
    return OpenAIModel(settings, notify, places)


class OpenAIModel:
    """protocols.Model over the OpenAI protocol; may be used from several threads."""

    def __init__(
        self,
        settings: Settings,
        notify: Callable[[str], None],
        places: Sequence[tuple[str, str]] = PLACES,
    ) -> None:
        self._settings = settings
        self._places = places
        self._notify = notify
        self._probe = Probe(settings.llm)
        self._embedded = EmbeddedServer(settings, notify)
        self._lock = threading.RLock()
        self._server: Server | None = None
        self._asked = 0.0
        self._quirks: dict[tuple[str, str], Quirks] = {}
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._ratio = 1.0  # real tokens per estimated token, learnt from `usage`

    # --- who answers --------------------------------------------------------------------

    def info(self) -> ModelInfo:
        """Who answers and how large its loaded window is; raises ModelError."""
        server = self._find()
        return ModelInfo(server.model, server.base_url, server.kind, server.context, server.note)

    def _find(self) -> Server:
        with self._lock:
            known = self._server
            if known is not None and time.monotonic() - self._asked < FRESH_S:
                return known
            self._server = None  # a failure is never remembered
            found = find_server(self._settings.llm, self._probe, self._places) or self._own()
            if found.loading and known is not None and known.base_url == found.base_url:
                found = known  # busy with something else, but the same as before
            self._server, self._asked = found, time.monotonic()
            if found.loading:
                self._forget()
            return found

    def _forget(self) -> None:
        """Ask again on the next use."""
        self._asked = -FRESH_S

    def _own(self) -> Server:
        """The embedded server as it is, or as it would be started."""
        try:
            file = self._embedded.describe()
        except ModelUnavailable as error:
            raise ModelUnavailable(
                f"{_NOBODY}, and {error.what}", where=error.where, advice=error.advice
            ) from error
        url = self._embedded.url
        context = window_of(self._probe, url, self._embedded.key) if url else 0
        base = f"{url}/v1" if url else ""
        return Server(base, "embedded", file.id, context or self._embedded.context, file.note)

    def _ready(self, cancel: Cancel) -> Server:
        """Who answers, with the embedded server started where it is its turn."""
        server = self._find()
        if server.kind != "embedded":
            return server
        base = f"{self._embedded.ensure(cancel)}/v1"
        if server.base_url != base:
            self._forget()
        return replace(server, base_url=base)

    # --- tokens ---------------------------------------------------------------------------

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`: by the server's tokenizer where it has one, else estimated.

        The estimate is `text.estimate_tokens` times what `usage` has taught (0.5 to 2).
        """
        if not text:
            return 0
        try:
            server = self._find()
        except ModelError:  # an estimate will do; whoever generates hears the error
            server = None
        number = self._counted(server, text) if server is not None else None
        return number or max(1, round(estimate_tokens(text) * self._ratio))

    def _counted(self, server: Server, text: str) -> int | None:
        if server.kind not in ("llama.cpp", "vllm", "embedded") or not server.base_url:
            return None  # the embedded server is not started for a count: Stop could not break it
        key = (f"{server.kind} {server.model}", text)
        with self._lock:
            if key in self._counts:
                self._counts.move_to_end(key)
                return self._counts[key]
        number = count(self._probe, server, text, self._key(server))
        if number is not None:
            with self._lock:
                self._counts[key] = number
                while len(self._counts) > COUNTED:
                    self._counts.popitem(last=False)
        return number

    def _learn(self, server: Server, prompt: Prompt, usage: Usage) -> None:
        """Correct the estimate by what the server counted: upwards at once, downwards slowly."""
        guess = sum(estimate_tokens(m.content) for m in prompt.messages)
        real = usage.prompt_tokens - _PER_MESSAGE * len(prompt.messages)
        if guess < 50 or real <= 0 or usage.prompt_tokens > 0.9 * server.context:
            return  # too little to learn from, or a prompt that the server may have cut
        ratio = min(2.0, max(0.5, real / guess))
        with self._lock:
            self._ratio = ratio if ratio > self._ratio else 0.7 * self._ratio + 0.3 * ratio

    # --- one answer -----------------------------------------------------------------------

    def stream(
        self, prompt: Prompt, cancel: Cancel
    ) -> Generator[ModelDelta | ModelEnd, None, None]:
        """Yield pieces of the answer, then one ModelEnd; raises ModelError or Cancelled.

        Stop and every time limit close the socket, so that the server stops too.
        """
        cancel.check()
        server = self._ready(cancel)
        llm = self._settings.llm
        wire = Wire()
        with (
            Watch(wire, Limits(llm.first_token_s, llm.idle_s, llm.total_s)) as watch,
            cancel.on_cancel(lambda: wire.cut(Cancelled())),
        ):
            yield from self._tries(server, prompt, wire, watch, cancel)

    def _tries(
        self, server: Server, prompt: Prompt, wire: Wire, watch: Watch, cancel: Cancel
    ) -> Iterator[ModelDelta | ModelEnd]:
        """Attempts until one is answered; what a server was found to need is remembered."""
        place = (server.kind if server.kind == "embedded" else server.base_url, server.model)
        for tries in itertools.count():
            quirks = self._quirks.get(place, Quirks())
            try:
                yield from self._attempt(server, prompt, quirks, wire, watch)
                return
            except Again as again:
                self._quirks[place] = again.quirks
                self._pause(again, watch, cancel, tries)
            except (ModelError, Cancelled):
                self._forget()
                raise

    def _pause(self, again: Again, watch: Watch, cancel: Cancel, tries: int) -> None:
        """Wait before the next try, but never past the limit for the first token."""
        delay = again.wait * 2 ** min(tries, 4)
        left = watch.first_left
        if delay and not tries:
            self._notify("the model server is busy or still loading its model: waiting for it")
        if delay and cancel.wait(max(0.0, min(delay, left))):
            raise Cancelled
        if delay > left:
            self._forget()
            raise ModelTimeout(
                f"the server was not ready in time: {again.error.what}",
                where=again.error.where,
                advice=again.error.advice,
            )

    def _attempt(
        self, server: Server, prompt: Prompt, quirks: Quirks, wire: Wire, watch: Watch
    ) -> Iterator[ModelDelta | ModelEnd]:
        import httpx2
        import openai

        answer = Answer(server, prompt, quirks)
        try:
            with (
                self._client(server, wire) as client,
                client.chat.completions.create(
                    model=server.model or "default",
                    messages=cast(Any, shape(prompt.messages, merge_system=quirks.merge_system)),
                    stream=True,
                    **parameters(quirks, prompt.temperature, _most(server, prompt)),
                ) as stream,
            ):
                for event in read_events(stream.response.iter_bytes()):
                    wire.check()
                    text = answer.take(event)
                    if answer.lively:
                        watch.token()
                    if text:
                        watch.pause()
                        yield ModelDelta(text)
                        watch.resume()
            wire.check()
        except openai.APIStatusError as error:
            wire.check()
            raise answer.refusal(error.status_code, _words(error.response.text)) from error
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            wire.check()
            raise self._broken(server, answer, wire) from error
        if text := answer.rest():
            yield ModelDelta(text)
        end = answer.end()
        self._learn(server, prompt, end.usage)
        yield end

    def _client(self, server: Server, wire: Wire) -> openai.OpenAI:
        """A client with one connection, which `wire` can break."""
        import httpx2
        import openai

        def prepare(request: httpx2.Request) -> None:
            request.extensions["trace"] = wire.trace
            for name in [n for n in request.headers if n.startswith(("x-stainless", "openai-"))]:
                del request.headers[name]  # a local server need not know the operating system

        llm = self._settings.llm
        wire.check()
        return openai.OpenAI(
            base_url=server.base_url,
            api_key=self._key(server),
            max_retries=0,
            timeout=httpx2.Timeout(llm.total_s, connect=5.0),
            http_client=openai.DefaultHttpxClient(
                trust_env=uses_environment(llm, server.base_url),
                verify=server.base_url.startswith("https:"),
                follow_redirects=False,
                event_hooks={"request": [prepare]},
            ),
        )

    def _key(self, server: Server) -> str:
        own = self._embedded.key if server.kind == "embedded" else ""
        return own or self._settings.llm.api_key or "none"

    def _broken(self, server: Server, answer: Answer, wire: Wire) -> ModelError:
        """What a broken connection means, by when it broke."""
        own = self._embedded.died(1.0) if server.kind == "embedded" else ""
        advice = "ask again" + ("; it is started anew" if own else ", and look at the server's log")
        if answer.begun:
            what = "the connection to the model server broke in the middle of the answer"
            return ModelCut(own or what, where=server.base_url, advice=advice)
        if wire.connected:
            what = "the model server closed the connection before the first word"
            return ModelCut(own or what, where=server.base_url, advice=advice)
        return ModelUnavailable(
            own or "the model server does not answer any more", where=server.base_url, advice=advice
        )

    def close(self) -> None:
        """Let go of sockets and of the embedded server."""
        self._probe.close()
        self._embedded.close()


def _most(server: Server, prompt: Prompt) -> int:
    return min(prompt.max_tokens, TRYOUT_TOKENS) if server.model == PACKAGED else prompt.max_tokens


def _words(body: str) -> str:
    try:
        return complaint(json.loads(body))
    except ValueError:
        return body.strip()
