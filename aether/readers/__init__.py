"""Files to Documents: a dict from suffix to reader, one module a kind, and `read` before them.

`read` looks at the content before it trusts the name, so that a reader only meets its own kind.
Every parser is imported by its reader at first use; importing this package costs nothing.
"""

from __future__ import annotations

from pathlib import Path

from aether.cancel import Cancel
from aether.errors import NothingToRead, ReaderError
from aether.protocols import Reader
from aether.readers import csvfile, docx, markdown, markup, pdf, plain, pptx, webpage, xlsx
from aether.readers.pace import watched
from aether.readers.sniff import true_suffix
from aether.records import Document

READERS: dict[str, Reader] = {
    ".md": markdown.read,
    ".markdown": markdown.read,
    ".mdx": markdown.read,
    ".txt": plain.read,
    ".text": plain.read,
    ".log": plain.read,
    ".rst": markup.read,
    ".adoc": markup.read,
    ".asciidoc": markup.read,
    ".html": webpage.read,
    ".htm": webpage.read,
    ".xhtml": webpage.read,
    ".pdf": pdf.read,
    ".docx": docx.read,
    ".pptx": pptx.read,
    ".xlsx": xlsx.read,
    ".csv": csvfile.read,
    ".tsv": csvfile.read,
}
MAX_BYTES = 200_000_000


def read(path: Path, cancel: Cancel | None = None) -> Document:
    """Read one file by what it holds.

    Raises ReaderError; NothingToRead where a sound file has no text; Cancelled between the pages
    or rows of a long file.
    """
    try:
        size = path.stat().st_size
        if not size:
            raise NothingToRead("the file is empty: 0 passages", where=path.name)
        if size > MAX_BYTES:
            raise ReaderError(
                f"the file is {size / 1e6:,.0f} MB, more than {MAX_BYTES / 1e6:,.0f} MB",
                where=path.name,
                advice="split it into parts and add those",
            )
        reader = READERS[true_suffix(path, frozenset(READERS))]
        with watched(cancel):
            document = reader(path)
    except OSError as error:
        raise ReaderError(
            f"the file cannot be opened: {error.strerror or error}",
            where=path.name,
            advice="check that it exists and that you may read it",
        ) from error
    if not any(section.text.strip() for section in document.sections):
        raise NothingToRead("the file holds no text: 0 passages", where=path.name)
    return document
