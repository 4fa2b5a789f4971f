"""Conversations on disk: the last whole turn, whatever crashed, was stopped or was torn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aether.conversations import (
    Exchange,
    add_exchange,
    after,
    kept,
    last_turn,
    read_exchanges,
    retract,
    words_path,
)
from aether.errors import AetherError
from aether.events import Delta, Event, Finished, Notice, Planned, Retrieved, Scored
from aether.records import (
    Confidence,
    Hit,
    Outcome,
    Plan,
    Question,
    Retrieval,
    Run,
    Timings,
    Turn,
    Usage,
)

HIT = Hit("text", "Title", "https://x.example", "kb_aws", "kb", 0.5, 1)


def run(name: str, outcome: Outcome = "answered", answer: str = "") -> Run:
    return Run(name, "2026-12-01T00:00:00.000", f"What is {name}?", "aws_specialist",
               answer or f"It is {name} [1].", 0.8, 0.7, outcome, (HIT,), (), Timings(),
               Usage())  # fmt: skip


def say(home: Path, *runs: Run, conversation: str = "c1") -> None:
    for each in runs:
        add_exchange(home, conversation, Exchange(each.question, run=each))


def test_a_new_conversation_has_no_turn(home: Path) -> None:
    assert last_turn(home, "c1") is None
    assert read_exchanges(home, "c1") == ()
    assert not home.exists()


def test_exactly_the_last_turn_comes_back(home: Path) -> None:
    say(home, run("a"), run("b"))
    say(home, run("other"), conversation="c2")
    assert last_turn(home, "c1") == Turn("What is b?", "aws_specialist", "It is b [1].")


@pytest.mark.parametrize("outcome", ["cancelled", "failed", "refused", "clarify"])
def test_what_was_not_answered_is_kept_but_is_no_turn(home: Path, outcome: Outcome) -> None:
    say(home, run("a"), run("b", outcome))
    turn = last_turn(home, "c1")
    assert turn is not None
    assert turn.question == "What is a?"
    assert [e.question for e in read_exchanges(home, "c1")] == ["What is a?", "What is b?"]


def test_low_confidence_is_a_turn(home: Path) -> None:
    say(home, run("a"), run("b", "low_confidence"))
    assert last_turn(home, "c1") == Turn("What is b?", "aws_specialist", "It is b [1].")


def test_what_is_asked_again_replaces_what_was_there(home: Path) -> None:
    say(home, run("a"), run("b"))
    retract(home, "c1", ["b"])
    turn = last_turn(home, "c1")
    assert turn is not None
    assert turn.question == "What is a?"
    assert len(read_exchanges(home, "c1")) == 1


@pytest.mark.parametrize(
    "answer", ["line\u2028separators\x85 and \nnewlines", "half \ud83d", "日本"]
)
def test_any_answer_survives(home: Path, answer: str) -> None:
    say(home, run("a", answer=answer))
    turn = last_turn(home, "c1")
    assert turn is not None
    assert turn.answer == answer


@pytest.mark.parametrize("torn", [b'{"question": "What is b', b"\xff\xfe", b"[1]", b"null", b"{}"])
def test_a_torn_line_costs_itself_alone(home: Path, torn: bytes) -> None:
    say(home, run("a"))
    with words_path(home, "c1").open("ab") as out:
        out.write(torn)
    turn = last_turn(home, "c1")
    assert turn is not None
    assert turn.question == "What is a?"
    say(home, run("c"))
    turn = last_turn(home, "c1")
    assert turn is not None
    assert turn.question == "What is c?"


def test_an_exchange_comes_back_with_its_tables(home: Path) -> None:
    plan = Plan("aws_specialist", "vpc", ("aws_docs",), ("docs.aws.amazon.com",), ("kb_aws",))
    found = Retrieval((HIT,), "off", "off", "ok", "", 0.6, (("strength", 0.6),))
    sure = Confidence(0.8, "answer", 0.6, 0.7, (("pre", 0.6), ("verified", 0.2)))
    exchange = Exchange("What is a?")
    for event in (
        Planned(plan),
        Retrieved("aws_specialist", found, 0.5),
        Delta("It"),
        Scored("aws_specialist", sure),
        Finished(run("a")),
    ):
        exchange = after(exchange, event)
    add_exchange(home, "c1", exchange)
    (back,) = read_exchanges(home, "c1")
    assert back.scored == sure
    assert back.looks[0].plan == plan
    assert back.run is not None
    assert back.run.hits == (HIT,)


@pytest.mark.parametrize(
    "name", ["", "../x", "a/b", "a\\b", ".hidden", "-x", "a" * 65, "a b", "a\n"]
)
def test_a_name_cannot_leave_the_folder(home: Path, name: str) -> None:
    with pytest.raises(AetherError, match="cannot name a conversation"):
        last_turn(home, name)
    with pytest.raises(AetherError):
        say(home, run("a"), conversation=name)


def test_events_pass_through_and_the_end_is_kept(home: Path) -> None:
    events: list[Event] = [Delta("It"), Delta(" is"), Finished(run("a"))]
    question = Question("What is a?", conversation="c1")
    assert list(kept(home, question, events)) == events
    assert last_turn(home, "c1") is not None


def test_without_a_conversation_nothing_is_kept(home: Path) -> None:
    list(kept(home, Question("What is a?"), [Finished(run("a"))]))
    assert not home.exists()


def test_a_disk_that_refuses_does_not_cost_the_answer(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "conversations").write_text("a file where the folder should be")
    question = Question("What is a?", conversation="c1")
    *before, last = kept(home, question, [Delta("It"), Finished(run("a"))])
    assert last == Finished(run("a"))
    (notice,) = (e for e in before if isinstance(e, Notice))
    assert "cannot be kept" in notice.text


def test_closing_early_closes_what_feeds_it(home: Path) -> None:
    closed: list[Any] = []

    def source() -> Iterator[Event]:
        try:
            yield Delta("one")
            yield Delta("two")
        finally:
            closed.append(True)

    stream = kept(home, Question("q", conversation="c1"), source())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert closed
