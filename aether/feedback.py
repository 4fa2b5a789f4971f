"""What a person thought of an answer: thumbs up or down, and why, one JSON line each."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from aether.errors import AetherError

Thumb = Literal["up", "down"]


def add_feedback(home: Path, run: str, verdict: Thumb, because: str = "") -> None:
    """Append one verdict on a run to `feedback.jsonl`; raises AetherError."""
    if verdict not in ("up", "down"):
        raise AetherError(f'a verdict is "up" or "down", not "{verdict}"')
    record = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "run": run, "verdict": verdict, "because": because.strip(),
    }  # fmt: skip
    path = home / "feedback.jsonl"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    except OSError as error:
        raise AetherError(
            f"the verdict cannot be kept: {error.strerror or error}",
            where=str(path),
            advice="look at the space on the disk and the rights of the user folder",
        ) from error


def read_feedback(home: Path) -> dict[str, tuple[str, str]]:
    """The newest verdict on each run, with its reason."""
    found: dict[str, tuple[str, str]] = {}
    try:
        lines = (home / "feedback.jsonl").read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return found
    for line in lines:
        try:
            data = json.loads(line)
            found[data["run"]] = (data["verdict"], data["because"])
        except (ValueError, KeyError, TypeError):  # a line torn by a crash
            continue
    return found
