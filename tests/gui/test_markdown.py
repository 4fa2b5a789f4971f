"""Markdown as models write it: inert, and cut into blocks while it grows."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aether.gui.formula import readable
from aether.gui.markdown import Block, blocks, html
from aether.gui.mermaid import kind_of, repaired
from aether.gui.stream import Stream

LONG = """# Title

A paragraph with **bold**, `code` and [1].

1. one
2. two
   - nested
3. three

| a | b |
|---|---|
| 1 | 2 |

```python
x = 1

y = 2
```

> quoted

- [ ] open
- [x] done

The end."""


def plain(found: list[Block] | tuple[Block, ...]) -> list[str]:
    """The words of blocks, without what only marks structure; a joined table's head is left out."""
    text = html([b for b in found if not b.joins])
    return re.findall(r"\S+", unescape(re.sub(r"<[^>]+>", " ", text)))


def streamed(text: str, step: int) -> list[Block]:
    stream, done = Stream(), list[Block]()
    for i in range(0, len(text), step):
        stream.feed(text[i : i + step])
        done += stream.advance()[0]
    return done + stream.finish()


@pytest.mark.parametrize(
    "evil",
    [
        "<script>alert(1)</script>",
        '<img src="https://evil.example/x.png" onerror="alert(1)">',
        "![x](https://evil.example/x.png)",
        "[click](javascript:alert(1))",
        "[click](file:///etc/passwd)",
        "[click](data:text/html,hello)",
        "[click](cite:3)",
        "[1]: https://evil.example 'title'",
        "<https://good.example><b>bold</b>",
        "&lt;script&gt;",
    ],
)
def test_nothing_a_model_writes_acts(evil: str) -> None:
    made = html(blocks(f"Before {evil} after"))
    assert "<script" not in made
    assert "<img" not in made
    assert "onerror=" not in re.sub(r"&lt;.*?&gt;", "", made)
    for target in re.findall(r'href="([^"]*)"', made):
        assert re.match(r"https?://|cite:\d+\Z", target)
    assert 'href="cite:3"' not in made


def test_citations_are_links_to_sources() -> None:
    made = html(blocks("One [1][2], `[3]` is code, [4](https://a.example) is a link."))
    assert re.findall(r'href="([^"]*)"', made) == ["cite:1", "cite:2", "https://a.example"]


def test_bare_addresses_are_links_without_their_full_stop() -> None:
    made = html(blocks("See https://docs.example/a_b?x=1. And (https://b.example/c)."))
    assert re.findall(r'href="([^"]*)"', made) == [
        "https://docs.example/a_b?x=1",
        "https://b.example/c",
    ]


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (r"\frac{a}{b} \times 2^{10}", "a/b \u00d7 2\u00b9\u2070"),
        (r"x_1 \le \sqrt{y+1}", "x\u2081 \u2264 \u221a(y+1)"),
        (r"\text{MTU} - 20 \approx 1480", "MTU - 20 \u2248 1480"),
        (r"\frac{n(n-1)}{2}", "(n(n-1))/2"),
    ],
)
def test_formulas_are_readable(formula: str, words: str) -> None:
    assert readable(formula) == words
    assert words in unescape(html(blocks(f"So \\({formula}\\) holds.")))


def test_money_is_no_formula() -> None:
    assert "<code>" not in html(blocks("It costs $5 and later $10, or $3-$4."))


def test_task_lists_show_boxes() -> None:
    assert "\u2610 open" in html(blocks("- [ ] open"))
    assert "\u2611 done" in html(blocks("- [x] done"))


@pytest.mark.parametrize("step", [1, 2, 3, 7, 40, 1000])
def test_pieces_of_any_size_give_the_same_words(step: int) -> None:
    assert plain(streamed(LONG, step)) == plain(blocks(LONG))


def test_numbers_go_on_in_a_list_that_was_frozen() -> None:
    text = "".join(f"1. item {i}\n" for i in range(5))
    starts = re.findall(r'<ol(?: start="(\d+)")?>', html(streamed(text, 1)))
    assert [int(s or 1) for s in starts] == [1, 2, 3, 4, 5]


def test_rows_that_come_later_keep_the_columns_of_the_first() -> None:
    text = "| a | b |\n|---|---|\n| short | x |\n" + "| a much longer cell | y |\n" * 40
    tables = [b for b in streamed(text, 5) if b.kind == "table"]
    assert len(tables) > 3
    assert len({b.widths for b in tables}) == 1
    assert [b.joins for b in tables] == [False] + [True] * (len(tables) - 1)


def test_code_in_parts_is_the_same_code() -> None:
    code = "\n".join(f"line {i}" + ("\n" if i % 7 == 0 else "") for i in range(100))
    parts = [b for b in streamed(f"```yaml\n{code}\n```\nafter", 11) if b.kind == "code"]
    assert len(parts) > 3
    assert "\n".join(b.source for b in parts) == code
    assert {b.language for b in parts} == {"yaml"}


@pytest.mark.parametrize(
    "unit",
    ["- item with words\n", "1. item\n", "Paragraph of words.\n\n", "> quote\n\n", "# Heading\n\n"],
)
def test_only_the_last_block_is_parsed_again(unit: str) -> None:
    stream, most = Stream(), 0
    for _ in range(500):
        stream.feed(unit)
        stream.advance()
        most = max(most, stream.pending)
    assert most < 300  # characters, of some ten thousand


@pytest.mark.parametrize(
    "unit", ["| 1 | 10.0.0.0/8 | words |\n", "ip route 10.0.0.0 255.0.0.0 null0\n"]
)
def test_long_tables_and_code_are_frozen_by_parts(unit: str) -> None:
    head = "| a | b | c |\n|---|---|---|\n" if unit.startswith("|") else "```\n"
    stream, most = Stream(), 0
    stream.feed(head)
    for _ in range(500):
        stream.feed(unit)
        stream.advance()
        most = max(most, stream.pending)
    assert most < 1500


@pytest.mark.parametrize(
    ("source", "mended"),
    [
        ("flowchart TD\nA[Hub (VNet)] --> B", 'flowchart TD\nA["Hub (VNet)"] --> B'),
        ("flowchart TD\nA -> B;", "flowchart TD\nA --> B"),
        ("flowchart TD\nA \u2013\u2013> B", "flowchart TD\nA --> B"),
        ("A --> B", "flowchart TD\nA --> B"),
        ("Client->>Server: hello", "sequenceDiagram\nClient->>Server: hello"),
        ("flowchart LR\nsubgraph hub\nA --> B", "flowchart LR\nsubgraph hub\nA --> B\nend"),
        ("flowchart LR\nA --> end", "flowchart LR\nA --> End"),
        ("flowchart LR\nA --> B{is it up?}", "flowchart LR\nA --> B{is it up?}"),
        ("pie\n\u201cA\u201d : 1", 'pie\n"A" : 1'),
    ],
)
def test_diagrams_are_repaired(source: str, mended: str) -> None:
    assert repaired(source) == mended
    assert repaired(mended) == mended


def test_kinds_of_diagrams() -> None:
    assert kind_of("%% note\nsequenceDiagram\nA->>B: x") == "sequenceDiagram"
    assert kind_of("just words") == ""
