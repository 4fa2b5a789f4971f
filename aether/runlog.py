"""The log of runs as a list: one short line a run, and the place in the file to read it whole.

Apart from `steps/audit.py`, which writes and verifies: here thousands of runs are listed without
being held in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
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
    """Every whole run from byte `start` on, oldest first, a batch at a time; AuditError."""
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
    except FileNotFoundError:
        return
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
