"""Conversations by id: every exchange so far, in files that are only ever added to.

Apart from the audit, because a person may delete a conversation but never a run. `<id>.jsonl` holds
the words, one exchange or change a line; `details/<id>.jsonl` what the screen shows beside them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from aether.errors import AetherError
from aether.events import Event, Finished, Notice, Planned, Retrieved, Routed, Scored
from aether.records import Confidence, Outcome, Plan, Question, Retrieval, Route, Run, Turn, as_json

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
WHOLE: tuple[Outcome, ...] = ("answered", "low_confidence")  # what counts as the last turn


@dataclass(frozen=True, slots=True)
class Look:
    """Where one expert looked, and what came of it."""

    agent: str
    plan: Plan | None = None
    retrieval: Retrieval | None = None
    pre: float = 0.0
    scored: Confidence | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question and everything that is known of its answer; `run` is None while it runs."""

    question: str
    agent: str = ""  # the expert that the person pinned
    route: Route | None = None
    looks: tuple[Look, ...] = ()
    run: Run | None = None

    @property
    def scored(self) -> Confidence | None:
        """The confidence of the attempt that the run stands for, else the newest one."""
        found = [look for look in self.looks if look.scored]
        own = [look for look in found if self.run and look.agent == self.run.agent]
        return (own or found)[-1].scored if found else None


def after(exchange: Exchange, event: Event) -> Exchange:
    """The exchange as it stands after one more event."""
    if isinstance(event, Routed):
        return replace(exchange, route=event.route)
    if isinstance(event, Planned):
        return replace(exchange, looks=(*exchange.looks, Look(event.plan.agent, event.plan)))
    if isinstance(event, Finished):
        return replace(exchange, run=event.run)
    if not exchange.looks or not isinstance(event, Retrieved | Scored):
        return exchange
    last = exchange.looks[-1]
    if isinstance(event, Retrieved):
        last = replace(last, retrieval=event.retrieval, pre=event.pre)
    else:
        last = replace(last, scored=event.confidence)
    return replace(exchange, looks=(*exchange.looks[:-1], last))


def kept(home: Path, question: Question, events: Iterable[Event]) -> Iterator[Event]:
    """Pass the events of a question on, and keep the exchange when it has ended."""
    exchange = Exchange(question.text, question.agent)
    for event in events:
        exchange = after(exchange, event)
        if isinstance(event, Finished) and question.conversation:
            try:
                add_exchange(home, question.conversation, exchange)
            except AetherError as error:  # the answer is worth more than its place in a list
                yield Notice(str(error))
        yield event


def last_turn(home: Path, conversation: str) -> Turn | None:
    """Exactly the last whole turn, None for a new one; AetherError where it cannot be read."""
    turns: list[Mapping[str, Any]] = []
    for line in read_lines(words_path(home, conversation), conversation):
        if "retract" in line:
            turns = [t for t in turns if t.get("run") not in line["retract"]]
        elif line.get("outcome", "answered") in WHOLE and "answer" in line:
            turns.append(line)
    for turn in reversed(turns):
        try:
            return Turn(turn["question"], turn["agent"], turn["answer"])
        except KeyError:
            continue
    return None


def add_exchange(home: Path, conversation: str, exchange: Exchange) -> None:
    """Keep an exchange that has ended, however it ended; raises AetherError."""
    run = exchange.run
    if run is None:
        return
    words = {
        "question": run.question, "agent": run.agent, "answer": run.answer, "run": run.run,
        "at": run.at, "outcome": run.outcome,
    }  # fmt: skip
    slim = replace(run, attempts=tuple(replace(a, hits=()) for a in run.attempts))
    looks = tuple(
        replace(look, retrieval=look.retrieval and replace(look.retrieval, hits=()))
        for look in exchange.looks
    )
    details = as_json(replace(exchange, run=slim, looks=looks))
    append(details_path(home, conversation), conversation, details)
    append(words_path(home, conversation), conversation, words)


def read_exchanges(home: Path, conversation: str) -> tuple[Exchange, ...]:
    """All exchanges in order, without those that were asked again in other words."""
    details = {
        str(d["run"].get("run")): d
        for d in read_lines(details_path(home, conversation), conversation)
        if isinstance(d.get("run"), dict)
    }
    found: dict[str, Exchange] = {}
    for line in read_lines(words_path(home, conversation), conversation):
        for run in line.get("retract", ()):
            found.pop(run, None)
        if "question" in line and "answer" in line:
            run = str(line.get("run", len(found)))
            found[run] = _exchange(details.get(run)) or _bare(line, run)
    return tuple(found.values())


def _exchange(data: dict[str, Any] | None) -> Exchange | None:
    try:
        return _adapter().validate_python(_as_records(data)) if data else None
    except ValidationError:  # written by another version: the words are still there
        return None


@cache
def _adapter() -> TypeAdapter[Exchange]:
    return TypeAdapter(Exchange)


def _as_records(value: Any) -> Any:
    """The inverse of `as_json`: `parts` become pairs again, `pass` becomes `pass_`."""
    if isinstance(value, dict):
        data = cast(dict[str, Any], value)
        out = {("pass_" if k == "pass" else k): _as_records(v) for k, v in data.items()}
        if isinstance(data.get("parts"), dict):
            out["parts"] = tuple(data["parts"].items())
        return out
    if isinstance(value, list):
        return tuple(_as_records(item) for item in cast(list[Any], value))
    return value


def _bare(line: Mapping[str, Any], run: str) -> Exchange:
    """An exchange of which only the words are left."""
    from aether.records import Timings, Usage

    outcome = line.get("outcome", "answered")
    text = {key: str(line.get(key, "")) for key in ("at", "question", "agent", "answer")}
    told = Run(
        run, text["at"], text["question"], text["agent"], text["answer"], 0.0, 0.0,
        outcome, (), (), Timings(), Usage(),
    )  # fmt: skip
    return Exchange(text["question"], run=told)


def retract(home: Path, conversation: str, runs: Iterable[str]) -> None:
    """Take exchanges out of a conversation, because they are asked again; raises AetherError."""
    append(words_path(home, conversation), conversation, {"retract": list(runs)})


def append(path: Path, conversation: str, record: Mapping[str, Any]) -> None:
    """Add one line; raises AetherError where the disk is full or the folder cannot be written."""
    line = json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as out:
            out.write(line if _ends_whole(path) else b"\n" + line)
    except OSError as error:
        raise fault(error, conversation, "kept") from error


def read_lines(path: Path, conversation: str) -> list[dict[str, Any]]:
    """Every sound line; [] where there is no file. Raises AetherError where it cannot be read."""
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise fault(error, conversation, "read") from error
    found: list[dict[str, Any]] = []
    for line in text.split("\n"):  # an answer may hold other line separators
        try:
            value = json.loads(line)
        except ValueError:  # a line torn by a crash: the others are whole
            continue
        if isinstance(value, dict):
            found.append(cast(dict[str, Any], value))
    return found


def _ends_whole(path: Path) -> bool:
    """Whether the last line is whole, so that the next one does not lengthen a torn one."""
    with path.open("rb") as kept_file:
        size = kept_file.seek(0, os.SEEK_END)
        kept_file.seek(max(0, size - 1))
        return kept_file.read() in (b"", b"\n")


def fault(error: OSError, conversation: str, verb: str) -> AetherError:
    """A disk fault in the words of the house."""
    return AetherError(
        f'the conversation "{conversation}" cannot be {verb}: {error.strerror or error}',
        advice="look at the folder conversations in the user folder, and at the space on the disk",
    )


def words_path(home: Path, conversation: str) -> Path:
    """Where the words are; raises AetherError for an id that could leave the folder."""
    if not _ID.match(conversation):
        raise AetherError(
            f"{conversation!r} cannot name a conversation",
            advice="use letters, digits, dot, dash and underscore, at most 64",
        )
    return home / "conversations" / f"{conversation}.jsonl"


def details_path(home: Path, conversation: str) -> Path:
    """Where the rest is."""
    path = words_path(home, conversation)
    return path.parent / "details" / path.name
