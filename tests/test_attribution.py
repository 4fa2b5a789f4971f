"""Citations are put right only where a passage clearly carries the sentence."""

from __future__ import annotations

import pytest

from aether.attribution import Attributor
from aether.records import Hit

PEERING = (
    "A VPC peering connection routes traffic between two VPCs with private addresses. "
    "The CIDR blocks of the two VPCs must not overlap. A VPC holds at most 125 active peerings."
)
OSPF = (
    "The OSPF hello timer is 10 seconds on a broadcast network. "
    "An MTU mismatch keeps OSPF neighbours in the EXSTART state."
)
HITS = (
    Hit(PEERING, "Peering", "", "kb_aws", "kb", 0.8, n=1),
    Hit(OSPF, "OSPF", "", "kb_routing_switching", "kb", 0.8, n=2),
)


def put_right(text: str, size: int = 1) -> tuple[str, int, int]:
    """The text after the filter, fed in pieces of `size`, with the counts moved and attached."""
    attributor = Attributor(HITS)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    out = "".join(attributor.feed(piece) for piece in pieces) + attributor.flush()
    return out, attributor.moved, attributor.attached


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        # right as it is
        ("An MTU mismatch keeps OSPF neighbours in EXSTART [2].",) * 2,
        ("An MTU mismatch keeps OSPF neighbours in EXSTART. [2] Next.",) * 2,
        # the wrong number moves
        ("An MTU mismatch keeps OSPF neighbours in EXSTART [1].",
         "An MTU mismatch keeps OSPF neighbours in EXSTART [2]."),
        # a carried sentence without a number gets it
        ("The CIDR blocks of the two VPCs must not overlap. So plan them.",
         "The CIDR blocks of the two VPCs must not overlap [1]. So plan them."),
        ("- The CIDR blocks of the VPCs must not overlap\n- End",
         "- The CIDR blocks of the VPCs must not overlap [1]\n- End"),
        # the model cites behind the full stop
        ("The CIDR blocks of the two VPCs must not overlap. [1] So.",
         "The CIDR blocks of the two VPCs must not overlap. [1] So."),
        # two behind the full stop, of which one is wrong
        ("The CIDR blocks of the two VPCs must not overlap. [1][2] So.",
         "The CIDR blocks of the two VPCs must not overlap. [1] So."),
        # nothing carries these: left alone, whatever they cite
        ("The OSPF hello timer is 40 minutes on Mars [1].",) * 2,
        ("BGP prefers the shortest AS path. Copper costs money.",) * 2,
        # code, headings, quotes, tables and other brackets stay as they are
        ("```\nx = hits[1]\n```\nfoo[0] and [abc] and [12345].",) * 2,
        ("# The CIDR blocks of the VPCs must not overlap\n> The CIDR blocks must not.\n",) * 2,
        ("Use 10.0.0.0/16 e.g. in v1.2.3 of the plan [",) * 2,
    ],
)  # fmt: skip
def test_put_right(given: str, wanted: str, size: int) -> None:
    assert put_right(given, size)[0] == wanted


def test_counts_tell_what_was_changed() -> None:
    text = (
        "The CIDR blocks of the two VPCs must not overlap. "
        "An MTU mismatch keeps OSPF neighbours in EXSTART [1]."
    )
    assert put_right(text)[1:] == (1, 1)


def test_a_changed_number_gets_no_citation() -> None:
    text, moved, attached = put_right("A VPC holds at most 500 active peerings.")
    assert (text, moved, attached) == ("A VPC holds at most 500 active peerings.", 0, 0)


def test_without_sources_nothing_is_touched() -> None:
    attributor = Attributor(())
    assert attributor.feed("Any text. [1] With marks.") + attributor.flush() == (
        "Any text. [1] With marks."
    )
