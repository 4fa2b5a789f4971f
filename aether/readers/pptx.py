"""Slides, by markitdown: one or more sections a slide, with its number as the page."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from xml.etree.ElementTree import ParseError

from aether.errors import ReaderError
from aether.readers.office import properties
from aether.readers.outline import first_heading, sections
from aether.readers.pace import MALFORMED
from aether.records import Document, Section

_SLIDE = re.compile(r"<!-- Slide number: (\d+) -->")
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")  # file names of pictures, no text


def read(path: Path) -> Document:
    """Read a .pptx file, notes of the speaker included; raises ReaderError where it is damaged."""
    converters = import_module("markitdown.converters")
    info = import_module("markitdown").StreamInfo(extension=".pptx")
    package = import_module("pptx.exc")
    try:
        with path.open("rb") as file:
            text = str(converters.PptxConverter().convert(file, info).markdown)
        title, date = properties(path)
    except (*MALFORMED, ParseError, package.PythonPptxError) as error:
        raise ReaderError(
            f"the slides cannot be read: {type(error).__name__}: {error}",
            where=path.name,
            advice="open them in PowerPoint or LibreOffice and save them again as .pptx",
        ) from error
    parts = _slides(_PICTURE.sub("", text))
    return Document(title or first_heading(parts) or path.stem, parts, date=date)


def _slides(text: str) -> tuple[Section, ...]:
    pieces = _SLIDE.split(text)
    out: list[Section] = []
    for number, body in zip(pieces[1::2], pieces[2::2], strict=True):
        parts = sections(body, line=0, page=int(number))
        # a slide may be nothing but its title, and that is all it says
        bare = body.strip().lstrip("# ").strip()
        out += parts or ([Section(bare, page=int(number))] if bare else [])
    return tuple(out)
