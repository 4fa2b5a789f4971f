"""Passages: what stays whole, what is cut and where, what joins, and where each comes from."""

from __future__ import annotations

import pytest

from aether.chunks import LIMIT, chunk, indexed, pieces
from aether.records import Document, Passage, Section

SENTENCE = "A transit gateway forwards traffic between the attached networks of one region."


def passages(*sections: Section, title: str = "Guide") -> tuple[Passage, ...]:
    return chunk(Document(title, sections))


def fits(found: tuple[Passage, ...]) -> bool:
    return all(pieces(indexed(p.title, p.heading, p.text)) <= LIMIT + 5 for p in found)


def test_a_passage_knows_its_heading_path_its_place_and_its_number() -> None:
    body = " ".join([SENTENCE] * 9)
    found = passages(
        Section(body, ("Guide", "Limits"), line=12),
        Section(body, ("Guide", "Limits", "Quotas"), page=4),
    )
    assert [p.heading for p in found] == ["Limits", "Limits > Quotas"]
    assert [p.locator for p in found] == ["line 12", "page 4"]
    assert [p.ordinal for p in found] == [0, 1]


def test_long_prose_is_cut_between_sentences_into_even_parts_that_fit() -> None:
    found = passages(Section(" ".join([SENTENCE] * 40), line=1))
    assert len(found) > 2
    assert fits(found)
    assert all(p.text.endswith("region.") for p in found)
    sizes = [pieces(p.text) for p in found]
    assert min(sizes) > 0.6 * max(sizes)
    assert " ".join(p.text for p in found).count("forwards traffic") == 40


def test_every_row_of_a_long_table_stands_under_the_header() -> None:
    rows = [f"| quota number {i} | {i * 10} per account and region |" for i in range(60)]
    table = "\n".join(["| Quota | Default |", "|---|---|", *rows])
    found = passages(Section(table, ("Quotas",), line=5))
    assert len(found) > 2
    assert fits(found)
    assert all(p.text.startswith("| Quota | Default |\n|---|---|\n") for p in found)
    assert [row for p in found for row in p.text.split("\n")[2:]] == rows
    second = int(found[1].locator.removeprefix("line "))
    assert found[1].text.split("\n")[2] == table.split("\n")[second - 5]


def test_a_table_that_fits_is_never_parted() -> None:
    table = "| Quota | Default |\n|---|---|\n| peerings | 50 |\n| routes | 100 |"
    found = passages(Section(f"{' '.join([SENTENCE] * 14)}\n\n{table}", ("Quotas",)))
    assert sum(table in p.text for p in found) == 1


def test_long_code_is_fenced_in_every_part_and_loses_no_line() -> None:
    lines = [
        f"set interface ge-0/0/{i} unit 0 family inet address 10.0.{i}.1/24" for i in range(40)
    ]
    found = passages(Section("\n".join(["```text", *lines, "```"]), line=1))
    assert len(found) > 2
    assert all(p.text.startswith("```text\n") and p.text.endswith("\n```") for p in found)
    assert [line for p in found for line in p.text.split("\n")[1:-1]] == lines


def test_a_hash_in_code_and_a_list_inside_a_fence_stay_code() -> None:
    code = "```\n# not a heading\n- not an item\n\n| not | a row |\n```"
    (only,) = passages(Section(code))
    assert only.text == code


def test_a_long_list_is_cut_between_items() -> None:
    items = [f"- Item {i}: {SENTENCE}" for i in range(30)]
    found = passages(Section("\n".join(items)))
    assert len(found) > 2
    assert fits(found)
    assert [line for p in found for line in p.text.split("\n")] == items


def test_small_sections_under_one_heading_join_and_keep_their_names() -> None:
    found = passages(
        Section("The limit is 50.", ("Guide", "Limits", "Peerings"), line=3),
        Section("The limit is 100.", ("Guide", "Limits", "Routes"), line=7),
        Section(" ".join([SENTENCE] * 14), ("Guide", "Steps"), line=11),
    )
    assert len(found) == 2
    assert found[0].heading == "Limits"
    assert found[0].text == "Peerings:\nThe limit is 50.\n\nRoutes:\nThe limit is 100."
    assert found[0].locator == "line 3"
    assert found[1].heading == "Steps"


def test_sections_of_two_pages_or_two_parents_never_join() -> None:
    pages = passages(Section("Page one says this.", page=1), Section("Page two says that.", page=2))
    assert [p.locator for p in pages] == ["page 1", "page 2"]
    parents = passages(Section("One.", ("A", "B", "C")), Section("Two.", ("A", "D", "E")))
    assert [p.heading for p in parents] == ["A > B > C", "A > D > E"]
    assert len(passages(Section("One.", ("A",)), Section("Two, under no heading."))) == 2


@pytest.mark.parametrize(
    "text",
    ["x" * 5000, "1234567890" * 300, "word " * 2000, "|a" * 3000, "\u65e5\u672c\u8a9e" * 900,
     "- " + "y" * 4000, "```\n" + "z" * 4000, "0x80070005 " * 500, "(" * 3000],
)  # fmt: skip
def test_no_shape_of_text_makes_an_endless_passage_or_an_endless_loop(text: str) -> None:
    found = passages(Section(text))
    assert 1 < len(found) < 200
    assert max(pieces(p.text) for p in found) <= 1.1 * LIMIT


def test_an_absurd_heading_leaves_room_for_the_text() -> None:
    found = passages(Section(" ".join([SENTENCE] * 10), ("very long heading " * 100,)))
    assert 1 < len(found) < 20


def test_no_text_gives_no_passages() -> None:
    assert passages() == ()
    assert passages(Section(""), Section("  \n\n ")) == ()


def test_the_same_document_is_always_cut_the_same_way() -> None:
    sections = [Section(" ".join([SENTENCE] * n), ("H", str(n)), line=n) for n in range(1, 30, 3)]
    assert passages(*sections) == passages(*sections)
