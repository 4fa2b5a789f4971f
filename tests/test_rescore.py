"""Confidence of answers that came from elsewhere: untrusted records in, the same formula out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aether.agents import AgentTree
from aether.errors import AetherError
from aether.lexicon import Lexicon
from aether.records import Confidence
from aether.rescore import rescore
from aether.sources import SourceLibrary
from aether.steps.retrieve import WebRules
from tests.line import SURE, lmstudio, open_line, quoting

PEERING = (
    "A VPC peering connection routes traffic between two VPCs with private addresses. "
    "Peering is not transitive. A VPC supports 50 active peering connections by default."
)
GATEWAY = (
    "A transit gateway connects VPCs through a central hub. "
    "A transit gateway supports up to 5,000 attachments."
)
GOOD: dict[str, Any] = {
    "id": "a",
    "question": "How many VPC peering connections does a VPC in AWS support?",
    "answer": "A VPC supports 50 active peering connections by default [1]. "
    "A transit gateway supports up to 5,000 attachments [2].",
    "hits": [
        {"n": 1, "text": PEERING, "source": "kb_aws", "url": "https://x.example/1",
         "origin": "kb", "score": 0.58},
        {"n": 2, "text": GATEWAY, "source": "kb_aws", "url": "https://x.example/2",
         "origin": "kb", "score": 0.52},
    ],
}  # fmt: skip


@pytest.fixture
def sure(tree: AgentTree, lexicon: Lexicon) -> Any:
    def scored(**changes: Any) -> Confidence:
        return rescore({**GOOD, **changes}, tree, lexicon, 0.7)

    return scored


def test_a_sound_answer_passes(sure: Any) -> None:
    found = sure()
    assert found.verdict == "answer"
    assert [c.verdict for c in found.claims] == ["supported", "supported"]


def test_shuffled_passages_do_not(sure: Any) -> None:
    one, two = GOOD["hits"]
    shuffled = [{**one, "text": two["text"]}, {**two, "text": one["text"]}]
    assert sure(hits=shuffled).value < 0.7 < sure().value


@pytest.mark.parametrize(
    ("old", "new"),
    [("50 active", "5 active"), ("5,000", "50,000"), ("[1]", "[9]"), ("[2]", ""), ("VPC", "vNet")],
)
def test_damage_lowers_confidence(sure: Any, old: str, new: str) -> None:
    assert sure(answer=GOOD["answer"].replace(old, new)).value < sure().value


def test_the_best_pre_of_the_chain_is_carried(sure: Any) -> None:
    weak = [{**hit, "score": 0.3} for hit in GOOD["hits"]]
    assert sure(hits=weak).value < sure(hits=weak, best_pre=0.6).value


def test_a_hit_without_a_score_is_middling(sure: Any) -> None:
    bare = [{k: v for k, v in hit.items() if k != "score"} for hit in GOOD["hits"]]
    middling = [{**hit, "score": 0.5} for hit in GOOD["hits"]]
    assert sure(hits=bare) == sure(hits=middling)


def test_passages_of_one_document_do_not_corroborate_each_other(sure: Any) -> None:
    nameless = [{**hit, "url": "", "score": 0.5} for hit in GOOD["hits"]]
    apart = [{**hit, "score": 0.5} for hit in GOOD["hits"]]
    assert sure(hits=nameless).pre < sure(hits=apart).pre


def test_no_hits_is_nought(sure: Any) -> None:
    found = sure(hits=[])
    assert found.value == 0.0
    assert {c.verdict for c in found.claims} == {"uncited"}


def test_a_refusal_is_nought(sure: Any) -> None:
    assert sure(answer="I cannot help with that.").value == 0.0


def test_an_unknown_or_foreign_expert_is_no_fault(sure: Any) -> None:
    assert sure(agent="nobody").value == sure().value
    assert sure(agent="wireless_specialist").value < sure(agent="aws_specialist").value


def test_what_else_stands_in_the_record_is_ignored(sure: Any) -> None:
    assert sure(remark="x", run="y").value == sure().value


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"question": None}, "question"),
        ({"answer": 5}, "answer"),
        ({"hits": "text"}, "hits"),
        ({"hits": [{"n": 1}]}, "hits.0.text"),
        ({"hits": [{"n": 0, "text": "x"}]}, "hits.0.n"),
        ({"hits": [{"n": 1, "text": "x", "origin": "mars"}]}, "hits.0.origin"),
        ({"hits": [{"n": 1, "text": "x", "score": 17.3}]}, "hits.0.score"),
        ({"hits": [{"n": 1, "text": "x", "score": float("nan")}]}, "hits.0.score"),
        ({"best_pre": -1}, "best_pre"),
    ],
)
def test_a_record_that_does_not_fit_names_the_field(
    sure: Any, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(AetherError) as caught:
        sure(**changes)
    assert f"{field}:" in caught.value.what
    assert caught.value.advice


@pytest.mark.parametrize("text", ["", "\x00", "[1]" * 999, "[" * 5000, "\ud83d", "1 " * 3000])
def test_odd_texts_are_harmless(sure: Any, text: str) -> None:
    hits = [{"n": 1, "text": text}]
    for found in (sure(answer=text), sure(question=text), sure(hits=hits)):
        assert 0.0 <= found.value <= 1.0


def test_a_run_scores_again_as_it_scored(
    tree: AgentTree, lexicon: Lexicon, library: SourceLibrary, tmp_path: Path
) -> None:
    with lmstudio(quoting) as server:
        parts = {"tree": tree, "lexicon": lexicon, "library": library, "rules": WebRules()}
        line = open_line(server, parts, tmp_path)
        run = line.ask(SURE)
        line.door.close()
    hits = [
        {"n": h.n, "text": h.text, "source": h.source, "url": h.path, "origin": h.origin,
         "score": h.score} for h in run.hits
    ]  # fmt: skip
    item = {"question": SURE, "agent": run.agent, "answer": run.answer, "hits": hits}
    again = rescore(item, tree, lexicon, run.threshold)
    assert again.value == pytest.approx(run.confidence, abs=0.02)
