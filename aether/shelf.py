"""All conversations of a person: listed, searched, renamed, pinned, deleted and brought back.

Apart from `conversations.py`, which knows one at a time; a command never needs more than one.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aether.conversations import append, details_path, fault, read_lines, words_path

TITLE = 70  # characters of a title made from the first question
SNIPPET = 90


@dataclass(frozen=True, slots=True)
class Conversation:
    """One line of the list; `at` is the time of its last exchange, ISO 8601."""

    id: str
    title: str
    at: str
    pinned: bool = False
    exchanges: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation in which all searched words occur, and the place of the first."""

    conversation: Conversation
    snippet: str


@dataclass(frozen=True, slots=True)
class _Kept:
    stamp: tuple[int, int]
    conversation: Conversation
    text: str


def new_id() -> str:
    """An id for a conversation that begins now."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"


class Shelf:
    """The conversations in one user folder; files that did not change are read once."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = home / "conversations"
        self._trash = self._folder / "deleted"
        self._kept: dict[str, _Kept] = {}

    def list(self) -> tuple[Conversation, ...]:
        """All of them, pinned ones first, then the newest."""
        self._refresh()
        return tuple(sorted((k.conversation for k in self._kept.values()), key=_order))

    def search(self, text: str) -> tuple[Found, ...]:
        """Those in which every word of `text` occurs in a title, a question or an answer."""
        words = text.lower().split()
        self._refresh()
        found = [
            Found(kept.conversation, _snippet(kept.text, words[0]))
            for kept in self._kept.values()
            if words and all(word in kept.text.lower() for word in words)
        ]
        return tuple(sorted(found, key=lambda f: _order(f.conversation)))

    def rename(self, conversation: str, title: str) -> None:
        """Give it a title; an empty one brings back the first question. Raises AetherError."""
        self._change(conversation, {"title": title.strip()})

    def pin(self, conversation: str, pinned: bool) -> None:
        """Keep it on top, or no longer. Raises AetherError."""
        self._change(conversation, {"pinned": pinned})

    def delete(self, conversation: str) -> None:
        """Put it aside; `restore` brings it back until `empty_trash`. Raises AetherError."""
        self._move(conversation, back=False)
        self._kept.pop(conversation, None)

    def restore(self, conversation: str) -> None:
        """Bring a deleted one back. Raises AetherError."""
        self._move(conversation, back=True)

    def empty_trash(self) -> None:
        """Forget what was deleted for good."""
        for path in self._trash.glob("*.jsonl*"):
            path.unlink(missing_ok=True)

    def _change(self, conversation: str, change: Mapping[str, Any]) -> None:
        append(words_path(self._home, conversation), conversation, change)

    def _move(self, conversation: str, back: bool) -> None:
        words, details = (
            words_path(self._home, conversation),
            details_path(self._home, conversation),
        )
        pairs = (
            (words, self._trash / words.name),
            (details, self._trash / f"{words.name}.details"),
        )
        try:
            self._trash.mkdir(parents=True, exist_ok=True)
            for place, aside in pairs:
                source, target = (aside, place) if back else (place, aside)
                if source.exists():
                    source.replace(target)
        except OSError as error:
            raise fault(error, conversation, "moved") from error

    def _refresh(self) -> None:
        seen: set[str] = set()
        for path in self._folder.glob("*.jsonl"):
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            seen.add(path.stem)
            known = self._kept.get(path.stem)
            if known is None or known.stamp != stamp:
                lines = read_lines(path, path.stem)
                self._kept[path.stem] = _Kept(stamp, *_summary(path.stem, lines))
        for gone in self._kept.keys() - seen:
            del self._kept[gone]


def _order(conversation: Conversation) -> tuple[bool, float, str]:
    moment = when(conversation)
    return not conversation.pinned, -moment.timestamp() if moment else 0.0, conversation.id


def when(conversation: Conversation) -> datetime | None:
    """The time of the last exchange in the person's own time zone; None where it is unknown."""
    try:
        return datetime.fromisoformat(conversation.at).astimezone()
    except ValueError:
        return None


def _summary(name: str, lines: list[dict[str, Any]]) -> tuple[Conversation, str]:
    title, at, pinned, words = "", "", False, list[str]()
    exchanges: dict[str, dict[str, Any]] = {}
    for line in lines:
        title = str(line.get("title", title))
        pinned = bool(line.get("pinned", pinned))
        for run in line.get("retract", ()):
            exchanges.pop(run, None)
        if "question" in line:
            exchanges[str(line.get("run", len(exchanges)))] = line
            at = str(line.get("at", at))
    for line in exchanges.values():
        words += [str(line["question"]), str(line.get("answer", ""))]
    first = " ".join(words[0].split()) if words else ""
    shown = title or (first if len(first) <= TITLE else first[: TITLE - 1].rstrip() + "\u2026")
    text = "\n".join((title, *words))
    return Conversation(name, shown or name, at, pinned, len(exchanges)), text


def _snippet(text: str, word: str) -> str:
    at = text.lower().find(word)
    start = max(0, at - SNIPPET // 3)
    piece = " ".join(text[start : start + SNIPPET].split())
    return ("\u2026" if start else "") + piece + ("\u2026" if start + SNIPPET < len(text) else "")
