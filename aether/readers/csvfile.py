"""Tables as text (comma, semicolon, tab or bar): groups of rows under the header row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from aether.errors import ReaderError
from aether.readers.decode import decode
from aether.readers.outline import table
from aether.readers.pace import breathe
from aether.records import Document, Section

_GROUP = 20
_DELIMITERS = ",;\t|"
_CELL_LIMIT = 10_000_000


def read(path: Path) -> Document:
    """Read a CSV or TSV file; the first row is the header."""
    text = decode(path.read_bytes())
    csv.field_size_limit(_CELL_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, path.suffix))
    header: list[str] = []
    rows: list[list[str]] = []
    parts: list[Section] = []
    first = 0
    try:
        for cells in reader:
            if not any(c.strip() for c in cells):
                continue
            if not header:
                header = cells
                continue
            first = first or reader.line_num
            rows.append(cells)
            if len(rows) == _GROUP:
                breathe()
                parts.append(Section(table([header, *rows]), line=first))
                rows, first = [], 0
    except csv.Error as error:
        raise ReaderError(
            f"the table cannot be read at line {reader.line_num}: {error}",
            where=path.name,
            advice="check the quotation marks around that line",
        ) from error
    if rows or (header and not parts):
        parts.append(Section(table([header, *rows]), line=first or 1))
    return Document(title=path.stem, sections=tuple(parts))


def _delimiter(text: str, suffix: str) -> str:
    """The sign that parts the first lines most evenly."""
    if suffix.lower() == ".tsv":
        return "\t"
    lines = [line for line in text.split("\n", 20)[:20] if line.strip()]
    counts = {sign: min((line.count(sign) for line in lines), default=0) for sign in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda sign: counts[sign])
    return best if counts[best] else ","
