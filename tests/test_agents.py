"""The tree of experts survives every broken file, and says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aether.agents import AgentTree, load_tree
from aether.errors import ManifestError
from aether.lint import RESOURCES
from aether.patterns import pattern_fault

PERSONAS = {
    "enterprise_architect": (1, None, "kb_enterprise"),
    "cloud_architect": (2, "enterprise_architect", "kb_cloud"),
    "network_architect": (2, "enterprise_architect", "kb_network"),
    "digital_workplace_architect": (2, "enterprise_architect", "kb_workplace"),
    "aws_specialist": (3, "cloud_architect", "kb_aws"),
    "azure_specialist": (3, "cloud_architect", "kb_azure"),
    "gcp_specialist": (3, "cloud_architect", "kb_gcp"),
    "routing_switching_specialist": (3, "network_architect", "kb_routing_switching"),
    "sdwan_wan_specialist": (3, "network_architect", "kb_sdwan"),
    "wireless_specialist": (3, "network_architect", "kb_wireless"),
    "network_security_specialist": (3, "network_architect", "kb_network_security"),
    "microsoft_dwp_specialist": (3, "digital_workplace_architect", "kb_microsoft_dwp"),
    "end_user_virt_specialist": (3, "digital_workplace_architect", "kb_end_user_virt"),
}


def manifest(agent: str, parent: str | None = "root", tier: int = 2, more: str = "") -> str:
    above = f"parent: {parent}\n" if parent else ""
    return (
        f"id: {agent}\nname: The {agent}\ntier: {tier}\n{above}namespace: kb_{agent}\n"
        f"description: Owns everything about {agent}.\n"
        f"prompt: You are the expert for {agent} and answer what belongs to it.\n{more}"
    )


def plant(folder: Path, **files: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for stem, text in files.items():
        (folder / f"{stem}.yaml").write_text(text, encoding="utf-8")
    return [folder]


def messages(tree: AgentTree) -> str:
    return "\n".join(str(p) for p in tree.problems)


def test_the_thirteen_stand_as_planned(tree: AgentTree) -> None:
    assert {a: (m.tier, m.parent, m.namespace) for a, m in tree.agents.items()} == PERSONAS
    assert messages(tree) == ""


def test_every_expert_has_a_full_prompt_and_sixty_examples(tree: AgentTree) -> None:
    for agent, found in tree.agents.items():
        assert len(found.prompt.split()) >= 150, agent
        assert len(set(tree.examples[agent])) >= 60, agent


def test_no_example_serves_two_experts(tree: AgentTree) -> None:
    owner: dict[str, str] = {}
    for agent, questions in tree.examples.items():
        for question in questions:
            assert owner.setdefault(question.lower(), agent) == agent, question


def test_every_ladder_ends_at_the_root(tree: AgentTree) -> None:
    for agent in tree.agents:
        assert tree.ladder(agent)[-1] == "enterprise_architect"


def test_children_of_a_broken_parent_hang_on_the_next_sound_ancestor(tmp_path: Path) -> None:
    tree = load_tree(plant(
        tmp_path / "a", root=manifest("root", None, 1),
        middle=manifest("middle", "root", 2) + "bogus: 1\n", leaf=manifest("leaf", "middle", 3),
    ))  # fmt: skip
    assert "middle" not in tree
    assert tree.parent("leaf") == "root"
    assert "hangs on" in messages(tree)
    assert "bogus" in messages(tree)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"leaf": manifest("leaf", "rot")}, 'did you mean "root"'),
        ({"leaf": manifest("leaf", "leaf")}, "names itself"),
        ({"leaf": manifest("leaf", "twig"), "twig": manifest("twig", "leaf")}, "circle"),
        ({"leaf": manifest("leaf", None)}, "second root"),
        ({"leaf": "null\n"}, "mapping"),
        ({"leaf": ""}, "is empty"),
        ({"leaf": "- a\n"}, "mapping"),
        ({"leaf": manifest("other")}, "rename the file"),
        ({"leaf": manifest("leaf", "root", 1)}, "larger number"),
        ({"leaf": manifest("leaf", more="routing:\n  triggers: ['regex:(a+)+$']\n")}, "never end"),
        ({"leaf": manifest("leaf", more="routing:\n  triggers: ['regex:(v']\n")}, "not a regular"),
        ({"leaf": manifest("leaf", more="routing:\n  conflicts_with: [rood]\n")}, "does not exist"),
    ],
)  # fmt: skip
def test_tree_faults_are_told_and_escalation_still_ends(
    tmp_path: Path, files: dict[str, str], says: str
) -> None:
    tree = load_tree(plant(tmp_path / "a", root=manifest("root", None, 1), **files))
    assert says in messages(tree)
    assert tree.root == "root"
    for agent in tree.agents:
        assert tree.ladder(agent)[-1] == "root"


def test_a_broken_root_is_stood_in_for(tmp_path: Path) -> None:
    tree = load_tree(plant(
        tmp_path / "a", root=manifest("root", None, 1) + "bogus: 1\n",
        one=manifest("one"), two=manifest("two"),
    ))  # fmt: skip
    assert tree.root == "one"
    assert tree.ladder("two") == ("two", "one")
    assert "stands in as the root" in messages(tree)


def test_one_broken_file_leaves_the_other_twelve(tmp_path: Path) -> None:
    plant(tmp_path / "mine", aws_specialist="id: @aws\n")
    tree = load_tree([RESOURCES / "agents", tmp_path / "mine"])
    assert len(tree.agents) == 13  # the shipped one serves in place of the broken copy
    assert "single quotes" in messages(tree)


def test_a_fourteenth_expert_is_one_file(tmp_path: Path) -> None:
    text = manifest("storage_specialist", "enterprise_architect", 3,
                    "examples: [why is the SAN slow, resize a LUN]\n")  # fmt: skip
    tree = load_tree([RESOURCES / "agents", *plant(tmp_path / "mine", storage_specialist=text)])
    assert tree.ladder("storage_specialist") == ("storage_specialist", "enterprise_architect")
    assert tree.examples["storage_specialist"] == ("why is the SAN slow", "resize a LUN")
    assert messages(tree) == ""


def test_nothing_sound_is_an_error_that_lists_everything(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        load_tree(plant(tmp_path / "a", one="", two="id: x\n"))
    assert len({p.path for p in caught.value.problems}) == 2


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(\d*)*x", r"(\s*a\s*)*!z", "", "x*", "["])
def test_bad_patterns(pattern: str) -> None:
    assert pattern_fault(pattern) is not None


@pytest.mark.parametrize("pattern", [r"\bi-[0-9a-f]{8,17}\b", r"AADSTS\d{5,6}", r"%\w+-\d-\w+"])
def test_sound_patterns(pattern: str) -> None:
    assert pattern_fault(pattern) is None
