"""Conversations on the disk: kept, read again, asked anew, torn by a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from aether.conversations import (
    Exchange,
    Look,
    add_exchange,
    after,
    details_path,
    kept,
    last_turn,
    read_exchanges,
    retract,
    words_path,
)
from aether.errors import AetherError
from aether.events import Delta, Event, Finished, Planned, Retrieved, Routed, Scored
from aether.feedback import add_feedback, read_feedback
from aether.records import (
    Attempt,
    Candidate,
    Claim,
    Confidence,
    Hit,
    Outcome,
    Plan,
    Question,
    Retrieval,
    Route,
    Run,
    Timings,
    Usage,
)
from aether.shelf import Shelf, new_id

HIT = Hit("Timers must agree.", "OSPF", "https://docs.example", "s", "web", 0.7, 1)


def run(number: int, outcome: Outcome = "answered", answer: str = "") -> Run:
    attempts = (Attempt("a", 0.5, 0.8, True, "x", (HIT,)),)
    return Run(f"r{number}", f"2026-05-20T10:00:0{number}+00:00", f"Q{number}", "a",
               answer or f"A{number} [1].", 0.8, 0.7, outcome, (HIT,), attempts,
               Timings(total_ms=12.5), Usage(10, 5, 3, 20.0))  # fmt: skip


def exchange(number: int, outcome: Outcome = "answered") -> Exchange:
    claim = Claim("Ten seconds.", (1,), 0.9, "supported", (("coverage", 0.9),), "Timers")
    scored = Confidence(0.8, "answer", 0.6, 0.7, (("pre", 0.6),), (claim,))
    table = (Candidate("a", 50.0, (("intent", 35.0), ("object", 15.0))),)
    route = Route("route", "a", ("a",), 0.9, "tier3", False, "search", table)
    look = Look("a", Plan("a", "q", ("s",), ("docs.example",), ("kb_a",), table),
                Retrieval((HIT,), "ok", "", "ok", "", 0.7), 0.6, scored)  # fmt: skip
    return Exchange(f"Q{number}", "", route, (look,), run(number, outcome))


def test_what_the_screen_shows_comes_back(home: Path) -> None:
    add_exchange(home, "c", exchange(1))
    (back,) = read_exchanges(home, "c")
    first = exchange(1)
    assert back.route == first.route
    assert back.scored == first.scored
    assert back.run is not None
    assert first.run is not None
    assert back.run.hits == first.run.hits
    assert back.run.usage == first.run.usage
    assert back.looks[0].plan == first.looks[0].plan
    assert back.looks[0].retrieval is not None
    assert back.looks[0].retrieval.hits == ()  # kept once, with the run


def test_events_make_an_exchange() -> None:
    whole = exchange(1)
    look = whole.looks[0]
    events: list[Event] = [
        Routed(whole.route), Planned(look.plan), Retrieved("a", look.retrieval, 0.6),
        Delta("A1"), Scored("a", look.scored), Finished(whole.run),
    ]  # type: ignore[list-item]  # fmt: skip
    made = Exchange("Q1")
    for event in events:
        made = after(made, event)
    assert made == whole


def test_kept_passes_everything_on(home: Path) -> None:
    events: list[Event] = [Delta("x"), Finished(run(1))]
    assert list(kept(home, Question("Q1", conversation="c"), events)) == events
    assert [e.question for e in read_exchanges(home, "c")] == ["Q1"]
    assert list(kept(home, Question("Q1"), events)) == events
    assert not (home / "conversations" / ".jsonl").exists()


@pytest.mark.parametrize("outcome", ["cancelled", "failed", "refused"])
def test_only_whole_turns_are_the_last(home: Path, outcome: Outcome) -> None:
    add_exchange(home, "c", exchange(1))
    add_exchange(home, "c", exchange(2, outcome))
    turn = last_turn(home, "c")
    assert turn is not None
    assert (turn.question, turn.agent, turn.answer) == ("Q1", "a", "A1 [1].")
    assert [e.question for e in read_exchanges(home, "c")] == ["Q1", "Q2"]
    assert last_turn(home, "other") is None


def test_what_is_asked_again_is_gone(home: Path) -> None:
    for number in (1, 2, 3):
        add_exchange(home, "c", exchange(number))
    retract(home, "c", ["r2", "r3"])
    assert [e.question for e in read_exchanges(home, "c")] == ["Q1"]
    turn = last_turn(home, "c")
    assert turn is not None
    assert turn.question == "Q1"
    add_exchange(home, "c", exchange(4))
    assert [e.question for e in read_exchanges(home, "c")] == ["Q1", "Q4"]


def test_a_torn_line_costs_only_itself(home: Path) -> None:
    add_exchange(home, "c", exchange(1))
    path = words_path(home, "c")
    path.write_bytes(path.read_bytes() + b'{"question": "half')
    add_exchange(home, "c", exchange(2))
    assert [e.question for e in read_exchanges(home, "c")] == ["Q1", "Q2"]


def test_words_survive_lost_details(home: Path) -> None:
    add_exchange(home, "c", exchange(1))
    details_path(home, "c").write_text('{"run": {"run": "r1"}, "route": 5}\n', encoding="utf-8")
    (back,) = read_exchanges(home, "c")
    assert back.run is not None
    assert back.run.answer == "A1 [1]."
    assert back.scored is None


def test_lines_of_an_earlier_version_are_turns(home: Path) -> None:
    path = words_path(home, "c")
    path.parent.mkdir(parents=True)
    path.write_text('{"question": "Q", "agent": "a", "answer": "A", "run": "r"}\n', "utf-8")
    turn = last_turn(home, "c")
    assert turn is not None
    assert turn.answer == "A"
    assert len(read_exchanges(home, "c")) == 1


@pytest.mark.parametrize("name", ["../x", "", "a/b", "x" * 65, ".hidden"])
def test_names_that_could_leave_the_folder(home: Path, name: str) -> None:
    with pytest.raises(AetherError, match="cannot name a conversation"):
        last_turn(home, name)


def test_the_shelf_lists_and_finds(home: Path) -> None:
    add_exchange(home, "a", exchange(1))
    add_exchange(home, "b", exchange(2))
    shelf = Shelf(home)
    assert [c.title for c in shelf.list()] == ["Q2", "Q1"]
    assert [f.conversation.id for f in shelf.search("a1")] == ["a"]
    assert shelf.search("a1 nothing") == ()
    assert shelf.search("  ") == ()
    shelf.rename("a", " My title ")
    shelf.pin("a", True)
    first = Shelf(home).list()[0]
    assert (first.title, first.pinned, first.exchanges) == ("My title", True, 1)
    shelf.rename("a", "")
    assert shelf.list()[0].title == "Q1"


def test_the_shelf_takes_back(home: Path) -> None:
    add_exchange(home, "a", exchange(1))
    shelf = Shelf(home)
    shelf.delete("a")
    assert shelf.list() == ()
    shelf.restore("a")
    assert [c.id for c in shelf.list()] == ["a"]
    assert read_exchanges(home, "a")[0].scored is not None
    shelf.delete("a")
    shelf.empty_trash()
    shelf.restore("a")
    assert shelf.list() == ()
    assert not list(home.rglob("a.jsonl*"))


def test_new_ids_are_names_and_differ() -> None:
    names = {new_id() for _ in range(50)}
    assert len(names) == 50
    assert all(words_path(Path(), name) for name in names)


def test_feedback_is_kept_and_the_newest_counts(home: Path) -> None:
    add_feedback(home, "r1", "up")
    add_feedback(home, "r1", "down", " wrong port ")
    add_feedback(home, "r2", "up", "clear")
    assert read_feedback(home) == {"r1": ("down", "wrong port"), "r2": ("up", "clear")}
    with pytest.raises(AetherError):
        add_feedback(home, "r1", "sideways")  # type: ignore[arg-type]
    assert read_feedback(home / "nowhere") == {}
