"""What the verbs share: settings from flags, a closed engine, Ctrl-C, JSON lines, printed events.

Apart from the verbs so that each of them stays a handful of lines.
"""

from __future__ import annotations

import json
import signal
import sys
from argparse import Namespace
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

from aether import show
from aether.cancel import Cancel
from aether.engine import Engine
from aether.errors import AetherError
from aether.events import (
    Delta,
    Escalated,
    Event,
    Finished,
    Notice,
    Planned,
    Retrieved,
    Routed,
    Scored,
)
from aether.records import Question, Run, Turn, as_json
from aether.settings import Settings, load_settings


def settings_of(options: Namespace) -> Settings:
    """The settings with the flags of this call; raises SettingsError."""
    flags: dict[str, str] = {}
    for item in options.set:
        key, found, value = item.partition("=")
        if not found:
            raise AetherError(f"--set {item!r} has no =", advice="--set web.budget_s=5")
        flags[key.strip()] = value
    return load_settings(flags)


@contextmanager
def opened(options: Namespace) -> Generator[Engine]:
    """An engine that is closed behind the verb."""
    with closing(Engine(settings_of(options), notify=note)) as engine:
        yield engine


@contextmanager
def stoppable() -> Generator[Cancel]:
    """Ctrl-C stops cleanly: the work so far is kept and written down; twice ends at once."""
    cancel = Cancel()

    def stop(signum: int, frame: object) -> None:
        if cancel.is_set:
            raise KeyboardInterrupt
        cancel.cancel()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)


def talks() -> bool:
    """Whether a person watches standard error."""
    return sys.stderr.isatty()


def note(text: str) -> None:
    """A line for the person, on standard error."""
    print(text, file=sys.stderr, flush=True)


def warn_problems(engine: Engine) -> None:
    """Say which manifests are broken; the sound ones serve."""
    for problem in engine.tree.problems:
        note(f"problem: {problem}")


def json_line(value: Any) -> None:
    """One JSON line on standard output."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def items(file: str, question: str | None) -> Iterator[dict[str, Any]]:
    """JSON lines of a file or of standard input, or one question."""
    if question is not None:
        yield {"id": "", "question": question}
        return
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise AetherError(f"{file} cannot be read: {error}") from error
    # only a newline ends a line of JSON: strings may hold other separators
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if raw.strip():
            try:
                item = json.loads(raw)
            except (ValueError, RecursionError) as error:  # nested a thousand deep
                raise AetherError(f"line {number} is not JSON: {error}", where=file) from error
            if not isinstance(item, dict):
                raise AetherError(f"line {number} is not a JSON object", where=file)
            yield cast(dict[str, Any], item)


def question_of(item: dict[str, Any]) -> Question:
    """A question record from a JSON line of the contract."""
    before = item.get("previous")
    turn = None
    if isinstance(before, dict):
        said = cast(dict[str, Any], before)
        turn = Turn(str(said.get("question", "")), str(said.get("agent", "")))
    return Question(str(item.get("question", "")), id=str(item.get("id", "")), previous=turn)


def print_json_event(event: Event) -> None:
    """One event as a JSON line; notices go to the person."""
    if isinstance(event, Notice):
        note(event.text)
    elif isinstance(event, Finished):
        json_line(_finished(event.run))
        for text in (event.run.error, *event.run.notes):
            if text:
                note(text)
    else:
        data = as_json(event)
        json_line({"event": data.pop("event"), **data})


def _finished(run: Run) -> dict[str, Any]:
    data = as_json(run)
    sources = [{"n": h.n, "title": h.title, "url": h.url, "source": h.source} for h in run.hits]
    attempts = [
        {key: value for key, value in attempt.items() if key != "hits"}
        for attempt in data["attempts"]
    ]
    keys = ("run", "agent", "answer", "confidence", "threshold", "outcome")
    return {"event": "finished", **{k: data[k] for k in keys}, "sources": sources,
            "attempts": attempts, "timings": data["timings"], "usage": data["usage"]}  # fmt: skip


def print_event(event: Event, explain: bool) -> None:
    """Plain text for people: the answer on standard output, the way there on standard error."""
    if explain and isinstance(event, Routed | Planned | Scored):
        _print_table(event)
    elif isinstance(event, Delta):
        print(event.text, end="", flush=True)
    elif isinstance(event, Routed):
        note(event.route.reason)
    elif isinstance(event, Retrieved):
        note(show.retrieval(event.retrieval))
    elif isinstance(event, Escalated):
        print()
        note(f"{event.agent} -> {event.to}: {event.reason}")
    elif isinstance(event, Notice):
        note(event.text)
    elif isinstance(event, Finished):
        _print_end(event.run)


def _print_table(event: Routed | Planned | Scored) -> None:
    if isinstance(event, Routed):
        print(show.routing(event.route) + "\n")
    elif isinstance(event, Planned):
        print(show.planning(event.plan) + "\n")
    else:
        print("\n\n" + show.terms(event.confidence))


def _print_end(run: Run) -> None:
    print()
    if run.hits:
        print(f"\n{show.sources(run.hits)}")
    print(f"\n{show.confidence(run)}\nrun {run.run}")
    for text in (run.error, *run.notes):
        if text:
            note(text)
