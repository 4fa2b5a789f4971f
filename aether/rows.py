"""The rows of the passages table: their shape, their filters, and two result lists made one.

Apart from `store.py` because nothing here touches a disk: records to Arrow, rows to hits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import numpy as np

from aether.chunks import indexed
from aether.protocols import NewFile, StoredFile
from aether.records import Hit, Passage
from aether.text import WORD

SHOWN = ("text", "title", "heading", "locator", "url", "namespace", "path", "vendor", "date")
TEXTS = (*SHOWN, "indexed", "product", "digest", "added")
_WORDS = 0.3
_EXACT = 0.6
# 0x80070005, KB5034441, 10.0.0.0/16, ge-0/0/1, Get-MgUser; not "site-to-site"
_IDENTIFIER = re.compile(r"(?=.{4})(?:.*\d|.*[-_.].*[A-Z])")
pa: Any = import_module("pyarrow")  # has no types


def shape(dimension: int) -> Any:
    """Lower-case names throughout: the query language folds the case of bare names."""
    texts = [pa.field(name, pa.string()) for name in TEXTS]
    vector = pa.field("vector", pa.list_(pa.float32(), dimension))
    return pa.schema([vector, *texts, pa.field("ordinal", pa.int32())])


def table_of(files: Sequence[NewFile], dimension: int) -> Any:
    """An Arrow table with one row a passage; the last of two equal files in a batch holds."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    kept = {(f.namespace, f.path): f for f in files}.values()
    rows = [_row(f, p, now) for f in kept for p in f.passages]
    vectors = [np.asarray(f.vectors, dtype=np.float32).reshape(-1, dimension) for f in kept]
    texts = pa.Table.from_pylist(rows, schema=shape(dimension).remove(0))  # column 0 is the vector
    return with_vectors(texts, np.concatenate(vectors))


def _row(file: NewFile, passage: Passage, now: str) -> dict[str, Any]:
    about = file.document
    return {
        "text": passage.text,
        "indexed": indexed(passage.title, passage.heading, passage.text),
        "title": passage.title,
        "heading": passage.heading,
        "locator": passage.locator,
        "ordinal": passage.ordinal,
        "namespace": file.namespace,
        "path": file.path,
        "digest": file.digest,
        "added": now,
        "url": about.url,
        "vendor": about.vendor,
        "product": about.product,
        "date": about.date,
    }


def with_vectors(texts: Any, vectors: Any) -> Any:
    """The text columns of an Arrow table with float32 vectors, shape (rows, dimension), added."""
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    column = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    wanted = shape(vectors.shape[1])
    return texts.add_column(0, "vector", column).select(wanted.names).cast(wanted)


def files_of(rows: Sequence[Mapping[str, str]]) -> tuple[StoredFile, ...]:
    """The files that rows of passages belong to, by namespace and path."""
    count = Counter((row["namespace"], row["path"]) for row in rows)
    first = {(row["namespace"], row["path"]): row for row in reversed(rows)}
    return tuple(
        StoredFile(path, space, row["title"], row["digest"], count[space, path], row["added"])
        for (space, path), row in sorted(first.items())
    )


def by_namespace(files: Sequence[StoredFile]) -> dict[str, dict[str, int]]:
    """Namespace -> number of its `files` and `passages`."""
    spaces: dict[str, dict[str, int]] = {}
    for file in files:
        space = spaces.setdefault(file.namespace, {"files": 0, "passages": 0})
        space["files"] += 1
        space["passages"] += file.passages
    return spaces


class Snapshot:
    """All passages of one version in memory, searched by one matrix product.

    A scan of the disk takes fifteen times as long. 10,000 passages take about 30 MB.
    """

    def __init__(self, version: str, found: Any) -> None:
        self.version = version
        self._vectors = _matrix(found)
        self._rows = found.drop_columns(["vector"])
        spaces = found["namespace"].combine_chunks().dictionary_encode()
        self._names: list[str] = spaces.dictionary.to_pylist()
        self._spaces = spaces.indices.to_numpy()

    def near(self, vector: Any, namespaces: Sequence[str], size: int) -> list[dict[str, Any]]:
        """The `size` rows nearest to a unit vector, nearest first, with their cosine."""
        cosine = self._vectors @ vector
        if namespaces:
            wanted = [i for i, name in enumerate(self._names) if name in namespaces]
            cosine[~np.isin(self._spaces, wanted)] = -2
        best = np.argpartition(-cosine, min(size, len(cosine)) - 1)[:size]
        best = best[cosine[best] > -2]
        best = best[np.argsort(-cosine[best], kind="stable")]
        rows: list[dict[str, Any]] = self._rows.take(best).to_pylist()
        return [{**row, "cosine": float(c)} for row, c in zip(rows, cosine[best], strict=True)]


def _matrix(found: Any) -> Any:
    column = found["vector"].combine_chunks()
    return column.flatten().to_numpy().reshape(len(column), -1)


def with_cosine(found: Any, vector: Any) -> list[dict[str, Any]]:
    """Rows of an Arrow result, each with the cosine of its stored vector to `vector`."""
    rows: list[dict[str, Any]] = found.drop_columns(["vector"]).to_pylist()
    if not rows:
        return []
    cosine = _matrix(found) @ vector
    return [{**row, "cosine": float(c)} for row, c in zip(rows, cosine, strict=True)]


def fused(query: str, near: list[dict[str, Any]], worded: list[dict[str, Any]]) -> tuple[Hit, ...]:
    """Rows near in meaning and rows that share words, in one order, best first.

    Points: 0.7 x cosine, spread from the worst to the best row, + 0.3 x word score as a share of
    the best (weights tried on 59 questions over 5,800 passages) + 0.6 x identifiers of the query
    that stand in the row, each by its rarity. A hit's score stays the bare cosine.
    """
    rows = {(r["namespace"], r["path"], r["ordinal"]): r for r in (*worded, *near)}
    cosine = {key: float(row["cosine"]) for key, row in rows.items()}
    words = {(r["namespace"], r["path"], r["ordinal"]): float(r["_score"]) for r in worded}
    exact = _exact(query, rows)
    low, high = min(cosine.values(), default=0.0), max(cosine.values(), default=0.0)
    best = max(words.values(), default=0.0) or 1.0

    def points(key: Any) -> float:
        spread = (cosine[key] - low) / ((high - low) or 1.0)
        worded = words.get(key, 0.0) / best
        return (1 - _WORDS) * spread + _WORDS * worded + _EXACT * exact[key]

    order = sorted(rows, key=lambda key: (-points(key), key))
    return tuple(hit_of(rows[key], cosine[key]) for key in order)


def _exact(query: str, rows: Mapping[Any, dict[str, Any]]) -> dict[Any, float]:
    """How much of the query's error codes, commands and addresses stands in each row, 0-1."""
    names = {name.casefold() for name in WORD.findall(query) if _IDENTIFIER.match(name)}
    if not names:
        return dict.fromkeys(rows, 0.0)
    texts = {k: f"{r['title']} {r['heading']} {r['text']}".casefold() for k, r in rows.items()}
    rare = {n: (1 - sum(n in t for t in texts.values()) / len(texts)) ** 2 for n in names}
    return {k: sum(rare[n] for n in names if n in t) / len(names) for k, t in texts.items()}


def hit_of(row: dict[str, Any], cosine: float) -> Hit:
    """A row of the table as a passage that may be cited."""
    return Hit(
        text=row["text"],
        title=row["title"],
        url=row["url"],
        source=row["namespace"],
        origin="kb",
        score=min(1.0, max(0.0, cosine)),
        path=row["path"],
        locator=", ".join(part for part in (row["locator"], row["heading"]) if part),
        vendor=row["vendor"],
        date=row["date"],
    )


def quoted(values: Sequence[str]) -> str:
    """Text literals stand in single quotes; what stands in double quotes would be a column."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def condition(keys: Sequence[tuple[str, str]]) -> str:
    """The filter for all passages of these files, given as (namespace, path)."""
    by_space: dict[str, list[str]] = {}
    for namespace, path in keys:
        by_space.setdefault(namespace, []).append(path)
    return " OR ".join(
        f"(namespace = {quoted([space])} AND path IN ({quoted(paths)}))"
        for space, paths in by_space.items()
    )
