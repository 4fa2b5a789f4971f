"""What an Office file says of itself, apart because Word documents and slides keep it alike."""

from __future__ import annotations

import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any


def properties(path: Path) -> tuple[str, str]:
    """(title, day of the last change), empty where unknown; raises what the parsers raise."""
    etree = import_module("defusedxml.ElementTree")
    with zipfile.ZipFile(path) as archive:
        if "docProps/core.xml" not in archive.namelist():
            return "", ""
        root: Any = etree.fromstring(archive.read("docProps/core.xml"))
    values = {str(e.tag).rpartition("}")[2]: str(e.text or "").strip() for e in root}
    title = values.get("title", "")
    generic = title.lower() in {"powerpoint presentation", "word document", "untitled"}
    return "" if generic else title, values.get("modified", "")[:10]
