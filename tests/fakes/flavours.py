"""What the fake model server tells of itself, in the flavours that people run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FakeModel:
    """A model that the server offers; `loaded` tokens of at most `largest`."""

    id: str
    loaded: bool = True
    context: int = 8192
    largest: int = 131072
    type: str = "llm"


def tokens_of(text: str) -> int:
    """Tokens as this fake counts them: words and marks."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def tells(flavour: str, models: Sequence[FakeModel], path: str, body: dict[str, Any]) -> Any:
    """The JSON answer of an endpoint other than chat; None for 404."""
    if path == "/v1/models":
        return _models(flavour, models)
    tables: dict[str, Callable[[Sequence[FakeModel], dict[str, Any]], Mapping[str, Any]]] = {
        "lmstudio": _lmstudio,
        "ollama": _ollama,
        "llama.cpp": _llama,
        "vllm": _vllm,
    }
    return tables[flavour](models, body).get(path) if flavour in tables else None


def _models(flavour: str, models: Sequence[FakeModel]) -> dict[str, Any]:
    owners = {"llama.cpp": "llamacpp", "vllm": "vllm", "ollama": "library"}
    rows: list[dict[str, Any]] = []
    for model in models:
        row: dict[str, Any] = {"id": model.id, "object": "model"}
        row["owned_by"] = owners.get(flavour, "organization_owner")
        if flavour == "vllm":
            row["max_model_len"] = model.context
        rows.append(row)
    return {"object": "list", "data": rows or (None if flavour == "ollama" else [])}


def _lmstudio(models: Sequence[FakeModel], body: dict[str, Any]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for m in models:
        row: dict[str, Any] = {"id": m.id, "type": m.type, "max_context_length": m.largest}
        row["state"] = "loaded" if m.loaded else "not-loaded"
        if m.loaded:
            row["loaded_context_length"] = m.context
        rows.append(row)
    return {"/api/v0/models": {"object": "list", "data": rows}}


def _ollama(models: Sequence[FakeModel], body: dict[str, Any]) -> dict[str, Any]:
    running = [{"name": m.id, "context_length": m.context} for m in models if m.loaded]
    model = next((m for m in models if m.id == body.get("model")), None)
    show = {"parameters": f"stop  <end_of_turn>\nnum_ctx   {model.context}"} if model else None
    return {
        "/api/version": {"version": "0.13.0"},
        "/api/ps": {"models": running},
        "/api/show": show,
    }


def _llama(models: Sequence[FakeModel], body: dict[str, Any]) -> dict[str, Any]:
    window = models[0].context if models else 0
    return {
        "/props": {"default_generation_settings": {"n_ctx": window}, "total_slots": 1},
        "/tokenize": {"tokens": list(range(tokens_of(str(body.get("content", "")))))},
    }


def _vllm(models: Sequence[FakeModel], body: dict[str, Any]) -> dict[str, Any]:
    number = tokens_of(str(body.get("prompt", "")))
    return {"/tokenize": {"count": number, "tokens": list(range(number))}}
