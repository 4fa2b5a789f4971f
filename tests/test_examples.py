"""The word weights of the examples: shares, keeping, and questions that the fit has not seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aether.agents import AgentTree
from aether.examples import features, fit_examples, load_examples
from aether.lexicon import Lexicon

UNSEEN = 0.7  # share of held-out example questions whose own class must come first


def test_shares_sum_to_one(lexicon: Lexicon) -> None:
    for text in ("ospf area 0", "", "zzzz qqqq"):
        assert sum(lexicon.model.shares(text).values()) == pytest.approx(1.0)


def test_features_hold_words_pairs_and_pieces() -> None:
    found = features("fortigate tunnel vs mpls")
    assert {"fortigate", "fortigate tunnel", "vs", "~fort"} <= set(found)


def test_nearest_is_an_example_of_its_expert(tree: AgentTree, lexicon: Lexicon) -> None:
    example = tree.examples["wireless_specialist"][0]
    agent, text, near = lexicon.model.nearest(example)
    assert (text in tree.examples[agent], near) == (True, 1.0)


def test_a_torn_file_is_fitted_again(tree: AgentTree, tmp_path: Path, lexicon: Lexicon) -> None:
    path = tmp_path / f"routing-{tree.digest[:16]}.npz"
    path.write_bytes(b"PK torn")
    model = load_examples(tree, tmp_path)
    again = load_examples(tree, tmp_path)
    assert np.array_equal(model.weights, again.weights)
    assert np.array_equal(model.weights, lexicon.model.weights)  # the same fit, byte for byte


def test_held_out_examples_find_their_class(tree: AgentTree) -> None:
    """One fold of five, in blocks of five so that neighbouring phrasings stay together."""
    kept = {a: tuple(t for i, t in enumerate(g) if i // 5 % 5) for a, g in tree.examples.items()}
    held = [(t, a) for a, g in tree.examples.items() for i, t in enumerate(g) if not i // 5 % 5]
    model = fit_examples(replace(tree, examples=kept))
    hits = 0
    for text, agent in held:
        shares = model.shares(text)
        hits += max(shares, key=lambda a: shares[a]) == agent
    assert hits / len(held) >= UNSEEN
