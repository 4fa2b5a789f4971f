"""Overhead of Aether before the first token: route, look in the knowledge base, build the prompt.

    python -m benchmarks.overhead [--passages 10000] [--questions 300]

The model is left out: tokens are estimated, nothing is generated. The knowledge base is a real
LanceDB of passages shuffled from the sentences of the starter notes, in their namespaces. Each
question is also put to the bare pieces, `encode` and one vector search, right before or after, so
that the ratio holds on a busy machine too.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lancedb

from aether.agents import AgentTree, load_tree
from aether.cancel import Cancel
from aether.chunks import indexed
from aether.embed import PACKAGED, SentenceEmbedder
from aether.engine import NOTES
from aether.examples import fit_examples
from aether.lexicon import Lexicon, build_lexicon
from aether.lint import RESOURCES
from aether.protocols import NewFile
from aether.records import Document, ModelInfo, Passage, Question
from aether.sources import SourceLibrary, load_sources
from aether.steps.build import build
from aether.steps.plan import plan
from aether.steps.retrieve import KB_K, WebRules, retrieve
from aether.steps.route import route
from aether.store import TABLE, LanceStore
from aether.text import estimate_tokens, sentences
from benchmarks.report import spread, write
from benchmarks.route import questions

PER_FILE = 8
BATCH = 64  # files that are written together
REACH_MS = 60.0
WINDOW = ModelInfo("none", "", "none", 8192)


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything that stands ready before a question comes."""

    tree: AgentTree
    lexicon: Lexicon
    library: SourceLibrary
    embedder: SentenceEmbedder
    store: LanceStore
    bare: Any  # the same table, opened with LanceDB alone


def pools() -> dict[str, list[str]]:
    """The sentences of the starter notes by namespace."""
    found: dict[str, list[str]] = {}
    for note in sorted(NOTES.glob("*/*.md")):
        text = note.read_text(encoding="utf-8").split("---", 2)[-1]
        own = [s for s in sentences(text) if len(s) > 40 and s[0] not in "|#"]
        found.setdefault(note.parent.name, []).extend(own)
    return found


def files(count: int, embedder: SentenceEmbedder) -> list[list[NewFile]]:
    """Batches of files with `count` passages in all, spread over the namespaces."""
    rng = random.Random(13)
    known = pools()
    spaces = sorted(known)
    batches: list[list[NewFile]] = [[]]
    for number in range(count // PER_FILE):
        space = spaces[number % len(spaces)]
        title = f"Guide {number}"
        passages = tuple(
            Passage(" ".join(rng.sample(known[space], rng.randint(4, 7))), title,
                    f"{title} > Topic {i}", f"line {10 * i + 1}", i)
            for i in range(PER_FILE)
        )  # fmt: skip
        vectors = embedder.encode([indexed(p.title, p.heading, p.text) for p in passages])
        if len(batches[-1]) == BATCH:
            batches.append([])
        batches[-1].append(
            NewFile(f"{number}.md", space, str(number), Document(title, ()), passages, vectors)
        )
    return batches


def prepare(folder: Path, count: int) -> Bench:
    """Load what a running Aether has loaded, and fill the knowledge base."""
    tree = load_tree([Path(RESOURCES / "agents")])
    embedder = SentenceEmbedder(PACKAGED, folder)
    store = LanceStore(str(folder / "kb"), embedder)
    for batch in files(count, embedder):
        store.put(batch)
    store.optimize()
    return Bench(
        tree,
        build_lexicon(tree, fit_examples(tree)),
        load_sources([Path(RESOURCES / "kb" / "sources")], tree),
        embedder,
        store,
        lancedb.connect(str(folder / "kb")).open_table(TABLE),
    )


def whole(text: str, bench: Bench) -> dict[str, float]:
    """Milliseconds of each step for one question, and of all together."""
    question = Question(text, offline=True)
    marks = [time.perf_counter()]
    verdict = route(question, bench.tree, bench.lexicon)
    marks.append(time.perf_counter())
    planned = plan(text, verdict.agent, bench.tree, bench.library)
    found = retrieve(text, planned, None, bench.store, WebRules(), Cancel())
    marks.append(time.perf_counter())
    agent = bench.tree[verdict.agent]
    build(question, text, agent, bench.tree.mandates, found.hits, WINDOW, estimate_tokens)
    marks.append(time.perf_counter())
    steps = zip(("route", "retrieve", "build"), marks, marks[1:], strict=False)
    return {**{name: (b - a) * 1000 for name, a, b in steps}, "all": (marks[-1] - marks[0]) * 1000}


def bare(text: str, bench: Bench) -> float:
    """Milliseconds of `encode` and one vector search over all passages, and nothing else."""
    start = time.perf_counter()
    vector = bench.embedder.encode([text])[0]
    query = bench.bare.search(vector, vector_column_name="vector").distance_type("cosine")
    query.limit(KB_K).to_list()
    return (time.perf_counter() - start) * 1000


def main() -> None:
    """Run it and write results/overhead.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = prepare(Path(name), options.passages)
        asked = questions(bench.tree.examples)[: options.questions]
        for text in asked[:10]:  # threads, caches and the first page of every file
            whole(text, bench)
            bare(text, bench)
        ours: list[dict[str, float]] = []
        pieces: list[float] = []
        for number, text in enumerate(asked):
            if number % 2:
                pieces.append(bare(text, bench))
            ours.append(whole(text, bench))
            if not number % 2:
                pieces.append(bare(text, bench))
        steps = {step: spread([o[step] for o in ours]) for step in ("route", "retrieve", "build")}
        passages = bench.store.stats()["passages"]
    total, alone = spread([o["all"] for o in ours]), spread(pieces)
    write("overhead", {
        "unit": "ms a question, before the first token, the model left out",
        "passages": passages,
        "overhead": total,
        "steps": steps,
        "bare encode and vector search": alone,
        "ratio of medians": round(total["p50"] / alone["p50"], 3),
        "reach": f"p95 under {REACH_MS:.0f} ms",
        "reached": total["p95"] < REACH_MS,
    })  # fmt: skip


if __name__ == "__main__":
    main()
