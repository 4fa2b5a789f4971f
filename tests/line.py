"""The straight line with its real parts: experts, router, LanceDB, model door over HTTP.

Fakes stand at the doors only: a scripted model server, and an embedder without torch.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from aether.agents import AgentTree
from aether.ask import Kit, ask
from aether.cancel import Cancel
from aether.claims import without_markers
from aether.engine import NOTES
from aether.events import Delta, Event, Finished
from aether.ingest import seed
from aether.lexicon import Lexicon
from aether.llm import OpenAIModel, open_model
from aether.records import Hit, Question, Run
from aether.settings import LlmSettings, Settings
from aether.steps.audit import audit
from aether.store import LanceStore
from aether.text import sentences
from tests.fakes.embedder import WordEmbedder
from tests.fakes.flavours import FakeModel
from tests.fakes.model_server import ModelServer, Reply, Request

DIMENSION = 512
SURE = "What is a FSLogix profile container?"  # its notes cover it: passes where it is cited
ROOT_ONLY = "What is our zero trust strategy?"  # only the root has a note on it
OFF_TOPIC = "How do I bake bread?"
SPECIALIST, PARENT, ROOT = (
    "end_user_virt_specialist",
    "digital_workplace_architect",
    "enterprise_architect",
)
UNCITED = "Profiles are stored in a network share. The share must have enough space."


@pytest.fixture(scope="session")
def weights(lexicon: Lexicon, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the example weights that the lexicon was fitted with, for other processes."""
    (kept,) = tmp_path_factory.getbasetemp().glob("weights[0-9]*/routing-*.npz")
    return kept.parent


@lru_cache(maxsize=1)
def starter_kb() -> tuple[LanceStore, tempfile.TemporaryDirectory[str]]:
    """A real LanceDB with the starter notes, made once a run; only read."""
    folder = tempfile.TemporaryDirectory(prefix="aether-kb-")
    embedder = WordEmbedder(DIMENSION)
    store = LanceStore(folder.name, embedder)
    seed(NOTES, store, embedder)
    return store, folder


def sources_in(request: Request) -> dict[int, str]:
    """The numbered passages as the model is given them."""
    found = re.findall(r"^\[(\d+)\] .*\n((?:\|.*\n?)+)", request.question, re.MULTILINE)
    return {int(n): re.sub(r"^\| ?", "", text, flags=re.MULTILINE) for n, text in found}


def quoting(request: Request, most: int = 3) -> str:
    """What an ideal model would say: a sentence of each source, with its number."""
    out: list[str] = []
    for n, text in list(sources_in(request).items())[:most]:
        said = [s for s in sentences(text) if s.endswith(".") and not s.startswith(("#", "-", "|"))]
        out += [f"{s[:-1]} [{n}]." for s in said[:1]]
    if not out:  # nothing but lists: the first item of the first source
        n, text = next(iter(sources_in(request).items()))
        out = [f"{without_markers(sentences(text)[0]).strip('-. ')} [{n}]."]
    return " ".join(out)


def by_expert(tree: AgentTree, **replies: str | Reply | Callable[[Request], str]) -> Any:
    """A script that answers by whose prompt it is given."""

    def reply(request: Request) -> str | Reply:
        system = request.messages[0]["content"]
        for agent, told in replies.items():
            if system.endswith(tree[agent].prompt.strip()):
                return told(request) if callable(told) else told
        raise AssertionError(f"nobody expected {system[-80:]!r}")

    return reply


class Shelf:
    """A knowledge base over a list."""

    def __init__(self, *texts: str, score: float = 0.6, title: str = "A note") -> None:
        self.hits = tuple(
            Hit(text, title, f"https://x.example/{i}", "kb", "kb", score, path=f"{i}.md")
            for i, text in enumerate(texts)
        )
        self.asked: list[str] = []

    def search(self, text: str, namespaces: Sequence[str], k: int) -> tuple[Hit, ...]:
        self.asked.append(text)
        return self.hits


@dataclass
class Line:
    """One straight line at a model server; `ask` runs it to the end."""

    kit: Kit
    log: Path
    door: OpenAIModel

    def events(self, text: str, cancel: Cancel | None = None, **more: Any) -> list[Event]:
        return list(ask(Question(text, **more), self.kit, cancel or Cancel()))

    def ask(self, text: str, **more: Any) -> Run:
        return run_of(self.events(text, **more))

    def with_(self, **changes: Any) -> Line:
        """The same line with other parts in its kit."""
        return replace(self, kit=replace(self.kit, **changes))


def open_line(server: ModelServer | str, kit: dict[str, Any], folder: Path, **llm: Any) -> Line:
    """A line over `server`, writing its audit below `folder`; close its `door`."""
    url = server if isinstance(server, str) else server.url
    limits = {"first_token_s": 20.0, "idle_s": 20.0, "total_s": 60.0, "base_url": url}
    door = open_model(Settings(llm=LlmSettings(**(limits | llm))), notify=lambda _: None)
    log = folder / "audit" / "runs.jsonl"
    parts: dict[str, Any] = {
        "model": lambda: door,
        "store": starter_kb()[0],
        "web": None,
        "threshold": 0.7,
        "write": lambda record: audit(log, record),
    }
    return Line(Kit(**(parts | kit)), log, door)


def lmstudio(replies: Any, context: int = 16_384) -> ModelServer:
    """A scripted server that tells its loaded window as LM Studio does."""
    return ModelServer(
        replies, flavour="lmstudio", models=[FakeModel("gemma-3-4b-it", context=context)]
    )


def run_of(events: Sequence[Event]) -> Run:
    """The run at the end of the events; nothing comes behind it."""
    last = events[-1]
    assert isinstance(last, Finished)
    assert sum(isinstance(e, Finished) for e in events) == 1
    return last.run


def shown(events: Sequence[Event]) -> str:
    """Every word that a person saw."""
    return "".join(e.text for e in events if isinstance(e, Delta))


def names(events: Sequence[Event]) -> list[str]:
    """The names of the events, several deltas as one."""
    out: list[str] = []
    for event in events:
        if event.event != "delta" or out[-1:] != ["delta"]:
            out.append(event.event)
    return out
