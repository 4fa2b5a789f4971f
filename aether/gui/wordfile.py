"""A conversation as a Word file: headings, lists, tables, code and links in Word's own styles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from markdown_it.token import Token

from aether.conversations import Exchange
from aether.gui.formula import readable
from aether.gui.markdown import addresses, blocks

MUTED, LINK = RGBColor(0x5B, 0x66, 0x75), RGBColor(0x1F, 0x5F, 0xBF)
DEEPEST = 3  # levels of lists that Word has styles for


def write_docx(
    path: Path, title: str, exchanges: Sequence[Exchange], name: Callable[[str], str]
) -> None:
    """Write the file; raises OSError where it cannot be written."""
    from aether.gui.export import source_words, sources, told_line

    document = docx.Document()
    document.core_properties.title = title
    document.add_heading(_clean(title), 0)
    for exchange in exchanges:
        document.add_heading(_clean(" ".join(exchange.question.split())), 1)
        if told := told_line(exchange, name):
            _muted(document.add_paragraph(), told)
        if exchange.run is None:
            continue
        _Word(document).write(exchange.run.answer)
        for hit in sources(exchange):
            paragraph = document.add_paragraph()
            _muted(paragraph, f"[{hit.n}] {source_words(hit)}  ")
            if hit.url.startswith(("https://", "http://")):
                link(paragraph, hit.url, hit.url)
    document.save(str(path))


class _Word:
    """Writes one answer behind what is there."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._lists: list[tuple[bool, Any]] = []  # ordered, its numbering
        self._quote = 0
        self._item = False
        self._paragraph: Any = None

    def write(self, answer: str) -> None:
        for block in blocks(answer):
            if block.kind == "table":
                self._table(block.tokens)
            else:
                for token in block.tokens:
                    self._token(token)

    def _token(self, token: Token) -> None:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            ordered = token.type == "ordered_list_open"
            self._lists.append((ordered, self._numbering(token) if ordered else None))
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        elif token.type == "list_item_open":
            self._item = True
        elif token.type in ("blockquote_open", "blockquote_close"):
            self._quote += token.nesting
        elif token.type == "heading_open":
            self._paragraph = self._document.add_heading("", min(9, int(token.tag[1]) + 1))
        elif token.type == "paragraph_open":
            self._paragraph = self._begin()
        elif token.type == "inline":
            runs(self._paragraph, token.children or [])
        elif token.type in ("fence", "code_block"):
            self._code(token.content.rstrip("\n"))

    def _begin(self) -> Any:
        if not self._lists:
            return self._document.add_paragraph(style="Quote" if self._quote else None)
        ordered, number = self._lists[-1]
        depth = min(DEEPEST, len(self._lists))
        kind = ("List Number" if ordered else "List Bullet") if self._item else "List Continue"
        self._item = False
        style = kind if depth == 1 else f"{kind} {depth}"
        paragraph = self._document.add_paragraph(style=style)
        if ordered and number is not None and kind == "List Number":
            properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()  # noqa: SLF001
            properties.get_or_add_numId().val = number
            properties.get_or_add_ilvl().val = 0
        return paragraph

    def _numbering(self, token: Token) -> int:
        """Numbers that begin where this list begins; Word would go on from the list before."""
        numbering = self._document.part.numbering_part.numbering_definitions._numbering  # noqa: SLF001
        style = self._document.styles["List Number"].element
        abstract = numbering.num_having_numId(style.pPr.numPr.numId.val).abstractNumId.val
        number = numbering.add_num(abstract)
        start = number.add_lvlOverride(ilvl=0)
        start.add_startOverride(int(token.attrs.get("start", 1)))
        return number.numId

    def _code(self, code: str) -> None:
        paragraph = self._document.add_paragraph()
        shade = OxmlElement("w:shd")
        shade.set(qn("w:val"), "clear")
        shade.set(qn("w:fill"), "F1F3F7")
        paragraph._p.get_or_add_pPr().append(shade)  # noqa: SLF001
        _mono(paragraph.add_run(_clean(code)))

    def _table(self, tokens: Sequence[Token]) -> None:
        rows: list[list[tuple[Token, str]]] = []
        for i, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append((tokens[i + 1], str(token.attrs.get("style", ""))))
        table = self._document.add_table(len(rows), len(rows[0]), style="Table Grid")
        for r, row in enumerate(rows):
            for c, (cell, align) in enumerate(row[: len(rows[0])]):
                paragraph = table.cell(r, c).paragraphs[0]
                runs(paragraph, cell.children or [], bold=r == 0)
                if align.endswith("right"):
                    paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        self._document.add_paragraph()


def runs(paragraph: Any, tokens: Sequence[Token], bold: bool = False) -> None:
    """Words with their weight, slant and links."""
    strong, slanted, struck, target = int(bold), 0, 0, ""
    for token in tokens:
        if token.type in ("strong_open", "strong_close"):
            strong += token.nesting
        elif token.type in ("em_open", "em_close"):
            slanted += token.nesting
        elif token.type in ("s_open", "s_close"):
            struck += token.nesting
        elif token.type == "link_open":
            target = str(token.attrs.get("href", ""))
        elif token.type == "link_close":
            target = ""
        else:
            for made in _words(paragraph, token, target):
                made.bold, made.italic = bool(strong) or None, bool(slanted) or None
                made.font.strike = bool(struck) or None


def _words(paragraph: Any, token: Token, target: str) -> list[Any]:
    if token.type == "text" and target:
        link(paragraph, target, token.content)
        return []
    if token.type == "text":
        made: list[Any] = []
        for part, url in addresses(token.content):
            if url:
                link(paragraph, part, part)
            else:
                made.append(paragraph.add_run(_clean(part)))
        return made
    if token.type == "image":
        link(paragraph, str(token.attrs.get("src", "")), f"[{token.content or 'image'}]")
        return []
    if token.type == "hardbreak":
        paragraph.add_run().add_break()
        return []
    if token.type in ("code_inline", "math"):
        text = readable(token.content) if token.type == "math" else token.content
        return [_mono(paragraph.add_run(_clean(text)))]
    text = {"softbreak": " ", "cite": f"[{token.content}]"}.get(token.type, token.content)
    return [paragraph.add_run(_clean(text))]


def link(paragraph: Any, url: str, words: str) -> None:
    """A link that Word opens."""
    relation = paragraph.part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    element = OxmlElement("w:hyperlink")
    element.set(qn("r:id"), relation)
    made = paragraph.add_run(_clean(words))
    made.font.color.rgb = LINK
    element.append(made._r)  # noqa: SLF001
    paragraph._p.append(element)  # noqa: SLF001


def _mono(made: Any) -> Any:
    made.font.name = "Consolas"
    made.font.size = Pt(9.5)
    return made


def _muted(paragraph: Any, words: str) -> None:
    made = paragraph.add_run(_clean(words))
    made.font.color.rgb = MUTED
    made.font.size = Pt(9)


def _clean(text: str) -> str:
    """Without the control characters that XML does not allow."""
    return "".join(c for c in text if c in "\n\t" or ord(c) >= 32)
