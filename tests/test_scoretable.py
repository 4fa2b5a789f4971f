"""The sum of the table: the cap, `not_when` after it, foreign objects, compared siblings."""

from __future__ import annotations

import pytest

from aether.agents import AgentTree
from aether.lexicon import Lexicon
from aether.scoretable import counted, score_table

STRONG = "FortiGate IPsec tunnel phase 2 fails, FortiGate VPN down"


def parts(text: str, agent: str, tree: AgentTree, lexicon: Lexicon) -> dict[str, float]:
    rows = score_table(text, tree, lexicon.matches(text), lexicon.model.shares(text), {})
    return dict(next(r.candidate.parts for r in rows if r.candidate.agent == agent))


def test_a_score_is_the_sum_of_rounded_parts() -> None:
    row = counted("a", {"x": 1.00049, "y": -0.33333})
    assert row.parts == (("x", 1.0), ("y", -0.333))
    assert row.score == pytest.approx(0.667)


def test_the_positive_sum_is_capped(tree: AgentTree, lexicon: Lexicon) -> None:
    row = parts(STRONG, "network_security_specialist", tree, lexicon)
    assert row["cap"] < 0
    assert sum(row.values()) == pytest.approx(100.0, abs=0.01)


def test_not_when_is_felt_by_a_strong_expert(tree: AgentTree, lexicon: Lexicon) -> None:
    text = "Office 365 tenant, Office 365 mailbox and Exchange Online on Amazon WorkSpaces"
    row = parts(text, "microsoft_dwp_specialist", tree, lexicon)
    assert row["cap"] < 0
    assert row["not_when"] < 0
    assert sum(row.values()) < 100.0


def test_foreign_objects_cost_points(tree: AgentTree, lexicon: Lexicon) -> None:
    row = parts("EKS node group cannot pull from ECR", "wireless_specialist", tree, lexicon)
    assert row["foreign"] <= 0
    assert sum(row.values()) < 20


def test_compared_clouds_lift_their_parent(tree: AgentTree, lexicon: Lexicon) -> None:
    row = parts("EKS vs GKE for a small team", "cloud_architect", tree, lexicon)
    assert row["siblings"] == 40.0
    assert parts("EKS and GKE", "cloud_architect", tree, lexicon)["siblings"] == 0.0


def test_lessons_are_bounded(tree: AgentTree, lexicon: Lexicon) -> None:
    rows = score_table("ospf", tree, (), {}, {"aws_specialist": 900.0})
    assert rows[0].candidate.agent == "aws_specialist"
    assert rows[0].candidate.score == 100.0
