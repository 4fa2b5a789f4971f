"""Routing: milliseconds a question over the shipped example questions, slightly changed.

    python -m benchmarks.route

Compared in the same minute with a plain scan of all phrases (no index), so that a figure means
something on another machine.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from aether.agents import load_tree
from aether.examples import fit_examples
from aether.lexicon import Lexicon, build_lexicon
from aether.lint import RESOURCES
from aether.records import Question
from aether.steps.route import route
from aether.text import tokens
from benchmarks.report import spread, write

COUNT = 400


def questions(tree_examples: dict[str, tuple[str, ...]]) -> list[str]:
    """Example questions with one word dropped, in a fixed shuffle."""
    rng = random.Random(7)
    pool = [q for group in tree_examples.values() for q in group]
    picked = rng.sample(pool, min(COUNT, len(pool)))
    out: list[str] = []
    for question in picked:
        words = question.split()
        if len(words) > 4:
            words.pop(rng.randrange(len(words)))
        out.append(" ".join(words))
    return out


def plain_scan(text: str, lexicon: Lexicon) -> int:
    """Every phrase looked up in the text one by one: what the index saves."""
    joined = f" {' '.join(tokens(text))} "
    return sum(f" {' '.join(p.tokens)} " in joined for p in lexicon.phrases)


def main() -> None:
    """Run it and write results/route.json."""
    start = time.perf_counter()
    tree = load_tree([Path(RESOURCES / "agents")])
    loaded = time.perf_counter()
    model = fit_examples(tree)
    fitted = time.perf_counter()
    lexicon = build_lexicon(tree, model)
    built = time.perf_counter()
    asked = questions(tree.examples)
    ours: list[float] = []
    scan: list[float] = []
    for text in asked:
        begin = time.perf_counter()
        route(Question(text), tree, lexicon)
        middle = time.perf_counter()
        plain_scan(text, lexicon)
        ours.append((middle - begin) * 1000)
        scan.append((time.perf_counter() - middle) * 1000)
    write("route", {
        "unit": "ms a question",
        "route": spread(ours),
        "phrase scan without index": spread(scan),
        "ratio of medians": round(spread(ours)["p50"] / spread(scan)["p50"], 3),
        "start": {"manifests_ms": round((loaded - start) * 1000), "fit_ms":
                  round((fitted - loaded) * 1000), "index_ms": round((built - fitted) * 1000)},
        "phrases": len(lexicon.phrases), "words": len(model.rows),
    })  # fmt: skip


if __name__ == "__main__":
    main()
