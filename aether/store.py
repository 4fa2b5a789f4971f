"""The door to LanceDB: one table of passages, searched by meaning and by words at once.

The only module that knows its query language and its exceptions. A hit's score is always the
cosine between question and passage; how the two searches are fused decides the order only.
"""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import filelock
import lancedb
from lancedb.index import FTS, Bitmap
from lancedb.query import MatchQuery

from aether.errors import EmbedderMismatch, StoreError
from aether.protocols import Embedder, NewFile, StoredFile
from aether.records import Hit
from aether.rows import (
    SHOWN,
    TEXTS,
    Snapshot,
    by_namespace,
    condition,
    files_of,
    fused,
    hit_of,
    quoted,
    shape,
    table_of,
    with_cosine,
    with_vectors,
)
from aether.storefault import told

TABLE = "passages"
_KEY = ["namespace", "path", "ordinal"]
_MAX_QUERY = 2_000  # characters of a question that are searched for
_POOL = 40  # rows that each search offers to the fusion, at least
_TRIES = 8
_LOCK_S = 120.0
_MANY_UNINDEXED = 5_000
_MANY_FRAGMENTS = 64
_IN_MEMORY = 25_000  # passages; more are searched on the disk
_KEEP = timedelta(hours=1)  # how long readers elsewhere may go on with an old version
_FAULTS = (OSError, RuntimeError, ValueError)  # LanceDB and Arrow raise these and their kin


class LanceStore:
    """The knowledge base in LanceDB; safe for many threads and several processes."""

    def __init__(self, uri: str, embedder: Embedder) -> None:
        self._uri = uri
        self._embedder = embedder
        self._lock = threading.Lock()
        self._table: Any = None
        self._snapshot: Snapshot | None = None
        self._snapshot_lock = threading.Lock()
        self._folder = None if "://" in uri else Path(uri).expanduser()

    # --- reading ------------------------------------------------------------------------

    def search(self, text: str, namespaces: Sequence[str], k: int) -> tuple[Hit, ...]:
        """The best `k` passages of these namespaces (all when empty), best first.

        `rows.fused` tells how the order comes about. Raises StoreError, EmbedError.
        """
        query = "".join(c if c.isprintable() else " " for c in text[:_MAX_QUERY]).strip()
        table = self._open()
        if table is None or not query or k < 1:
            return ()
        self._check(table)
        where = f"namespace IN ({quoted(namespaces)})" if namespaces else None
        size = max(_POOL, 3 * k)
        with self._guarded("the knowledge base cannot be searched"):
            vector = self._embedder.encode([query])[0]
            with ThreadPoolExecutor(1) as pool:  # both searches at once
                words = pool.submit(_by_words, table, query, where, size)
                if (snapshot := self._snapshot_of(table)) is not None:
                    rows = snapshot.near(vector, namespaces, size)
                else:
                    rows = with_cosine(_by_meaning(table, vector, where, size), vector)
                found = with_cosine(words.result(), vector)
            return fused(query, rows, found)[:k]

    def digests(self, namespace: str) -> dict[str, str]:
        """Path -> content hash of every file of a namespace; raises EmbedderMismatch."""
        if (table := self._open()) is not None:
            self._check(table)
        return {file.path: file.digest for file in self.files(namespace)}

    def files(self, namespace: str = "") -> tuple[StoredFile, ...]:
        """What is in it, by namespace and path."""
        table = self._open()
        if table is None:
            return ()
        with self._guarded("the knowledge base cannot be listed"):
            query = table.search().select(["namespace", "path", "title", "digest", "added"])
            if namespace:
                query = query.where(f"namespace = {quoted([namespace])}")
            return files_of(query.limit(None).to_list())

    def passages(self, path: str, namespace: str) -> tuple[Hit, ...]:
        """Every passage of one file in the order of the text; their score is 0."""
        table = self._open()
        if table is None:
            return ()
        where = condition([(namespace, path)])
        with self._guarded("the file cannot be shown"):
            query = table.search().select([*SHOWN, "ordinal"]).where(where).limit(None)
            rows: list[dict[str, Any]] = sorted(query.to_list(), key=lambda row: row["ordinal"])
        return tuple(hit_of(row, 0.0) for row in rows)

    def stats(self) -> dict[str, Any]:
        """Passages and files in all and by namespace, rows not yet indexed, embedder, version."""
        files = self.files()
        table = self._open()
        with self._guarded("the knowledge base cannot be measured"):
            return {
                "passages": sum(file.passages for file in files),
                "files": len(files),
                "namespaces": by_namespace(files),
                "unindexed": _unindexed(table) if table is not None else 0,
                "embedder": _metadata(table, "embedder") or self._embedder.fingerprint,
                "version": self.version(),
                "uri": self._uri,
            }

    def version(self) -> str:
        """A string that changes with every change of the content."""
        table = self._open()
        if table is None:
            return "empty"
        with self._guarded("the knowledge base cannot be read"):
            return f"{_metadata(table, 'born')}-{table.version}"

    # --- writing ------------------------------------------------------------------------

    def put(self, files: Sequence[NewFile]) -> None:
        """Add files, replacing all passages of the same path and namespace in one commit.

        Raises StoreError, EmbedderMismatch; then nothing has changed.
        """
        if not files:
            return
        old = condition([(file.namespace, file.path) for file in files])
        with self._guarded("the passages cannot be written"), self._writing():
            new = table_of(files, self._embedder.dimension)
            table = self._open()
            if table is None:
                if not new.num_rows:
                    return
                table = self._create()
            self._check(table)
            _ensure_indices(table)
            if new.num_rows:
                merge = table.merge_insert(_KEY).when_matched_update_all()
                merge = merge.when_not_matched_insert_all().when_not_matched_by_source_delete(old)
                self._commit(table, lambda: merge.execute(new))
            else:  # only files that lost their text
                self._commit(table, lambda: table.delete(old))
            fragments = table.stats()["fragment_stats"]["num_fragments"]
            if fragments > _MANY_FRAGMENTS or _unindexed(table) > _MANY_UNINDEXED:
                self._commit(table, lambda: table.optimize(cleanup_older_than=_KEEP))

    def remove(self, paths: Sequence[str], namespace: str) -> int:
        """Forget files; the number of passages that went."""
        table = self._open()
        if table is None or not paths:
            return 0
        where = condition([(namespace, path) for path in paths])
        with self._guarded("the files cannot be removed"), self._writing():
            gone = int(table.count_rows(where))
            if gone:
                self._commit(table, lambda: table.delete(where))
            return gone

    def optimize(self) -> None:
        """Index what is new and join small fragments; worth it after a batch, not after a file."""
        table = self._open()
        if table is None:
            return
        with self._guarded("the knowledge base cannot be optimised"), self._writing():
            self._commit(table, lambda: table.optimize(cleanup_older_than=_KEEP))

    def reindex(self) -> int:
        """Embed every stored passage with the present embedder, in one commit; how many.

        The old vectors stay in force until all new ones are made.
        """
        table = self._open()
        if table is None:
            return 0
        with self._guarded("the knowledge base cannot be re-indexed"), self._writing():
            rows = table.search().select([*TEXTS, "ordinal"]).limit(None).to_arrow()
            vectors = self._embedder.encode(rows["indexed"].to_pylist())
            _ensure_indices(self._create(with_vectors(rows, vectors)))
            return int(rows.num_rows)

    # --- opening ------------------------------------------------------------------------

    def _open(self) -> Any:
        """The table, None where there is none yet; raises StoreError."""
        with self._lock, self._guarded("the knowledge base cannot be opened"):
            if self._table is None and (self._folder is None or self._folder.is_dir()):
                self._table = _existing(self._connect())
            return self._table

    def _snapshot_of(self, table: Any) -> Snapshot | None:
        """The passages in memory, as fresh as the table; None where there are too many."""
        if not 0 < int(table.count_rows()) <= _IN_MEMORY:
            return None
        version = self.version()
        with self._snapshot_lock:
            if self._snapshot is None or self._snapshot.version != version:
                # a commit in between makes the rows newer than `version`: read again next time
                rows = table.search().select([*SHOWN, "ordinal", "vector"]).limit(None)
                self._snapshot = Snapshot(version, rows.to_arrow())
            return self._snapshot

    def _connect(self) -> Any:
        uri = str(self._folder or self._uri)
        # zero: every read looks for what other processes committed; 0.4 ms on a local disk
        return lancedb.connect(uri, read_consistency_interval=timedelta(0))

    def _create(self, rows: Any = None) -> Any:
        """Make the table, or put a whole new one in its place; the caller holds the write lock."""
        wanted = shape(self._embedder.dimension).with_metadata(
            {"embedder": self._embedder.fingerprint, "born": uuid.uuid4().hex[:12]}
        )
        with self._lock:
            db = self._connect()
            if rows is not None:
                self._table = db.create_table(TABLE, rows.cast(wanted), mode="overwrite")
                return self._table
            try:
                self._table = db.create_table(TABLE, schema=wanted)
            except ValueError as error:  # another program on a shared store was faster
                if "already exists" not in str(error):
                    raise
                self._table = db.open_table(TABLE)
            return self._table

    def _check(self, table: Any) -> None:
        """Refuse vectors of two models in one search; raises EmbedderMismatch."""
        with self._guarded("the knowledge base cannot be opened"):
            built, now = _metadata(table, "embedder"), self._embedder.fingerprint
        if built != now:
            old, new = built.split("/"), now.split("/")
            raise EmbedderMismatch(
                f"the knowledge base was built with the embedder {old[0]} ({old[1]} dimensions), "
                f"but kb.embedder is {new[0]} ({new[1]} dimensions)",
                where=self._uri,
                advice=f"set kb.embedder back to {old[0]}, or re-index all passages with "
                "`aether kb optimize --reindex`; nothing was changed",
            )

    @contextmanager
    def _writing(self) -> Generator[None]:
        """One writer at a time on a local folder, over threads and processes alike."""
        lock: Any = nullcontext()
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(self._folder / ".write.lock", timeout=_LOCK_S)
        with lock:
            yield

    def _commit(self, table: Any, change: Any) -> None:
        """Carry out a change; another writer on a shared store may make it start again."""
        for left in reversed(range(_TRIES)):
            try:
                table.checkout_latest()
                change()
                return
            except _FAULTS as error:
                if not left or "conflict" not in str(error).lower():
                    raise
                time.sleep(random.uniform(0.5, 1.5) * 0.05 * (_TRIES - left))

    @contextmanager
    def _guarded(self, what: str) -> Generator[None]:
        """Turn LanceDB's exceptions into StoreError."""
        try:
            yield
        except filelock.Timeout as error:
            raise StoreError(
                f"{what}: another program has been writing for {_LOCK_S:.0f} seconds",
                where=self._uri,
                advice="wait until it is done, or end it",
            ) from error
        except _FAULTS as error:
            self._table = None  # the folder may have been replaced under us
            raise told(what, self._uri, error) from error


def _existing(db: Any) -> Any:
    try:
        return db.open_table(TABLE)
    except ValueError as error:
        if "not found" in str(error):
            return None
        raise


def _ensure_indices(table: Any) -> None:
    """Make the indices of a new table, and of one whose maker died before it could."""
    known = {index.name for index in table.list_indices()}
    if "indexed_idx" not in known:
        table.create_index("indexed", config=FTS())
    if "namespace_idx" not in known:
        table.create_index("namespace", config=Bitmap())


def _metadata(table: Any, key: str) -> str:
    if table is None:
        return ""
    found: dict[bytes, bytes] = table.schema.metadata or {}
    return found.get(key.encode(), b"").decode()


def _unindexed(table: Any) -> int:
    found = table.index_stats("indexed_idx")
    return int(found.num_unindexed_rows) if found else int(table.count_rows())


def _by_meaning(table: Any, vector: Any, where: str | None, size: int) -> Any:
    query = table.search(vector, vector_column_name="vector").distance_type("cosine")
    return _best(query, where, size, "_distance")


def _by_words(table: Any, text: str, where: str | None, size: int) -> Any:
    """A MatchQuery holds words only: no sign in the text is read as an operator."""
    match = MatchQuery(text, "indexed")  # pyright: ignore[reportCallIssue]
    return _best(table.search(match, query_type="fts"), where, size, "_score")


def _best(query: Any, where: str | None, size: int, score: str) -> Any:
    if where:
        query = query.where(where, prefilter=True)
    return query.limit(size).select([*SHOWN, "ordinal", "vector", score]).to_arrow()
