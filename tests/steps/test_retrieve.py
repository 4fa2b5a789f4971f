"""Web first, knowledge base where it is thin; failures are statuses, and one scale holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from aether.cancel import Cancel
from aether.errors import Cancelled, EmbedError, StoreError
from aether.protocols import WebResult
from aether.records import Hit, Plan, WebStatus
from aether.steps.retrieve import MOST_HITS, WebRules, quality_of, retrieve, strength

PLAN = Plan("aws_specialist", "vpc peering", ("aws_docs",), ("docs.aws.amazon.com",), ("kb_aws",))
QUESTION = "How does VPC peering route traffic?"
LONG = "VPC peering routes traffic between two networks with private addresses. " * 20


class Pages:
    """A web that gives what a test says, and remembers what it was asked."""

    def __init__(
        self, *hits: Hit, status: WebStatus = "ok", detail: str = "", stop: Cancel | None = None
    ) -> None:
        self.result = WebResult(status, hits, detail)
        self.asked: list[tuple[str, tuple[str, ...], float]] = []
        self._stop = stop

    def lookup(
        self, query: str, hosts: Sequence[str], budget_s: float, cancel: Cancel
    ) -> WebResult:
        self.asked.append((query, tuple(hosts), budget_s))
        if self._stop:
            self._stop.cancel()
        return self.result


class Shelf:
    """A knowledge base over a list, or one that fails."""

    def __init__(self, *hits: Hit, fault: Exception | None = None) -> None:
        self.hits = hits
        self.fault = fault
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def search(self, text: str, namespaces: Sequence[str], k: int) -> tuple[Hit, ...]:
        self.asked.append((text, tuple(namespaces)))
        if self.fault:
            raise self.fault
        return self.hits[:k]


def page(text: str = LONG, score: float = 0.9, url: str = "https://docs.aws.amazon.com/a") -> Hit:
    return Hit(text, "VPC peering", url, "aws_docs", "web", score, tier=0.85)


def note(text: str, score: float = 0.5, path: str = "kb/notes/a.md") -> Hit:
    return Hit(text, "A note", "", "kb_aws", "kb", score, path=path)


def looked(web: Pages | None, shelf: Shelf, rules: WebRules | None = None, **more: Any) -> Any:
    cancel = more.get("cancel") or Cancel()
    return retrieve(QUESTION, PLAN, web, shelf, rules or WebRules(), cancel)  # type: ignore[arg-type]


def test_a_rich_web_leaves_the_knowledge_base_alone() -> None:
    web, shelf = Pages(page()), Shelf(note("x"))
    found = looked(web, shelf, WebRules(budget_s=3.5))
    assert (found.web, found.kb) == ("ok", "not_asked")
    assert web.asked == [("vpc peering", ("docs.aws.amazon.com",), 3.5)]
    assert shelf.asked == []


def test_a_thin_web_is_joined_by_the_knowledge_base() -> None:
    shelf = Shelf(note("Peering is not transitive."))
    found = looked(Pages(page("Peering routes traffic.")), shelf)
    assert {hit.origin for hit in found.hits} == {"web", "kb"}
    assert (found.web, found.kb) == ("ok", "ok")
    assert shelf.asked == [(QUESTION, ("kb_aws",))]


@pytest.mark.parametrize(
    "status", ["web_empty", "web_rate_limited", "web_offline", "web_unavailable", "web_error"]
)
def test_a_failing_web_is_told_apart_and_the_knowledge_base_answers(status: WebStatus) -> None:
    found = looked(Pages(status=status, detail="why it failed"), Shelf(note("Peering works.")))
    assert (found.web, found.web_detail) == (status, "why it failed")
    assert [hit.origin for hit in found.hits] == ["kb"]
    assert found.quality > 0


@pytest.mark.parametrize("fault", [StoreError("no table"), EmbedError("no model")])
def test_a_failing_knowledge_base_is_a_status_and_the_web_serves(fault: Exception) -> None:
    found = looked(Pages(page("Peering routes traffic.")), Shelf(fault=fault))
    assert found.kb == "kb_error"
    assert found.kb_detail == str(fault)
    assert [hit.origin for hit in found.hits] == ["web"]


def test_nothing_anywhere_is_said_and_worth_nothing() -> None:
    found = looked(Pages(status="web_empty"), Shelf())
    assert (found.web, found.kb, found.hits, found.quality) == ("web_empty", "kb_empty", (), 0.0)
    assert found.kb_detail


@pytest.mark.parametrize(
    ("web", "rules", "plan"),
    [
        (None, WebRules(), PLAN),
        (Pages(page()), WebRules(enabled=False), PLAN),
        (Pages(page()), WebRules(), Plan("a", "q", (), (), ("kb_aws",))),
    ],
)
def test_no_web_is_off_and_says_why(web: Pages | None, rules: WebRules, plan: Plan) -> None:
    shelf = Shelf(note("Peering works."))
    found = retrieve(QUESTION, plan, web, shelf, rules, Cancel())  # type: ignore[arg-type]
    assert found.web == "off"
    assert found.web_detail
    assert found.kb == "ok"
    assert web is None or web.asked == []


def test_passages_are_numbered_best_first_without_doubles_or_the_irrelevant() -> None:
    shelf = Shelf(
        note("Peering is one to one.", 0.40, "a.md"),
        note("Peering is not transitive.", 0.48, "b.md"),
        note("PEERING is not transitive!", 0.45, "c.md"),
        note("Printers print.", 0.15, "d.md"),
        note("Networks have addresses.", 0.30, "e.md"),  # far behind the best
    )
    found = looked(None, shelf)
    assert [(hit.n, hit.path) for hit in found.hits] == [(1, "b.md"), (2, "a.md")]


def test_there_is_a_most_of_passages() -> None:
    web = Pages(*(page(f"Fact {i}.", url=f"https://docs.aws.amazon.com/{i}") for i in range(30)))
    found = looked(web, Shelf(note("Peering works.")), WebRules(min_chars=10**6))
    assert len(found.hits) == MOST_HITS


def test_stop_while_the_web_is_asked_ends_the_step() -> None:
    cancel, shelf = Cancel(), Shelf(note("x"))
    with pytest.raises(Cancelled):
        looked(Pages(status="web_empty", stop=cancel), shelf, cancel=cancel)
    assert shelf.asked == []


# --- the scale ---


@pytest.mark.parametrize(
    ("score", "expected"),
    [(-1.0, 0.0), (0.03, 0.0), (0.2, 0.0), (0.35, 0.425), (0.5, 0.85), (0.99, 0.85)],
)
def test_cosines_map_to_evidence(score: float, expected: float) -> None:
    assert strength(note("x", score)) == pytest.approx(expected)


def test_the_trust_of_a_site_bounds_its_pages() -> None:
    assert strength(page(score=5.0)) == 0.85
    assert strength(page(score=0.5)) == pytest.approx(0.425)


def test_quality_is_strength_times_coverage_times_corroboration() -> None:
    hits = (note("VPC peering routes traffic.", 0.6),)
    quality, parts = quality_of(QUESTION, hits)
    assert dict(parts) == {"strength": 0.85, "coverage": 1.0, "corroboration": 1.0}
    assert quality == pytest.approx(0.85)


def test_passages_beside_the_question_are_worth_little() -> None:
    covered, _ = quality_of(QUESTION, (note("VPC peering routes traffic.", 0.6),))
    beside, parts = quality_of(QUESTION, (note("Printers print on paper.", 0.6, "p.md"),))
    assert dict(parts)["coverage"] < 0.4
    assert beside < 0.6 * covered


def test_other_documents_corroborate_and_the_same_one_does_not() -> None:
    text = "VPC peering routes traffic."
    one = quality_of(QUESTION, (note(text, 0.4, "a.md"),))[0]
    same = quality_of(QUESTION, (note(text, 0.4, "a.md"), note(text + " b", 0.4, "a.md")))[0]
    two = quality_of(QUESTION, (note(text, 0.4, "a.md"), note(text, 0.4, "b.md")))[0]
    many = quality_of(QUESTION, tuple(note(text, 0.4, f"{i}.md") for i in range(9)))[0]
    assert one == same < two < many <= 1.0
    assert many == pytest.approx(one * 1.16)
