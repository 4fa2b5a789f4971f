"""The model door at a fake server: opened with short limits, and listened to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aether.cancel import Cancel
from aether.errors import ModelError
from aether.llm import OpenAIModel, open_model
from aether.records import Message, ModelDelta, ModelEnd, Prompt
from aether.settings import LlmSettings, Settings
from tests.fakes.model_server import ModelServer

PROMPT = Prompt(
    (Message("system", "You know networks."), Message("user", "What is a VLAN?")),
    (),
    tokens=12,
    window=8192,
    budget=3000,
)
Open = Callable[..., OpenAIModel]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Open the door at a server with short limits; closed at the end of the test."""
    doors: list[OpenAIModel] = []

    def open_at(server: ModelServer, **llm: Any) -> OpenAIModel:
        limits = {"first_token_s": 20.0, "idle_s": 20.0, "total_s": 30.0, "base_url": server.url}
        settings = Settings(llm=LlmSettings(**(limits | llm)))
        doors.append(open_model(settings, notify=lambda _: None))
        return doors[-1]

    yield open_at
    for door in doors:
        door.close()


def heard(model: OpenAIModel, prompt: Prompt = PROMPT) -> tuple[str, ModelEnd]:
    """The whole answer and its end."""
    *pieces, end = model.stream(prompt, Cancel())
    assert isinstance(end, ModelEnd)
    return "".join(p.text for p in pieces if isinstance(p, ModelDelta)), end


def until_error(model: OpenAIModel, prompt: Prompt = PROMPT) -> tuple[str, ModelError]:
    """What was heard before the error, and the error."""
    text = ""
    try:
        for piece in model.stream(prompt, Cancel()):
            text += piece.text if isinstance(piece, ModelDelta) else ""
    except ModelError as error:
        return text, error
    raise AssertionError(f"no error; heard {text!r}")
