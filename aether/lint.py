"""Every problem of every file that people write: manifests, routes, sources, the model catalogue.

Apart from the loaders, because it only gathers: each loader already tells its own problems.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aether.agents import AgentTree, load_tree
from aether.errors import ManifestError, Problem
from aether.models import load_catalogue
from aether.sources import load_sources

RESOURCES = (
    Path(__file__).resolve().parent.parent
)  # agents/, kb/ and assets/ lie beside the package


def folders(kind: str, home: Path) -> tuple[Path, ...]:
    """Where files of a kind (`agents`, `kb/sources`) come from: ours first, the person's last."""
    return RESOURCES / kind, home / kind


def lint(home: Path) -> tuple[Problem, ...]:
    """All problems of all files, ours and those in the user folder, by path and line."""
    try:
        tree = load_tree(folders("agents", home))
    except ManifestError as error:
        return error.problems or (Problem(str(RESOURCES / "agents"), 0, "", str(error)),)
    library = load_sources(folders("kb/sources", home), tree)
    _, models = load_catalogue()
    return tuple(sorted({*tree.problems, *library.problems, *models, *_few_examples(tree)}))


def _few_examples(tree: AgentTree, least: int = 5) -> Sequence[Problem]:
    """An expert without examples routes by its phrases alone: say so."""
    advice = f"write at least {least} in the manifest or in examples/<id>.txt"
    return [
        Problem(f"{agent}.yaml", 0, "examples", f"are too few: {len(tree.examples[agent])}", advice)
        for agent in tree.agents
        if len(tree.examples[agent]) < least
    ]
