"""What servers disagree about: roles, parameters, and the words in which they refuse.

Apart from `llm.py` because it is pure: messages in, messages out; a server's complaint in, our
error or a remedy out. Wordings are those of LM Studio, llama.cpp, Ollama, vLLM and OpenAI.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from aether.errors import ModelError, ModelNotLoaded, ModelOverflow, ModelRefused
from aether.records import Message

_OVERFLOW = re.compile(
    r"n_keep.{0,40}n_ctx"  # LM Studio
    r"|context length of only|context the overflows|reached context length"
    r"|exceeds? the available context size|exceed_context_size"  # llama.cpp
    r"|context size (?:has been|was) exceeded|exceeds? (?:the )?context (?:window|size|length)"
    r"|exceeds? (?:the )?(?:maximum|model'?s) context|exceed context window of"
    r"|maximum context length|context_length_exceeded|maximum model length"  # vLLM, OpenAI
    r"|prompt is too long|input (?:is )?too (?:long|large)|input tokens? exceed",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL = re.compile(
    r"no models? (?:is |are )?(?:currently )?loaded|model[^.]{0,80}not (?:found|loaded)"
    r"|model_not_found|model[^.]{0,80}does not exist|try pulling it first"
    r"|model (?:has been |was )?unloaded|failed to load model",
    re.IGNORECASE,
)
_LOADING = re.compile(r"loading model|model is (?:still )?loading|is being loaded", re.IGNORECASE)
_NO_SYSTEM = re.compile(
    r"system role not supported|system (?:role|message)s? (?:is|are)? ?not (?:supported|allowed)"
    r"|roles must alternate|only (?:the )?user.{0,40}roles? (?:is|are) supported"
    r"|unexpected (?:message )?role.{0,20}system|got system|unsupported role.{0,20}system",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"(?:unknown|unrecogni[sz]ed|unexpected|unsupported|extra|additional|invalid|not permitted)"
    r".{0,30}(?:field|parameter|argument|propert|input|key|option)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Quirks:
    """What one server and model were found to need; remembered as long as the program runs."""

    merge_system: bool = False
    without: frozenset[str] = frozenset()


def shape(messages: Sequence[Message], *, merge_system: bool) -> list[dict[str, str]]:
    """Messages as a chat template takes them: one system message first, then user and assistant
    in turn, beginning with the user; with `merge_system` the system text opens the first user turn.
    """
    told = [m for m in messages if m.content.strip()]
    system = "\n\n".join(m.content for m in told if m.role == "system")
    turns: list[dict[str, str]] = []
    for message in told:
        if message.role == "system":
            continue
        if turns and turns[-1]["role"] == message.role:
            turns[-1]["content"] += "\n\n" + message.content
        else:
            turns.append({"role": message.role, "content": message.content})
    if not turns or turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": "(the conversation so far)"})
    if system and merge_system:
        turns[0]["content"] = f"{system}\n\n{turns[0]['content']}"
    elif system:
        turns.insert(0, {"role": "system", "content": system})
    return turns


def parameters(quirks: Quirks, temperature: float, max_tokens: int) -> dict[str, Any]:
    """The parameters of a request, less those that the server would not take."""
    wanted: dict[str, Any] = {
        "stream_options": {"include_usage": True},
        "temperature": temperature,
        "max_tokens": max_tokens,
    }
    kept = {k: v for k, v in wanted.items() if k not in quirks.without}
    if "max_tokens" in quirks.without:
        kept["max_completion_tokens"] = max_tokens
    return kept


def complaint(value: Any) -> str:
    """The words of an error object, whatever its shape."""
    if isinstance(value, dict):
        data = cast(dict[str, Any], value)
        inner = data.get("error") or data.get("message") or data.get("detail")
        if inner is None:
            return str(data)
        extra = [str(data[k]) for k in ("type", "code") if isinstance(data.get(k), str)]
        return " ".join([complaint(inner), *(f"[{word}]" for word in extra)])
    if isinstance(value, list):
        return "; ".join(complaint(item) for item in cast(list[Any], value))
    return str(value).strip()


def remedy(quirks: Quirks, status: int, text: str) -> Quirks | None:
    """What to do differently on a second try; None where nothing is known to help."""
    if _OVERFLOW.search(text):
        return None
    if not quirks.merge_system and _NO_SYSTEM.search(text):
        return replace(quirks, merge_system=True)
    if status not in (200, 400, 422):
        return None
    for name in ("stream_options", "temperature", "max_tokens"):
        if name in text and name not in quirks.without and (status != 200 or _FOREIGN.search(text)):
            return replace(quirks, without=quirks.without | {name})
    if status in (400, 422) and "stream_options" not in quirks.without and _FOREIGN.search(text):
        return replace(quirks, without=quirks.without | {"stream_options"})
    return None


def is_busy(status: int, text: str) -> bool:
    """Whether waiting may help: a model that is being loaded, or too many requests."""
    if status == 429:
        return "quota" not in text.lower()
    return status == 503 or bool(_LOADING.search(text))


def explain(status: int, text: str, *, server: str, where: str, window: int) -> ModelError:
    """A server's refusal as one of our errors, with advice."""
    short = " ".join(text.split())[:300] or f"HTTP {status}"
    if _OVERFLOW.search(text):
        return ModelOverflow(
            f"the prompt does not fit the loaded window: {short}",
            where=where,
            advice=f"Aether counted on {window} tokens: load the model with a larger context, "
            "or set llm.context to what is really loaded",
        )
    if _NO_MODEL.search(text):
        return not_loaded(server, where, short)
    if status in (401, 403):
        return ModelRefused(
            f"the model server wants another key: {short}",
            where=where,
            advice="set llm.api_key to the key that the server was started with",
        )
    advice = "look at the server's log"
    if status in (404, 405):
        advice = "does llm.base_url end in /v1, and does the server speak the OpenAI protocol?"
    elif is_busy(status, text):
        advice = "wait a moment and ask again"
    return ModelRefused(f"the model server refused: {short}", where=where, advice=advice)


def not_loaded(server: str, where: str, detail: str = "") -> ModelNotLoaded:
    """The error of a server that is up but holds no model."""
    advice = {
        "ollama": "fetch a model, for example with `ollama pull gemma3`, then ask again",
        "llama.cpp": "start llama-server with a model (`-m file.gguf`), then ask again",
        "vllm": "start vLLM with a model, then ask again",
    }.get(server, "load a model in LM Studio (or in your server), then ask again")
    what = "the model server is up, but no model is loaded"
    return ModelNotLoaded(f"{what}: {detail}" if detail else what, where=where, advice=advice)
