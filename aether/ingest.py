"""Files into the knowledge base: read and cut in a few threads, embedded and written in batches.

One report a file, in the order given; a file that fails never stops the others, and what was
written stays when somebody presses Stop.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from aether.cancel import Cancel
from aether.chunks import chunk, indexed
from aether.errors import NothingToRead, ReaderError
from aether.protocols import Embedder, NewFile, Store
from aether.readers import READERS, read
from aether.records import Document, FileReport, Passage

BATCH = 512  # passages that are embedded and written together
_AHEAD = 8  # files that may be read before their turn, for each worker
_LOOK_S = 0.1  # how often a wait for a slow file looks at the Stop button
# part of every content hash: a new way of cutting makes every file new
_CUT = b"aether cut 1\n"
_WORTH_INDEXING = 256
NOTES_PREFIX = "kb/notes"
Tell = Callable[[str, str], None]  # a path, and what happens to it now: reading, embedding


class WritableStore(Store, Protocol):
    """What ingest asks of the knowledge base."""

    def optimize(self) -> None:
        """Index what is new."""
        ...


@dataclass(frozen=True, slots=True)
class _Job:
    """A file to look at, or the reason why not; `path` is its name in the store."""

    namespace: str
    path: str
    file: Path
    skip: str = ""


@dataclass(frozen=True, slots=True)
class _Done:
    """A file that was looked at: a report, and what is to be written where there is something."""

    report: FileReport
    namespace: str
    digest: str = ""
    document: Document | None = None
    passages: tuple[Passage, ...] = ()


def add(
    paths: Sequence[Path],
    namespace: str,
    store: WritableStore,
    embedder: Embedder,
    *,
    cancel: Cancel,
    workers: int = 2,
    tell: Tell | None = None,
) -> Iterator[FileReport]:
    """Add files and whole folders; what has not changed is left alone.

    `tell` hears what is done to a file before its report comes, from any thread. Raises StoreError
    and EmbedError, which concern all files, and Cancelled.
    """
    known = {(namespace, path): digest for path, digest in store.digests(namespace).items()}
    yield from _add(_jobs(paths, namespace), known, store, embedder, cancel, workers, tell)


def listed(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Every file that `add` would look at, with the reason where it would not read it."""
    for job in _jobs(paths, ""):
        yield job.path, job.skip


def seed(
    notes: Path,
    store: WritableStore,
    embedder: Embedder,
    *,
    notify: Callable[[str], None] | None = None,
    cancel: Cancel | None = None,
) -> tuple[FileReport, ...]:
    """Bring the notes of `notes/<namespace>/*.md` in; only what is new, changed or gone costs.

    They are stored as `kb/notes/<namespace>/<name>.md`, the same wherever Aether is installed.
    """
    wanted = _notes(notes)
    stored = {
        (f.namespace, f.path): f.digest
        for f in store.files()
        if f.path.startswith(f"{NOTES_PREFIX}/{f.namespace}/")
    }
    for namespace, path in stored.keys() - wanted.keys():
        store.remove([path], namespace)
    fresh = [job for key, job in wanted.items() if not _same(job, stored.get(key))]
    if fresh and notify is not None:
        notify(f"reading {len(fresh)} starter notes")
    return tuple(_add(iter(fresh), stored, store, embedder, cancel or Cancel(), workers=2))


def _notes(folder: Path) -> dict[tuple[str, str], _Job]:
    found = sorted(folder.glob("*/*.md"))
    jobs = [_Job(f.parent.name, f"{NOTES_PREFIX}/{f.parent.name}/{f.name}", f) for f in found]
    return {(job.namespace, job.path): job for job in jobs}


def _jobs(paths: Sequence[Path], namespace: str) -> Iterator[_Job]:
    """Every file once, folders in the order of their names."""
    seen: set[str] = set()
    for given in paths:
        path = given.expanduser().resolve()
        # a file that was named outright is tried whatever its suffix, because `read` looks inside
        for file, skip in _walk(path) if path.is_dir() else [(path, "")]:
            if file.as_posix() not in seen:
                seen.add(file.as_posix())
                yield _Job(namespace, file.as_posix(), file, skip)


def _walk(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below a folder, with the reason where it is not to be read."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            skip = ""
            if name.startswith("."):
                skip = "hidden file"
            elif path.suffix.lower() not in READERS:
                skip = f"files of kind '{path.suffix or name}' are not read"
            yield path, skip


def _add(
    jobs: Iterator[_Job],
    known: Mapping[tuple[str, str], str],
    store: WritableStore,
    embedder: Embedder,
    cancel: Cancel,
    workers: int,
    tell: Tell | None = None,
) -> Iterator[FileReport]:
    """`known` has the content hash of what is stored, by namespace and path."""
    tell = tell or (lambda path, stage: None)
    held: list[_Done] = []
    written = 0
    for done in _looked_at(jobs, known, cancel, workers, tell):
        held.append(done)
        waiting = sum(len(d.passages) for d in held)
        if waiting and waiting < BATCH:
            continue
        yield from _flush(held, store, embedder, cancel, tell)
        written += waiting
        held = []
    yield from _flush(held, store, embedder, cancel, tell)
    written += sum(len(d.passages) for d in held)
    if written >= _WORTH_INDEXING:
        store.optimize()


def _looked_at(
    jobs: Iterator[_Job],
    known: Mapping[tuple[str, str], str],
    cancel: Cancel,
    workers: int,
    tell: Tell,
) -> Iterator[_Done]:
    """Read and cut in threads, a bounded number of files ahead; results in order."""
    pool = ThreadPoolExecutor(max(1, workers), "aether-read")
    ahead: deque[Future[_Done]] = deque()
    try:
        for job in jobs:
            cancel.check()
            digest = known.get((job.namespace, job.path), "")
            ahead.append(pool.submit(_look, job, digest, cancel, tell))
            if len(ahead) >= _AHEAD * max(1, workers):
                yield _result(ahead.popleft(), cancel)
        while ahead:
            yield _result(ahead.popleft(), cancel)
    finally:
        # a reader that is under way stops at its next page by itself
        pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[_Done], cancel: Cancel) -> _Done:
    while True:
        cancel.check()
        try:
            return future.result(timeout=_LOOK_S)
        except TimeoutError:
            if future.done():
                raise


def _look(job: _Job, known: str, cancel: Cancel, tell: Tell) -> _Done:
    """Read one file; what is wrong with it becomes its report."""
    start = time.perf_counter()
    if job.skip:
        return _Done(FileReport(job.path, "skipped", reason=job.skip), job.namespace)
    tell(job.path, "reading")
    try:
        digest = _digest(job.file)
        if digest == known:
            report = FileReport(job.path, "unchanged", seconds=time.perf_counter() - start)
            return _Done(report, job.namespace, digest)
        document = read(job.file, cancel)
        passages = chunk(document)
    except NothingToRead as error:
        # the old text of a file that has lost it must not be found any more
        gone = Document(title=job.file.stem, sections=()) if known else None
        reason = error.what + ("; what it held before was removed" if known else "")
        return _Done(FileReport(job.path, "skipped", reason=reason), job.namespace, document=gone)
    except ReaderError as error:
        reason = error.what + (f" - {error.advice}" if error.advice else "")
        return _Done(FileReport(job.path, "failed", reason=reason), job.namespace)
    except OSError as error:
        reason = f"cannot be opened: {error.strerror or error}"
        return _Done(FileReport(job.path, "failed", reason=reason), job.namespace)
    report = FileReport(
        job.path,
        "updated" if known else "added",
        len(passages),
        "; ".join(document.notes),
        time.perf_counter() - start,
    )
    return _Done(report, job.namespace, digest, document, passages)


def _same(job: _Job, digest: str | None) -> bool:
    try:
        return digest is not None and _digest(job.file) == digest
    except OSError:
        return False  # its report will say why


def _digest(path: Path) -> str:
    """SHA-256 of the content, and of the way it is cut."""
    found = hashlib.sha256(_CUT)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def _flush(
    held: Sequence[_Done],
    store: Store,
    embedder: Embedder,
    cancel: Cancel,
    tell: Tell,
) -> Iterator[FileReport]:
    """Embed and write what is held, then tell of it."""
    start = time.perf_counter()
    for done in held:
        if done.passages:
            tell(done.report.path, "embedding")
    texts = [indexed(p.title, p.heading, p.text) for d in held for p in d.passages]
    vectors = _encoded(texts, embedder, cancel)
    files: list[NewFile] = []
    at = 0
    for done in held:
        if done.document is None:
            continue
        own = vectors[at : at + len(done.passages)]
        at += len(done.passages)
        key = done.report.path, done.namespace, done.digest
        files.append(NewFile(*key, done.document, done.passages, own))
    cancel.check()
    store.put(files)
    share = (time.perf_counter() - start) / max(1, len(texts))
    for done in held:
        report = done.report
        yield replace(report, seconds=report.seconds + share * report.passages)


def _encoded(texts: Sequence[str], embedder: Embedder, cancel: Cancel) -> Any:
    """Vectors of all texts, a batch at a time, so that Stop is heeded within a long file."""
    if not texts:
        return ()
    parts: list[Any] = []
    for first in range(0, len(texts), BATCH):
        cancel.check()
        parts.append(embedder.encode(texts[first : first + BATCH]))
    return np.concatenate(parts)
