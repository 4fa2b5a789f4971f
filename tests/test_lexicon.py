"""Phrases met in a question: whole, apart, partial, by pattern, and with a typo."""

from __future__ import annotations

import pytest

from aether.agents import AgentTree
from aether.lexicon import Lexicon


def credit(lexicon: Lexicon, text: str, phrase: str, column: str) -> float:
    found = [m.credit for m in lexicon.matches(text)
             if m.phrase.text == phrase and m.phrase.column == column]  # fmt: skip
    return max(found, default=0.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is our spanning tree fine", 1.0),
        ("the tree is spanning two rooms", 0.8),
        ("the tree in the garden of my neighbour has branches spanning the road", 0.0),
        ("a tree", 0.0),
    ],
)
def test_words_of_one_term_must_stand_near(text: str, expected: float, lexicon: Lexicon) -> None:
    assert credit(lexicon, text, "spanning tree", "objects") == expected


def test_matches_carry_their_place(lexicon: Lexicon) -> None:
    starts = {m.phrase.text: m.start for m in lexicon.matches("first ospf and later bgp")}
    assert starts["ospf"] < starts["bgp"]


def test_a_typo_of_a_long_term_is_mended(lexicon: Lexicon) -> None:
    text, pairs = lexicon.mended("the fortigte is down")
    assert pairs == (("fortigte", "fortigate"),)
    assert text == "the fortigte is down fortigate"


@pytest.mark.parametrize("text", ["fortigate", "ec3", "qwertzuiopasdf", ""])
def test_other_words_are_left_alone(text: str, lexicon: Lexicon) -> None:
    assert lexicon.mended(text) == (text, ())


def test_a_shared_phrase_weighs_less(tree: AgentTree, lexicon: Lexicon) -> None:
    owners: dict[tuple[str, ...], set[str]] = {}
    for phrase in lexicon.phrases:
        if phrase.column != "not_when":
            owners.setdefault(phrase.tokens, set()).add(phrase.agent)
    shared = [p for p in lexicon.phrases if p.column != "not_when" and len(owners[p.tokens]) > 1]
    assert shared
    assert all(p.weight == 1 / len(owners[p.tokens]) for p in shared)
