"""Small files of every kind, made on the spot: what a test reads stands in the test."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import pypdf
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-'
    'types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override '
    'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>'
)
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="rId1" Type="{rel}/{kind}" Target="{target}"/></Relationships>'
)
_STYLES = (
    f'<?xml version="1.0"?><w:styles {_W}><w:style w:type="paragraph" w:styleId="Heading1">'
    '<w:name w:val="heading 1"/></w:style><w:style w:type="paragraph" w:styleId="Heading2">'
    '<w:name w:val="heading 2"/></w:style></w:styles>'
)
_CORE = (
    '<?xml version="1.0"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/'
    '2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms='
    '"http://purl.org/dc/terms/"><dc:title>{title}</dc:title><dcterms:modified>'
    "2026-03-04T05:06:07Z</dcterms:modified></cp:coreProperties>"
)


def pdf(path: Path, *pages: str, title: str = "", encrypt: dict[str, str] | None = None) -> Path:
    """A PDF with a text layer; an empty page text draws a grey box, as a scan would."""
    writer = pypdf.PdfWriter()
    font = DictionaryObject({
        NameObject("/Type"): NameObject("/Font"),
        NameObject("/Subtype"): NameObject("/Type1"),
        NameObject("/BaseFont"): NameObject("/Helvetica"),
    })  # fmt: skip
    for text in pages:
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        set_content(writer, page, _drawing(text))
    if title:
        writer.add_metadata({"/Title": title, "/ModDate": "D:20260304050607Z"})
    if encrypt is not None:
        writer.encrypt(**encrypt, algorithm="AES-256")
    with path.open("wb") as file:
        writer.write(file)
    return path


def set_content(writer: pypdf.PdfWriter, page: Any, data: bytes) -> None:
    stream = DecodedStreamObject()
    stream.set_data(data)
    page[NameObject("/Contents")] = writer._add_object(stream.flate_encode())


def _drawing(text: str) -> bytes:
    if not text:
        return b"0.5 g 50 50 400 700 re f"
    lines = [line.replace("(", r"\(").replace(")", r"\)") for line in text.split("\n")]
    shown = " ".join(f"({line}) Tj T*" for line in lines)
    return f"BT /F1 11 Tf 14 TL 50 780 Td {shown} ET".encode("latin-1")


def docx(path: Path, body: str, title: str = "") -> Path:
    """A Word document; in `body`, `# ` makes headings, `|` a table row, all else paragraphs."""
    inner = "".join(_word(line) for line in body.split("\n") if line)
    rows = "".join(f"<w:tr>{''.join(_word_cells(line))}</w:tr>" for line in _rows(body))
    table = f"<w:tbl>{rows}</w:tbl>" if rows else ""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr(
            "_rels/.rels",
            _RELS.format(rel=_REL, kind="officeDocument", target="word/document.xml"),
        )
        archive.writestr(
            "word/_rels/document.xml.rels",
            _RELS.format(rel=_REL, kind="styles", target="styles.xml"),
        )
        archive.writestr("word/styles.xml", _STYLES)
        archive.writestr(
            "word/document.xml",
            f'<?xml version="1.0"?><w:document {_W}><w:body>{inner}{table}</w:body></w:document>',
        )
        if title:
            archive.writestr("docProps/core.xml", _CORE.format(title=title))
    return path


def _rows(body: str) -> list[str]:
    return [line for line in body.split("\n") if line.startswith("|")]


def _word(line: str) -> str:
    if line.startswith("|"):
        return ""
    level = len(line) - len(line.lstrip("#"))
    style = f'<w:pPr><w:pStyle w:val="Heading{level}"/></w:pPr>' if level else ""
    return f"<w:p>{style}<w:r><w:t>{line.lstrip('# ')}</w:t></w:r></w:p>"


def _word_cells(line: str) -> list[str]:
    return [
        f"<w:tc><w:p><w:r><w:t>{cell.strip()}</w:t></w:r></w:p></w:tc>"
        for cell in line.strip("|").split("|")
    ]


def slides(path: Path, *pages: tuple[str, str]) -> Path:
    """A presentation with a title and a text on each slide."""
    deck = pptx.Presentation()
    for title, text in pages:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    deck.save(str(path))
    return path


def workbook(path: Path, **sheets: list[list[object]]) -> Path:
    """A workbook with one sheet a keyword."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def archive(path: Path, **members: str) -> Path:
    """A plain ZIP file."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    path.write_bytes(raw.getvalue())
    return path
