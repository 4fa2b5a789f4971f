"""How far a passage carries a claim: words, numbers, names, negation; and what a claim is."""

from __future__ import annotations

import random
import re

import pytest

from aether.claims import (
    check,
    cited,
    is_checkable,
    marker_supports,
    names,
    numbers,
    source_numbers,
    statements,
    support,
    without_markers,
)
from aether.records import Hit
from aether.text import idf, windows

PEERING = (
    "A VPC peering connection routes traffic between two VPCs with private addresses. "
    "The owner of the other account must accept the request within 7 days. "
    "Peering is not transitive. CIDR blocks that overlap cannot be peered. "
    "An Amazon VPC supports 50 active peering connections by default, and 125 at most."
)
GATEWAY = (
    "An AWS Transit Gateway connects VPCs and on-premises networks through a central hub. "
    "A transit gateway supports up to 5,000 attachments. "
    "Each VPC attachment carries up to 100 Gbps in each Availability Zone."
)


def hit(n: int, text: str) -> Hit:
    return Hit(text, f"Page {n}", f"https://docs.example.com/{n}", "docs", "kb", 0.6, n)


HITS = (hit(1, PEERING), hit(2, GATEWAY))


def value(claim: str, *passages: str) -> float:
    return support(claim, passages or (PEERING,), idf([])).value


# --- markers ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [1] b [2].", (1, 2)),
        ("a [2][1][2]", (2, 1)),
        ("a [1, 3]", (1, 3)),
        ("a [1;3]", (1, 3)),
        ("a [1 3]", (1, 3)),
        ("a [1-3]", (1, 2, 3)),
        ("a [1 \u2013 3, 7]", (1, 2, 3, 7)),
        ("a \u30101\u3011 b \uff3b2\uff3d", (1, 2)),
        ("an array[2024] or [0-9] or [a] or [2024-05-01] or []", ()),
        ("[3-1]", ()),
        ("[1-2-3]", ()),
        ("[1--3]", ()),
    ],
)
def test_markers(text: str, expected: tuple[int, ...]) -> None:
    assert cited(text) == expected


def test_a_huge_range_is_cut() -> None:
    assert len(source_numbers("1-999")) == 21


@pytest.mark.timeout(30)  # quadratic would take many minutes
@pytest.mark.parametrize(
    "text", ["[1" + " " * 10**6, "[1" + ", " * 10**5, "[" * 10**6, "[1-" * 10**5]
)
def test_hostile_brackets_take_no_more_than_a_moment(text: str) -> None:
    assert cited(text) == ()
    assert len(without_markers(text)) <= len(text)


def test_taking_markers_out_leaves_clean_prose() -> None:
    assert without_markers("Peering works [1], mostly [2][3].") == "Peering works, mostly."


# --- what is a claim ---


def test_statements_are_sentences_bullets_and_rows_without_code() -> None:
    answer = (
        "# Heading\n\nPeering connects two VPCs. [1] It is not transitive [1].\n"
        "- accept the request within 7 days [1]\n1. Add routes.\n"
        "> a quoted passage\n```bash\naws ec2 create --id 1 [2]\n```\n"
        "| option | limit |\n|---|---|\n| peering | 125 [1] |\n"
    )
    assert statements(answer) == (
        "Peering connects two VPCs [1].",
        "It is not transitive [1].",
        "accept the request within 7 days [1]",
        "Add routes.",
        "option \u2014 limit",
        "peering \u2014 125 [1]",
    )


@pytest.mark.parametrize(
    "text",
    [
        "A transit gateway supports 5,000 attachments.",
        "Peering is not transitive.",
        "Use BGP with a private ASN.",
        "Cheaper option [2]",
    ],
)
def test_assertions_are_checked(text: str) -> None:
    assert is_checkable(text)


@pytest.mark.parametrize(
    "text",
    [
        "Here are the steps:",
        "Which account owns the VPC?",
        "Sure.",
        "In summary, choose well.",
        "Assumptions: both accounts are in one region.",
        "The sources do not cover pricing.",
        "",
        "I hope this helps.",
    ],
)
def test_talk_is_not_checked(text: str) -> None:
    assert not is_checkable(text)


# --- numbers and names ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10 Gbps", ("10", "gbps")),
        ("10Gbps", ("10", "gbps")),
        ("5,000 attachments", ("5000", "attachment")),
        ("50 milliseconds", ("50", "ms")),
        ("99.9%", ("99.9", "%")),
        ("10.0.0.0/16 of", ("10.0.0.0/16", "")),
        ("IOS 17.9.4", ("17.9.4", "")),
        ("v1.28 clusters", ("1.28", "cluster")),
    ],
)
def test_numbers_know_their_unit(text: str, expected: tuple[str, str]) -> None:
    assert expected in numbers(text)


def test_names_are_acronyms_and_inner_capitals() -> None:
    found = names("Use the AWS Transit Gateway with eBGP over IPsec")
    assert {"aws", "transit", "gateway", "ebgp", "ipsec"} <= found
    assert "use" not in found
    assert names("Put gp3 volumes of a vNet on IPv6, not v1.28 at 10Gbps") == {
        "gp3", "vnet", "ipv6",
    }  # fmt: skip


# --- support ---


def test_what_the_passage_says_is_carried() -> None:
    assert value("CIDR blocks that overlap cannot be peered [1].") > 0.9
    assert value("VPCs with overlapping CIDR blocks cannot use peering [1].") > 0.5


def test_what_it_does_not_say_is_not() -> None:
    assert value("Intune enrols Windows devices with Autopilot profiles [1].") == 0.0
    assert support("Anything at all.", (), idf([])).value == 0.0
    assert support("Anything at all.", ("",), idf([])).value == 0.0


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("A VPC supports 50 active peering connections by default.",
         "A VPC supports 500 active peering connections by default."),
        ("The request must be accepted within 7 days.",
         "The request must be accepted within 7 hours."),
        ("Peering is not transitive between VPCs.", "Peering is transitive between VPCs."),
        ("An Amazon VPC supports 50 active peering connections.",
         "A Google VPC supports 50 active peering connections."),
    ],
)  # fmt: skip
def test_a_changed_number_unit_name_or_negation_lowers_support(true: str, false: str) -> None:
    assert value(false) < value(true)


def test_a_number_of_the_same_unit_contradicts() -> None:
    wrong = "Each VPC attachment carries up to 10 Gbps in each Availability Zone."
    assert support(wrong, (GATEWAY,), idf([])).contradicted
    assert not support(wrong.replace("10 ", "100 "), (GATEWAY,), idf([])).contradicted


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Versioning is enabled on new buckets.", "Versioning is disabled on new buckets."),
        ("The rule allows inbound traffic from the subnet.",
         "The rule allows outbound traffic from the subnet."),
        ("The setting is required on every switch.", "The setting is optional on every switch."),
    ],
)  # fmt: skip
def test_opposites_are_no_support(claim: str, passage: str) -> None:
    assert value(claim, passage) < value(passage, passage)


def test_a_number_word_counts_as_its_number() -> None:
    passage = "The link has two paths."
    assert value("The link has 2 paths.", passage) > 2 * value("The link has 3 paths.", passage)


def test_endings_do_not_matter_but_words_do() -> None:
    passage = "A route between networks in a peering is required after the request is accepted."
    assert value("Routing between peered networks requires accepting requests.", passage) > 0.5
    assert value("Latency between printers exceeds budgets.", PEERING) == 0.0


def test_the_best_window_of_three_sentences_is_named() -> None:
    found = support("A transit gateway supports up to 5,000 attachments", (GATEWAY,), idf([]))
    assert found.window in windows(GATEWAY)
    assert "5,000" in found.window


# --- a whole answer ---


def test_every_claim_gets_its_verdict() -> None:
    answer = (
        "Peering is not transitive [1]. A transit gateway supports up to 5,000 attachments [2]. "
        "Teams needs an Exchange mailbox [2]. Costs are 12 dollars a month."
    )
    verdicts = [claim.verdict for claim in check(answer, HITS)]
    assert verdicts == ["supported", "supported", "unsupported", "uncited"]


def test_a_claim_is_checked_against_what_it_cites_and_nothing_else() -> None:
    right, wrong = check("Peering is not transitive [1]. Peering is not transitive [2].", HITS)
    assert right.support > 0.9
    assert wrong.support < right.support
    assert right.evidence


def test_a_marker_of_nobody_is_no_citation() -> None:
    (claim,) = check("Peering is not transitive [9].", HITS)
    assert claim.citations == ()
    assert claim.verdict == "uncited"


def test_each_marker_is_judged_alone() -> None:
    claims = check("Peering is not transitive [1][2].", HITS)
    first, second = marker_supports(claims, HITS)
    assert first > 0.9 > second


@pytest.mark.parametrize(
    "answer",
    ["", "\x00", "[", "[1]", "[1-2-3] is [9999]", "|||", "```", "- \n- ", "1" * 5000, "%" * 500],
)
def test_odd_answers_are_harmless(answer: str) -> None:
    for claim in check(answer, HITS):
        assert 0.0 <= claim.support <= 1.0


def test_shuffled_citations_score_below_genuine_ones() -> None:
    """Every sentence of two notes, cited rightly and then crosswise."""
    genuine = [s for text, n in ((PEERING, 1), (GATEWAY, 2)) for s in _cited(text, n)]
    crossed = [s for text, n in ((PEERING, 2), (GATEWAY, 1)) for s in _cited(text, n)]
    random.Random(1).shuffle(genuine)
    right = [c.support for c in check(" ".join(genuine), HITS)]
    wrong = [c.support for c in check(" ".join(crossed), HITS)]
    assert min(right) > 0.9
    assert max(wrong) < 0.5


def _cited(text: str, n: int) -> list[str]:
    return [f"{sentence[:-1]} [{n}]." for sentence in re.split(r"(?<=\.) (?=[A-Z])", text)]
