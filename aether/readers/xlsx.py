"""Workbooks, by openpyxl: a section for each group of rows, under the sheet's header row.

Not by markitdown, whose converter makes one endless table of a sheet through pandas.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from aether.errors import ReaderError
from aether.readers.outline import table
from aether.readers.pace import MALFORMED, breathe
from aether.records import Document, Section

_GROUP = 20


def read(path: Path) -> Document:
    """Read the values of an .xlsx file, sheet by sheet; raises ReaderError where it is damaged."""
    openpyxl = import_module("openpyxl")
    try:
        with path.open("rb") as file:  # a path would be judged by its suffix
            book: Any = openpyxl.load_workbook(file, read_only=True, data_only=True)
            parts = [part for sheet in book.worksheets for part in _sheet(sheet)]
            title = str(book.properties.title or "").strip()
    except (*MALFORMED, ParseError, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise ReaderError(
            f"the workbook cannot be read: {type(error).__name__}: {error}",
            where=path.name,
            advice="open it in Excel or LibreOffice and save it again as .xlsx",
        ) from error
    return Document(title=title or path.stem, sections=tuple(parts))


def _sheet(sheet: Any) -> Iterator[Section]:
    header: list[str] = []
    rows: list[list[str]] = []
    first = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        if not number % 500:
            breathe()
        cells = ["" if v is None else str(v) for v in values]
        while cells and not cells[-1].strip():
            cells.pop()
        if not cells:
            continue
        if not header:
            header, first = cells, number
            continue
        first = first if rows else number
        rows.append(cells)
        if len(rows) == _GROUP:
            yield Section(table([header, *rows]), (str(sheet.title),), line=first)
            rows = []
    if rows or (header and first == 1):
        yield Section(table([header, *rows]), (str(sheet.title),), line=first)
