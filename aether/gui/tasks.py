"""Threads live here and nowhere else in the window.

One worker steps the generators of the engine, one clerk reads and writes small files while the
worker waits for the model, a few more fetch. Results cross to the window through one long-lived
bridge. Nothing that a worker owns is a QObject.
"""

from __future__ import annotations

import heapq
import itertools
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from aether.cancel import Cancel
from aether.errors import AetherError, Cancelled

CHAT, NORMAL, BACKGROUND = 0, 1, 2  # the chat's question goes first
SWITCH_S = 0.0005  # seconds until a busy worker gives the window its turn; usually ten times that
SLICE_S = 0.008  # seconds of delivery in one go, so that a flood of tokens leaves time to paint


@dataclass(eq=False)
class Job:
    """One piece of work: steps of a generator, delivered in order on the window's thread."""

    work: Callable[[Cancel], Iterable[Any]]
    on_item: Callable[[Any], None]
    on_done: Callable[[Exception | None], None]
    priority: int = NORMAL
    cancel: Cancel = field(default_factory=Cancel)
    steps: Iterator[Any] | None = None
    small: bool = False  # one of the clerk's
    over: bool = False

    def stop(self) -> None:
        """Ask the work to end; `on_done` still comes."""
        self.cancel.cancel()


class Bridge(QObject):
    """Carries calls from workers to the window's thread, many in one wake-up."""

    woken = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._pending = threading.Event()
        # queued also on the same thread: a delivery must never run inside another
        self.woken.connect(self.deliver, Qt.ConnectionType.QueuedConnection)

    def post(self, call: Callable[[], None]) -> None:
        """Have `call` run on the window's thread; safe from any thread."""
        self._calls.put(call)
        if not self._pending.is_set():
            self._pending.set()
            self.woken.emit()

    @property
    def waiting(self) -> bool:
        """Whether anything is still to be delivered."""
        return not self._calls.empty()

    @Slot()
    def deliver(self) -> None:
        """Run what was posted, for at most one slice; the rest after the window had its turn."""
        self._pending.clear()
        end = time.perf_counter() + SLICE_S
        try:
            while time.perf_counter() < end and not self._calls.empty():
                self._calls.get_nowait()()
        finally:  # a call that raises must not hold up those behind it
            if not self._calls.empty() and not self._pending.is_set():
                self._pending.set()
                self.woken.emit()


class Lane:
    """A thread that always steps its most urgent job."""

    def __init__(self, name: str, step: Callable[[Job], bool]) -> None:
        self._step = step
        self._heap: list[tuple[int, int, Job]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._closing = False
        self.thread = threading.Thread(target=self._run, name=name)
        self.thread.start()

    def add(self, job: Job) -> None:
        """Queue a job behind those that are as urgent."""
        with self._changed:
            heapq.heappush(self._heap, (job.priority, next(self._order), job))
            self._changed.notify()

    def close(self) -> None:
        """End when nothing is left."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._heap and not self._closing:
                    self._changed.wait()
                if not self._heap:
                    return
                _, order, job = heapq.heappop(self._heap)
            if not self._step(job):
                with self._changed:
                    heapq.heappush(self._heap, (job.priority, order, job))


class Tasks:
    """The threads: one for model and store, one for small files, and helpers that fetch."""

    def __init__(self) -> None:
        sys.setswitchinterval(SWITCH_S)
        self.bridge = Bridge()
        self.closing = False  # the window is on its way out
        self._jobs: set[Job] = set()
        self._worker = Lane("aether-worker", self._step)
        self._clerk = Lane("aether-clerk", self._step)
        self._helpers: list[threading.Thread] = []

    @property
    def busy(self) -> bool:
        """Whether any job is waiting or under way."""
        return bool(self._jobs)

    def submit(
        self,
        work: Callable[[Cancel], Iterable[Any]],
        on_item: Callable[[Any], None],
        on_done: Callable[[Exception | None], None],
        priority: int = NORMAL,
    ) -> Job:
        """Queue a generator for the one worker; a more urgent job is stepped first."""
        return self._queue(Job(work, on_item, on_done, priority), self._worker)

    def call(
        self,
        function: Callable[[Cancel], Any],
        on_result: Callable[[Any], None],
        on_error: Callable[[Exception], None],
        priority: int = NORMAL,
    ) -> Job:
        """Queue one call for the worker; its result is delivered on the window's thread."""
        return self._queue(_one(function, on_result, on_error, priority), self._worker)

    def quick(
        self,
        function: Callable[[Cancel], Any],
        on_result: Callable[[Any], None],
        on_error: Callable[[Exception], None],
    ) -> Job:
        """Queue one call for the clerk: it touches neither model nor store, and never waits."""
        job = _one(function, on_result, on_error, NORMAL)
        job.small = True
        return self._queue(job, self._clerk)

    def aside(
        self,
        work: Callable[[Cancel], Iterable[Any]],
        on_item: Callable[[Any], None],
        on_done: Callable[[Exception | None], None],
    ) -> Job:
        """Run a download or a probe in a thread of its own; it touches neither model nor store."""
        job = Job(work, on_item, on_done)
        self._jobs.add(job)
        helper = threading.Thread(target=self._finish, args=(job,), name="aether-aside")
        self._helpers = [h for h in self._helpers if h.is_alive()] + [helper]
        helper.start()
        return job

    def close(self, wait_s: float = 10.0) -> bool:
        """Stop everything and wait for the threads; True where all ended in time."""
        self.closing = True
        for job in list(self._jobs):
            if not job.small:  # what the clerk has in hand is quick, and worth keeping
                job.stop()
        self._worker.close()
        self._clerk.close()
        threads = (self._worker.thread, self._clerk.thread, *self._helpers)
        end = time.monotonic() + wait_s
        for thread in threads:
            while thread.is_alive() and time.monotonic() < end:
                thread.join(0.02)
                self.bridge.deliver()
        while self.bridge.waiting:
            self.bridge.deliver()
        return not any(t.is_alive() for t in threads)

    def _queue(self, job: Job, lane: Lane) -> Job:
        self._jobs.add(job)
        lane.add(job)
        return job

    def _finish(self, job: Job) -> None:
        while not self._step(job):
            pass

    def _step(self, job: Job) -> bool:
        """Advance one job by one item; True when it is over."""
        try:
            if job.steps is None:
                job.cancel.check()
                job.steps = iter(job.work(job.cancel))
            item = next(job.steps)
        except StopIteration:
            return self._end(job, None)
        except (AetherError, Cancelled) as error:
            return self._end(job, error)
        except Exception as error:  # a fault of ours: the window shows it with its traceback
            error.add_note(traceback.format_exc())
            return self._end(job, error)
        self.bridge.post(lambda: job.on_item(item))
        return False

    def _end(self, job: Job, error: Exception | None) -> bool:
        def deliver() -> None:
            self._jobs.discard(job)
            job.over = True
            job.on_done(error)

        self.bridge.post(deliver)
        return True


def _one(
    function: Callable[[Cancel], Any],
    on_result: Callable[[Any], None],
    on_error: Callable[[Exception], None],
    priority: int,
) -> Job:
    def done(error: Exception | None) -> None:
        if error is not None:
            on_error(error)

    return Job(lambda cancel: _steps(function, cancel), on_result, done, priority)


def _steps(function: Callable[[Cancel], Any], cancel: Cancel) -> Iterator[Any]:
    yield function(cancel)
