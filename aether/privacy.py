"""What Aether keeps about a person's questions, how much it is, and how to be rid of it.

Everything lies in the user folder; nothing of it is ever sent anywhere.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from aether.errors import AetherError

Kind = Literal["conversations", "runs", "feedback", "cache"]
PLACES: dict[Kind, tuple[str, ...]] = {
    "conversations": ("conversations",),
    "runs": ("audit",),
    "feedback": ("feedback.jsonl",),
    "cache": ("cache",),
}
LOCK_S = 5.0


@dataclass(frozen=True, slots=True)
class Kept:
    """How much there is of one kind; `count` is conversations, runs, verdicts or files."""

    kind: Kind
    count: int
    size: int  # bytes


def measure(home: Path) -> tuple[Kept, ...]:
    """Every kind, in the order of `PLACES`."""
    return tuple(_measured(home, kind) for kind in PLACES)


def purge(home: Path, kind: Kind) -> None:
    """Delete everything of one kind for good; raises AetherError where that is impossible."""
    log = home / "audit" / "runs.jsonl"
    try:
        with ExitStack() as held:
            if kind == "runs" and log.exists():  # nobody may be writing a run at this moment
                held.enter_context(FileLock(f"{log}.lock", timeout=LOCK_S))
            for name in PLACES[kind]:
                _delete(home / name)
    except Timeout as error:
        raise AetherError(
            "a run is being written down", where=str(log), advice="try again in a moment"
        ) from error
    except OSError as error:
        raise AetherError(
            f"not everything could be deleted: {error.strerror or error}",
            where=str(error.filename or home),
            advice="close other programs that use the user folder, and try again",
        ) from error


def _delete(path: Path) -> None:
    """A file, or what is in a folder; lock files stay, because they may be held."""
    if path.is_dir():
        for inside in path.iterdir():
            if inside.is_dir():
                shutil.rmtree(inside)
            elif inside.suffix != ".lock":
                inside.unlink()
    elif path.exists():
        path.unlink()


def _measured(home: Path, kind: Kind) -> Kept:
    files = [file for name in PLACES[kind] for file in _files(home / name)]
    size = sum(file.stat().st_size for file in files)
    if kind == "conversations":
        count = len(list((home / "conversations").glob("*.jsonl")))
    elif kind in ("runs", "feedback"):
        count = sum(_lines(file) for file in files if file.suffix == ".jsonl")
    else:
        count = len(files)
    return Kept(kind, count, size)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (p for p in path.rglob("*") if p.is_file() and p.suffix != ".lock")
    elif path.is_file():
        yield path


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)
