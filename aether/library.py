"""What a library page needs and no window: where files belong, what still waits, what is watched.

Everything kept lies in `ingest/` of the user folder, so that a restart goes on where it was.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from aether.agents import AgentTree
from aether.lexicon import Lexicon
from aether.records import Question
from aether.steps.route import route
from aether.tomlfile import replace_file

FOLDER = "ingest"
SAMPLED = 40  # names that are looked at for a suggestion
CLEAR = 0.5  # share of all points from which one expert owns a drop
_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z0-9]+")
_DULL = frozenset(
    {"docs", "doc", "documents", "files", "file", "home", "users", "user", "desktop", "downloads"}
    | {"tmp", "pdf", "docx", "final", "new", "copy", "draft", "version", "v1", "v2", "untitled"}
    | {"notes", "readme", "index"}
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Where dropped files belong: a namespace, its expert, and how clear that is, 0-1."""

    namespace: str
    agent: str
    share: float
    words: tuple[str, ...] = ()  # the words of the files that point there, most frequent first


def suggest_namespace(
    paths: Sequence[str], tree: AgentTree, lexicon: Lexicon, texts: Sequence[str] = ()
) -> Suggestion:
    """The namespace for files, judged by their names, their folders and the beginning of texts.

    A folder that bears the name of a namespace decides; else the experts' routing points on each
    name vote, and without a clear winner the common parent, at last the root, takes them.
    """
    spaces = {manifest.namespace: agent for agent, manifest in tree.agents.items()}
    for path in paths:
        for part in Path(path).parts:
            if part.lower() in spaces:
                return Suggestion(part.lower(), spaces[part.lower()], 1.0, (part,))
    said = [name_words(path) for path in spread(paths)] + [text[:600] for text in texts]
    points: dict[str, float] = defaultdict(float)
    for text in filter(None, dict.fromkeys(said)):
        best = route(Question(text), tree, lexicon).candidates[0]
        named = any(part > 0 for name, part in best.parts if name != "examples")
        if named and best.score >= tree.routes.tier3.ambiguous:  # less is no more than chance
            points[best.agent] += best.score
    total = sum(points.values())
    if not total:
        return Suggestion(tree[tree.root].namespace, tree.root, 0.0)
    agent = _owner(points, tree)
    below = tree.subtree(agent)
    share = sum(points[one] for one in below) / total
    return Suggestion(tree[agent].namespace, agent, share, _telling(said, below, lexicon))


def _telling(said: Sequence[str], agents: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """The phrases in the texts that belong to these experts, most frequent first."""
    found = Counter(
        match.phrase.text
        for text in said
        for match in lexicon.matches(text)
        if match.phrase.agent in agents and match.credit == 1 and match.phrase.column != "not_when"
    )
    return tuple(text for text, _ in found.most_common(6))


def _owner(points: Mapping[str, float], tree: AgentTree) -> str:
    """The lowest expert that holds, with those below it, a clear share of all points."""
    total = sum(points.values())
    winner = max(points, key=lambda agent: points[agent])
    for agent in tree.ladder(winner):
        if sum(points.get(below, 0.0) for below in tree.subtree(agent)) >= CLEAR * total:
            return agent
    return tree.root


def name_words(path: str) -> str:
    """The words of a file's name and of the two folders above it, without dull ones."""
    parts = Path(path).parts
    names = [*parts[:-1][-2:], Path(path).stem]
    words = [word for name in names for word in _BREAK.split(name) if word]
    return " ".join(w for w in words if w.lower() not in _DULL and not w.isdigit())


def spread(items: Sequence[str], most: int = SAMPLED) -> list[str]:
    """At most so many items, evenly taken from all."""
    step = max(1, len(items) / most)
    return [items[int(i * step)] for i in range(min(most, len(items)))]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file that was given and has no report yet."""

    path: str
    namespace: str


class IngestQueue:
    """What still waits, kept line by line; a line torn by a crash costs that line alone."""

    def __init__(self, home: Path) -> None:
        self._path = home / FOLDER / "queue.jsonl"

    def load(self) -> tuple[Waiting, ...]:
        """What waits, in order; the file is written anew without what is over."""
        waiting: dict[Waiting, None] = {}
        for line in _lines(self._path):
            namespace = str(line.get("namespace", ""))
            for path in _texts(line.get("add")):
                waiting[Waiting(path, namespace)] = None
            for path in _texts(line.get("done")):
                waiting.pop(Waiting(path, namespace), None)
        if self._path.exists():
            self._rewrite(waiting)
        return tuple(waiting)

    def add(self, paths: Sequence[str], namespace: str) -> None:
        """These files wait now; raises OSError."""
        self._append({"namespace": namespace, "add": list(paths)})

    def done(self, paths: Sequence[str], namespace: str) -> None:
        """These files have their report, or are not wanted any more; raises OSError."""
        self._append({"namespace": namespace, "done": list(paths)})

    def _append(self, record: Mapping[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8", errors="surrogateescape") as out:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")

    def _rewrite(self, waiting: Iterable[Waiting]) -> None:
        by_space: dict[str, list[str]] = defaultdict(list)
        for item in waiting:
            by_space[item.namespace].append(item.path)
        if not by_space:
            self._path.unlink()
            return
        lines = [json.dumps({"namespace": space, "add": p}) for space, p in by_space.items()]
        replace_file(self._path, "\n".join(lines) + "\n")


@dataclass(frozen=True, slots=True)
class Watched:
    """A folder whose files are taken in when they come or change."""

    folder: str
    namespace: str


def load_watched(home: Path) -> tuple[Watched, ...]:
    """The watched folders; those that are not there at the moment too."""
    found = [
        Watched(str(line["folder"]), str(line["namespace"]))
        for line in _lines(home / FOLDER / "watched.jsonl")
        if "folder" in line and "namespace" in line
    ]
    return tuple({item.folder: item for item in found}.values())


def save_watched(home: Path, watched: Iterable[Watched]) -> None:
    """Keep the list; raises OSError."""
    lines = [json.dumps({"folder": w.folder, "namespace": w.namespace}) for w in watched]
    replace_file(home / FOLDER / "watched.jsonl", "".join(f"{line}\n" for line in lines))


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return []
    found: list[dict[str, Any]] = []
    for line in text.split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(cast(dict[str, Any], value))
    return found


def _texts(value: object) -> list[str]:
    items = cast(list[object], value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]
