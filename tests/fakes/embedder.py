"""A deterministic stand-in for the embedding model: words hashed into a short vector."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from aether.text import content_words


class WordEmbedder:
    """Texts that share words point the same way; no torch, no model."""

    def __init__(self, dimension: int = 64, name: str = "words") -> None:
        self._dimension = dimension
        self._name = name
        self.texts = 0
        self.batches: list[int] = []

    @property
    def fingerprint(self) -> str:
        return f"{self._name}/{self._dimension}/t1"

    @property
    def dimension(self) -> int:
        return self._dimension

    def encode(self, texts: Sequence[str]) -> Any:
        self.texts += len(texts)
        self.batches.append(len(texts))
        out = np.full((len(texts), self._dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in content_words(text):
                seed = hashlib.blake2b(word.encode(), digest_size=4).digest()
                out[row, int.from_bytes(seed, "big") % self._dimension] += 1
        return out / np.linalg.norm(out, axis=1, keepdims=True)
