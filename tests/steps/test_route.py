"""Who answers: every pass, pins, order of several experts, follow-ups, and hostile input."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aether.agents import AgentTree
from aether.errors import AetherError
from aether.lexicon import Lexicon
from aether.records import Question, Route, Turn
from aether.steps.route import route, strip_pin

OFF_TOPIC = (
    "how long should a chicken roast",
    "who won the tennis final",
    "which wine goes with trout",
    "stock exchange opening hours on friday",
)
QUESTIONS = (
    "OSPF neighbour stuck in EXSTART",
    "why is our Intune enrolment slow?",
    "compare AWS and Azure for a data lake",
    "fortigte ipsec tunnel down",
    "",
    *OFF_TOPIC,
)


def ask(text: str, tree: AgentTree, lexicon: Lexicon, **more: object) -> Route:
    return route(replace(Question(text), **more), tree, lexicon)  # type: ignore[arg-type]


def test_a_leading_at_pins_the_expert(tree: AgentTree, lexicon: Lexicon) -> None:
    found = ask("@aws OSPF neighbour stuck", tree, lexicon)
    assert (found.agent, found.pass_, found.confidence) == ("aws_specialist", "pinned", 1.0)
    assert strip_pin("@aws OSPF neighbour stuck", tree) == "OSPF neighbour stuck"


def test_the_agent_option_wins_over_the_words(tree: AgentTree, lexicon: Lexicon) -> None:
    found = ask("OSPF neighbour stuck", tree, lexicon, agent="wireless_specialist")
    assert (found.agent, found.pass_) == ("wireless_specialist", "pinned")


def test_an_unknown_agent_is_an_error_with_advice(tree: AgentTree, lexicon: Lexicon) -> None:
    with pytest.raises(AetherError) as caught:
        ask("anything", tree, lexicon, agent="wireles_specialist")
    assert "wireless_specialist" in caught.value.advice


def test_an_unknown_at_word_is_only_text(tree: AgentTree, lexicon: Lexicon) -> None:
    found = ask("@nobodyhere OSPF neighbour stuck in EXSTART", tree, lexicon)
    assert (found.agent, found.pass_) == ("routing_switching_specialist", "tier3")


@pytest.mark.parametrize(
    ("text", "agent", "pass_"),
    [
        ("OSPF neighbour stuck in EXSTART", "routing_switching_specialist", "tier3"),
        ("cloud exit strategy and vendor lock-in", "cloud_architect", "tier2"),
        ("Copilot writes my mails too long", "microsoft_dwp_specialist", "forced"),
        ("GitHub Copilot suggests wrong code", "enterprise_architect", "forced"),
        ("which wine goes with trout", "enterprise_architect", "default"),
    ],
)
def test_every_pass(text: str, agent: str, pass_: str, tree: AgentTree, lexicon: Lexicon) -> None:
    found = ask(text, tree, lexicon)
    assert (found.agent, found.pass_) == (agent, pass_), found.reason


def test_a_forced_rule_yields_to_its_unless(tree: AgentTree, lexicon: Lexicon) -> None:
    assert ask("copilot in JetBrains is slow", tree, lexicon).pass_ != "forced"


@pytest.mark.parametrize("text", OFF_TOPIC)
def test_off_topic_goes_to_the_root(text: str, tree: AgentTree, lexicon: Lexicon) -> None:
    found = ask(text, tree, lexicon)
    assert found.out_of_domain
    assert found.agent == tree.root


@pytest.mark.parametrize("text", QUESTIONS)
def test_parts_sum_and_the_table_repeats(text: str, tree: AgentTree, lexicon: Lexicon) -> None:
    first, again = ask(text, tree, lexicon), ask(text, tree, lexicon)
    assert repr(first.candidates) == repr(again.candidates)
    assert {c.agent for c in first.candidates} == set(tree.agents)
    for row in first.candidates:
        assert sum(points for _, points in row.parts) == pytest.approx(row.score, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("cisco asa to aws vpn", "network_security_specialist", "aws_specialist"),
        ("fix the fortigate policy, then start an ec2 instance", "network_security_specialist",
         "aws_specialist"),
        ("start an ec2 instance, then fix the fortigate policy", "aws_specialist",
         "network_security_specialist"),
        ("start an ec2 instance but first fix the fortigate policy", "network_security_specialist",
         "aws_specialist"),
    ],
)  # fmt: skip
def test_two_experts_in_the_order_of_the_request(
    text: str, first: str, second: str, tree: AgentTree, lexicon: Lexicon
) -> None:
    found = ask(text, tree, lexicon)
    assert (found.decision, found.agents) == ("multi", (first, second)), found.reason
    assert found.agent == first


def test_follow_ups_stay_or_move(tree: AgentTree, lexicon: Lexicon) -> None:
    turn = Turn("How do I peer two VPCs of different AWS accounts?", "aws_specialist")
    assert ask("and for private DNS?", tree, lexicon, previous=turn).agent == "aws_specialist"
    moved = ask("what about Intune?", tree, lexicon, previous=turn)
    assert moved.agent == "microsoft_dwp_specialist"
    assert ask("which wine goes with trout", tree, lexicon, previous=turn).out_of_domain


def test_a_typo_counts_and_is_said(tree: AgentTree, lexicon: Lexicon) -> None:
    found = ask("fortigte ipsec tunnel down", tree, lexicon)
    assert found.agent == "network_security_specialist"
    assert 'Read "fortigte" as "fortigate".' in found.reason
    assert "Read" not in ask("fortigate ipsec tunnel down", tree, lexicon).reason


def test_a_lesson_comes_last_and_no_floor_hides_it(tree: AgentTree, lexicon: Lexicon) -> None:
    question = Question("OSPF neighbour stuck in EXSTART")
    taught = route(question, tree, lexicon, {"aws_specialist": 100.0,
                                             "routing_switching_specialist": -100.0})  # fmt: skip
    rows = {c.agent: c for c in taught.candidates}
    assert all(row.parts[-1][0] == "lesson" for row in taught.candidates)
    assert dict(rows["aws_specialist"].parts)["lesson"] == 100.0
    assert rows["routing_switching_specialist"].score < rows["aws_specialist"].score
    plain = route(question, tree, lexicon)
    assert route(question, tree, lexicon, {}).candidates == plain.candidates
    assert plain.agent == "routing_switching_specialist"


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("FortiGate: el túnel IPsec no levanta", "network_security_specialist"),
        ("Wie richte ich eine Azure VNet Peering Verbindung ein?", "azure_specialist"),
        ("Citrix VDA ne s'enregistre pas", "end_user_virt_specialist"),
        ("BigQuery の料金を下げたい", "gcp_specialist"),
    ],
)
def test_other_languages_route_by_product(
    text: str, agent: str, tree: AgentTree, lexicon: Lexicon
) -> None:
    assert ask(text, tree, lexicon).agent == agent


@pytest.mark.parametrize(
    "text", ["", "   ", "?", "\x00\x07\u202e", "OSPF " * 20_000, "x" * 100_000]
)
def test_odd_questions_get_an_agent(text: str, tree: AgentTree, lexicon: Lexicon) -> None:
    assert ask(text, tree, lexicon).agent in tree
