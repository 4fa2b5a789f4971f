"""Saved web pages: the main text with its headings, lists and tables, without menus and banners."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from aether.errors import ReaderError
from aether.readers.outline import first_heading, sections
from aether.readers.pace import MALFORMED
from aether.records import Document

_UNSEEN = ("script", "style", "noscript", "template", "iframe", "svg", "nav", "aside", "form")
_CONTROLS = ("button", "dialog", "select")
_AROUND = ("header", "footer")
_BANNER = re.compile(r"cookie|consent|gdpr|onetrust|breadcrumb|sidebar|skip-link", re.IGNORECASE)
_MAIN_SHARE = 0.3  # a <main> that holds less than this of the text is not the main text
_DATES = ("article:modified_time", "article:published_time", "last-modified", "date", "dc.date")


def read(path: Path) -> Document:
    """Read an HTML file; vendor, date and address come from its head."""
    bs4 = import_module("bs4")
    try:
        soup: Any = bs4.BeautifulSoup(path.read_bytes(), "html.parser")
        known = _head(soup)
        parts = sections(_markdown(str(_main(soup))), line=0)
    except MALFORMED as error:
        raise ReaderError(
            f"the page cannot be read: {type(error).__name__}: {error}", where=path.name
        ) from error
    return Document(
        title=known["title"] or first_heading(parts) or path.stem,
        sections=parts,
        vendor=known["vendor"],
        date=known["date"][:10],
        url=known["url"],
    )


def _markdown(html: str) -> str:
    """HTML as Markdown."""
    converters = import_module("markitdown.converters")
    return str(converters.HtmlConverter().convert_string(html, strict=True).markdown)


def _head(soup: Any) -> dict[str, str]:
    meta: dict[str, str] = {}
    for tag in soup.find_all("meta"):
        name = tag.get("property") or tag.get("name") or tag.get("http-equiv") or ""
        meta.setdefault(str(name).lower(), str(tag.get("content") or "").strip())
    link = soup.find("link", rel="canonical")
    url = str(link.get("href") or "") if link else meta.get("og:url", "")
    title = meta.get("og:title") or (soup.title.get_text(" ", strip=True) if soup.title else "")
    return {
        "title": " ".join(title.split()),
        "vendor": meta.get("og:site_name", ""),
        "date": next((meta[name] for name in _DATES if meta.get(name)), ""),
        "url": url if url.startswith(("https://", "http://")) else "",
    }


def _main(soup: Any) -> Any:
    """The element that holds the main text, cleared of what a reader would skip."""
    for tag in soup([*_UNSEEN, *_CONTROLS]):
        if not tag.decomposed:
            tag.decompose()
    marked = [t for t in soup.find_all(True) if _BANNER.search(_names(t))]
    body = soup.body or soup
    whole = max(1, len(body.get_text()))
    for tag in marked:
        # a class on the whole page names a theme, not a banner
        if not tag.decomposed and tag is not body and len(tag.get_text()) < whole / 2:
            tag.decompose()
    for selector in ("main", "article", "[role=main]"):
        found = body.select_one(selector)
        if found is not None and len(found.get_text()) > _MAIN_SHARE * len(body.get_text()):
            return found
    for tag in body(list(_AROUND)):
        if not tag.decomposed and not tag.find("h1"):
            tag.decompose()
    return body


def _names(tag: Any) -> str:
    attributes: dict[str, Any] = tag.attrs or {}
    classes = attributes.get("class") or ()
    return " ".join([str(attributes.get("id") or ""), *(str(c) for c in classes)])
