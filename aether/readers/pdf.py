"""PDF files, by pypdf, page by page: a page that cannot be read costs that page only."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from aether.errors import NothingToRead, ReaderError
from aether.readers.pace import MALFORMED, breathe
from aether.records import Document, Section

# a page with more drawing than this holds a plan or a scatter plot; pypdf would parse for minutes
_PAGE_BYTES = 8_000_000
_HYPHEN = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
_ITEM = re.compile(r"\s*(?:[-*\u2022\u25aa\u2013]|\d{1,3}[.)]|[a-z]\))\s")
_SHOWN = 5  # page numbers named in a note


def read(path: Path) -> Document:
    """Read the text layer of a PDF.

    Raises ReaderError where it needs a password or is damaged, NothingToRead without a text layer.
    """
    pypdf = import_module("pypdf")
    # pypdf logs every oddity of a file that it mends; what is lost stands in the notes
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    with path.open("rb") as file:
        try:
            book: Any = pypdf.PdfReader(file, strict=False)
            _unlock(book, path)
            count = len(book.pages)
        except (*MALFORMED, pypdf.errors.PyPdfError, OSError) as error:
            raise _damaged(path, error) from error
        lost: dict[str, list[int]] = {}
        parts = tuple(_pages(book, count, lost, pypdf.errors.PyPdfError))
        title, date = _properties(book, pypdf.errors.PyPdfError)
    notes = tuple(_note(why, pages) for why, pages in lost.items())
    if not parts:
        if lost:
            raise ReaderError("; ".join(notes), where=path.name)
        raise NothingToRead(
            f"no text layer, 0 passages ({count} pages of pictures only)",
            where=path.name,
            advice="run text recognition (OCR) on it, for example with ocrmypdf, and add it again",
        )
    return Document(title or path.stem, parts, date=date, notes=notes)


def _unlock(book: Any, path: Path) -> None:
    """Open a PDF that only restricts printing or copying; refuse one that wants a password."""
    if book.is_encrypted and not book.decrypt(""):
        raise ReaderError(
            "the PDF is encrypted: needs a password",
            where=path.name,
            advice="open it with its password, save a copy without, and add that",
        )


def _pages(
    book: Any, count: int, lost: dict[str, list[int]], fault: type[Exception]
) -> Iterator[Section]:
    for number in range(1, count + 1):
        breathe()
        try:
            page = book.pages[number - 1]
            content = page.get_contents()
            if content is not None and len(content.get_data()) > _PAGE_BYTES:
                lost.setdefault("holds too large a drawing", []).append(number)
                continue
            text = _unwrap(str(page.extract_text()))
        except (*MALFORMED, fault, OSError):
            lost.setdefault("could not be read", []).append(number)
            continue
        if text.strip():
            yield Section(text, page=number)


def _unwrap(text: str) -> str:
    """Join the lines of a paragraph again, so that sentences are whole."""
    text = _HYPHEN.sub("", text)
    lines = [line.strip() for line in text.split("\n")]
    full = 0.6 * max(map(len, lines), default=0)
    out = ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        goes_on = (
            len(line) >= full
            and line[-1:] not in {".", "!", "?", ":"}
            and after[:1].isalnum()
            and not _ITEM.match(after)
        )
        out += line + (" " if goes_on else "\n")
    return out.rstrip()


def _properties(book: Any, fault: type[Exception]) -> tuple[str, str]:
    """(title, day of the last change) of the document information."""
    try:
        info = book.metadata
        title = str(info.title or "").strip() if info else ""
        changed = (info.modification_date or info.creation_date) if info else None
    except (*MALFORMED, fault):
        return "", ""
    if title.lower().startswith(("untitled", "microsoft word")) or "\ufffd" in title:
        title = ""
    return title, changed.date().isoformat() if changed else ""


def _note(why: str, pages: list[int]) -> str:
    shown = ", ".join(map(str, pages[:_SHOWN]))
    more = f" and {len(pages) - _SHOWN} more" if len(pages) > _SHOWN else ""
    return f"page{'s' if len(pages) > 1 else ''} {shown}{more} {why}"


def _damaged(path: Path, error: Exception) -> ReaderError:
    return ReaderError(
        f"the PDF is cut off or damaged: {str(error).splitlines()[0] if str(error) else error!r}",
        where=path.name,
        advice="fetch or copy it again",
    )
