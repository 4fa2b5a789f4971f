"""A page of a listed site as a file of one's own: how a dropped link gets into the library.

The page is kept as Markdown in the user folder, so that it is read, found, opened and added again
like any other file.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

from aether.errors import NothingToRead
from aether.page import Page
from aether.tomlfile import replace_file

FOLDER = "pages"
_UNSAFE = re.compile(r"[^a-z0-9.]+")


def is_link(text: str) -> bool:
    """Whether a dropped text is an address and no file."""
    return bool(re.match(r"https?://\S+\Z", text.strip(), re.IGNORECASE))


def path_of(url: str, home: Path) -> Path:
    """Where the page of an address is kept: readable, and different for different addresses."""
    parts = urlsplit(url)
    name = _UNSAFE.sub("-", f"{parts.path} {parts.query}".lower()).strip("-.")[-80:] or "index"
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]
    return home / FOLDER / (parts.hostname or "page").lower() / f"{name}-{mark}.md"


def keep_page(page: Page, asked: str, home: Path) -> Path:
    """Write a page that was read; raises NothingToRead where it holds nothing, and OSError."""
    if page.reason or not page.sections:
        raise NothingToRead(page.reason or "the page holds no text", where=page.url)
    path = path_of(asked, home)
    replace_file(path, as_markdown(page))
    return path


def as_markdown(page: Page) -> str:
    """Title, address and date as front matter, then the sections under their headings."""
    matter = {"title": page.title, "url": page.url, "updated": page.date}
    lines = ["---", *(f"{key}: {json.dumps(text)}" for key, text in matter.items() if text), "---"]
    before: tuple[str, ...] = ()
    for section in page.sections:
        for depth, heading in enumerate(section.headings, 1):
            if section.headings[:depth] != before[:depth]:
                lines += ["", f"{'#' * min(6, depth)} {heading}"]
        before = section.headings
        lines += ["", section.text]
    return "\n".join(lines) + "\n"
