"""The rows of the passages table: their shape, their filters, and two result lists made one.

Apart from `store.py` because nothing here touches a disk: records to Arrow, rows to hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import numpy as np

from aether.chunks import indexed
from aether.protocols import NewFile
from aether.records import Hit, Passage

SHOWN = ("text", "title", "heading", "locator", "url", "namespace", "path", "vendor", "date")
TEXTS = (*SHOWN, "indexed", "product", "digest", "added")
_WORDS_WEIGHT = 0.4
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


def fused(near: list[dict[str, Any]], worded: list[dict[str, Any]], vector: Any) -> tuple[Hit, ...]:
    """Both row sets in one order; every row gets its cosine, from the stored vector if need be."""
    rows = {(r["namespace"], r["path"], r["ordinal"]): r for r in (*worded, *near)}
    cosine = {key: float(np.dot(row["vector"], vector)) for key, row in rows.items()}
    words = {(r["namespace"], r["path"], r["ordinal"]): float(r["_score"]) for r in worded}
    low, high = min(cosine.values(), default=0.0), max(cosine.values(), default=0.0)
    best = max(words.values(), default=0.0) or 1.0

    def rank(key: Any) -> float:
        spread = (cosine[key] - low) / ((high - low) or 1.0)
        return (1 - _WORDS_WEIGHT) * spread + _WORDS_WEIGHT * words.get(key, 0.0) / best

    order = sorted(rows, key=lambda key: (-rank(key), key))
    return tuple(_hit(rows[key], cosine[key]) for key in order)


def _hit(row: dict[str, Any], cosine: float) -> Hit:
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
