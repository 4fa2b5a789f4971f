"""Finding a model server, and reading what it has loaded.

Apart from `llm.py` because it is knowledge of its own: who listens where, which models are offered,
and where each kind of server tells how large the window is that it really loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

from aether import dialect
from aether.errors import ModelError, ModelNotLoaded, ModelRefused, ModelUnavailable
from aether.probe import SILENT, Probe, Reply, root_of, tidy
from aether.settings import LlmSettings

PLACES = (  # where servers listen unless told otherwise, in the order in which they are tried
    ("lmstudio", "http://127.0.0.1:1234/v1"),
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
)
UNKNOWN_WINDOW = 4096  # tokens; what LM Studio and Ollama load unless told otherwise
_NO_CHAT = re.compile(
    r"embed|rerank|whisper|(?:^|[/_-])(?:bge|gte|e5|minilm|clip|siglip)(?:[/_-]|$)|minilm", re.I
)
_GEMMA = re.compile(r"(?:^|[/:_.-])gemma(?:[-_]?(\d)(?!\d*b))?", re.I)
_BASE = re.compile(r"[-_](?:pt|base)(?:[-_.:]|$)", re.I)
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.M)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers, the model it would use, and the window of it in tokens."""

    base_url: str
    kind: str  # lmstudio, ollama, llama.cpp, vllm, openai
    model: str
    context: int
    note: str = ""
    loading: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """One model of a server; `loaded` is None and `context` 0 where the server does not say."""

    id: str
    loaded: bool | None = None
    context: int = 0


def find_server(
    settings: LlmSettings, probe: Probe, places: Sequence[tuple[str, str]] = PLACES
) -> Server | None:
    """The configured server, else the first of the usual places that has a model; None: nobody.

    Raises ModelUnavailable where the configured server is silent, ModelNotLoaded where servers
    answer but none has a model, ModelRefused where one wants another key.
    """
    if settings.base_url:
        base = tidy(settings.base_url)
        server = inspect(settings, probe, base)
        if server is None:
            raise ModelUnavailable(
                "the model server does not answer",
                where=base,
                advice="start it, or empty llm.base_url so that Aether looks for one itself",
            )
        return server
    with ThreadPoolExecutor(3, thread_name_prefix="find-model") as pool:
        tasks = [pool.submit(_look, settings, probe, kind, base) for kind, base in places]
        found = [task.result() for task in tasks]
    for server in found:
        if isinstance(server, Server):
            return server
    for error in found:
        if isinstance(error, ModelError):
            raise error
    return None


def _look(settings: LlmSettings, probe: Probe, kind: str, base: str) -> Server | ModelError | None:
    try:
        return inspect(settings, probe, base, likely=kind)
    except (ModelNotLoaded, ModelRefused) as error:
        return error


def inspect(settings: LlmSettings, probe: Probe, base: str, likely: str = "") -> Server | None:
    """What the server at `base` would answer with; None where nobody answers. Raises ModelError."""
    reply = probe.ask(f"{base}/models")
    if reply is None:
        return None
    rows = reply.rows()
    if rows is None:
        return _without_list(settings, probe, reply, base, likely)
    kind = _kind(probe, base, rows, likely)
    offers = _OFFERS.get(kind, _plain_offers)(probe, root_of(base), rows)
    chosen = choose(settings.model, offers)
    if chosen is None:
        raise dialect.not_loaded(kind if rows or kind != "openai" else likely, base)
    context = settings.context or chosen.context
    if not context and (window := _WINDOWS.get(kind)):
        context = window(probe, root_of(base), chosen)
    return Server(base, kind, chosen.id, context or UNKNOWN_WINDOW, _note(context, chosen))


def choose(wanted: str, offers: Sequence[Offer]) -> Offer | None:
    """The wanted model, else a loaded one before others, a Gemma before others, newest first."""
    if not offers:
        return None
    if wanted:
        low = wanted.lower()
        for offer in offers:
            name = offer.id.lower()
            if low in (name, name.rsplit("/", 1)[-1]) or name.startswith(f"{low}:"):
                return offer
        return Offer(wanted)  # an alias the server does not list; it will say if it is none
    chat = [offer for offer in offers if not _NO_CHAT.search(offer.id)]
    return max(chat, key=_merit, default=None)


def count(probe: Probe, server: Server, text: str, key: str = "") -> int | None:
    """Tokens of `text` as the server's own tokenizer counts them; None where it has none to ask."""
    root = root_of(server.base_url)
    if server.kind == "vllm":
        body = {"model": server.model, "prompt": text, "add_special_tokens": False}
        reply = probe.ask(f"{root}/tokenize", body, key)
        number = reply.at("count") if reply else None
        return number if isinstance(number, int) else None
    reply = probe.ask(f"{root}/tokenize", {"content": text, "add_special": False}, key)
    tokens = reply.at("tokens") if reply else None
    return len(cast(list[Any], tokens)) if isinstance(tokens, list) else None


def window_of(probe: Probe, base: str, key: str = "") -> int:
    """The window of one slot of a llama.cpp server, in tokens; 0 where it does not say."""
    reply = probe.ask(f"{root_of(base)}/props", key=key)
    return _number(reply.at("default_generation_settings", "n_ctx")) if reply else 0


def _without_list(
    settings: LlmSettings, probe: Probe, reply: Reply, base: str, likely: str
) -> Server | None:
    """A server that gives no list of models: loading, locked, or something else altogether."""
    text = dialect.complaint(reply.data) if reply.data else ""
    context = settings.context or UNKNOWN_WINDOW
    if reply.status == SILENT and (not likely or base in probe.kinds):
        kind = probe.kinds.get(base, "openai")
        return Server(base, kind, settings.model, context, "it is slow to answer", loading=True)
    if reply.status > 0 and dialect.is_busy(reply.status, text):
        note = "it is still loading its model"
        return Server(base, likely or "openai", settings.model, context, note, loading=True)
    if reply.status in (401, 403) and isinstance(reply.data, dict):
        raise dialect.explain(reply.status, text, server=likely, where=base, window=0)
    if likely:  # some other program on that port
        return None
    if reply.status > 0 and settings.model:
        return Server(base, "openai", settings.model, context, _note(settings.context, None))
    raise ModelRefused(
        "what answers there gives no list of models",
        where=base,
        advice="does llm.base_url end in /v1, and does the server speak the OpenAI protocol? "
        "Where it only lacks the list, set llm.model",
    )


def _kind(probe: Probe, base: str, rows: Sequence[Mapping[str, Any]], likely: str) -> str:
    """Which server this is; asked once, because it does not change."""
    owners = {str(row.get("owned_by")) for row in rows}
    if "vllm" in owners or any("max_model_len" in row for row in rows):
        return "vllm"
    if "llamacpp" in owners:
        return "llama.cpp"
    if base not in probe.kinds:
        tests: dict[str, Callable[[Probe, str], bool]] = {
            "lmstudio": _is_lmstudio,
            "ollama": _is_ollama,
            "llama.cpp": lambda probe, root: window_of(probe, root) > 0,
        }
        order = sorted(tests, key=lambda kind: kind != likely)
        kind = next((k for k in order if tests[k](probe, root_of(base))), "openai")
        if kind == "openai":
            return kind
        probe.kinds[base] = kind
    return probe.kinds[base]


def _is_lmstudio(probe: Probe, root: str) -> bool:
    reply = probe.ask(f"{root}/api/v0/models")
    return reply is not None and reply.rows() is not None


def _is_ollama(probe: Probe, root: str) -> bool:
    reply = probe.ask(f"{root}/api/version")
    return reply is not None and isinstance(reply.at("version"), str)


def _plain_offers(probe: Probe, root: str, rows: Sequence[Mapping[str, Any]]) -> list[Offer]:
    names = [str(row["id"]) for row in rows if row.get("id")]
    return [
        Offer(n, None, _number(r.get("max_model_len"))) for n, r in zip(names, rows, strict=False)
    ]


def _lmstudio_offers(probe: Probe, root: str, rows: Sequence[Mapping[str, Any]]) -> list[Offer]:
    reply = probe.ask(f"{root}/api/v0/models")
    native = {str(row.get("id")): row for row in (reply.rows() if reply else None) or ()}
    offers: list[Offer] = []
    for name in dict.fromkeys([*(str(row.get("id")) for row in rows), *native]):
        row = native.get(name, {})
        loaded = row.get("state") == "loaded" if row else None
        listed = any(str(r.get("id")) == name for r in rows)
        if row.get("type") == "embeddings" or not (listed or loaded):
            continue
        context = _number(row.get("loaded_context_length")) if loaded else 0
        offers.append(Offer(name, loaded, context))
    return offers


def _ollama_offers(probe: Probe, root: str, rows: Sequence[Mapping[str, Any]]) -> list[Offer]:
    reply = probe.ask(f"{root}/api/ps")
    running = {str(row.get("name")): row for row in (reply.rows("models") if reply else None) or ()}
    return [
        Offer(name, name in running or None, _number(running.get(name, {}).get("context_length")))
        for name in (str(row.get("id")) for row in rows)
    ]


def _ollama_window(probe: Probe, root: str, offer: Offer) -> int:
    reply = probe.ask(f"{root}/api/show", {"model": offer.id})
    found = _NUM_CTX.search(str(reply.at("parameters") or "")) if reply else None
    return int(found.group(1)) if found else 0


def _llama_offers(probe: Probe, root: str, rows: Sequence[Mapping[str, Any]]) -> list[Offer]:
    offers: list[Offer] = []
    for row in rows:
        status = row.get("status")
        state = cast(dict[str, Any], status).get("value") if isinstance(status, dict) else "loaded"
        offers.append(Offer(str(row.get("id")), state == "loaded"))
    return offers


_OFFERS: Mapping[str, Callable[[Probe, str, Sequence[Mapping[str, Any]]], list[Offer]]] = {
    "lmstudio": _lmstudio_offers,
    "ollama": _ollama_offers,
    "llama.cpp": _llama_offers,
}
_WINDOWS: Mapping[str, Callable[[Probe, str, Offer], int]] = {
    "ollama": _ollama_window,
    "llama.cpp": lambda probe, root, offer: window_of(probe, root),
}


def _merit(offer: Offer) -> tuple[bool, bool, bool, bool, int]:
    gemma = _GEMMA.search(offer.id)
    version = int(gemma.group(1) or 0) if gemma else 0
    instruct = not _BASE.search(offer.id)
    return offer.loaded is not False, gemma is not None, instruct, bool(offer.loaded), version


def _note(context: int, offer: Offer | None) -> str:
    notes: list[str] = []
    if offer is not None and offer.loaded is False:
        notes.append("not loaded yet: the first answer waits for it")
    if not context:
        notes.append(
            f"the server does not tell its window, so {UNKNOWN_WINDOW} tokens are assumed "
            "(llm.context sets it)"
        )
    return "; ".join(notes)


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
