"""Changing an expert: a copy of its manifest in the user folder, checked as it is typed.

The shipped files are never touched; taking the copy away brings the shipped expert back.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aether.agents import load_tree
from aether.errors import AetherError, ManifestError, Problem
from aether.lint import folders
from aether.tomlfile import replace_file


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """The file that describes an expert; `own` means it lies in the user folder."""

    path: Path
    own: bool
    shipped: bool  # whether there is one that comes with Aether
    text: str


def manifest_of(agent: str, home: Path) -> ManifestFile:
    """The manifest in force; raises AetherError where it cannot be read."""
    ours, theirs = (folder / f"{agent}.yaml" for folder in folders("agents", home))
    path = theirs if theirs.exists() else ours
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise _fault("the manifest cannot be read", path, error) from error
    return ManifestFile(path, path == theirs, ours.exists(), text)


def own_copy(agent: str, home: Path) -> ManifestFile:
    """The manifest in the user folder, copied there where it is not yet; raises AetherError."""
    found = manifest_of(agent, home)
    if not found.own:
        save_manifest(agent, home, found.text)
    return manifest_of(agent, home)


def save_manifest(agent: str, home: Path, text: str) -> None:
    """Write the copy in the user folder in one step; raises AetherError."""
    path = folders("agents", home)[-1] / f"{agent}.yaml"
    try:
        replace_file(path, text)
    except OSError as error:
        raise _fault("the manifest cannot be written", path, error) from error


def drop_copy(agent: str, home: Path) -> None:
    """Go back to the shipped manifest; raises AetherError."""
    path = folders("agents", home)[-1] / f"{agent}.yaml"
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _fault("the copy cannot be deleted", path, error) from error


def check_manifest(agent: str, home: Path, text: str) -> tuple[Problem, ...]:
    """What would be wrong with this text as the manifest of an expert, by line."""
    real = folders("agents", home)[-1] / f"{agent}.yaml"
    with tempfile.TemporaryDirectory(prefix="aether-check-") as name:
        trial = Path(name) / f"{agent}.yaml"
        trial.write_text(text, encoding="utf-8")
        ours, theirs = folders("agents", home)
        try:
            problems: Sequence[Problem] = load_tree((ours, theirs, Path(name))).problems
        except ManifestError as error:
            problems = error.problems
    places = {str(trial), f"{agent}.yaml"}
    mine = [replace(p, path=str(real)) for p in problems if p.path in places]
    return tuple(sorted(set(mine), key=lambda p: (p.line, p.key)))


def _fault(what: str, path: Path, error: OSError) -> AetherError:
    return AetherError(
        f"{what}: {error.strerror or error}",
        where=str(path),
        advice="look at the rights of the user folder, and at the space on the disk",
    )
