"""The climb: who is next, and why, in words."""

from __future__ import annotations

from aether.events import Escalated
from aether.records import Attempt
from aether.steps.escalate import next_rung


def test_the_climb_says_where_and_why() -> None:
    tried = Attempt("aws_specialist", 0.5, 0.41, generated=True, answer="x")
    event = next_rung([tried], "cloud_architect", 0.7)
    assert isinstance(event, Escalated)
    assert (event.agent, event.to) == ("aws_specialist", "cloud_architect")
    assert (event.confidence, event.best) == (0.41, 0.41)
    assert "0.41" in event.reason
    assert "0.70" in event.reason


def test_a_climb_before_a_token_says_so_and_carries_the_best() -> None:
    passed = Attempt("cloud_architect", 0.2, 0.2, generated=False)
    tried = Attempt("aws_specialist", 0.5, 0.6, generated=True)
    event = next_rung([tried, passed], "enterprise_architect", 0.7)
    assert event.best == 0.6
    assert "cannot reach" in event.reason
