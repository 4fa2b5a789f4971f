"""Plain text in any encoding; paragraphs are all the structure that it has."""

from __future__ import annotations

from pathlib import Path

from aether.readers.decode import decode
from aether.records import Document, Section


def read(path: Path) -> Document:
    """Read a text file as one section; its name is its title."""
    text = decode(path.read_bytes())
    body = text.lstrip("\n")
    line = 1 + len(text) - len(body)
    return Document(title=path.stem, sections=(Section(body.rstrip(), line=line),))
