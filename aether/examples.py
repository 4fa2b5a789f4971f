"""Word weights fitted at load on the example questions of every expert; printable, no embeddings.

Apart from the lexicon because it is the one learnt part of routing: scikit-learn fits it, and what
remains is a table of numbers whose sum anybody can check.
"""

from __future__ import annotations

import os
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from aether.agents import AgentTree
from aether.text import STOP_WORDS, tokens

NOBODY = "out_of_domain"
SHARPNESS = 4.0  # margins of a support vector machine times this, before the softmax
_CONTRAST = frozenset({"vs", "between"})  # stop words that tell a comparison


@dataclass(frozen=True)
class ExampleModel:
    """Linear word weights of the example questions: one row a word, one column an expert."""

    classes: tuple[str, ...]
    rows: Mapping[str, int]
    weights: np.ndarray  # float32, (words, classes)
    bias: np.ndarray  # float32, (classes,)
    idf: np.ndarray  # float32, (words,)
    questions: tuple[tuple[str, str, frozenset[str]], ...]  # (expert, example, its words)

    def shares(self, text: str) -> dict[str, float]:
        """Probability of each class, 0-1, summing to 1 (softmax of the linear scores)."""
        known: dict[int, float] = defaultdict(float)
        for feature in features(text):
            if (row := self.rows.get(feature)) is not None:
                known[row] += 1.0
        score = self.bias.astype(np.float64)
        if known:
            rows = np.fromiter(known, dtype=np.int64)
            values = (1 + np.log([known[r] for r in known])) * self.idf[rows]
            score = score + (values / np.linalg.norm(values)) @ self.weights[rows]
        expo = np.exp(score - score.max())
        return dict(zip(self.classes, (expo / expo.sum()).tolist(), strict=True))

    def nearest(self, text: str) -> tuple[str, str, float]:
        """The nearest example, its expert, and the share of words in common (Jaccard, 0-1)."""
        own = frozenset(t for t in tokens(text) if t not in STOP_WORDS)
        shared = Counter(i for word in own for i in self._by_word.get(word, ()))
        best, near = -1, 0.0
        for i, both in shared.items():
            found = both / (len(own) + len(self.questions[i][2]) - both)
            if found > near or (found == near and i < best):
                best, near = i, found
        agent, example, _ = self.questions[best] if best >= 0 else ("", "", frozenset[str]())
        return agent, example, near

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = defaultdict(list)
        for i, (_, _, theirs) in enumerate(self.questions):
            for word in theirs:
                index[word].append(i)
        return index


def features(text: str) -> list[str]:
    """Words, neighbouring pairs, and the four-letter pieces of long words (for typos)."""
    toks = [t for t in tokens(text) if t not in STOP_WORDS or t in _CONTRAST]
    pairs = [f"{a} {b}" for a, b in zip(toks, toks[1:], strict=False)]
    pieces = [
        f"~{p[i : i + 4]}"
        for t in toks
        if len(t) > 5
        for p in [f"^{t}$"]
        for i in range(len(p) - 3)
    ]
    return toks + pairs + pieces


def fit_examples(tree: AgentTree) -> ExampleModel:
    """Fit a linear model on tf-idf features of all example questions.

    The phrases of the manifests join in as short examples, so a product that is listed but never
    asked about still has a weight. Deterministic: fixed seed, fixed order. About two seconds for
    thirteen experts; `load_examples` keeps the result.
    """
    texts, labels = _training_set(tree)
    bags = [Counter(features(text)) for text in texts]
    frequency: Counter[str] = Counter()
    for bag in bags:
        frequency.update(bag.keys())
    kept = sorted(f for f, n in frequency.items() if n > 1 or " " not in f)
    counts = np.array([frequency[f] for f in kept], dtype=np.float64)
    idf = np.log((1 + len(bags)) / (1 + counts)) + 1
    rows = {feature: i for i, feature in enumerate(kept)}
    classes, weights, bias = _fit(_tfidf(bags, rows, idf), labels)
    return ExampleModel(classes, rows, weights, bias, idf.astype(np.float32), _questions(tree))


def load_examples(tree: AgentTree, folder: Path) -> ExampleModel:
    """The fitted model of these very files, from `folder` where it was kept before.

    A missing, torn or foreign file only costs the time of fitting again.
    """
    path = folder / f"routing-{tree.digest[:16]}.npz"
    try:
        with np.load(path, allow_pickle=False) as kept:
            names = [str(name) for name in kept["rows"]]
            return ExampleModel(
                tuple(str(c) for c in kept["classes"]),
                {name: i for i, name in enumerate(names)},
                kept["weights"],
                kept["bias"],
                kept["idf"],
                _questions(tree),
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        model = fit_examples(tree)
    _keep(model, path)
    return model


def _keep(model: ExampleModel, path: Path) -> None:
    """Write the model beside its final name and rename it, so that no reader meets half a file."""
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as out:
            np.savez(out, rows=np.array(list(model.rows)), classes=np.array(model.classes),
                     weights=model.weights, bias=model.bias, idf=model.idf)  # fmt: skip
        part.replace(path)
        for old in path.parent.glob("routing-*.npz"):
            if old != path:
                old.unlink(missing_ok=True)
    except OSError:  # a full disk must not stop a question; it is fitted again next time
        part.unlink(missing_ok=True)


def _questions(tree: AgentTree) -> tuple[tuple[str, str, frozenset[str]], ...]:
    return tuple(
        (agent, text, frozenset(t for t in tokens(text) if t not in STOP_WORDS))
        for agent, group in tree.examples.items()
        for text in group
    )


def _training_set(tree: AgentTree) -> tuple[list[str], list[str]]:
    pairs = [(text, agent) for agent, group in tree.examples.items() for text in group]
    for agent, manifest in tree.agents.items():
        signals = manifest.routing
        for group in (signals.objects, signals.intents, signals.keywords, signals.use_when):
            pairs += [(text, agent) for text in group]
        pairs += [(f"{manifest.name} {manifest.description}", agent)]
    return [text for text, _ in pairs], [agent for _, agent in pairs]


def _tfidf(bags: Sequence[Counter[str]], rows: Mapping[str, int], idf: np.ndarray) -> Any:
    """Sublinear tf-idf, rows of unit length, as a scipy CSR matrix (bags, words)."""
    # heavy import, needed only while fitting
    from scipy.sparse import csr_matrix  # pyright: ignore

    pairs = [[(rows[f], n) for f, n in bag.items() if f in rows] for bag in bags]
    ends = np.cumsum([0, *(len(bag) for bag in pairs)])
    columns = np.array([row for bag in pairs for row, _ in bag])
    values = (1 + np.log([n for bag in pairs for _, n in bag])) * idf[columns]
    owner = np.repeat(np.arange(len(pairs)), np.diff(ends))
    lengths = np.sqrt(np.bincount(owner, values**2, minlength=len(pairs)))
    return csr_matrix((values / lengths[owner], columns, ends), shape=(len(bags), len(rows)))


def _fit(matrix: Any, labels: list[str]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Class names, weights (words, classes) and bias (classes,), both float32."""
    # heavy import, needed only while fitting
    from sklearn.svm import LinearSVC  # pyright: ignore

    classes = tuple(sorted(set(labels)))
    if len(classes) == 1:
        return classes, np.zeros((matrix.shape[1], 1), np.float32), np.zeros(1, np.float32)
    fitted: Any = LinearSVC(C=0.5, class_weight="balanced", random_state=0)
    fitted.fit(matrix, labels)
    weights, bias = fitted.coef_ * SHARPNESS, fitted.intercept_ * SHARPNESS
    if len(classes) == 2:  # scikit-learn keeps one row for two classes
        weights, bias = np.vstack([-weights / 2, weights / 2]), np.array([-bias[0], bias[0]]) / 2
    return classes, np.ascontiguousarray(weights.T, np.float32), bias.astype(np.float32)
