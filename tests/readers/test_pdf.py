"""PDF: page numbers, passwords of both kinds, scans, single bad pages, and pages that never end."""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest

from aether.errors import NothingToRead, ReaderError
from aether.readers import pdf, read
from tests.readers import make

ONE = "The first page tells of peering."
TWO = "The second page tells of routing."


def test_pages_keep_their_numbers_and_the_file_its_properties(tmp_path: Path) -> None:
    document = read(make.pdf(tmp_path / "a.pdf", ONE, "", TWO, title="Two pages"))
    assert [(s.page, s.text) for s in document.sections] == [(1, ONE), (3, TWO)]
    assert (document.title, document.date) == ("Two pages", "2026-03-04")
    assert document.notes == ()


def test_a_pdf_that_only_restricts_printing_is_read(tmp_path: Path) -> None:
    locked = {"user_password": "", "owner_password": "secret"}
    document = read(make.pdf(tmp_path / "owner.pdf", ONE, encrypt=locked))
    assert document.sections[0].text == ONE


def test_a_pdf_with_a_password_is_refused_clearly(tmp_path: Path) -> None:
    locked = {"user_password": "letmein", "owner_password": "secret"}
    with pytest.raises(ReaderError, match="encrypted: needs a password") as caught:
        read(make.pdf(tmp_path / "user.pdf", ONE, encrypt=locked))
    assert not isinstance(caught.value, NothingToRead)
    assert caught.value.advice


def test_a_scan_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(NothingToRead, match="no text layer, 0 passages") as caught:
        read(make.pdf(tmp_path / "scan.pdf", "", ""))
    assert "OCR" in caught.value.advice


def test_one_bad_page_costs_one_page_and_is_named(tmp_path: Path) -> None:
    path = make.pdf(tmp_path / "whole.pdf", ONE, "bad", TWO)
    writer = pypdf.PdfWriter(clone_from=path)
    make.set_content(writer, writer.pages[1], b"BT /F1 11 Tf (never closed Tj ET [ << /x")
    broken = tmp_path / "broken.pdf"
    with broken.open("wb") as file:
        writer.write(file)
    document = read(broken)
    assert [s.text for s in document.sections] == [ONE, TWO]
    assert document.notes == ("page 2 could not be read",)


def test_a_page_of_endless_drawing_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "_PAGE_BYTES", 20_000)
    path = make.pdf(tmp_path / "whole.pdf", ONE, "plan")
    writer = pypdf.PdfWriter(clone_from=path)
    make.set_content(writer, writer.pages[1], b"1 2 m 3 4 l S\n" * 5_000)
    heavy = tmp_path / "heavy.pdf"
    with heavy.open("wb") as file:
        writer.write(file)
    document = read(heavy)
    assert [s.page for s in document.sections] == [1]
    assert document.notes == ("page 2 holds too large a drawing",)


def test_broken_lines_and_hyphens_become_whole_sentences(tmp_path: Path) -> None:
    text = (
        "A transit gateway forwards traffic between the attached net-\n"
        "works of one region, and it can be shared with other accounts\n"
        "of the same organization.\n"
        "- It supports 5,000 attachments\n"
        "- It costs per hour"
    )
    (only,) = read(make.pdf(tmp_path / "wrapped.pdf", text)).sections
    assert only.text.split("\n") == [
        "A transit gateway forwards traffic between the attached networks of one region, and it "
        "can be shared with other accounts of the same organization.",
        "- It supports 5,000 attachments",
        "- It costs per hour",
    ]


def test_a_page_that_claims_to_be_text_but_is_cut_off_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "tiny.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing more")
    with pytest.raises(ReaderError, match="cut off or damaged"):
        read(path)
