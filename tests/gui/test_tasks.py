"""The threads of the window: order, urgency, stopping, ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from aether.cancel import Cancel
from aether.errors import AetherError, Cancelled
from aether.gui.tasks import BACKGROUND, CHAT, Tasks


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    assert made.close()


class Heard:
    """What a job delivered, and on which thread."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.ends: list[Exception | None] = []
        self.threads: set[str] = set()

    def item(self, value: Any) -> None:
        self.items.append(value)
        self.threads.add(threading.current_thread().name)

    def end(self, error: Exception | None) -> None:
        self.ends.append(error)


def test_items_come_in_order_on_the_windows_thread(tasks: Tasks, qtbot: QtBot) -> None:
    heard = Heard()
    tasks.submit(lambda _: range(10_000), heard.item, heard.end)
    qtbot.waitUntil(lambda: bool(heard.ends), timeout=20_000)
    assert heard.items == list(range(10_000))
    assert heard.threads == {"MainThread"}
    assert heard.ends == [None]


def test_the_chat_goes_first(tasks: Tasks, qtbot: QtBot) -> None:
    order: list[str] = []
    gate, inside = threading.Event(), threading.Event()

    def slow(_: Cancel) -> Iterator[str]:
        inside.set()
        gate.wait(10)
        for i in range(3):
            yield f"slow {i}"

    late, chat = Heard(), Heard()
    tasks.submit(slow, order.append, late.end, BACKGROUND)
    assert inside.wait(10)
    tasks.submit(lambda _: ("chat",), order.append, chat.end, CHAT)
    gate.set()
    qtbot.waitUntil(lambda: bool(late.ends and chat.ends))
    assert order == ["slow 0", "chat", "slow 1", "slow 2"]


def test_small_files_do_not_wait_for_the_model(tasks: Tasks, qtbot: QtBot) -> None:
    gate, results = threading.Event(), list[int]()
    heard = Heard()

    def waiting(_: Cancel) -> Iterator[int]:
        gate.wait(10)
        yield 1

    tasks.submit(waiting, heard.item, heard.end, CHAT)
    tasks.quick(lambda _: 7, results.append, lambda e: pytest.fail(str(e)))
    qtbot.waitUntil(lambda: results == [7])
    assert not heard.items
    gate.set()
    qtbot.waitUntil(lambda: bool(heard.ends))


def test_errors_arrive_as_they_are(tasks: Tasks, qtbot: QtBot) -> None:
    errors: list[Exception] = []

    def known(_: Cancel) -> None:
        raise AetherError("the disk is full", advice="free some space")

    def fault(_: Cancel) -> None:
        raise ZeroDivisionError

    tasks.call(known, lambda _: None, errors.append)
    tasks.call(fault, lambda _: None, errors.append)
    qtbot.waitUntil(lambda: len(errors) == 2)
    assert isinstance(errors[0], AetherError)
    assert isinstance(errors[1], ZeroDivisionError)
    assert "in fault" in "".join(errors[1].__notes__)


def test_a_stopped_job_ends_as_cancelled(tasks: Tasks, qtbot: QtBot) -> None:
    heard = Heard()
    started = threading.Event()

    def work(cancel: Cancel) -> Iterator[int]:
        started.set()
        while not cancel.wait(0.01):
            yield 1
        cancel.check()

    job = tasks.submit(work, heard.item, heard.end)
    assert started.wait(10)
    job.stop()
    qtbot.waitUntil(lambda: bool(heard.ends))
    assert isinstance(heard.ends[0], Cancelled)
    assert job.over
    assert not tasks.busy


def test_a_job_that_is_stopped_before_its_turn_never_starts(tasks: Tasks, qtbot: QtBot) -> None:
    gate, begun = threading.Event(), list[int]()
    first, second = Heard(), Heard()

    def hold(_: Cancel) -> Iterator[int]:
        gate.wait(10)
        yield 0

    tasks.submit(hold, first.item, first.end)
    job = tasks.submit(lambda _: begun.append(1) or (), second.item, second.end)
    job.stop()
    gate.set()
    qtbot.waitUntil(lambda: bool(second.ends))
    assert not begun


def test_a_delivery_that_fails_does_not_hold_up_the_next(tasks: Tasks, qtbot: QtBot) -> None:
    heard = Heard()

    def bad(_: Any) -> None:
        raise ValueError("on the window's side")

    with qtbot.captureExceptions() as raised:
        tasks.submit(lambda _: (1,), bad, heard.end)
        tasks.submit(lambda _: (2, 3), heard.item, heard.end)
        qtbot.waitUntil(lambda: len(heard.ends) == 2)
    assert heard.items == [2, 3]
    assert len(raised) == 1


def test_closing_stops_what_runs_and_keeps_what_the_clerk_has(qtbot: QtBot) -> None:
    tasks = Tasks()
    heard, kept = Heard(), list[int]()
    started = threading.Event()

    def endless(cancel: Cancel) -> Iterator[int]:
        started.set()
        while True:
            cancel.check()
            cancel.wait(0.005)
            yield 1

    tasks.submit(endless, heard.item, heard.end)
    tasks.aside(endless, heard.item, heard.end)
    assert started.wait(10)
    for i in range(50):
        tasks.quick(lambda _, i=i: i, kept.append, lambda e: pytest.fail(str(e)))
    assert tasks.close()
    assert kept == list(range(50))
    assert [type(e) for e in heard.ends] == [Cancelled, Cancelled]
    assert not [t for t in threading.enumerate() if t.name.startswith("aether-")]


def test_many_signals_and_a_close(qtbot: QtBot) -> None:
    tasks = Tasks()
    heard = Heard()
    tasks.submit(lambda _: range(10_000), heard.item, heard.end)
    assert tasks.close()
    assert heard.ends
