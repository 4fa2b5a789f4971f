"""The contract of a reader, over all kinds: a sound file, an empty one, a broken one, a liar."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aether.cancel import Cancel
from aether.errors import Cancelled, NothingToRead, ReaderError
from aether.readers import MAX_BYTES, READERS, read
from aether.records import Document, Section
from tests.readers import make

FACT = "A transit gateway supports 5,000 attachments."
MARKDOWN = f"# Gateways\n\n## Limits\n\n{FACT}\n"
PAGE = f"<html><body><h1>Gateways</h1><h2>Limits</h2><p>{FACT}</p></body></html>"
ROWS: list[list[object]] = [["Quota", "Default"], [FACT, 50]]


def text(content: str) -> Callable[[Path], Path]:
    def make_it(path: Path) -> Path:
        path.write_text(content, encoding="utf-8")
        return path

    return make_it


SAMPLES: dict[str, Callable[[Path], Path]] = {
    ".md": text(MARKDOWN),
    ".markdown": text(MARKDOWN),
    ".mdx": text(MARKDOWN),
    ".txt": text(FACT),
    ".text": text(FACT),
    ".log": text(FACT),
    ".rst": text(f"Gateways\n========\n\nLimits\n------\n\n{FACT}\n"),
    ".adoc": text(f"= Gateways\n\n== Limits\n\n{FACT}\n"),
    ".asciidoc": text(f"= Gateways\n\n== Limits\n\n{FACT}\n"),
    ".html": text(PAGE),
    ".htm": text(PAGE),
    ".xhtml": text(PAGE),
    ".pdf": lambda path: make.pdf(path, FACT),
    ".docx": lambda path: make.docx(path, f"# Gateways\n## Limits\n{FACT}"),
    ".pptx": lambda path: make.slides(path, ("Limits", FACT)),
    ".xlsx": lambda path: make.workbook(path, Limits=ROWS),
    ".csv": text(f'Quota,Default\n"{FACT}",50\n'),
    ".tsv": text(f"Quota\tDefault\n{FACT}\t50\n"),
}
HEADED = {".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".html", ".htm", ".xhtml"}
HEADED |= {".docx", ".pptx", ".xlsx"}
BINARY = [".pdf", ".docx", ".pptx", ".xlsx"]


def test_every_kind_has_a_sample() -> None:
    assert set(SAMPLES) == set(READERS)


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_a_sound_file_becomes_a_document(suffix: str, tmp_path: Path) -> None:
    document = read(SAMPLES[suffix](tmp_path / f"sample{suffix}"))
    assert isinstance(document, Document)
    assert document.title
    found = [s for s in document.sections if FACT in s.text]
    assert len(found) == 1
    assert all(isinstance(s, Section) and s.text.strip() for s in document.sections)
    if suffix in HEADED:
        assert found[0].headings[-1] == "Limits"
    else:
        assert found[0].page or found[0].line


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_an_empty_file_says_so(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"empty{suffix}"
    path.touch()
    with pytest.raises(NothingToRead, match="empty"):
        read(path)


@pytest.mark.parametrize("suffix", BINARY)
def test_a_file_that_is_cut_off_is_refused(suffix: str, tmp_path: Path) -> None:
    whole = SAMPLES[suffix](tmp_path / f"whole{suffix}").read_bytes()
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReaderError, match="cut off or damaged"):
        read(path)


@pytest.mark.parametrize("suffix", [".docx", ".pptx", ".xlsx"])
def test_an_office_file_with_garbage_inside_is_refused(suffix: str, tmp_path: Path) -> None:
    folder = {".docx": "word/document.xml", ".pptx": "ppt/presentation.xml"}
    path = make.archive(
        tmp_path / f"bad{suffix}", **{folder.get(suffix, "xl/workbook.xml"): "<not xml"}
    )
    with pytest.raises(ReaderError, match="cannot be read"):
        read(path)


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_a_picture_is_refused_under_every_name(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"photo{suffix}"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    with pytest.raises(ReaderError, match="looks like a PNG picture"):
        read(path)


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_a_pdf_is_read_under_every_name(suffix: str, tmp_path: Path) -> None:
    document = read(make.pdf(tmp_path / f"really-a-pdf{suffix}", FACT))
    assert document.sections[0].page == 1
    assert FACT in document.sections[0].text


def test_an_office_file_is_read_by_what_it_holds(tmp_path: Path) -> None:
    path = make.workbook(tmp_path / "book.xlsx", Limits=ROWS)
    renamed = path.rename(tmp_path / "book.docx")
    assert FACT in read(renamed).sections[0].text


@pytest.mark.parametrize("suffix", BINARY)
def test_text_that_calls_itself_a_binary_kind_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"liar{suffix}"
    path.write_text(FACT, encoding="utf-8")
    with pytest.raises(ReaderError, match="looks like plain text"):
        read(path)
    path.write_text(f"<!DOCTYPE html>{PAGE}", encoding="utf-8")
    with pytest.raises(ReaderError, match="looks like a web page"):
        read(path)


def test_bytes_that_are_no_text_are_refused_as_markdown(tmp_path: Path) -> None:
    path = tmp_path / "program.md"
    path.write_bytes(bytes(i * 7 % 256 for i in range(4000)))
    with pytest.raises(ReaderError, match="looks like a binary file") as caught:
        read(path)
    assert caught.value.advice


def test_an_old_or_locked_office_file_gets_advice(tmp_path: Path) -> None:
    path = tmp_path / "secret.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000)
    with pytest.raises(ReaderError, match="password") as caught:
        read(path)
    assert "save it as .docx" in caught.value.advice


def test_a_plain_archive_is_refused(tmp_path: Path) -> None:
    path = make.archive(tmp_path / "stuff.xlsx", **{"readme.txt": FACT})
    with pytest.raises(ReaderError, match="ZIP archive"):
        read(path)


def test_a_huge_file_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # takes no room on disk
    with pytest.raises(ReaderError, match="MB, more than 200 MB") as caught:
        read(path)
    assert "split" in caught.value.advice


@pytest.mark.parametrize("name", ["missing.md", "folder.md"])
def test_what_cannot_be_opened_says_why(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(ReaderError, match="cannot be opened"):
        read(tmp_path / name)


def test_blank_files_hold_no_text(tmp_path: Path) -> None:
    for suffix in (".md", ".txt", ".html", ".csv"):
        path = tmp_path / f"blank{suffix}"
        path.write_text(" \n\n\t\n", encoding="utf-8")
        with pytest.raises(NothingToRead):
            read(path)


@pytest.mark.parametrize("suffix", [".pdf", ".xlsx", ".csv"])
def test_stop_is_heeded_within_a_long_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"long{suffix}"
    if suffix == ".pdf":
        make.pdf(path, FACT, FACT)
    else:
        rows: list[list[object]] = [["n", "square"], *([i, i * i] for i in range(600))]
        if suffix == ".xlsx":
            make.workbook(path, Numbers=rows)
        else:
            path.write_text("\n".join(f"{a},{b}" for a, b in rows), encoding="utf-8")
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        read(path, cancel)
    assert read(path).sections


def test_importing_the_readers_loads_no_parser() -> None:
    heavy = ["markitdown", "bs4", "pypdf", "openpyxl", "pptx", "numpy", "torch", "lancedb"]
    code = f"import sys, aether.readers; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
