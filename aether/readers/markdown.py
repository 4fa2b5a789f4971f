"""Markdown, with front matter as the starter notes use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import yaml

from aether.readers.decode import decode
from aether.readers.outline import first_heading, sections
from aether.records import Document

_FENCE = "---"


def read(path: Path) -> Document:
    """Read a Markdown file; `title vendor product updated sources` of the front matter are kept."""
    text = decode(path.read_bytes())
    matter, body, skipped = _split(text)
    parts = sections(body, line=skipped + 1)
    known, notes = _front_matter(matter)
    return Document(
        title=known.get("title") or first_heading(parts) or path.stem,
        sections=parts,
        vendor=known.get("vendor", ""),
        product=known.get("product", ""),
        date=known.get("updated") or known.get("date", ""),
        url=known.get("url", ""),
        notes=notes,
    )


def _split(text: str) -> tuple[str, str, int]:
    """(front matter, body, lines before the body)."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return "", text, 0
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), 0)
    if not end:
        return "", text, 0
    return "\n".join(lines[1:end]), "\n".join(lines[end + 1 :]), end + 1


def _front_matter(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Its plain values as text, and a note where it cannot be read."""
    try:
        # BaseLoader leaves every scalar text: no dates, no `NO` -> false
        data: Any = yaml.load(text, Loader=yaml.BaseLoader) if text else {}  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return {}, ("the front matter is not YAML and was left out",)
    if not isinstance(data, dict):
        return {}, ()
    values = cast(dict[Any, Any], data)
    known = {str(k): v.strip() for k, v in values.items() if isinstance(v, str)}
    if url := _first_url(values.get("sources")):
        known["url"] = url
    return known, ()


def _first_url(value: Any) -> str:
    entries = cast(list[Any], value) if isinstance(value, list) else []
    for entry in entries:
        url = cast(dict[Any, Any], entry).get("url") if isinstance(entry, dict) else entry
        if isinstance(url, str) and url.startswith(("https://", "http://")):
            return url
    return ""
