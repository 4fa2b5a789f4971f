"""What is particular to a kind: front matter, fences, menus, encodings, delimiters, slides."""

from __future__ import annotations

from pathlib import Path

import pytest

from aether.errors import ReaderError
from aether.readers import read
from aether.readers.decode import decode
from aether.readers.outline import plain, sections
from tests.readers import make

NOTE = """\
---
title: VPC peering
vendor: AWS
product: Amazon VPC
updated: 2026-11-01
sources:
  - title: Guide
    url: https://docs.aws.amazon.com/vpc/
---
# VPC peering

Two networks are joined.

## Limits

| Quota | Default |
|---|---|
| peerings | 50 |
"""


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_front_matter_of_a_note_is_kept_as_text(tmp_path: Path) -> None:
    document = read(write(tmp_path / "n.md", NOTE))
    assert (document.title, document.vendor, document.product) == (
        "VPC peering", "AWS", "Amazon VPC",
    )  # fmt: skip
    assert document.date == "2026-11-01"
    assert document.url == "https://docs.aws.amazon.com/vpc/"
    assert [(s.headings, s.line) for s in document.sections] == [
        (("VPC peering",), 12),
        (("VPC peering", "Limits"), 16),
    ]
    assert document.sections[1].text.startswith("| Quota | Default |\n|---|---|")


@pytest.mark.parametrize(
    "matter", ["title: [unclosed", "\ttab: 1", "- a\n- list", "just words", "a: &x [*x, *x]"]
)
def test_front_matter_that_is_no_mapping_does_no_harm(matter: str, tmp_path: Path) -> None:
    document = read(write(tmp_path / "n.md", f"---\n{matter}\n---\n# Title\n\nText.\n"))
    assert document.title == "Title"
    assert document.sections[0].text == "Text."


def test_a_rule_at_the_top_is_no_front_matter(tmp_path: Path) -> None:
    document = read(write(tmp_path / "n.md", "---\n\nText under a rule.\n"))
    assert "Text under a rule." in document.sections[0].text


def test_headings_are_found_outside_code_only_and_in_both_styles() -> None:
    text = (
        "Top\n===\n\n```sh\n# comment\n```\n\nSub one\n---\n\ntext\n\n"
        "### Deep ###\nmore\n\n~~~\n## x\n~~~"
    )
    found = sections(text)
    assert [s.headings for s in found] == [("Top",), ("Top", "Sub one"), ("Top", "Sub one", "Deep")]
    assert [s.line for s in found] == [4, 11, 14]
    assert "# comment" in found[0].text
    assert "## x" in found[2].text


def test_a_skipped_level_and_a_return_to_a_higher_one_keep_the_path_right() -> None:
    found = sections("# A\na\n### C\nc\n## B\nb\n# D\nd")
    assert [s.headings for s in found] == [("A",), ("A", "C"), ("A", "B"), ("D",)]


@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("See the [peering guide](https://x.example/a_(b)).", "See the peering guide)."),
        ("![A diagram](pic.png) shows it", "A diagram shows it"),
        ('<a name="limits"></a>Limits', " " + " Limits"),
        ("**Always** use __two__ of them", "Always use two of them"),
        ("read\\-only \\*", "read-only *"),
        ("a[0] and b[1] stay", "a[0] and b[1] stay"),
        ("2 ** 3 ** 4, snake__case__name", "2 ** 3 ** 4, snake__case__name"),
    ],
)
def test_marks_that_say_nothing_are_dropped(line: str, want: str) -> None:
    assert plain(line).split() == want.split()


def test_comments_are_dropped_even_over_several_lines_and_lines_still_count() -> None:
    found = sections("<!-- a -->one\n<!-- two\nthree\n-->four\n# H\nfive")
    assert [(s.text.split(), s.line) for s in found] == [(["one", "four"], 1), (["five"], 6)]


def test_rst_and_asciidoc_headings_lead_to_sections(tmp_path: Path) -> None:
    rst = (
        "=====\nGuide\n=====\n\nIntro :ref:`the label <x>`.\n\n"
        "Setup\n-----\n\nDo it.\n\nMore\n~~~~\n\nEnd.\n"
    )
    found = read(write(tmp_path / "a.rst", rst)).sections
    assert [s.headings for s in found] == [
        ("Guide",), ("Guide", "Setup"), ("Guide", "Setup", "More"),
    ]  # fmt: skip
    assert found[0].text == "Intro the label."
    assert found[1].line == 10
    adoc = "= Guide\n\nIntro.\n\n== Setup\n\n----\n== no heading\n----\n"
    found = read(write(tmp_path / "a.adoc", adoc)).sections
    assert [s.headings for s in found] == [("Guide",), ("Guide", "Setup")]
    assert "== no heading" in found[1].text


def test_a_web_page_gives_its_main_text_without_menus_and_banners(tmp_path: Path) -> None:
    page = (
        "<!doctype html><html><head><title>Quotas | Docs</title>"
        '<meta property="og:site_name" content="Vendor Docs">'
        '<meta name="article:modified_time" content="2026-02-03T00:00:00Z">'
        '<link rel="canonical" href="https://docs.example.com/q"></head>'
        "<body class='cookie-theme'><header>Menu Products Pricing</header><nav>Home</nav>"
        "<div id='cookie-banner'>We value your privacy. Accept all.</div>"
        "<main><h1>Quotas</h1><p>The default is 50.</p><h2>Raise</h2><ul><li>Ask support</li></ul>"
        "<table><tr><th>Name</th><th>Max</th></tr><tr><td>peerings</td><td>125</td></tr></table>"
        "<pre><code>aws quota\n# two</code></pre></main>"
        "<script>alert('x')</script><footer>Imprint</footer></body></html>"
    )
    document = read(write(tmp_path / "p.html", page))
    text = "\n".join(s.text for s in document.sections)
    assert document.title == "Quotas | Docs"
    assert (document.vendor, document.date) == ("Vendor Docs", "2026-02-03")
    assert document.url == "https://docs.example.com/q"
    assert [s.headings for s in document.sections] == [("Quotas",), ("Quotas", "Raise")]
    assert "| peerings | 125 |" in text
    assert "aws quota\n# two" in text
    for hidden in ("privacy", "Pricing", "alert", "Imprint", "Home"):
        assert hidden not in text


def test_a_page_of_hopeless_depth_is_refused_not_fatal(tmp_path: Path) -> None:
    page = "<html><body>" + "<div>" * 20_000 + "deep" + "</div>" * 20_000 + "</body></html>"
    with pytest.raises(ReaderError, match="cannot be read"):
        read(write(tmp_path / "deep.html", page))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_text_is_read_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    text = (
        "D\u00fcsseldorf: caf\u00e9 Wi-Fi costs 5 \u20ac, \u201cguest\u201d only.\r\nLine two.\r\n"
    )
    found = read(write(tmp_path / "t.txt", text.encode(encoding))).sections[0].text
    assert found == text.replace("\r\n", "\n").strip()


def test_cyrillic_of_windows_is_recognised() -> None:
    # "network and route", in Russian: one alphabet after the other for the detector to weigh
    word = "\u0441\u0435\u0442\u044c \u0438 \u043c\u0430\u0440\u0448\u0440\u0443\u0442"
    text = f"{word.capitalize()}, {word}. " * 12
    assert decode(text.encode("cp1251")) == text


def test_control_characters_do_not_reach_a_passage() -> None:
    assert decode(b"a\x00b\x07c\x1bd\n") == "a b c d\n"


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_a_csv_is_read_with_its_own_delimiter(sign: str, tmp_path: Path) -> None:
    rows = [["Name", "Port", "Note"], *[[f"svc{i}", str(i), f"a b {i}"] for i in range(45)]]
    content = "\n".join(sign.join(row) for row in rows)
    document = read(write(tmp_path / "ports.csv", content))
    assert [s.line for s in document.sections] == [2, 22, 42]
    assert all(s.text.startswith("| Name | Port | Note |\n") for s in document.sections)
    assert "| svc44 | 44 | a b 44 |" in document.sections[2].text


def test_quoted_cells_with_bars_and_line_breaks_stay_one_cell(tmp_path: Path) -> None:
    document = read(write(tmp_path / "q.csv", 'a,b\n"x|y\nz","1, 2"\n'))
    assert document.sections[0].text.split("\n")[2] == "| x\\|y z | 1, 2 |"


def test_a_workbook_keeps_sheets_rows_and_values(tmp_path: Path) -> None:
    path = make.workbook(
        tmp_path / "b.xlsx",
        Sites=[[], ["Site", "Users"], *[[f"site {i}", i * 10] for i in range(25)]],
        Empty=[],
        Links=[["From", "To"], ["A", None], [None, None], ["C", 3.5]],
    )
    document = read(path)
    assert [(s.headings, s.line) for s in document.sections] == [
        (("Sites",), 3), (("Sites",), 23), (("Links",), 2),
    ]  # fmt: skip
    assert "| Site | Users |" in document.sections[1].text
    assert document.sections[2].text.endswith("| A |  |\n| C | 3.5 |")


def test_slides_keep_their_numbers_and_titles(tmp_path: Path) -> None:
    path = make.slides(
        tmp_path / "s.pptx", ("Intro", "Hello all"), ("Only a title", ""), ("End", "Bye")
    )
    found = read(path).sections
    assert [(s.page, s.text) for s in found] == [(1, "Hello all"), (2, "Only a title"), (3, "Bye")]
    assert found[2].headings == ("End",)


def test_a_word_document_keeps_headings_tables_and_its_properties(tmp_path: Path) -> None:
    body = "# Design\nIntro text.\n## Sizing\nTen sites.\n|Site|Users|\n|Berlin|250|"
    document = read(make.docx(tmp_path / "d.docx", body, title="Branch design"))
    assert (document.title, document.date) == ("Branch design", "2026-03-04")
    assert [s.headings for s in document.sections] == [("Design",), ("Design", "Sizing")]
    assert "| Berlin | 250 |" in document.sections[1].text
