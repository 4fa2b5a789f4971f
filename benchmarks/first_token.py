"""First token of the embedded model: each expert asked once cold, then once more warm.

    python -m benchmarks.first_token

Cold means that the server has never seen this expert's prompt; warm, that it has, and that all
other experts were asked since. Two rounds, each on a server of its own: every persona with a bare
question, which is what the prompt cache can save, and a few with passages behind the persona,
which are new in every question and have to be read each time.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aether.agents import AgentTree, load_tree
from aether.cancel import Cancel
from aether.embedded import EmbeddedServer
from aether.lint import RESOURCES
from aether.llm import open_model
from aether.protocols import Model
from aether.records import Hit, ModelDelta, ModelEnd, Prompt, Question
from aether.settings import LlmSettings, Settings
from aether.steps.build import build
from benchmarks.report import spread, write

PASSAGES = 6
PASSAGE_CHARS = 900  # about 200 tokens
SOME = 4  # every fourth expert is asked with passages
REACH = 0.25  # a warm persona's first token against a cold one's


@dataclass(frozen=True, slots=True)
class Asked:
    """One first token: milliseconds, tokens of the prompt, and how many came from the cache."""

    agent: str
    ms: float
    prompt_tokens: int
    cached_tokens: int


def passages(namespace: str, start: int) -> tuple[Hit, ...]:
    """Stretches of the starter notes of a namespace; another `start` gives other words."""
    notes = sorted((RESOURCES / "kb" / "notes" / namespace).glob("*.md"))
    text = "\n".join(path.read_text(encoding="utf-8").split("---", 2)[-1] for path in notes)
    begin = start * PASSAGES * PASSAGE_CHARS
    pieces = (
        text[at : at + PASSAGE_CHARS]
        for at in range(begin, begin + PASSAGES * PASSAGE_CHARS, PASSAGE_CHARS)
    )
    return tuple(
        Hit(piece, "Starter note", "", namespace, "kb", 0.6, n)
        for n, piece in enumerate(pieces, 1)
    )  # fmt: skip


def prompt_for(tree: AgentTree, agent: str, turn: int, model: Model, with_passages: bool) -> Prompt:
    """The prompt that `ask` would build, with room for a few tokens of answer only."""
    text = tree.examples[agent][turn]
    hits = passages(tree[agent].namespace, turn) if with_passages else ()
    prompt = build(Question(text), text, tree[agent], tree.mandates, hits, model.info(),
                   model.count_tokens)  # fmt: skip
    return replace(prompt, max_tokens=4, temperature=0.0)


def first_token(model: Model, agent: str, prompt: Prompt) -> Asked:
    """Ask, and take the time of the first piece that arrives."""
    start = time.perf_counter()
    ms = 0.0
    end = None
    for piece in model.stream(prompt, Cancel()):
        if isinstance(piece, ModelDelta):
            ms = ms or (time.perf_counter() - start) * 1000
        else:
            end = piece
    assert isinstance(end, ModelEnd)
    return Asked(agent, ms, end.usage.prompt_tokens, end.usage.cached_tokens)


@contextmanager
def embedded(home: Path) -> Iterator[Model]:
    """The packaged model on a server of its own, which has read nothing yet."""
    server = EmbeddedServer(Settings(home=home), notify=lambda _: None)
    try:
        url = server.ensure(Cancel())
        llm = LlmSettings(base_url=f"{url}/v1", api_key=server.key)
        model = open_model(Settings(home=home, llm=llm), notify=lambda _: None)
        model.info()
        yield model
        model.close()
    finally:
        server.close()


def round_of(
    tree: AgentTree, agents: Sequence[str], home: Path, with_passages: bool
) -> dict[str, Any]:
    """These experts cold, then warm with another question; the ratio expert by expert."""
    with embedded(home) as model:
        asked = [
            [
                first_token(model, agent, prompt_for(tree, agent, turn, model, with_passages))
                for agent in agents
            ]
            for turn in (0, 1)
        ]
    cold, warm = asked
    ratios = {c.agent: round(w.ms / c.ms, 3) for c, w in zip(cold, warm, strict=True)}
    return {
        "cold_ms": spread([c.ms for c in cold]),
        "warm_ms": spread([w.ms for w in warm]),
        "warm_to_cold": spread(list(ratios.values())),
        "experts": {
            c.agent: {
                "cold_ms": round(c.ms, 1),
                "warm_ms": round(w.ms, 1),
                "ratio": ratios[c.agent],
                "prompt_tokens": [c.prompt_tokens, w.prompt_tokens],
                "cached_tokens": [c.cached_tokens, w.cached_tokens],
            }
            for c, w in zip(cold, warm, strict=True)
        },
    }


def main() -> None:
    """Run both rounds and write results/first_token.json."""
    tree = load_tree([Path(RESOURCES / "agents")])
    with tempfile.TemporaryDirectory() as folder:
        everybody = tuple(tree.agents)
        bare = round_of(tree, everybody, Path(folder), with_passages=False)
        full = round_of(tree, everybody[::SOME], Path(folder), with_passages=True)
    worst = max(expert["ratio"] for expert in bare["experts"].values())
    write("first_token", {
        "unit": "ms to the first token",
        "model": "gemma-3-270m, embedded",
        "reach": f"warm at most {REACH} of cold, every expert, persona and question",
        "reached": worst <= REACH,
        "persona and question": bare,
        f"with {PASSAGES} passages, new in each question": full,
    })  # fmt: skip


if __name__ == "__main__":
    main()
