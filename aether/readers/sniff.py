"""What a file really is, by its first bytes, whatever its name says.

Apart because names lie: a download page saved as .pdf, a PDF saved as .txt, a photo as .md.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from aether.errors import ReaderError
from aether.readers.decode import looks_binary

_UNPACKED_LIMIT = 1_000_000_000
_PACKED = {".docx", ".pptx", ".xlsx"}
_BINARY = {".pdf", *_PACKED}
_SIGNS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"RIFF", "a media file"),
    (b"ID3", "a sound file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"SQLite format 3", "an SQLite database"),
    (b"{\\rtf", "an RTF document"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", re.I)
_XHTML = {".html", ".htm", ".xhtml"}


def true_suffix(path: Path, known: frozenset[str]) -> str:
    """The suffix whose reader fits the content; raises ReaderError where none does."""
    suffix = path.suffix.lower()
    with path.open("rb") as file:
        head = file.read(8192)
    bare = head.removeprefix(b"\xef\xbb\xbf")
    if b"%PDF-" in head[:1024]:
        return ".pdf"
    if bare.startswith(b"PK\x03\x04"):
        return _office(path)
    if bare.startswith(_OLE):
        raise ReaderError(
            "looks like an Office file of before 2007, or one that needs a password",
            where=path.name,
            advice="open it, remove the password, and save it as .docx, .pptx or .xlsx",
        )
    if name := next((name for sign, name in _SIGNS if bare.startswith(sign)), ""):
        raise _refused(path, name)
    if looks_binary(head):
        raise _refused(path, "a binary file")
    is_html = bool(_HTML.match(bare))
    if suffix in _BINARY:
        raise _refused(path, "a web page" if is_html else "plain text")
    if suffix not in known:
        raise ReaderError(f"files of kind '{suffix or path.name}' are not read", where=path.name)
    return ".html" if is_html and suffix not in _XHTML else suffix


def _office(path: Path) -> str:
    """The Office kind of a ZIP container, by the folder that it holds."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            unpacked = sum(info.file_size for info in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise ReaderError(
            f"the file is cut off or damaged: {error}",
            where=path.name,
            advice="fetch or copy it again",
        ) from error
    if unpacked > _UNPACKED_LIMIT:
        raise ReaderError(
            f"the file unpacks to {unpacked / 1e6:,.0f} MB", where=path.name, advice="split it"
        )
    for folder, suffix in (("word/", ".docx"), ("ppt/", ".pptx"), ("xl/", ".xlsx")):
        if any(name.startswith(folder) for name in names):
            return suffix
    raise _refused(path, "a ZIP archive")


def _refused(path: Path, kind: str) -> ReaderError:
    return ReaderError(
        f"looks like {kind}, not like '{path.suffix}'",
        where=path.name,
        advice="give the file the suffix of what it holds, or leave it out",
    )
