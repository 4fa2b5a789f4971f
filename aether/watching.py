"""Which files of a watched folder are new or changed since they were last looked at.

Judged by size and time, so that a look at thousands of files costs no reading; what is really new
is decided by content when they are added.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from aether.ingest import listed
from aether.library import FOLDER
from aether.tomlfile import replace_file

Stamp = tuple[int, int]  # bytes, and nanoseconds of the last change


def stamps(folder: Path) -> dict[str, Stamp]:
    """Every readable file below a folder with its stamp; nothing where the folder is away."""
    found: dict[str, Stamp] = {}
    for path, skip in listed([folder]) if folder.is_dir() else ():
        if not skip:
            try:
                stat = Path(path).stat()
            except OSError:  # it went away meanwhile
                continue
            found[path] = stat.st_size, stat.st_mtime_ns
    return found


def changed(now: Mapping[str, Stamp], before: Mapping[str, Stamp]) -> tuple[str, ...]:
    """The files whose stamp is new, in order."""
    return tuple(path for path, stamp in now.items() if before.get(path) != stamp)


def load_stamps(home: Path) -> dict[str, Stamp]:
    """What was seen the last time."""
    try:
        data = json.loads((home / FOLDER / "seen.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # then everything is looked at again
        return {}
    if not isinstance(data, dict):
        return {}
    entries = cast(dict[str, object], data).items()
    return {path: (s[0], s[1]) for path, s in entries if isinstance(s, list) and len(s) == 2}  # pyright: ignore


def save_stamps(home: Path, seen: Mapping[str, Stamp]) -> None:
    """Keep what was seen; raises OSError."""
    replace_file(home / FOLDER / "seen.json", json.dumps(dict(seen)))
