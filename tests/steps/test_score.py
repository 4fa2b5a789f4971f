"""Confidence, computed: what was found, what was cited, and what the citations carry."""

from __future__ import annotations

import pytest

from aether.records import Answer, Confidence, Hit
from aether.steps.score import WEIGHTS, best_possible, is_refusal, overlap, score

PEERING = (
    "A VPC peering connection routes traffic between two VPCs with private addresses. "
    "Peering is not transitive. An Amazon VPC supports 50 active peering connections by default."
)
GATEWAY = "A transit gateway supports up to 5,000 attachments."
HITS = (
    Hit(PEERING, "Peering", "", "kb_aws", "kb", 0.6, 1),
    Hit(GATEWAY, "Gateway", "", "kb_aws", "kb", 0.6, 2),
)
GOOD = (
    "A VPC peering connection routes traffic between two VPCs [1]. Peering is not transitive [1]. "
    "A transit gateway supports up to 5,000 attachments [2]."
)


def scored(text: str, pre: float = 0.6, best: float = 0.0, forged: int = 0) -> Confidence:
    return score(Answer(text, "stop", forged=forged), HITS, pre, best, 0.7)


def test_an_answer_that_its_sources_carry_passes() -> None:
    found = scored(GOOD)
    assert found.verdict == "answer"
    assert found.value > 0.7
    assert found.cap == ""
    assert {c.verdict for c in found.claims} == {"supported"}


def test_the_terms_sum_to_the_value() -> None:
    for text in (GOOD, "Uncited claim is made here. " + GOOD, "Peering is not transitive [2]."):
        found = scored(text)
        parts = dict(found.parts)
        total = sum(parts[k] for k in ("pre", "verified", "unsupported", "uncited"))
        if not found.cap:
            assert found.value == pytest.approx(total, abs=1e-6)
        v, p, u, w = (parts[k] for k in "VPUW")
        assert parts["verified"] == pytest.approx(0.2 * v * p)
        assert parts["unsupported"] == pytest.approx(-0.25 * u)
        assert parts["uncited"] == pytest.approx(-0.15 * w)


def test_v_is_the_smoothed_mean_of_support() -> None:
    found = scored("Peering is not transitive [1].")
    (claim,) = found.claims
    assert dict(found.parts)["V"] == pytest.approx((claim.support + 0.5) / 2)


@pytest.mark.parametrize(
    "worse",
    [
        GOOD.replace("[1]", "[2]"),
        GOOD.replace("5,000", "6,000"),
        GOOD.replace("[1]", "").replace("[2]", ""),
        GOOD.replace("VPC peering connection", "Intune enrolment profile"),
        GOOD + " Bananas are required in every region of the world.",
    ],
)
def test_every_kind_of_damage_lowers_confidence(worse: str) -> None:
    assert scored(worse).value < scored(GOOD).value


def test_forged_markers_count_against_the_answer() -> None:
    assert scored(GOOD, forged=3).value < scored(GOOD).value


def test_the_best_of_the_chain_carries_upwards_and_never_down() -> None:
    assert scored(GOOD, 0.3, 0.6).value == pytest.approx(scored(GOOD, 0.6, 0.0).value)
    assert scored(GOOD, 0.6, 0.3).value == pytest.approx(scored(GOOD, 0.6, 0.0).value)


def test_a_contradicted_number_caps() -> None:
    wrong = GOOD.replace("5,000 attachments", "50 attachments")
    found = scored(wrong, pre=0.95)
    assert found.value == WEIGHTS.weak_cap
    assert found.verdict == "escalate"
    assert "contradict" in found.cap


def test_mostly_unsupported_caps_whatever_was_found() -> None:
    found = scored("Intune enrols devices [1]. Teams records calls [2]. Peering works.", pre=1.0)
    assert found.value <= WEIGHTS.weak_cap
    assert found.cap


def test_nothing_to_check_is_worth_no_more_than_what_was_found() -> None:
    found = scored("Which account owns the VPC?", pre=0.5, best=0.65)
    assert found.value == 0.5
    assert "nothing" in found.cap
    assert scored("Yes.", pre=0.9).verdict == "escalate"


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "Sorry, I can't answer this.",
        "This is outside my field.",
        "",
        " ",
    ],
)
def test_a_refusal_is_nought(text: str) -> None:
    assert is_refusal(text)
    assert scored(text, pre=1.0).value == 0.0


def test_an_answer_about_refusing_is_none() -> None:
    assert not is_refusal("The firewall can not help here; traffic outside the domain is dropped.")


@pytest.mark.parametrize("pre", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("text", [GOOD, "x [1]", "Peering is [1] not [2].", "[1][2]"])
def test_confidence_stays_between_nought_and_one(text: str, pre: float) -> None:
    assert 0.0 <= scored(text, pre).value <= 1.0


def test_overlap_maps_points_to_its_range() -> None:
    assert overlap(-30) == pytest.approx(0.1)
    assert overlap(0) == pytest.approx(0.1)
    assert overlap(17.5) == pytest.approx(0.475)
    assert overlap(35) == overlap(100) == pytest.approx(0.85)


@pytest.mark.parametrize("text", [GOOD, GOOD.replace("[1]", ""), "Peering is not transitive [1]."])
def test_no_answer_beats_the_best_that_was_held_possible(text: str) -> None:
    for pre, best in ((0.2, 0.4), (0.6, 0.1), (0.0, 0.0)):
        assert scored(text, pre, best).value <= best_possible(pre, best) + 1e-9
