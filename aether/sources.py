"""The library of places to look: `kb/sources/<id>.yaml`, and one namespace for each expert.

Apart from `agents.py` because a place outlives experts and serves several of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from aether.agents import AgentTree, Ident, Words
from aether.errors import Problem, WebRefused
from aether.hosts import host_name
from aether.yamlfile import FileModel, did_you_mean, parse, read

Host = Annotated[str, Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", max_length=253)]


class Source(FileModel):
    """One place to look: a documentation site, or a namespace of the knowledge base."""

    id: Ident
    name: Annotated[str, Field(min_length=2, max_length=80)]
    kind: Literal["web", "namespace"]
    hosts: tuple[Host, ...] = ()
    namespace: str = ""
    vendor: str = ""
    type: Literal["vendor_docs", "standards", "vendor_blog", "reference", "community", "notes"]
    tier: Annotated[int, Field(ge=1, le=2)]
    experts: tuple[Ident, ...] = ()
    capabilities: Words = ()
    entities: Words = ()
    keywords: Words = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class SourceLibrary:
    """All sound sources by id, and the problems of the others."""

    sources: dict[str, Source]
    problems: tuple[Problem, ...]

    def web(self) -> tuple[Source, ...]:
        """The sites on the allowlist."""
        return tuple(s for s in self.sources.values() if s.kind == "web")


def load_sources(folders: Sequence[Path], tree: AgentTree) -> SourceLibrary:
    """Load the sources of several folders; a later folder adds files or replaces them by id."""
    problems: list[Problem] = []
    sources: dict[str, Source] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            if source := _load_source(path, tree, problems):
                sources[source.id] = source
    for agent, manifest in tree.agents.items():
        sources.setdefault(manifest.namespace, _namespace_source(agent, tree))
    problems.extend(_unlisted_vendors(tree, sources))
    return SourceLibrary(sources, tuple(problems))


def _load_source(path: Path, tree: AgentTree, problems: list[Problem]) -> Source | None:
    loaded = read(path)
    source = parse(loaded, Source)
    if source:
        if source.id != path.stem:
            loaded.problem(("id",), f'is "{source.id}" in {path.name}', f"write id: {path.stem}")
        for i, host in enumerate(source.hosts):
            try:
                host_name(host)
            except WebRefused as error:
                loaded.problem(("hosts", i), error.what, "write the name alone: docs.example.com")
        if source.kind == "web" and not source.hosts:
            loaded.problem(("hosts",), "is missing", "name at least one host of the site")
        if source.kind == "namespace" and not source.namespace:
            loaded.problem(("namespace",), "is missing", "name a namespace, such as kb_aws")
        for i, expert in enumerate(source.experts):
            if expert not in tree:
                advice = did_you_mean(expert, tree.agents)
                loaded.problem(("experts", i), f'"{expert}" does not exist', advice)
    problems.extend(loaded.problems)
    return None if loaded.problems else source


def _namespace_source(agent: str, tree: AgentTree) -> Source:
    manifest = tree[agent]
    return Source(
        id=manifest.namespace,
        name=f"Knowledge base of the {manifest.name}",
        kind="namespace",
        namespace=manifest.namespace,
        type="notes",
        tier=1,
        experts=(agent,),
        entities=manifest.routing.objects,
        keywords=manifest.routing.domain,
        description="Starter notes and the files that were added for this expert.",
    )


def _unlisted_vendors(tree: AgentTree, sources: Mapping[str, Source]) -> list[Problem]:
    """A preferred vendor host that no source lists would never be searched: say so."""
    listed = [host for s in sources.values() for host in s.hosts]
    found: list[Problem] = []
    for agent, manifest in tree.agents.items():
        for host in manifest.vendors:
            if not any(host == h or host.endswith("." + h) for h in listed):
                message = f'"{host}" is on no list in kb/sources'
                advice = did_you_mean(host, listed) or "add a source for it"
                found.append(Problem(f"{agent}.yaml", 0, "vendors", message, advice))
    return found
