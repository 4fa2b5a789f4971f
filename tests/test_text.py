"""What a word, a sentence and a token are: the ground that routing, ingest and scoring share."""

from __future__ import annotations

import math

import pytest

from aether.text import (
    UNSEEN,
    content_words,
    coverage,
    estimate_tokens,
    fold,
    idf,
    sentences,
    stem,
    tokens,
    windows,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++ and 802.1x over Wi-Fi", ["c++", "and", "802.1x", "over", "wi-fi"]),
        ("don\u2019t use \uff21\uff37\uff33", ["don't", "use", "aws"]),
        ("10.0.0.0/16, TCP/443.", ["10.0.0.0/16", "tcp/443"]),
        ("Größe Ångström", ["grösse", "ångström"]),
        ("\U0001f600 !!! ...", []),
    ],
)
def test_words_keep_the_shapes_of_the_trade(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_folding_makes_equal_what_looks_equal() -> None:
    assert fold("  The \u201cVPC\u201d \u2013 peering ") == fold('the "vpc" - peering')


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("vpcs", "vpc"), ("policies", "policy"), ("switches", "switch"), ("vpc's", "vpc"),
        ("access", "access"), ("status", "status"), ("dns", "dns"), ("https", "http"),
        ("analysis", "analysis"), ("10s", "10s"), ("as", "as"),
    ],
)  # fmt: skip
def test_stemming_folds_plurals_only(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_content_words_drop_filler_and_single_letters_but_no_digit() -> None:
    assert content_words("How do I set up a VLAN 7 in the x network?") == [
        "set", "vlan", "7", "network",
    ]  # fmt: skip


def test_phrases_match_across_hyphens_and_underscores() -> None:
    assert tokens("site-to-site VPNs") == ("site", "to", "site", "vpn")
    assert tokens("google_project") == ("google", "project")
    assert tokens("as-a") == ("as", "a")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Use e.g. BGP. It works.", 2),
        ("Version 3.12 is out. Upgrade vs. wait.", 2),
        ('He said "stop." Then he left.', 2),
        ("No end", 1),
        ("A line\nanother line", 2),
        ("See fig. 3 and no. 4 of the list.", 1),
        ("", 0),
        ("\n\n", 0),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_sentences_lose_no_word() -> None:
    text = "First one here. Second, i.e. the next. Third (in brackets.) Fourth `code` ends."
    assert " ".join(sentences(text)) == text


@pytest.mark.timeout(30)  # quadratic would take many minutes
def test_a_line_of_initials_is_one_sentence_and_takes_a_moment() -> None:
    line = "A. " * 300_000
    assert sentences(line) == [line.strip()]


def test_windows_overlap_and_cover_the_whole_text() -> None:
    text = "A one. B two. C three. D four. E five."
    assert windows(text) == [
        "A one. B two. C three.", "B two. C three. D four.", "C three. D four. E five.",
    ]  # fmt: skip
    assert windows("A one.") == ["A one."]
    assert windows("") == []


def test_idf_is_the_smoothed_formula() -> None:
    weights = idf([["vpc", "vpc", "route"], ["vpc"]])
    assert weights == {"vpc": math.log(3 / 3) + 1, "route": pytest.approx(math.log(3 / 2) + 1)}


def test_coverage_weighs_rare_words_more_and_stays_within_one() -> None:
    weights = {"vpc": 1.0, "peering": 3.0}
    assert coverage(["vpc", "peering"], ["peering"], weights) == pytest.approx(0.75)
    assert coverage(["vpc", "peering"], ["peering", "vpc", "x"], weights) == 1.0
    assert coverage(["never-seen"], [], weights) == 0.0
    assert coverage([], ["vpc"], weights) == 0.0
    # a word that no passage knows weighs as much as the rarest that one knows
    assert coverage(["unknown", "peering"], ["peering"], weights) == pytest.approx(0.5)


def test_token_estimate_errs_upwards() -> None:
    prose = "The transit gateway connects up to five thousand attachments in one region. " * 20
    assert estimate_tokens(prose) >= len(prose.split()) * 1.3
    assert estimate_tokens("日本語のテキスト") >= 5
    assert estimate_tokens("") == 0
    assert estimate_tokens("a" * 3600) >= 1000


@pytest.mark.parametrize(
    "char", ["\x00", "\x1b", "\r", "\x7f", "\x9b", "\u202e", "\u2066", "\u200b", "\ufeff", "\udcff"]
)
def test_what_nobody_sees_is_recognised(char: str) -> None:
    assert UNSEEN.sub("", f"a{char}b") == "ab"


def test_visible_text_is_left_alone() -> None:
    text = "tab\tnewline\n é 日本 \U0001f468\u200d\U0001f4bb | [1] ->"
    assert UNSEEN.sub("", text) == text
