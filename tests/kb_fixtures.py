"""What the tests of the knowledge base share: the real embedder, loaded once, and small files."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from aether.embed import PACKAGED, SentenceEmbedder
from aether.protocols import NewFile
from aether.records import Document, Passage, Section


@lru_cache(maxsize=1)
def real_embedder() -> SentenceEmbedder:
    """The packaged model, shared by all tests of one run."""
    return SentenceEmbedder(PACKAGED, Path("nowhere"))


def new_file(
    embedder: Any,
    path: str,
    *texts: str,
    namespace: str = "kb_aws",
    digest: str = "d1",
    title: str = "A title",
) -> NewFile:
    """A file with one passage a text, embedded by `embedder`."""
    passages = tuple(
        Passage(text, title, "A heading", f"line {i + 1}", i) for i, text in enumerate(texts)
    )
    document = Document(title, (Section("\n\n".join(texts)),), "Vendor", "Product", "2026-11", "")
    vectors = embedder.encode([f"{title}\nA heading\n{t}" for t in texts]) if texts else ()
    return NewFile(path, namespace, digest, document, passages, vectors)
