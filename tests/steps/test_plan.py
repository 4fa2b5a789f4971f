"""Where to look: the places that fit the expert and the words, with the whole table behind it."""

from __future__ import annotations

import pytest

from aether.agents import AgentTree
from aether.sources import SourceLibrary
from aether.steps.plan import PICKED, plan, search_query


def picked(question: str, agent: str, tree: AgentTree, library: SourceLibrary) -> tuple[str, ...]:
    return plan(question, agent, tree, library).sources


@pytest.mark.parametrize(
    ("question", "agent", "host"),
    [
        ("How many VPC peering connections does a VPC support?", "aws_specialist",
         "docs.aws.amazon.com"),
        ("Private endpoint DNS zone for a storage account", "azure_specialist",
         "learn.microsoft.com"),
        ("FSLogix profile container size in Citrix", "end_user_virt_specialist", "docs.citrix.com"),
    ],
)  # fmt: skip
def test_the_vendors_documentation_is_picked(
    question: str, agent: str, host: str, tree: AgentTree, library: SourceLibrary
) -> None:
    hosts = plan(question, agent, tree, library).hosts
    assert any(h == host or host.endswith("." + h) or h.endswith("." + host) for h in hosts), hosts


def test_one_to_three_sites_are_picked_for_every_expert(
    tree: AgentTree, library: SourceLibrary
) -> None:
    for agent in tree.agents:
        found = plan("How do I design high availability?", agent, tree, library)
        assert 1 <= len(found.sources) <= PICKED, agent
        assert all(library.sources[s].kind == "web" for s in found.sources)
        listed = {h for s in found.sources for h in library.sources[s].hosts}
        assert set(found.hosts) == listed
        assert len(found.hosts) == len(set(found.hosts))


def test_every_place_has_a_row_whose_parts_sum_to_its_score(
    tree: AgentTree, library: SourceLibrary
) -> None:
    table = plan("OSPF neighbour stuck in EXSTART", "network_architect", tree, library).table
    assert {row.agent for row in table} == set(library.sources)
    assert any(row.score == 0 for row in table)
    assert [r.score for r in table] == sorted((r.score for r in table), reverse=True)
    for row in table:
        assert sum(points for _, points in row.parts) == pytest.approx(row.score, abs=0.005)


def test_being_documentation_alone_earns_nothing(tree: AgentTree, library: SourceLibrary) -> None:
    table = plan("xyzzy", "aws_specialist", tree, library).table
    for row in table:
        parts = dict(row.parts)
        assert not parts["type"] or sum(parts.values()) > parts["type"]


def test_an_expert_sees_the_knowledge_of_those_below_it(
    tree: AgentTree, library: SourceLibrary
) -> None:
    assert plan("q", "aws_specialist", tree, library).namespaces == ("kb_aws",)
    cloud = plan("q", "cloud_architect", tree, library).namespaces
    assert cloud[0] == "kb_cloud"
    assert set(cloud) == {"kb_cloud", "kb_aws", "kb_azure", "kb_gcp"}
    root = plan("q", "enterprise_architect", tree, library).namespaces
    assert root[0] == "kb_enterprise"
    assert len(set(root)) == 13


def test_a_lesson_moves_a_place_by_at_most_a_hundred(
    tree: AgentTree, library: SourceLibrary
) -> None:
    question, agent = "How many VPC peering connections are allowed?", "aws_specialist"
    table = plan(question, agent, tree, library).table
    before = {row.agent: row.score for row in table}
    first = picked(question, agent, tree, library)[0]
    taught = plan(question, agent, tree, library, {first: -1000.0, "citrix_docs": 1000.0})
    after = {row.agent: row.score for row in taught.table}
    assert after[first] == pytest.approx(before[first] - 100)
    lessons = {row.agent: dict(row.parts)["lesson"] for row in taught.table}
    assert lessons.pop("citrix_docs") == 100
    assert lessons.pop(first) == -100
    assert set(lessons.values()) == {0}
    assert taught.sources[0] == "citrix_docs"


def test_the_same_question_gives_the_same_plan(tree: AgentTree, library: SourceLibrary) -> None:
    one = plan("Transit gateway or peering?", "aws_specialist", tree, library)
    assert one == plan("Transit gateway or peering?", "aws_specialist", tree, library)


def test_the_query_is_words_worth_searching_for() -> None:
    query = search_query("How do I let two VPCs in different accounts talk to each other?")
    assert "vpcs" in query.split()
    assert not {"how", "do", "i", "to"} & set(query.split())


@pytest.mark.parametrize("question", ["", "how do I?", "?" * 500, "word " * 1000, "a b c " * 9000])
def test_odd_questions_give_a_short_query(
    question: str, tree: AgentTree, library: SourceLibrary
) -> None:
    assert len(search_query(question).split()) <= 16
    assert len(search_query(question)) <= 120
    assert plan(question, "aws_specialist", tree, library).namespaces == ("kb_aws",)
