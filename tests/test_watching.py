"""Watched folders: what is new or changed is told by size and time, and remembered."""

from __future__ import annotations

import os
from pathlib import Path

from aether.watching import changed, load_stamps, save_stamps, stamps


def test_new_and_changed_files_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("one", encoding="utf-8")
    (folder / "deep" / "b.txt").write_text("two", encoding="utf-8")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.md").write_text("no", encoding="utf-8")
    before = stamps(folder)
    assert {Path(path).name for path in before} == {"a.md", "b.txt"}
    assert changed(stamps(folder), before) == ()
    (folder / "a.md").write_text("ONE", encoding="utf-8")
    os.utime(folder / "a.md", (1, 1))
    (folder / "c.md").write_text("three", encoding="utf-8")
    now = stamps(folder)
    assert [Path(path).name for path in changed(now, before)] == ["a.md", "c.md"]


def test_a_folder_that_is_away_has_nothing(tmp_path: Path) -> None:
    assert stamps(tmp_path / "away") == {}


def test_stamps_are_kept(home: Path) -> None:
    assert load_stamps(home) == {}
    save_stamps(home, {"/a": (1, 2)})
    assert load_stamps(home) == {"/a": (1, 2)}
    (home / "ingest" / "seen.json").write_text('{"/a": [1', encoding="utf-8")
    assert load_stamps(home) == {}
    (home / "ingest" / "seen.json").write_text('{"/a": [1], "/b": [1, 2]}', encoding="utf-8")
    assert load_stamps(home) == {"/b": (1, 2)}
