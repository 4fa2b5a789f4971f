"""A page as it came from the network -> its main text in sections, and what is known of it.

Apart from `web.py` because nothing here touches a socket. Two jobs: drop what a reader would not
see (the usual place of injected instructions), and tell a page from a wall (consent banner,
sign-in, "enable JavaScript", soft 404), which gives no evidence.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

from aether import text as words_of
from aether.hosts import canonical
from aether.page import UNSEEN_CHARS, Page, date_in, read_head
from aether.records import Section

MIN_WORDS = 25
_MAX_TEXT = 200_000
_MAX_ELEMENTS = 12_000
_WALL_SHARE = 0.7  # of a page's words
_LONGEST_LINE = 40  # words that one sentence of a banner may count; a menu is one long sentence
_UNSEEN_TAGS = frozenset({"script", "style", "template", "noscript", "iframe", "svg", "object"})
_UNSEEN_CLASSES = frozenset({"sr-only", "visually-hidden", "screen-reader-text"})
_UNSEEN_STYLE = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?:;|!|$)"
    r"|font-size:(?:0(?![.\d]*[1-9])|0?\.\d+px|1px)|color:transparent"
    r"|(?:^|;)(?:max-)?(?:width|height):0(?:px|em|rem|%)?(?:;|!|$)"
    r"|text-indent:-\d{3,}|(?:left|top|right|bottom|margin-left):-\d{3,}|clip:rect\(0|scale\(0"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BANNER = re.compile(
    r"\b(?:we|our|us|this (?:web)?site|consent|experience|analytics|advert\w*|privacy)\b"
    r"[^.!?]{0,120}\bcookies?\b|\bcookies?\b[^.!?]{0,120}"
    r"\b(?:we|our|us|this (?:web)?site|experience|analytics|advert\w*|privacy|consent)\b"
    r"|\b(?:accept|reject|allow|decline|manage|necessary|functional|targeting|performance)"
    r"(?: all)? cookies?\b|^\W*(?:accept|reject|allow|decline) all\W*$"
    r"|\bcookie (?:policy|notice|preferences|consent|settings)\b|\byour privacy choices\b"
    r"|\bour (?:\d+ )?(?:\w+ )?partners\b|\blegitimate interest|\bpersonali[sz]ed (?:ads|advert)"
    r"|\b(?:store|access)\b[^.!?]{0,40}\binformation on (?:a|your) device\b"
    r"|\bimprove your (?:\w+ )?experience\b|\bmanage (?:your )?(?:choices|preferences)\b"
    r"|\b(?:change|withdraw) your (?:consent|choices|preferences) at any time\b",
    re.IGNORECASE,
)
_BANNER_WORDS = re.compile(r"cookie|partners|interest|device|choices|personali|experience", re.I)
_WALLS = (  # why, below how many words it can be so, and what it says then
    (
        "the page needs JavaScript",
        120,
        re.compile(
            r"(?:enable|requires?|turn on|need)\W+(?:\w+\W+){0,4}javascript"
            r"|javascript\W+(?:\w+\W+){0,4}(?:disabled|required|enabled|not enabled)",
            re.IGNORECASE,
        ),
    ),
    (
        "the page is a check for robots",
        60,
        re.compile(
            r"verify (?:that )?you(?:'re| are) (?:a )?human|checking your browser|just a moment"
            r"|unusual traffic|access denied|captcha",
            re.IGNORECASE,
        ),
    ),
    (
        "the page says that it was not found",
        200,
        re.compile(
            r"\b404\b\W+(?:\w+\W+)?not found|^\W*(?:error\W+)?404\W*(?:error\W*)?(?:\||$)"
            r"|\b(?:page|article|topic|document)\b[^.]{0,40}"
            r"(?:not found|(?:can(?:'|\u2019)?t|cannot) be found|does(?:n't| not) exist"
            r"|no longer (?:available|exists)|\bha(?:s|ve) (?:been )?(?:re)?moved)"
            r"|(?:can(?:'|\u2019)?t|cannot|could(?:n't| not)) find (?:the|that|this) page",
            re.IGNORECASE,
        ),
    ),
    (
        "the page asks to sign in",
        60,
        re.compile(
            r"\b(?:sign|log)[ -]?in\b(?! to (?:the|an?) )|\blogin\b|\bcreate an account\b",
            re.IGNORECASE,
        ),
    ),
)
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()<>#+.!|~$-])")  # max\_connections is one word again
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_LONGEST_HEADING = 200
_STRETCH = 2000  # characters of one look for banners; keeps hostile text from costing minutes


def read_html(html: str, url: str) -> Page:
    """Read one HTML page; never raises, a page without evidence carries the reason."""
    from trafilatura import load_html

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # a bad page is a reason, no log
    head = read_head(html, url)
    tree: Any = load_html(html)
    if tree is None:
        return replace(head, reason="the page is empty or no HTML")
    scripts = " ".join(cast(list[str], tree.xpath("//noscript//text()")))
    _drop_unseen(tree)
    seen = " ".join(" ".join(cast(Iterable[str], tree.itertext())).split())
    kept, banner = _without_banner(_main_text(tree), seen)
    page = replace(head, date=head.date or date_in(seen))
    reason = _wall(page.title, kept, f"{seen[:2000]} {scripts[:500]}", banner)
    if reason:
        return replace(page, reason=reason)
    return replace(page, sections=_sections(kept, page.title))


def read_text(text: str, url: str) -> Page:
    """Read plain text or Markdown; comments and characters without width are dropped."""
    body = _COMMENT.sub("", UNSEEN_CHARS.sub("", text))[:_MAX_TEXT]
    sections = _sections(body, "")
    first = next((s.headings[0] for s in sections if s.headings), "")
    page = Page(url, first or url.rsplit("/", 1)[-1] or url, key=canonical(url))
    reason = _wall("", body, "", 0.0)
    return replace(page, reason=reason) if reason else replace(page, sections=sections)


# --- what a reader sees --------------------------------------------------------------


def _drop_unseen(tree: Any) -> None:
    """Empty what is not shown, and cut the page where it gets too long to be worth its time."""
    for i, element in enumerate(list(tree.iter())):
        parent = element.getparent()
        if parent is not None and i >= _MAX_ELEMENTS:
            parent.remove(element)
        elif not isinstance(element.tag, str):
            element.text = ""  # a comment or a processing instruction
        elif _unseen(element):
            element.clear(keep_tail=True)


def _unseen(element: Any) -> bool:
    if element.tag in ("html", "body"):
        return False  # hidden until a script has run, for every reader
    if element.tag in _UNSEEN_TAGS or element.get("hidden") is not None:
        return True
    if (element.get("aria-hidden") or "").strip().lower() == "true":
        return True
    if _UNSEEN_CLASSES.intersection((element.get("class") or "").split()):
        return True
    style = "".join((element.get("style") or "").lower().split())
    return bool(style and _UNSEEN_STYLE.search(style))


def _main_text(tree: Any) -> str:
    """Return the main text as Markdown; the slower second look is for pages that seem empty."""
    from trafilatura import extract

    best = ""
    for thorough in (False, True):
        found = extract(
            tree,
            output_format="markdown",
            include_comments=False,
            include_tables=True,
            fast=not thorough,
            favor_recall=thorough,
        )
        best = max(best, found or "", key=len)
        if len(best.split()) >= MIN_WORDS:
            break
    parts = _CODE.split(UNSEEN_CHARS.sub("", best)[:_MAX_TEXT])
    parts[::2] = [_ESCAPED.sub(r"\1", part) for part in parts[::2]]
    return "".join(parts)


def _without_banner(main: str, seen: str) -> tuple[str, float]:
    """Return the text without consent blocks, and the share of banner in what was seen."""
    if not _BANNER_WORDS.search(seen):
        return main, 0.0
    kept: list[str] = []
    dropped = 0
    for block in _blocks(main):
        parts = _stretches(block)
        if parts and sum(1 for part in parts if _BANNER.search(part)) / len(parts) >= 1 / 3:
            dropped += len(block.split())
        else:
            kept.append(block)
    text = "\n\n".join(kept)
    outside = [s for s in _stretches(seen[:_MAX_TEXT]) if _BANNER.search(s)]
    banner = max(dropped, sum(min(len(s.split()), _LONGEST_LINE) for s in outside))
    return text, banner / max(1, banner + len(text.split()))


def _stretches(text: str) -> list[str]:
    """Sentences, none from a stretch of more than 2000 characters."""
    cut = (text[i : i + _STRETCH] for i in range(0, len(text), _STRETCH))
    return [sentence for part in cut for sentence in words_of.sentences(part)]


def _wall(title: str, main: str, seen: str, banner: float) -> str:
    """Return why a page gives no evidence, "" where it does."""
    count = len(words_of.words(main))
    bare = count < MIN_WORDS and len(main) < 6 * MIN_WORDS
    if banner >= _WALL_SHARE:
        return "the page is a consent banner"
    for reason, limit, sign in _WALLS:
        shown = (title, main[:160], seen) if bare else (title, main[:160])
        if count < limit and any(sign.search(text) for text in shown):
            return reason
    return f"the page holds hardly any text ({count} words)" if bare else ""


# --- sections -----------------------------------------------------------------------


def _sections(markdown: str, title: str) -> tuple[Section, ...]:
    """Cut Markdown at its headings; a heading that repeats the title is left out of the path."""
    path: list[tuple[int, str]] = []
    out: list[Section] = []
    held: list[str] = []
    fenced = False

    def flush() -> None:
        body = "\n".join(held).strip()
        if body:
            out.append(Section(body, tuple(name for _, name in path)))
        held.clear()

    for line in markdown.splitlines():
        fenced ^= line.count("```") % 2 == 1
        heading = _HEADING.match(line) if len(line) < _LONGEST_HEADING and not fenced else None
        if heading is None:
            held.append(line)
            continue
        flush()
        level, name = len(heading.group(1)), heading.group(2).strip("*# ")
        path[:] = [(n, h) for n, h in path if n < level]
        if level > 1 or words_of.fold(name) not in words_of.fold(title):
            path.append((level, name))
    flush()
    return tuple(out)


def _blocks(text: str) -> Iterator[str]:
    """Yield stretches between blank lines; a fenced block stays whole."""
    held: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.count("```") % 2 == 1
        if line.strip() or fenced:
            held.append(line)
        elif held:
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)
