"""What a real instruction-tuned model makes of the straight line, on the starter notes alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from aether.cancel import Cancel
from aether.claims import cited
from aether.engine import Engine
from aether.events import Delta, Escalated, Event, Finished
from aether.records import Question, Run

pytestmark = [pytest.mark.live, pytest.mark.timeout(3600)]

COVERED = (  # question, the expert it belongs to, the note that covers it
    ("How do I let two VPCs in different accounts talk to each other?", "aws_specialist",
     "vpc-connectivity-across-accounts.md"),
    ("What does IP_SPACE_EXHAUSTED mean in a GKE cluster and how do I fix it?", "gcp_specialist",
     "gke-cluster-networking.md"),
    ("Which tunnel MTU and MSS for the SD-WAN routers of our branches?", "sdwan_wan_specialist",
     "mtu-over-tunnels.md"),
    ("What does FSLogix error 0x00000020 mean?", "end_user_virt_specialist",
     "fslogix-profile-containers.md"),
)  # fmt: skip


def asked(engine: Engine, question: Question) -> tuple[list[Event], Run]:
    events = list(engine.ask(question, Cancel()))
    assert isinstance(events[-1], Finished)
    return events, events[-1].run


@pytest.mark.parametrize(("text", "agent", "note"), COVERED, ids=[c[1] for c in COVERED])
def test_a_covered_question_is_answered_with_citations_and_does_not_climb(
    engine: Engine, text: str, agent: str, note: str
) -> None:
    events, run = asked(engine, Question(text, offline=True))
    assert run.outcome == "answered", (run.confidence, run.answer)
    assert run.agent == agent
    assert [a.agent for a in run.attempts] == [agent]
    assert not any(isinstance(e, Escalated) for e in events)
    assert run.confidence >= run.threshold
    sources = {hit.n: hit.path for hit in run.hits}
    assert any(sources[n].endswith(note) for n in cited(run.answer)), (run.answer, sources)


def test_a_question_that_only_the_parent_can_answer_climbs_once(engine: Engine) -> None:
    question = Question("EKS, AKS or GKE: how do they differ?", agent="aws_specialist",
                        offline=True)  # fmt: skip
    events, run = asked(engine, question)
    climbs = [(e.agent, e.to) for e in events if isinstance(e, Escalated)]
    assert climbs == [("aws_specialist", "cloud_architect")]
    assert (run.outcome, run.agent) == ("answered", "cloud_architect"), (run.confidence, run.answer)
    assert cited(run.answer)


def test_what_no_note_covers_does_not_pass(engine: Engine) -> None:
    question = Question("How do I split the shards of a Kinesis data stream?", offline=True)
    _, run = asked(engine, question)
    assert run.outcome == "low_confidence"
    assert run.confidence < run.threshold


def test_a_server_that_is_killed_mid_answer_keeps_the_text_and_says_so(engine: Engine) -> None:
    question = Question("How do I raise DMARC from none to reject?", offline=True)
    seen: list[str] = []
    run = None
    for event in engine.ask(question, Cancel()):
        if isinstance(event, Delta):
            seen.append(event.text)
            if len("".join(seen)) > 40:
                kill_embedded_server()
        if isinstance(event, Finished):
            run = event.run
    assert run is not None
    assert run.outcome == "failed"
    assert run.answer == "".join(seen).strip()
    assert len(run.answer) > 40
    assert run.error
    assert run.attempts[-1].note.startswith("incomplete")


def kill_embedded_server() -> None:
    for child in embedded_servers():
        with suppress(psutil.NoSuchProcess):
            child.kill()


def embedded_servers() -> Iterator[psutil.Process]:
    for child in psutil.Process().children():
        if any("aether.embedded" in word for word in child.cmdline()):
            yield child
