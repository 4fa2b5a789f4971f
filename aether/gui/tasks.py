"""Threads live here and nowhere else in the window.

One worker thread steps the generators of the engine, a few more fetch; results cross to the window
through one long-lived bridge. Nothing that a worker owns is a QObject.
"""

from __future__ import annotations

import heapq
import itertools
import queue
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

    @Slot()
    def deliver(self) -> None:
        """Run what was posted, for at most one slice; the rest after the window had its turn."""
        self._pending.clear()
        end = time.perf_counter() + SLICE_S
        while time.perf_counter() < end:
            try:
                call = self._calls.get_nowait()
            except queue.Empty:
                return
            call()
        if not self._calls.empty() and not self._pending.is_set():
            self._pending.set()
            self.woken.emit()


class Tasks:
    """The workers: one for model and store, which always steps the most urgent job, and helpers."""

    def __init__(self) -> None:
        self.bridge = Bridge()
        self._heap: list[tuple[int, int, Job]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._jobs: set[Job] = set()
        self._closing = False
        self._worker = threading.Thread(target=self._run, name="aether-worker")
        self._worker.start()
        self._helpers: list[threading.Thread] = []

    @property
    def busy(self) -> bool:
        """Whether any job is waiting or under way."""
        return bool(self._jobs)

    @property
    def closing(self) -> bool:
        """Whether the window is on its way out."""
        return self._closing

    def submit(
        self,
        work: Callable[[Cancel], Iterable[Any]],
        on_item: Callable[[Any], None],
        on_done: Callable[[Exception | None], None],
        priority: int = NORMAL,
    ) -> Job:
        """Queue a generator for the one worker; a more urgent job is stepped first."""
        job = Job(work, on_item, on_done, priority)
        self._jobs.add(job)
        with self._changed:
            heapq.heappush(self._heap, (priority, next(self._order), job))
            self._changed.notify()
        return job

    def call(
        self,
        function: Callable[[Cancel], Any],
        on_result: Callable[[Any], None],
        on_error: Callable[[Exception], None],
        priority: int = NORMAL,
    ) -> Job:
        """Queue one call; its result is delivered on the window's thread."""

        def done(error: Exception | None) -> None:
            if error is not None:
                on_error(error)

        return self.submit(lambda cancel: (function(cancel),), on_result, done, priority)

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
        with self._changed:
            self._closing = True
            self._changed.notify()
        for job in list(self._jobs):
            job.stop()
        end = time.monotonic() + wait_s
        for thread in (self._worker, *self._helpers):
            while thread.is_alive() and time.monotonic() < end:
                thread.join(0.02)
                self.bridge.deliver()
        self.bridge.deliver()
        return not any(t.is_alive() for t in (self._worker, *self._helpers))

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
