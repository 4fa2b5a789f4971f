"""The answer while it streams: forged markers go, words stay, whatever the stream does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aether.cancel import Cancel
from aether.echo import EchoFilter
from aether.errors import ModelEmpty, ModelRefused
from aether.records import Answer, Hit
from aether.steps.generate import CitationCleaner, generate, goes_round
from tests.fakes.model_door import PROMPT, Open, opened
from tests.fakes.model_server import ModelServer, Reply, delta

__all__ = ["opened"]

SERVED = frozenset({1, 2, 3})
HITS = tuple(Hit("text", "t", "", "s", "kb", 0.5, n) for n in (1, 2))
CITING = replace(PROMPT, hits=HITS)


def cleaned(text: str, size: int = 0) -> tuple[str, int]:
    cleaner = CitationCleaner(SERVED)
    pieces = [text[i : i + size] for i in range(0, len(text), size)] if size else [text]
    out = "".join(cleaner.feed(piece) for piece in pieces) + cleaner.flush()
    return out, cleaner.forged


@pytest.mark.parametrize(
    ("text", "expected", "forged"),
    [
        ("True [1]. Also [2][3].", "True [1]. Also [2][3].", 0),
        ("Forged [9]. Next.", "Forged. Next.", 1),
        ("Mixed [1, 9].", "Mixed [1].", 1),
        ("Both [7][8] here", "Both here", 2),
        ("A range [1-3].", "A range [1][2][3].", 0),
        ("Too far [2\u20135].", "Too far [2][3].", 2),
        ("Wide \u30101\u3011 and \uff3b9\uff3d.", "Wide [1] and.", 1),
        ("Nought [0].", "Nought.", 1),
        ("[9]", "", 1),
        ("Spaced [ 2 ].", "Spaced [2].", 0),
        ("Zero\u200b width [\u200b9] and \u202e[8]", "Zero width and", 2),
        ("[link](https://x.example) stays", "[link](https://x.example) stays", 0),
        ("- [ ] a box\n- [x] done", "- [ ] a box\n- [x] done", 0),
        ("arr[2024], [2026-12-01], [a-z], [0-9]", "arr[2024], [2026-12-01], [a-z], [0-9]", 0),
        ("nested [[1]] and [[9]]", "nested [[1]] and []", 1),
        ("open [1", "open [1", 0),
        ("`list[9]` is code", "`list[9]` is code", 0),
        ("```\nx[9]\n```\nbut [9] not", "```\nx[9]\n```\nbut not", 1),
        ("an odd ` tick\nthen [9]", "an odd ` tick\nthen", 1),
        ("bell\x07 and \x1b[31mred\r\n", "bell and [31mred\n", 0),
        ("empty [] and \u3010\u3011", "empty [] and \u3010\u3011", 0),
    ],
)
def test_markers_that_name_no_source_never_show(text: str, expected: str, forged: int) -> None:
    assert cleaned(text) == (expected, forged)
    for size in (1, 2, 3, 5):  # however the stream is cut
        assert cleaned(text, size) == (expected, forged)


def test_text_is_held_back_only_while_it_may_be_a_marker() -> None:
    cleaner = CitationCleaner(SERVED)
    assert cleaner.feed("See [") == "See"
    assert cleaner.feed("1") == ""
    assert cleaner.feed("] now") == " [1] now"
    assert cleaner.feed("[a") == "[a"
    assert cleaner.feed("[" + "1" * 40).startswith("[1")


# --- over the wire ---


def heard(door: Open, server: ModelServer, cancel: Cancel | None = None) -> tuple[str, Answer]:
    """What was shown, and the answer that came of it."""
    stream = generate(door(server), CITING, cancel or Cancel())
    shown: list[str] = []
    try:
        while True:
            shown.append(next(stream).text)
    except StopIteration as end:
        return "".join(shown), end.value


def test_a_whole_answer(opened: Open) -> None:
    with ModelServer(["Peering joins two VPCs [1]. It is not transitive [2]."]) as server:
        shown, answer = heard(opened, server)
    assert answer.text == shown == "Peering joins two VPCs [1]. It is not transitive [2]."
    assert (answer.finish, answer.forged) == ("stop", 0)
    assert answer.usage.completion_tokens > 0


def test_a_forged_marker_split_over_chunks(opened: Open) -> None:
    pieces = ["Peering works ", "[", "9", "] and", " holds [", "1", "]."]
    events = [*(delta(content=p) for p in pieces), b"data: [DONE]\n\n"]
    with ModelServer([Reply(events=events)]) as server:
        shown, answer = heard(opened, server)
    assert shown == "Peering works and holds [1]."
    assert answer.forged == 1


def test_the_length_limit_is_told(opened: Open) -> None:
    with ModelServer([Reply("Peering is", finish="length")]) as server:
        assert heard(opened, server)[1].finish == "length"


def test_a_cut_connection_keeps_the_words(opened: Open) -> None:
    with ModelServer([Reply("Peering joins two VPCs [1] and more", cut_after=4)]) as server:
        shown, answer = heard(opened, server)
    assert answer.finish == "cut"
    assert answer.text == shown.strip() == "Peering joins two VPCs"
    assert answer.error


def test_stop_keeps_the_words_and_closes_the_socket(opened: Open) -> None:
    cancel = Cancel()
    with ModelServer([Reply("one two three four", hold_after=2)]) as server:
        stream = generate(opened(server), CITING, cancel)
        shown = next(stream).text
        cancel.cancel()
        answer = None
        try:
            while True:
                shown += next(stream).text
        except StopIteration as end:
            answer = end.value
        assert server.requests[0].closed.wait(10)
    assert answer is not None
    assert answer.finish == "cancelled"
    assert answer.text == shown.strip()
    assert answer.text.startswith("one")


def test_closing_the_stream_closes_the_socket(opened: Open) -> None:
    with ModelServer([Reply("one two three four", hold_after=2)]) as server:
        stream = generate(opened(server), CITING, Cancel())
        next(stream)
        stream.close()
        assert server.requests[0].closed.wait(10)


def test_not_a_word_is_an_error(opened: Open) -> None:
    with ModelServer([Reply("")]) as server, pytest.raises(ModelEmpty):
        heard(opened, server)


def test_a_refusal_of_the_server_is_an_error(opened: Open) -> None:
    body = {"error": {"message": "broken", "code": 500}}
    with ModelServer([Reply(status=500, body=body)]) as server, pytest.raises(ModelRefused):
        heard(opened, server)


@pytest.mark.parametrize(
    ("text", "expected", "ended"),
    [
        ("The MTU is 1400.\n\nSources 8eafb5dd[1], [2]", "The MTU is 1400.\n\n", True),
        ("Yes.\n<<<SOURCES 8eafb5dd\n[1] again", "Yes.\n", True),
        ("**SOURCES 0a1b2c3d>>>\nThe MTU is 1400.", "The MTU is 1400.", False),
        ("<<<ANSWER>>>\nThe MTU is 1400.\n<<<ANSWER", "The MTU is 1400.\n", True),
        ("Sources:\n- RFC 4459\nsources cafe", "Sources:\n- RFC 4459\nsources cafe", False),
        ("cat <<<WORD\n<<<<<<< HEAD\n<<", "cat <<<WORD\n<<<<<<< HEAD\n<<", False),
        ("- Sources deadbeat\n- <5 ms", "- Sources deadbeat\n- <5 ms", False),
    ],
)
def test_a_repeated_frame_never_shows(text: str, expected: str, ended: bool) -> None:
    for size in (1, 2, 7, len(text)):
        echo = EchoFilter()
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert "".join(map(echo.feed, pieces)) + echo.flush() == expected
        assert echo.ended == ended


def test_a_repeated_frame_ends_the_answer_and_closes_the_socket(opened: Open) -> None:
    words = "The MTU is 1400 [1].\nSources 8eafb5dd once more and again"
    with ModelServer([Reply(words, hold_after=10)]) as server:
        shown, answer = heard(opened, server)
        assert server.requests[0].closed.wait(10)
    assert (answer.text, answer.finish) == ("The MTU is 1400 [1].", "stop")
    assert shown.strip() == answer.text


def test_an_answer_that_goes_round_is_stopped(opened: Open) -> None:
    line = "The peering connection must be accepted by the owner of the other account.\n"
    with ModelServer([line * 50]) as server:
        _, answer = heard(opened, server)
    assert answer.finish == "loop"
    assert answer.text.count("must be accepted") == 3


def test_short_or_different_lines_do_not_go_round() -> None:
    assert not goes_round("|---|---|\n" * 40)
    assert not goes_round(
        "".join(f"A line about VLAN {i} that is rather long.\n" for i in range(9))
    )
    assert goes_round("The same long line that a small model repeats.\n" * 3)
