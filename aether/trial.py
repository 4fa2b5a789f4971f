"""A look at the model servers within reach, and one short question to the one in use.

Apart from `doctor.py`, which examines everything: this is what a person does who sets up a server.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from aether.cancel import Cancel
from aether.errors import ModelError
from aether.protocols import Model
from aether.records import Message, ModelDelta, ModelInfo, Prompt
from aether.settings import LlmSettings

QUESTION = "Reply with the single word: ready"
MOST_TOKENS = 24


@dataclass(frozen=True, slots=True)
class Seen:
    """One place where a server may listen: what it would answer with, or why it does not."""

    kind: str
    base_url: str
    model: str = ""
    context: int = 0  # tokens
    note: str = ""
    error: ModelError | None = None

    @property
    def answers(self) -> bool:
        """Whether it has a model to answer with."""
        return bool(self.model)


@dataclass(frozen=True, slots=True)
class Trial:
    """One short question: who answered, what was said, how fast; milliseconds."""

    info: ModelInfo
    said: str
    first_token_ms: float
    total_ms: float
    tokens_per_s: float


def look_around(
    llm: LlmSettings, places: Sequence[tuple[str, str]] | None = None
) -> Iterator[Seen]:
    """Every usual place, one after the other; never raises for what is there."""
    from aether.probe import Probe
    from aether.servers import PLACES, inspect

    anyone = llm.model_copy(update={"model": ""})
    with closing(Probe(anyone)) as probe:
        for kind, base in PLACES if places is None else places:
            try:
                server = inspect(anyone, probe, base, likely=kind)
            except ModelError as error:
                yield Seen(kind, base, error=error)
                continue
            if server is None:
                yield Seen(kind, base)
            else:
                yield Seen(server.kind, base, server.model, server.context, server.note)


def try_model(model: Model, cancel: Cancel) -> Trial:
    """Ask the model one short question; raises ModelError or Cancelled."""
    start = time.perf_counter()
    info = model.info()
    prompt = Prompt(
        (Message("user", QUESTION),), (), 0, info.context, info.context,
        temperature=0.0, max_tokens=MOST_TOKENS,
    )  # fmt: skip
    words: list[str] = []
    first = speed = 0.0
    for item in model.stream(prompt, cancel):
        if isinstance(item, ModelDelta):
            first = first or (time.perf_counter() - start) * 1000
            words.append(item.text)
        else:
            speed = item.usage.tokens_per_s
    total = (time.perf_counter() - start) * 1000
    return Trial(info, "".join(words).strip(), first, total, speed)
