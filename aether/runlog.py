"""The log of runs as a list: one short line a run, and the place in the file to read it whole.

Apart from `steps/audit.py`, which writes and verifies: here thousands of runs are listed without
being held in memory. What was listed once is kept in an index beside the log, so that the next time
only new runs are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from aether.errors import AuditError

BATCH = 100


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a list; `offset` and `end` are the bytes of its line in the log."""

    run: str
    at: str  # ISO 8601
    question: str
    agent: str
    outcome: str
    confidence: float
    total_ms: float
    offset: int
    end: int


def run_lines(path: Path, start: int = 0) -> Iterator[tuple[RunLine, ...]]:
    """Every whole run from byte `start` on, oldest first, a batch at a time; raises AuditError."""
    if not path.exists():
        return
    known = _indexed(path)
    until = known[-1].end if known else 0
    fresh = [line for line in known if line.offset >= start]
    for first in range(0, len(fresh), BATCH):
        yield tuple(fresh[first : first + BATCH])
    for batch in _read(path, max(start, until)):
        if start <= until:  # else there would be a gap in the index
            _keep(path, batch)
        yield batch


def index_of(path: Path) -> Path:
    """Where the index of a log lies: beside it, so that both are deleted together."""
    return path.with_suffix(".index")


def _indexed(path: Path) -> list[RunLine]:
    """What was listed before; nothing where the index is not of this log."""
    found: list[RunLine] = []
    try:
        lines = index_of(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return found
    for text in lines:
        try:
            line = RunLine(**json.loads(text))
        except (ValueError, TypeError):  # torn, or written by another version
            continue
        if line.offset >= (found[-1].end if found else 0):
            found.append(line)
    if found:
        try:
            record_at(path, found[-1])
        except AuditError:
            with suppress(OSError):
                index_of(path).unlink()
            return []
    return found


def _keep(path: Path, lines: Iterable[RunLine]) -> None:
    """Add to the index; a disk that is full costs time at the next start, nothing else."""
    text = "".join(json.dumps(asdict(line)) + "\n" for line in lines)
    with suppress(OSError), index_of(path).open("a", encoding="utf-8") as index:
        index.write(text)


def _read(path: Path, start: int) -> Iterator[tuple[RunLine, ...]]:
    batch: list[RunLine] = []
    try:
        with path.open("rb") as log:
            log.seek(start)
            offset = start
            for raw in log:
                end = offset + len(raw)
                if raw.endswith(b"\n") and (line := _line(raw, offset, end)):
                    batch.append(line)
                offset = end
                if len(batch) >= BATCH:
                    yield tuple(batch)
                    batch = []
    except OSError as error:
        raise _unreadable(path, error) from error
    if batch:
        yield tuple(batch)


def record_at(path: Path, line: RunLine) -> dict[str, Any]:
    """The whole record of a listed run; raises AuditError where the log is another one by now."""
    try:
        with path.open("rb") as log:
            log.seek(line.offset)
            record = _parsed(log.read(line.end - line.offset))
    except OSError as error:
        raise _unreadable(path, error) from error
    if record is None or str(record.get("run")) != line.run:
        raise AuditError(
            f"the run {line.run} is not in its place any more",
            where=str(path),
            advice="the log was changed meanwhile: list the runs again",
        )
    return record


def _line(raw: bytes, offset: int, end: int) -> RunLine | None:
    record = _parsed(raw)
    if record is None or not record.get("run"):
        return None
    timings = record.get("timings")
    spent = cast(dict[str, Any], timings).get("total_ms") if isinstance(timings, dict) else 0.0
    words = {key: str(record.get(key) or "") for key in ("run", "at", "agent", "outcome")}
    question = " ".join(str(record.get("question") or "").split())[:300]
    sure = _number(record.get("confidence"))
    return RunLine(
        words["run"], words["at"], question, words["agent"], words["outcome"], sure,
        _number(spent), offset, end,
    )  # fmt: skip


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _unreadable(path: Path, error: OSError) -> AuditError:
    return AuditError(f"the run log cannot be read: {error.strerror or error}", where=str(path))
