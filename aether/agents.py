"""The experts: manifests in YAML, the tree they form, the routing rules beside them.

Loading never stops at the first fault: all problems of all files come back at once, the sound
experts start without the broken ones, and a child of a broken parent hangs on the next sound one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field

from aether.errors import ManifestError, Problem
from aether.patterns import pattern_fault
from aether.yamlfile import FileModel, Loaded, did_you_mean, parse, read

Words = tuple[Annotated[str, Field(min_length=1, max_length=400)], ...]
Ident = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,63}$")]
NOT_EXPERTS = ("routes", "mandates", "vocabulary")


class Signals(FileModel):
    """The words by which the router knows an expert."""

    aliases: Words = ()
    domain: Words = ()
    objects: Words = ()
    actions: Words = ()
    intents: Words = ()
    capabilities: Words = ()
    use_when: Words = ()
    not_when: Words = ()
    keywords: Words = ()
    triggers: Words = ()
    conflicts_with: tuple[Ident, ...] = ()


class AgentManifest(FileModel):
    """One expert, as its YAML file describes it."""

    id: Ident
    name: Annotated[str, Field(min_length=2, max_length=80)]
    tier: Annotated[int, Field(ge=1, le=3)]
    parent: Ident | None = None
    namespace: Annotated[str, Field(pattern=r"^kb_[a-z0-9_]{1,60}$")]
    description: Annotated[str, Field(min_length=10, max_length=400)]
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.2
    max_tokens: Annotated[int, Field(ge=64, le=8192)] = 1200
    vendors: tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")], ...] = ()
    prompt: Annotated[str, Field(min_length=40, max_length=8000)]
    routing: Signals = Signals()
    examples: Words = ()


class Rule(FileModel):
    """A whole-phrase rule that decides before any score: phrases, save where `unless` occurs."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,63}$")]
    phrases: Annotated[Words, Field(min_length=1)]
    unless: Words = ()
    agent: Ident
    command: str | None = None
    why: str = ""


class Floor(FileModel):
    """Decision floors of one tier, in points of the 0-100 scale."""

    route: float = 45
    lead: float = 15
    ambiguous: float = 14
    multi: float = 33
    bare: float = 26  # the least where the question names no object of the expert


class Routes(FileModel):
    """`routes.yaml`: forced rules, and the floors of each tier."""

    forced: tuple[Rule, ...] = ()
    tier3: Floor = Floor()
    tier2: Floor = Floor()


class Mandates(FileModel):
    """`mandates.yaml`: what every expert inherits."""

    text: Annotated[str, Field(min_length=40, max_length=6000)]


@dataclass(frozen=True)
class AgentTree:
    """The sound experts, by id in file order, with their rules, examples and problems."""

    agents: dict[str, AgentManifest]
    root: str
    mandates: str
    routes: Routes
    examples: dict[str, tuple[str, ...]]  # by expert; `out_of_domain` holds what is nobody's
    problems: tuple[Problem, ...]

    def __getitem__(self, agent: str) -> AgentManifest:
        return self.agents[agent]

    def __contains__(self, agent: str) -> bool:
        return agent in self.agents

    def parent(self, agent: str) -> str | None:
        """The expert above, None for the root."""
        return self.agents[agent].parent

    def ladder(self, agent: str) -> tuple[str, ...]:
        """The expert, its parent, … up to the root; ends in every case."""
        rungs = [agent]
        while (above := self.agents[rungs[-1]].parent) is not None and above not in rungs:
            rungs.append(above)
        return tuple(rungs)

    def subtree(self, agent: str) -> tuple[str, ...]:
        """The expert and everybody below it."""
        return tuple(other for other in self.agents if agent in self.ladder(other))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that decides how a question is routed and asked."""
        parts = [a.model_dump_json() for a in self.agents.values()]
        parts += [self.mandates, self.routes.model_dump_json(), repr(sorted(self.examples.items()))]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def load_tree(folders: Sequence[Path]) -> AgentTree:
    """Load the experts of several folders; a later folder adds files or replaces them by id.

    Raises ManifestError only where no sound expert is left.
    """
    problems: list[Problem] = []
    sound: dict[str, AgentManifest] = {}
    claimed: dict[str, str | None] = {}  # id -> parent as written, of broken files too
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            if path.stem not in NOT_EXPERTS:
                manifest = _load_manifest(path, claimed, problems)
                if manifest:
                    sound[manifest.id] = manifest
    if not sound:
        raise ManifestError(
            "no expert can be loaded",
            tuple(problems),
            advice="run `aether lint` and mend the files, or restore the folder agents/",
        )
    root = _choose_root(sound)
    agents = _hang(sound, claimed, root, problems)
    _check_references(agents, folders, problems)
    routes, mandates = _load_common(folders, agents, problems)
    examples = _load_examples(folders, agents, problems)
    return AgentTree(agents, root, mandates, routes, examples, tuple(problems))


def _load_manifest(
    path: Path, claimed: dict[str, str | None], problems: list[Problem]
) -> AgentManifest | None:
    loaded = read(path)
    above = loaded.get("parent")
    claimed.setdefault(path.stem, above if isinstance(above, str) else None)
    manifest = parse(loaded, AgentManifest)
    if manifest:
        if manifest.id != path.stem:
            advice = f"rename the file to {manifest.id}.yaml, or write id: {path.stem}"
            loaded.problem(("id",), f'is "{manifest.id}" in a file named {path.name}', advice)
        _check_patterns(loaded, manifest)
    problems.extend(loaded.problems)
    return None if loaded.problems else manifest


def _check_patterns(loaded: Loaded, manifest: AgentManifest) -> None:
    for name in Signals.model_fields:
        for i, word in enumerate(getattr(manifest.routing, name)):
            if word.startswith("regex:") and (fault := pattern_fault(word[6:])):
                loaded.problem(("routing", name, i), *fault)


def _choose_root(sound: dict[str, AgentManifest]) -> str:
    """The expert without parent; else, where that file is broken, the highest sound one."""
    return min(sound, key=lambda a: (sound[a].parent is not None, sound[a].tier, a))


def _hang(
    sound: dict[str, AgentManifest],
    claimed: dict[str, str | None],
    root: str,
    problems: list[Problem],
) -> dict[str, AgentManifest]:
    """Give everybody a sound parent, so that every ladder ends at the root."""
    agents: dict[str, AgentManifest] = {}
    for agent, manifest in sound.items():
        parent, message, advice = _sound_parent(agent, sound, claimed, root)
        if message:
            problems.append(Problem(f"{agent}.yaml", 0, "parent", message, advice))
        agents[agent] = manifest.model_copy(update={"parent": parent})
    return agents


def _sound_parent(
    agent: str, sound: dict[str, AgentManifest], claimed: dict[str, str | None], root: str
) -> tuple[str | None, str, str]:
    """The parent to hang on, with a problem where it is not the one that was written."""
    written = sound[agent].parent
    if agent == root:
        lost = f'has no sound parent "{written}"; it stands in as the root' if written else ""
        return None, lost, "mend the files above it" if written else ""
    if written is None:
        return root, f'is a second root beside "{root}"', "give it a parent"
    if written == agent:
        return root, "names itself", f"write parent: {root}"
    seen, above = [agent], written
    while above not in sound and above in claimed and above not in seen:
        seen.append(above)
        above = claimed[above] or root
    if above not in sound or above == agent:
        known = [a for a in sound if a != agent]
        return root, f'"{written}" does not exist', did_you_mean(written, known) or f"try {root}"
    if _loops(agent, above, sound):
        return root, "goes round in a circle", "a parent must stand nearer to the root"
    if above != written:
        return above, f'"{written}" is broken; hangs on "{above}" meanwhile', "mend that file"
    return above, "", ""


def _loops(agent: str, above: str, sound: dict[str, AgentManifest]) -> bool:
    seen: set[str] = set()
    step: str | None = above
    while step in sound and step not in seen:
        if step == agent:
            return True
        seen.add(step)
        step = sound[step].parent
    return False


def _check_references(
    agents: dict[str, AgentManifest], folders: Sequence[Path], problems: list[Problem]
) -> None:
    owners: dict[str, str] = {}
    ids = {path.stem for folder in folders for path in folder.glob("*.yaml")}
    for agent, manifest in agents.items():
        where = f"{agent}.yaml"
        for other in manifest.routing.conflicts_with:
            if other not in ids:
                advice = did_you_mean(other, agents)
                message = f'"{other}" does not exist'
                problems.append(Problem(where, 0, "routing.conflicts_with", message, advice))
        if (owner := owners.setdefault(manifest.namespace, agent)) != agent:
            message = f'"{manifest.namespace}" is already the namespace of "{owner}"'
            problems.append(Problem(where, 0, "namespace", message, "give each expert its own"))
        above = agents.get(manifest.parent or "")
        if above and manifest.tier <= above.tier:
            message = f"is {manifest.tier}, but its parent {above.id} is tier {above.tier}"
            problems.append(Problem(where, 0, "tier", message, "a child has the larger number"))


def _load_common(
    folders: Sequence[Path], agents: dict[str, AgentManifest], problems: list[Problem]
) -> tuple[Routes, str]:
    routes, mandates = Routes(), ""
    for folder in folders:
        if (folder / "routes.yaml").exists():
            loaded = read(folder / "routes.yaml")
            if found := parse(loaded, Routes):
                for i, rule in enumerate(found.forced):
                    if rule.agent not in agents:
                        advice = did_you_mean(rule.agent, agents)
                        key = ("forced", i, "agent")
                        loaded.problem(key, f'"{rule.agent}" does not exist', advice)
                kept = tuple(rule for rule in found.forced if rule.agent in agents)
                routes = found.model_copy(update={"forced": kept})
            problems.extend(loaded.problems)
        if (folder / "mandates.yaml").exists():
            loaded = read(folder / "mandates.yaml")
            if text := parse(loaded, Mandates):
                mandates = text.text.strip()
            problems.extend(loaded.problems)
    return routes, mandates


def _load_examples(
    folders: Sequence[Path], agents: dict[str, AgentManifest], problems: list[Problem]
) -> dict[str, tuple[str, ...]]:
    examples = {agent: manifest.examples for agent, manifest in agents.items()}
    for folder in folders:
        for path in sorted((folder / "examples").glob("*.txt")):
            if path.stem not in agents and path.stem != "out_of_domain":
                message, advice = "belongs to no expert", did_you_mean(path.stem, agents)
                if not (folder / f"{path.stem}.yaml").exists():
                    problems.append(Problem(str(path), 0, "", message, advice))
                continue
            try:
                lines = path.read_text(encoding="utf-8-sig").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                problems.append(
                    Problem(str(path), 0, "", f"cannot be read: {error}", "save as UTF-8")
                )
                continue
            kept = tuple(x.strip() for x in lines if x.strip() and not x.lstrip().startswith("#"))
            examples[path.stem] = examples.get(path.stem, ()) + kept
    return examples
