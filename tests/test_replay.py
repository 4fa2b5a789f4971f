"""A recorded run decided again: the same files give the same, other files are told apart."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest

from aether import cli
from aether.agents import AgentTree
from aether.ask import Kit, ask
from aether.cancel import Cancel
from aether.errors import AetherError, AuditError
from aether.events import Finished
from aether.journal import Journal
from aether.lexicon import Lexicon, build_lexicon
from aether.llm import open_model
from aether.records import Attempt, Hit, Plan, Question, Retrieval, Turn
from aether.replay import candidates_of, hits_of, replay
from aether.runlog import index_of, record_at, run_lines
from aether.settings import LlmSettings, Settings
from aether.sources import SourceLibrary
from aether.steps.audit import audit, read_log
from aether.steps.plan import plan
from aether.steps.retrieve import WebRules
from aether.steps.route import route
from aether.store import LanceStore
from tests.fakes.embedder import WordEmbedder
from tests.fakes.model_server import ModelServer
from tests.kb_fixtures import new_file

QUESTION = "Why does an OSPF neighbour stay in EXSTART?"
PASSAGE = (
    "An OSPF neighbour stays in EXSTART or EXCHANGE when the MTU of the two interfaces differs. "
    "Set the same ip mtu on both sides, or configure ip ospf mtu-ignore."
)
ANSWER = "The MTU of the two interfaces differs, so the OSPF neighbour stays in EXSTART [1]."


@pytest.fixture
def recorded(
    home: Path, tree: AgentTree, lexicon: Lexicon, library: SourceLibrary
) -> dict[str, Any]:
    """One real run over a small knowledge base and a scripted model."""
    embedder = WordEmbedder()
    store = LanceStore(str(home / "kb"), embedder)
    store.put([new_file(embedder, "/kb/ospf.md", PASSAGE, namespace="kb_routing_switching",
                        title="OSPF neighbour EXSTART")])  # fmt: skip
    log = home / "audit" / "runs.jsonl"
    with ModelServer([ANSWER]) as server:
        settings = Settings(home=home, llm=LlmSettings(base_url=server.url))
        with closing(open_model(settings, notify=lambda text: None)) as model:
            kit = Kit(
                tree, lexicon, library, lambda: model, store, None,
                WebRules(), 0.7, lambda record: audit(log, record),
            )  # fmt: skip
            events = list(ask(Question(QUESTION), kit, Cancel()))
    assert isinstance(events[-1], Finished)
    assert events[-1].run.error == ""
    (entry,) = read_log(log)
    assert entry.record is not None
    return entry.record


def test_the_same_files_decide_the_same(
    recorded: dict[str, Any], tree: AgentTree, lexicon: Lexicon, library: SourceLibrary
) -> None:
    done = replay(recorded, tree, lexicon, library, 0.7)
    assert done.differences == ()
    assert done.run == recorded["run"]
    assert done.route.agent == recorded["route"]["agent"]
    assert [p.agent for p in done.plans] == [p["agent"] for p in recorded["plans"]]
    written = [a for a in recorded["attempts"] if a["generated"]]
    assert written
    assert len(done.scores) == len(written)
    for again, then in zip(done.scores, recorded["scores"], strict=True):
        assert again.confidence.value == pytest.approx(then["value"], abs=1e-6)
        assert [c.text for c in again.confidence.claims] == [c["text"] for c in then["claims"]]


def test_other_manifests_and_threshold_are_named(
    recorded: dict[str, Any], tree: AgentTree, lexicon: Lexicon, library: SourceLibrary
) -> None:
    agent = "routing_switching_specialist"
    kept = {a: m for a, m in tree.agents.items() if a != agent}
    poorer = changed(tree, agents=kept)
    found = replay(recorded, poorer, build_lexicon(poorer, lexicon.model), library, 0.5)
    told = {d.what: (d.then, d.now) for d in found.differences}
    assert told["expert"][0] == agent
    assert told["expert"][1] != agent
    assert told["threshold"] == ("0.7", "0.5")
    assert "manifests" in told
    assert told[f"points of {agent}"][1] == "-"


def test_other_sources_are_named(
    recorded: dict[str, Any], tree: AgentTree, lexicon: Lexicon, library: SourceLibrary
) -> None:
    first = recorded["plans"][0]["sources"][0]
    rest = {i: s for i, s in library.sources.items() if i != first}
    found = replay(recorded, tree, lexicon, SourceLibrary(rest, ()), 0.7)
    agent = recorded["plans"][0]["agent"]
    told = {d.what: d for d in found.differences}
    assert first in told[f"sources of {agent}"].then
    assert first not in told[f"sources of {agent}"].now


def test_a_changed_answer_scores_otherwise(
    recorded: dict[str, Any], tree: AgentTree, lexicon: Lexicon, library: SourceLibrary
) -> None:
    for attempt in recorded["attempts"]:
        if attempt["generated"]:
            attempt["answer"] = "OSPF needs 400 GB of memory and version 9.1 of everything [1]."
    found = replay(recorded, tree, lexicon, library, 0.7)
    assert [d.what for d in found.differences if d.what.startswith("confidence")]


def test_a_follow_up_is_routed_with_its_last_turn(
    tree: AgentTree, lexicon: Lexicon, library: SourceLibrary
) -> None:
    before = Turn("How do I peer two VPCs in AWS?", "aws_specialist", "Use VPC peering.")
    question = Question("and what does it cost?", previous=before)
    journal = Journal(question)
    journal.route = route(question, tree, lexicon)
    record = journal.record(journal.run("cancelled", 0.7), tree.digest)
    assert replay(json.loads(json.dumps(record)), tree, lexicon, library, 0.7).differences == ()


def test_an_expert_that_is_gone_is_no_error(
    tree: AgentTree, lexicon: Lexicon, library: SourceLibrary
) -> None:
    record = {
        "run": "r1",
        "question": QUESTION,
        "asked": {"text": QUESTION, "agent": "token_ring_specialist"},
        "route": {"agent": "token_ring_specialist", "candidates": []},
        "plans": [{"agent": "token_ring_specialist"}],
        "attempts": [{"agent": "token_ring_specialist", "generated": True, "answer": "x"}],
        "retrievals": [{"quality": 0.5}],
    }
    found = replay(record, tree, lexicon, library, 0.7)
    assert found.route.agent == "routing_switching_specialist"
    assert "expert" in {d.what for d in found.differences}


def test_a_record_without_a_question_is_refused(
    tree: AgentTree, lexicon: Lexicon, library: SourceLibrary
) -> None:
    with pytest.raises(AetherError, match="no question"):
        replay({"run": "r1", "asked": "?"}, tree, lexicon, library, 0.7)


def test_tables_and_passages_come_back(tree: AgentTree, library: SourceLibrary) -> None:
    rows = candidates_of([{"agent": "a", "score": 3, "parts": {"x": 1.5, "y": 1.5}}, "torn"])
    assert [(r.agent, r.score, r.parts) for r in rows] == [("a", 3.0, (("x", 1.5), ("y", 1.5)))]
    (hit,) = hits_of([{"text": "t", "origin": "web", "n": 2, "score": 0.5}])
    assert hit == Hit("t", "", "", "", "web", 0.5, 2)
    assert hits_of("nothing") == ()


def test_the_verb_prints_what_differs(
    home: Path, tree: AgentTree, lexicon: Lexicon, library: SourceLibrary,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    question = Question(QUESTION)
    journal = Journal(question)
    journal.route = route(question, tree, lexicon)
    planned: Plan = plan(QUESTION, journal.route.agent, tree, library)
    journal.plans.append(planned)
    journal.retrievals.append(Retrieval((), "off", "", "kb_empty", "", 0.0))
    journal.end(Attempt(planned.agent, 0.0, 0.0, generated=False))
    record = journal.record(journal.run("low_confidence", 0.7), tree.digest)
    audit(home / "audit" / "runs.jsonl", {**record, "threshold": 0.9})
    assert cli.main(["audit", "replay", "last", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"what": "threshold", "then": "0.9", "now": "0.7"} in lines
    assert lines[-1]["summary"] == {"run": record["run"], "differences": len(lines) - 1}
    assert cli.main(["audit", "replay", "nobody"]) == 1


def test_runs_are_listed_and_read_whole(home: Path, recorded: dict[str, Any]) -> None:
    log = home / "audit" / "runs.jsonl"
    with log.open("ab") as out:
        out.write(b'{"torn": \n\xff\xfe not utf-8\n[1, 2]\n')
    audit(log, {**recorded, "run": "second", "question": "Other?\nLine two"})
    lines = [line for batch in run_lines(log) for line in batch]
    assert [line.run for line in lines] == [recorded["run"], "second"]
    assert lines[1].question == "Other? Line two"
    assert record_at(log, lines[0]) == recorded
    assert record_at(log, lines[1])["run"] == "second"
    assert [x.run for b in run_lines(log, lines[0].end) for x in b] == ["second"]
    with pytest.raises(AuditError, match="not in its place"):
        record_at(log, changed(lines[0], offset=3))


def test_the_index_is_a_help_and_never_an_authority(home: Path, recorded: dict[str, Any]) -> None:
    log = home / "audit" / "runs.jsonl"
    audit(log, {**recorded, "run": "second"})
    first = [line for batch in run_lines(log) for line in batch]
    index = index_of(log)
    kept = index.read_text()
    assert len(kept.splitlines()) == 2
    audit(log, {**recorded, "run": "third"})
    assert [x.run for b in run_lines(log, first[-1].end) for x in b] == ["third"]
    assert len(index.read_text().splitlines()) == 3
    index.write_text(index.read_text() + kept + '{"torn')  # two windows, one of which crashed
    runs = [recorded["run"], "second", "third"]
    assert [x.run for b in run_lines(log) for x in b] == runs
    log.unlink()
    audit(log, {**recorded, "run": "after the purge"})
    assert [x.run for b in run_lines(log) for x in b] == ["after the purge"]
    assert "second" not in index.read_text()


def test_no_log_is_an_empty_list(home: Path) -> None:
    assert list(run_lines(home / "audit" / "runs.jsonl")) == []
