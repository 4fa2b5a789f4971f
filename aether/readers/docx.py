"""Word documents, by markitdown: headings, lists and tables as Markdown, pictures left out."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from xml.etree.ElementTree import ParseError

from aether.errors import ReaderError
from aether.readers.office import properties
from aether.readers.outline import first_heading, sections
from aether.readers.pace import MALFORMED
from aether.records import Document


def read(path: Path) -> Document:
    """Read a .docx file; raises ReaderError where it is damaged."""
    converters = import_module("markitdown.converters")
    info = import_module("markitdown").StreamInfo(extension=".docx")
    try:
        with path.open("rb") as file:
            text = str(converters.DocxConverter().convert(file, info, strict=True).markdown)
        title, date = properties(path)
    except (*MALFORMED, ParseError) as error:
        raise ReaderError(
            f"the Word document cannot be read: {type(error).__name__}: {error}",
            where=path.name,
            advice="open it in Word or LibreOffice and save it again as .docx",
        ) from error
    parts = sections(text, line=0)
    return Document(title or first_heading(parts) or path.stem, parts, date=date)
