"""Every socket of Aether on one page: what a door must offer, without saying who offers it.

Steps and flows see these Protocols only; `engine.py` plugs in the real doors, tests plug in
the same doors pointed at local servers.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from aether.cancel import Cancel
from aether.records import (
    Document,
    Hit,
    ModelDelta,
    ModelEnd,
    ModelInfo,
    Passage,
    Prompt,
    WebStatus,
)


class Model(Protocol):
    """The one language model."""

    def info(self) -> ModelInfo:
        """Who answers and how large its loaded window is; raises ModelError."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`: counted by the server where it can, else estimated."""
        ...

    def stream(self, prompt: Prompt, cancel: Cancel) -> Generator[ModelDelta | ModelEnd]:
        """Yield pieces of the answer, then one ModelEnd; raises ModelError or Cancelled."""
        ...

    def close(self) -> None:
        """Let go of sockets and of an embedded server."""
        ...


class Embedder(Protocol):
    """Text to vectors."""

    @property
    def fingerprint(self) -> str:
        """Model, dimension and prefix scheme in one line; equal means interchangeable vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers per vector."""
        ...

    def encode(self, texts: Sequence[str]) -> Any:
        """Unit vectors, float32, shape (len(texts), dimension); raises EmbedError."""
        ...


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is in the knowledge base, as `kb list` shows it."""

    path: str
    namespace: str
    title: str
    digest: str
    passages: int
    added: str


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file on its way into the knowledge base: its passages with their vectors."""

    path: str
    namespace: str
    digest: str
    document: Document
    passages: tuple[Passage, ...]
    vectors: Any  # float32, shape (len(passages), dimension)


class Searchable(Protocol):
    """The half of the knowledge base that a question needs."""

    def search(self, text: str, namespaces: Sequence[str], k: int) -> tuple[Hit, ...]:
        """The best `k` passages of these namespaces (all when empty), best first."""
        ...


class Store(Searchable, Protocol):
    """The knowledge base."""

    def digests(self, namespace: str) -> dict[str, str]:
        """Path -> content hash of every file of a namespace."""
        ...

    def put(self, files: Sequence[NewFile]) -> None:
        """Add files, replacing all passages of the same path and namespace in one step."""
        ...

    def remove(self, paths: Sequence[str], namespace: str) -> int:
        """Forget files; the number of passages that went."""
        ...

    def files(self, namespace: str = "") -> tuple[StoredFile, ...]:
        """What is in it, by namespace and path."""
        ...

    def stats(self) -> dict[str, Any]:
        """Passages and files by namespace, index coverage, embedder, version."""
        ...


@dataclass(frozen=True, slots=True)
class WebResult:
    """How the web step ended: a status that tells empty from failed, hits, a line of words."""

    status: WebStatus
    hits: tuple[Hit, ...] = ()
    detail: str = ""


class Web(Protocol):
    """The door to the network."""

    def lookup(
        self, query: str, hosts: Sequence[str], budget_s: float, cancel: Cancel
    ) -> WebResult:
        """Search these hosts, fetch in parallel, return the best passages within the budget.

        Never raises WebError: a failure is a status, because the knowledge base can still answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One line of a search engine's answer."""

    url: str
    title: str
    snippet: str


class SearchProvider(Protocol):
    """A web search service behind `web.provider`."""

    def search(self, query: str, limit: int, timeout_s: float) -> tuple[SearchResult, ...]:
        """Results, best first; () means nothing found. Raises WebError when it failed."""
        ...


class Reader(Protocol):
    """One kind of file: bytes on disk to a Document."""

    def __call__(self, path: Path) -> Document:
        """Read one file; raises ReaderError, or NothingToRead where there is no text."""
        ...
