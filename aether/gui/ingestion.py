"""Files on their way into the knowledge base: what waits, what is under way, how fast it goes.

One service for the page and the watched folders. What waits is kept on disk, so that closing the
window in the middle loses nothing: the next start goes on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from aether.cancel import Cancel
from aether.errors import AetherError, Cancelled
from aether.gui.context import Context
from aether.gui.filetable import WORKING, FileRow, FileTable
from aether.gui.phrases import fault_words
from aether.gui.tasks import BACKGROUND, Job
from aether.library import IngestQueue, Waiting
from aether.links import is_link
from aether.records import FileReport

Fetched = tuple[str, str, AetherError | None]  # link, file, or what went wrong
WORKERS = 2
TALK_S = 3.0  # a shorter run ends without a message


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run stands: files done and in all, files a second, seconds left (0: unknown)."""

    done: int = 0
    total: int = 0
    rate: float = 0.0
    left_s: float = 0.0


class Ingestion(QObject):
    """Takes files in, group by group of one namespace."""

    moved = Signal()  # running or not, or the rows in another state
    failed = Signal(object)  # an error that concerns all files

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._queue = IngestQueue(context.home)
        self.table = FileTable(context.theme, self)
        self._job: Job | None = None
        self._fetching: Job | None = None
        self._group = ""
        self._started = 0.0
        self._before = 0
        self._added = 0
        self.table.counted.connect(self.moved)

    @property
    def running(self) -> bool:
        """Whether files are being taken in."""
        return self._job is not None or self._fetching is not None

    def progress(self) -> Progress:
        """How the present run stands."""
        counts = self.table.counts
        open_ = counts["waiting"] + sum(counts[state] for state in WORKING)
        total = len(self.table.rows) - counts["stopped"] - self._before
        done = max(0, total - open_)
        spent = time.monotonic() - self._started
        rate = done / spent if done and spent > 0.5 else 0.0
        return Progress(done, total, rate, open_ / rate if rate else 0.0)

    # --- what a person wants ----------------------------------------------------------------

    def add(self, places: Sequence[str], namespace: str, skipped: Sequence[FileRow] = ()) -> None:
        """Take files and links in; `skipped` are shown with their reason, and not read."""
        self._begin()
        self.table.add([*(FileRow(place, namespace) for place in places), *skipped])
        self._keep({namespace: list(places)})
        self._next()

    def stop(self) -> None:
        """End after the step under way; what is written stays, the rest can go on later."""
        for job in (self._job, self._fetching):
            if job is not None:
                job.stop()

    def go_on(self) -> None:
        """Take up what was stopped."""
        self._again(self.table.in_state({"stopped"}))

    def retry(self) -> None:
        """Try once more what failed or was stopped."""
        self._again(self.table.in_state({"failed", "stopped"}))

    def forget(self) -> None:
        """Clear the table of everything that is not under way, also for the next start."""
        gone = self.table.clear({"added", "updated", "unchanged", "skipped", "failed", "stopped"})
        self._drop([row for row in gone if row.state in ("failed", "stopped")])

    def resume(self) -> None:
        """Go on with what the last session left."""
        self._context.tasks.quick(lambda _: self._queue.load(), self._resume, self._not_kept)

    # --- the line ---------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self.running:
            self._started = time.monotonic()
            self._added = 0
            counts = self.table.counts
            self._before = len(self.table.rows) - counts["waiting"] - counts["stopped"]

    def _resume(self, waiting: tuple[Waiting, ...]) -> None:
        if waiting:
            self._begin()
            self.table.add([FileRow(item.path, item.namespace) for item in waiting])
            self._next()

    def _again(self, rows: Sequence[FileRow]) -> None:
        if not rows:
            return
        by_space: dict[str, list[str]] = {}
        for row in rows:
            by_space.setdefault(row.namespace, []).append(row.path)
            self.table.set_state(row.path, row.namespace, "waiting")
        self._begin()
        self._keep(by_space)
        self.table.flush()
        self._next()

    def _next(self) -> None:
        """Start the next group where nothing is under way."""
        if self._context.tasks.closing:
            return
        waiting = self.table.in_state({"waiting"})
        links = [row for row in waiting if is_link(row.path)]
        files = [row for row in waiting if not is_link(row.path)]
        if links and self._fetching is None:
            self._fetch(links)
        if files and self._job is None:
            self._group = files[0].namespace
            self._take([row.path for row in files if row.namespace == self._group], self._group)
        if not self.running:
            self._ended()
        self.moved.emit()

    def _take(self, paths: Sequence[str], namespace: str) -> None:
        engine, queue = self._context.engine, self._queue
        bridge, table = self._context.tasks.bridge, self.table
        over = False

        def tell(path: str, stage: str) -> None:
            if not over:  # a reader may be under way a little longer than its job
                bridge.post(lambda: table.set_state(path, namespace, stage))

        def work(cancel: Cancel) -> Iterator[FileReport]:
            nonlocal over
            wanted = [Path(path) for path in paths]
            try:
                for report in engine.kb_add(wanted, namespace, cancel, WORKERS, tell):
                    queue.done([report.path], namespace)
                    yield report
            finally:
                over = True

        self._job = self._context.tasks.submit(
            work,
            lambda report: self._reported(report, namespace),
            lambda error: self._over(namespace, error),
            BACKGROUND,
        )

    def _reported(self, report: FileReport, namespace: str) -> None:
        self._added += report.status in ("added", "updated")
        self.table.report(report, namespace)

    def _over(self, namespace: str, error: Exception | None) -> None:
        """A group has ended: what has no report was stopped, or failed with all others."""
        self._job = None
        self._settle(namespace, error)
        self.table.flush()
        if error is None:
            self._next()
            return
        if not isinstance(error, Cancelled):
            self.failed.emit(error)
        for row in self.table.in_state({"waiting"}):
            self.table.set_state(row.path, row.namespace, "stopped")
        self.table.flush()
        self._ended()
        self.moved.emit()

    def _settle(self, namespace: str, error: Exception | None) -> None:
        open_ = self.table.in_state({"waiting", "reading", "embedding"})
        for row in open_:
            if row.namespace != namespace or is_link(row.path):
                continue
            if isinstance(error, Cancelled):
                self.table.set_state(row.path, namespace, "stopped")
            elif error is not None:
                what, _, advice = fault_words(error)
                remark = " - ".join(part for part in (what, advice) if part)
                self.table.set_state(row.path, namespace, "failed", remark=remark)

    def _ended(self) -> None:
        if self._added:
            self._context.wishes.knowledge_changed.emit()
            if time.monotonic() - self._started > TALK_S:
                words = self.tr("Files added to the knowledge base: {}")
                self._context.wishes.done.emit(words.format(self._added))
        self._added = 0

    # --- links ------------------------------------------------------------------------------

    def _fetch(self, rows: Sequence[FileRow]) -> None:
        """Pages are fetched beside the worker, so that a slow site holds up no question."""
        engine = self._context.engine
        wanted = [(row.path, row.namespace) for row in rows]
        for link, namespace in wanted:
            self.table.set_state(link, namespace, "fetching")

        def work(cancel: Cancel) -> Iterator[Any]:
            for link, namespace in wanted:
                try:
                    yield link, namespace, engine.kept_page(link, cancel).resolve().as_posix()
                except AetherError as error:
                    yield link, namespace, error

        self._fetching = self._context.tasks.aside(work, self._fetched, self._fetch_over)

    def _fetched(self, item: tuple[str, str, str | AetherError]) -> None:
        link, namespace, found = item
        if isinstance(found, str):
            self.table.rename(link, namespace, found)
            self._keep({namespace: [found]})
        else:
            remark = " - ".join(part for part in (found.what, found.advice) if part)
            self.table.set_state(link, namespace, "failed", remark=remark)
        self._drop([FileRow(link, namespace)])
        if self._job is None:
            self._next()

    def _fetch_over(self, error: Exception | None) -> None:
        self._fetching = None
        for row in self.table.in_state({"fetching"}):
            self.table.set_state(row.path, row.namespace, "stopped")
        self.table.flush()
        if error is None or self._job is not None:
            self._next()
        else:
            self._ended()
            self.moved.emit()

    # --- what is kept on disk ---------------------------------------------------------------

    def _keep(self, by_space: dict[str, list[str]]) -> None:
        queue = self._queue

        def work(_: Cancel) -> None:
            for namespace, paths in by_space.items():
                queue.add(paths, namespace)

        self._context.tasks.quick(work, lambda _: None, self._not_kept)

    def _drop(self, rows: Sequence[FileRow]) -> None:
        queue = self._queue
        gone = [(row.path, row.namespace) for row in rows]

        def work(_: Cancel) -> None:
            for path, namespace in gone:
                queue.done([path], namespace)

        if gone:
            self._context.tasks.quick(work, lambda _: None, self._not_kept)

    def _not_kept(self, error: Exception) -> None:
        if not isinstance(error, OSError):
            raise error
        what = self.tr("What waits cannot be kept for the next start: {}")
        self._context.wishes.say.emit(what.format(error.strerror or error))
