"""Step seven: every run is written down, one JSON line each, chained by SHA-256.

Append-only and safe with two processes; a line that a power cut tore is kept as it is and the
chain goes on behind it, so that nothing written later is lost.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from aether.errors import AuditError

GENESIS = "0" * 64
LOCK_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log; `record` is None where the line was torn."""

    line: int
    record: dict[str, Any] | None
    digest: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Outcome of walking the chain: runs read, torn lines, and the first break in words."""

    runs: int
    torn: tuple[int, ...]
    broken: str = ""


def audit(path: Path, record: Mapping[str, Any]) -> None:
    """Append one run; raises AuditError where the disk is full or the folder cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(str(path) + ".lock", timeout=LOCK_SECONDS)
        with lock, path.open("a+b", buffering=0) as log:
            last, whole = _last_line(log)
            body = {**record, "prev": hashlib.sha256(last).hexdigest() if last else GENESIS}
            line = json.dumps(body, ensure_ascii=False, sort_keys=True) + "\n"
            # half a surrogate pair becomes \udcxx, which is its escape in JSON as well
            data = line.encode("utf-8", "backslashreplace")
            _write(log, data if whole else b"\n" + data)
    except Timeout as error:
        raise AuditError("another process holds the run log", where=str(path)) from error
    except OSError as error:
        raise AuditError(
            f"the run cannot be written down: {error.strerror or error}",
            where=str(path),
            advice="free some disk space, or move the user folder with AETHER_HOME",
        ) from error


def _write(log: FileIO, data: bytes) -> None:
    """Write all or nothing: what a full disk cut short is taken back."""
    start = log.seek(0, os.SEEK_END)
    try:
        done = 0
        while done < len(data):
            done += log.write(data[done:])
        os.fsync(log.fileno())
    except OSError:
        with suppress(OSError):
            log.truncate(start)
        raise


def _last_line(log: FileIO) -> tuple[bytes, bool]:
    """The last line without its newline, and whether it had one."""
    size = log.seek(0, os.SEEK_END)
    block, back = b"", 0
    while back < size and block.rstrip(b"\n").count(b"\n") == 0:
        back = min(size, back + 65536)
        log.seek(size - back)
        block = log.read(back)
    return block.rstrip(b"\n").rpartition(b"\n")[2], block.endswith(b"\n") or not block


def read_log(path: Path) -> Iterator[Entry]:
    """Every line of the log in order; raises AuditError where it cannot be opened."""
    try:
        with path.open("rb") as log:
            for number, raw in enumerate(log, 1):
                line = raw.rstrip(b"\n")
                yield Entry(number, _parsed(line), hashlib.sha256(line).hexdigest())
    except FileNotFoundError:
        return
    except OSError as error:
        raise AuditError(
            f"the run log cannot be read: {error.strerror or error}", where=str(path)
        ) from error


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def find(path: Path, run: str) -> dict[str, Any]:
    """The record of one run, by its id or a unique beginning; `last` is the newest."""
    records = [e.record for e in read_log(path) if e.record]
    if run == "last" and records:
        return records[-1]
    found = [r for r in records if str(r.get("run", "")).startswith(run)]
    if len(found) == 1:
        return found[0]
    what = f'"{run}" fits {len(found)} runs' if found else f'there is no run "{run}"'
    raise AuditError(what, where=str(path), advice="`aether audit list` shows their ids")


def verify(path: Path) -> Verification:
    """Walk the chain from the start; the first line that does not fit is named."""
    previous, runs, torn = GENESIS, 0, list[int]()
    for entry in read_log(path):
        if entry.record is None:
            torn.append(entry.line)
        else:
            runs += 1
            if entry.record.get("prev") != previous:
                broken = f"line {entry.line}: the line before it was changed, removed or reordered"
                return Verification(runs, tuple(torn), broken)
        previous = entry.digest
    return Verification(runs, tuple(torn))
