"""The places to look: what ships is sound, what a person adds joins, and faults are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from aether.agents import AgentTree
from aether.lint import RESOURCES
from aether.sources import SourceLibrary, load_sources

SITE = """\
id: {id}
name: A vendor's documentation
kind: web
hosts: [docs.vendor.example]
vendor: Vendor
type: vendor_docs
tier: 1
experts: [aws_specialist]
"""


def loaded(folder: Path, tree: AgentTree, **files: str) -> SourceLibrary:
    folder.mkdir(exist_ok=True)
    for stem, text in files.items():
        (folder / f"{stem}.yaml").write_text(text, encoding="utf-8")
    return load_sources([RESOURCES / "kb" / "sources", folder], tree)


def messages(library: SourceLibrary) -> str:
    return "\n".join(str(p) for p in library.problems)


def test_what_ships_is_sound(library: SourceLibrary) -> None:
    assert messages(library) == ""
    assert len(library.web()) >= 40


def test_every_expert_has_sites_and_a_namespace(tree: AgentTree, library: SourceLibrary) -> None:
    for agent, manifest in tree.agents.items():
        own = library.sources[manifest.namespace]
        assert (own.kind, own.experts) == ("namespace", (agent,))
        line = set(tree.ladder(agent))
        assert any(line & set(s.experts) for s in library.web()), agent
        assert manifest.vendors, agent


def test_every_site_is_well_described(tree: AgentTree, library: SourceLibrary) -> None:
    for source in library.web():
        assert len(source.entities) >= 8, source.id
        assert source.experts, source.id
        assert source.description, source.id
        assert all(word == word.lower() for word in source.entities), source.id


def test_no_site_is_a_whole_top_level_domain(library: SourceLibrary) -> None:
    assert {h for s in library.web() for h in s.hosts if h.count(".") == 0} == set()
    broad = {"co.uk", "com.au", "github.io", "amazonaws.com", "windows.net"}
    assert {h for s in library.web() for h in s.hosts} & broad == set()


def test_a_person_adds_and_replaces_by_id(tree: AgentTree, tmp_path: Path) -> None:
    mine = loaded(tmp_path / "mine", tree, my_docs=SITE.format(id="my_docs"),
                  aws_docs=SITE.format(id="aws_docs"))  # fmt: skip
    assert mine.sources["my_docs"].hosts == ("docs.vendor.example",)
    assert mine.sources["aws_docs"].hosts == ("docs.vendor.example",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SITE.format(id="other"), "write id: mine"),
        (SITE.format(id="mine").replace("hosts:", "hostz:"), "hostz"),
        (SITE.format(id="mine") + "tier: 2\n", "tier"),
        (SITE.format(id="mine").replace("[docs.vendor.example]", "[]"), "at least one host"),
        (SITE.format(id="mine").replace("docs.vendor", "https://docs.vendor"), "hosts"),
        (SITE.format(id="mine").replace("docs.vendor.example", "'*.vendor.example'"), "hosts"),
        (SITE.format(id="mine").replace("aws_specialist", "aws_specialst"), "did you mean"),
        (SITE.format(id="mine").replace("kind: web", "kind: namespace"), "name a namespace"),
        (SITE.format(id="mine").replace("tier: 1", "tier: 7"), "tier"),
        ("", "is empty"),
        ("- a\n", "mapping"),
        ("id:\t@x\n", "mine.yaml"),
    ],
)  # fmt: skip
def test_a_broken_source_is_told_and_the_others_serve(
    tree: AgentTree, library: SourceLibrary, tmp_path: Path, text: str, says: str
) -> None:
    mine = loaded(tmp_path / "mine", tree, mine=text)
    assert says in messages(mine)
    assert "mine" not in mine.sources
    assert set(mine.sources) == set(library.sources)


def test_a_preferred_vendor_that_no_source_lists_is_told(tree: AgentTree, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "my_docs.yaml").write_text(SITE.format(id="my_docs"))
    assert "is on no list" in messages(load_sources([alone], tree))
