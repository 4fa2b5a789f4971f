"""Conversations by id: the whole turns so far, one JSON line each, in the user folder.

Apart from the audit, because a person may delete a conversation but never a run.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from aether.errors import AetherError
from aether.records import Run, Turn

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


def last_turn(home: Path, conversation: str) -> Turn | None:
    """Exactly the last whole turn, None for a new conversation."""
    try:
        lines = _path(home, conversation).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None
    for line in reversed(lines):
        try:
            data = json.loads(line)
            return Turn(data["question"], data["agent"], data["answer"])
        except (ValueError, KeyError, TypeError):  # a line torn by a crash: the one before is whole
            continue
    return None


def add_turn(home: Path, conversation: str, run: Run) -> None:
    """Keep an answered question; a stopped or failed one is no turn."""
    if run.outcome not in ("answered", "low_confidence"):
        return
    path = _path(home, conversation)
    path.parent.mkdir(parents=True, exist_ok=True)
    turn = {"question": run.question, "agent": run.agent, "answer": run.answer, "run": run.run}
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(turn, ensure_ascii=False) + "\n")


def _path(home: Path, conversation: str) -> Path:
    if not _ID.match(conversation):
        raise AetherError(
            f"{conversation!r} cannot name a conversation",
            advice="use letters, digits, dot, dash and underscore, at most 64",
        )
    return home / "conversations" / f"{conversation}.jsonl"
