"""Golden cases: questions whose expert, or whose note, was settled by hand.

The cases live in `golden/*.jsonl`, one a line. Routing runs on the experts as they ship,
retrieval on a real LanceDB seeded from the starter notes. What was settled (ownership, pinned,
follow-up) holds case by case; of the rest a few may be missed, which is what the floors allow.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from aether.agents import AgentTree
from aether.embed import SentenceEmbedder
from aether.engine import NOTES
from aether.ingest import seed
from aether.lexicon import Lexicon
from aether.records import Question, Route, Turn
from aether.steps.route import route
from aether.store import LanceStore

GOLDEN = Path(__file__).parent / "golden"
PLAIN = 0.92  # share of the plain questions that must reach the expert who owns them
REFUSED = 0.85  # share of the off-topic questions that must be refused without a model
FOUND = 0.95  # share of the notes that must be found without knowing the namespace
TOP = 5  # passages among which the note must be


def cases(name: str) -> list[dict[str, Any]]:
    lines = (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


ROUTING = cases("routing")
RETRIEVAL = cases("retrieval")


def of_kind(*kinds: str) -> list[Any]:
    return [pytest.param(c, id=c["id"]) for c in ROUTING if c["kind"] in kinds]


def routed(case: dict[str, Any], tree: AgentTree, lexicon: Lexicon) -> Route:
    previous = Turn(**case["previous"]) if "previous" in case else None
    return route(Question(case["question"], previous=previous), tree, lexicon)


def test_every_expert_and_every_namespace_has_golden_cases(tree: AgentTree) -> None:
    owners = Counter(a for c in ROUTING if c["kind"] == "expert" for a in c["agents"][:1])
    spaces = Counter(c["note"].split("/")[0] for c in RETRIEVAL)
    assert {a: owners[a] for a in tree.agents if owners[a] < 4} == {}
    assert {m.namespace for m in tree.agents.values()} == set(spaces)
    assert min(spaces.values()) >= 4


@pytest.mark.parametrize("case", of_kind("ownership", "pinned", "follow-up"))
def test_settled_ownership(case: dict[str, Any], tree: AgentTree, lexicon: Lexicon) -> None:
    found = routed(case, tree, lexicon)
    assert found.agent in case["agents"], found.reason
    assert not found.out_of_domain
    assert found.command == case.get("command")
    if second := case.get("second"):
        assert second in {c.agent for c in found.candidates[:3]}, found.candidates[:3]


def test_off_topic_is_nobodys(tree: AgentTree, lexicon: Lexicon) -> None:
    off = {c["question"]: routed(c, tree, lexicon) for c in ROUTING if c["kind"] == "off-topic"}
    assert {r.agent for r in off.values() if r.out_of_domain} == {tree.root}
    missed = {question: r.reason for question, r in off.items() if not r.out_of_domain}
    assert len(missed) <= (1 - REFUSED) * len(off), missed


def test_plain_questions_reach_their_expert(tree: AgentTree, lexicon: Lexicon) -> None:
    plain = [c for c in ROUTING if c["kind"] == "expert"]
    missed = {
        c["id"]: (found.agent, found.decision)
        for c in plain
        if (found := routed(c, tree, lexicon)).agent not in c["agents"]
    }
    assert len(missed) <= (1 - PLAIN) * len(plain), missed


def test_no_plain_question_is_refused(tree: AgentTree, lexicon: Lexicon) -> None:
    plain = [c for c in ROUTING if c["kind"] == "expert"]
    assert [c["id"] for c in plain if routed(c, tree, lexicon).out_of_domain] == []


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> LanceStore:
    """A real knowledge base that holds the starter notes, made once."""
    folder = tmp_path_factory.mktemp("golden")
    embedder = SentenceEmbedder("all-MiniLM-L6-v2", folder)
    store = LanceStore(str(folder / "kb"), embedder)
    seed(NOTES, store, embedder)
    return store


def found_in(store: LanceStore, case: dict[str, Any], namespaces: tuple[str, ...]) -> bool:
    hits = store.search(case["question"], namespaces, TOP)
    return any(hit.path.endswith(case["note"]) for hit in hits)


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in RETRIEVAL])
def test_an_expert_finds_the_own_note(case: dict[str, Any], notes: LanceStore) -> None:
    assert found_in(notes, case, (case["note"].split("/")[0],))


@pytest.mark.slow
def test_notes_are_found_among_all(notes: LanceStore) -> None:
    missed = [c["id"] for c in RETRIEVAL if not found_in(notes, c, ())]
    assert len(missed) <= (1 - FOUND) * len(RETRIEVAL), missed
