"""A conversation as a file, in each kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from aether.conversations import Exchange
from aether.errors import AetherError
from aether.gui.export import file_name, markdown, page, write, write_pdf
from aether.records import Hit, Run, Timings, Usage
from tests.fakes.model_server import ModelServer
from tests.gui.desk import Desk

ANSWER = """## Steps

1. Do **this** [2].
2. Run `show ip route`.

| a | b |
|---|---:|
| 1 | 2 |

```bash
echo "<hi>"
```

See https://docs.example/x and [4]."""


def told() -> tuple[Exchange, ...]:
    hits = tuple(
        Hit(f"text {n}", f"Title {n}", f"https://docs.example/{n}", "s", "web", 0.5, n,
            locator=f"page {n}")
        for n in (1, 2, 4)
    )  # fmt: skip
    run = Run("r1", "2026-05-20T10:00:00", "How <so>?", "aws_specialist", ANSWER, 0.82, 0.7,
              "answered", hits, (), Timings(total_ms=1500), Usage())  # fmt: skip
    return (Exchange("How <so>?", run=run),)


def name(agent: str) -> str:
    return {"aws_specialist": "AWS specialist"}[agent]


def test_markdown_keeps_the_answer_and_its_cited_sources() -> None:
    text = markdown("A title", told(), name)
    assert text.startswith("# A title\n\n## How <so>?\n\n*AWS specialist")
    assert ANSWER in text
    assert "confidence 0.82" in text
    listed = re.findall(r"^- \[(\d+)\] (.*)$", text, re.M)
    assert [n for n, _ in listed] == ["2", "4"]  # the numbers of the text, no others
    assert listed[0][1] == "Title 2 \u00b7 page 2 <https://docs.example/2>"


def test_a_web_page_is_inert_and_its_citations_lead_to_the_list() -> None:
    text = page("A <title>", told(), name)
    assert "<title>A &lt;title&gt;</title>" in text
    assert "How &lt;so&gt;?" in text
    assert 'href="#s1-2"' in text
    assert 'id="s1-2"' in text
    assert 'id="s1-1"' not in text
    assert "cite:" not in text
    assert not re.search(r"<script|<img|<link|src=", text)
    assert "&lt;hi&gt;" in text


def test_pdf(tmp_path: Path, qapp: object) -> None:
    from pypdf import PdfReader

    path = tmp_path / "a.pdf"
    write_pdf(path, page("A title", told(), name))
    words = "".join("".join(p.extract_text() for p in PdfReader(path).pages).split())
    assert words.startswith("Atitle")
    assert "showiproute" in words
    assert "Title2" in words


def test_word(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    path = tmp_path / "a.docx"
    write(path, "A title", told(), name)
    document = docx.Document(str(path))
    text = "\n".join(p.text for p in document.paragraphs)
    assert "How <so>?" in text
    assert "Do this [2]." in text
    assert 'echo "<hi>"' in text
    assert document.tables[0].cell(1, 1).text == "2"
    styles = {p.text: p.style.name for p in document.paragraphs}
    assert styles["Do this [2]."] == "List Number"
    assert styles["Steps"].startswith("Heading")
    bold = [r.text for p in document.paragraphs for r in p.runs if r.bold]
    assert "this" in bold
    links = {r.target_ref for r in document.part.rels.values() if r.is_external}
    assert "https://docs.example/x" in links
    assert "https://docs.example/2" in links


def test_a_place_that_cannot_be_written(tmp_path: Path, qapp: object) -> None:
    with pytest.raises(AetherError, match="cannot be written"):
        write(tmp_path / "no" / "such" / "a.md", "t", told(), name)
    with pytest.raises(AetherError, match="cannot be written"):
        write_pdf(tmp_path / "no" / "such" / "a.pdf", "<p>x</p>")


def test_names_of_files() -> None:
    assert file_name('What? "A/B" <c>: d') == "What A B c d"
    assert file_name("???") == "conversation"
    assert len(file_name("x" * 200)) == 60


@pytest.mark.parametrize("suffix", [".md", ".html", ".pdf"])
def test_from_the_window(desk: Desk, model: ModelServer, tmp_path: Path, suffix: str) -> None:
    desk.ask("How do I connect AWS VPCs?")
    desk.ctrl(Qt.Key.Key_E)
    dialog = desk.window.findChild(QFileDialog)
    assert dialog is not None
    path = tmp_path / f"out{suffix}"
    dialog.fileSelected.emit(str(path))
    dialog.reject()
    desk.idle()
    assert path.stat().st_size > 100
    assert str(path) in desk.said


def test_nothing_to_export(desk: Desk) -> None:
    assert not desk.page.export.isEnabled()
    desk.ctrl(Qt.Key.Key_E)
    assert desk.window.findChild(QFileDialog) is None
