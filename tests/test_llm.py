"""The model door against a scripted server over real HTTP: every odd stream that was ever reported.

Names such as M7 or W6 are the kinds of fault that field reports of local model servers describe.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from aether.cancel import Cancel
from aether.errors import (
    Cancelled,
    ModelCut,
    ModelEmpty,
    ModelError,
    ModelOverflow,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from aether.records import Message, ModelDelta, Prompt
from tests.fakes.model_door import PROMPT, Open, heard, opened, until_error
from tests.fakes.model_server import ModelServer, Reply, delta

__all__ = ["opened"]  # the fixture

# --- a good stream ---------------------------------------------------------------------------


def test_streams_pieces_then_one_end_with_what_it_cost(opened: Open) -> None:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 640},
    }
    with ModelServer([Reply("A VLAN splits a switch.", usage=usage, per_s=200)]) as server:
        text, end = heard(opened(server))
    assert text == "A VLAN splits a switch."
    assert (end.finish, end.usage.prompt_tokens, end.usage.cached_tokens) == ("stop", 900, 640)
    assert end.usage.completion_tokens == 5
    assert 0 < end.usage.tokens_per_s < 400
    assert end.first_token_ms > 0


def test_sends_what_the_prompt_says_and_nothing_that_servers_refuse(opened: Open) -> None:
    """M15: neither response_format nor tools is ever needed."""
    prompt = Prompt(PROMPT.messages, (), 12, 8192, 3000, temperature=0.7, max_tokens=77)
    with ModelServer() as server:
        heard(opened(server), prompt)
        body, headers = server.requests[0].body, server.requests[0].headers
    assert (body["temperature"], body["max_tokens"], body["stream"]) == (0.7, 77, True)
    assert set(body) == {
        "model", "messages", "stream", "stream_options", "temperature", "max_tokens",
    }  # fmt: skip
    assert not [name for name in headers if name.lower().startswith(("x-stainless", "openai"))]


def test_the_end_says_when_the_length_ran_out(opened: Open) -> None:
    with ModelServer([Reply("cut off by", finish="length")]) as server:
        assert heard(opened(server))[1].finish == "length"


def test_keeps_up_with_five_hundred_tokens_a_second(opened: Open) -> None:
    words = " ".join(f"w{i}" for i in range(500))
    with ModelServer([Reply(words, per_s=500)]) as server:
        text, end = heard(opened(server))
    assert text == words
    assert end.usage.completion_tokens == 500


# --- odd shapes ------------------------------------------------------------------------------

STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
DONE = b"data: [DONE]\n\n"
WHOLE = {"choices": [{"message": {"content": "Hello there"}, "finish_reason": "stop"}]}
SPLIT = "data: {}\n\n".format('{"choices":[{"delta":{"content":"Hello \u2028there"}}]}').encode()


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([{"choices": []}, delta(content="Hi"), STOP, DONE], "Hi", id="no choices"),
        pytest.param([{"choices": None}, delta(content="Hi"), DONE], "Hi", id="null choices"),
        pytest.param([{"id": "x"}, delta(content="Hi"), STOP], "Hi", id="no choices key, no DONE"),
        pytest.param([delta(content="Hi") | {"usage": None}, STOP, DONE], "Hi", id="null usage"),
        pytest.param(
            [{"choices": [{"delta": None}]}, delta(content="Hi"), DONE], "Hi", id="null delta"
        ),
        pytest.param([delta(content=None), delta(content="Hi"), DONE], "Hi", id="null content"),
        pytest.param([{"choices": [None]}, delta(content="Hi"), DONE], "Hi", id="null choice"),
        pytest.param([b"data: 7\n\n", delta(content="Hi"), DONE], "Hi", id="not an object"),
        pytest.param(
            [delta(content=[{"type": "text", "text": "Hi"}]), DONE], "Hi", id="content in parts"
        ),
        pytest.param([b": ping\n\n", b"\n", delta(content="Hi"), DONE], "Hi", id="comments"),
        pytest.param(
            [b'id: 1\r\nevent: message\r\ndata: {"choices":[{"delta":{"content":"Hi"}}]}\r\n\r\n',
             DONE], "Hi", id="CRLF and other fields",
        ),
        pytest.param(
            [b'data: {"choices":\ndata: [{"delta":{"content":"Hi"}}]}\n\n', DONE], "Hi",
            id="one event in two data lines",
        ),
        pytest.param([SPLIT, DONE], "Hello \u2028there", id="a line separator inside the text"),
        pytest.param([SPLIT[:40], SPLIT[40:51], SPLIT[51:], DONE], "Hello \u2028there",
                     id="a character split over network pieces"),
        pytest.param([b'{"choices":[{"message":{"content":"Hello there"},'
                      b'"finish_reason":"stop"}]}'], "Hello there", id="a whole answer, no stream"),
        pytest.param([WHOLE, DONE], "Hello there", id="a whole answer as one event"),
        pytest.param([delta(content="  \n"), delta(content="Hi "), delta(content="you"), DONE],
                     "Hi you", id="white space first"),
    ],
)  # fmt: skip
def test_every_odd_shape_of_a_sound_answer(opened: Open, events: list[Any], expected: str) -> None:
    with ModelServer([Reply(events=events)]) as server:
        assert heard(opened(server))[0] == expected


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        pytest.param(Reply(events=[DONE]), ModelEmpty, "likely too long", id="M1 only DONE"),
        pytest.param(Reply(events=[]), ModelEmpty, "likely too long", id="nothing at all"),
        pytest.param(Reply(events=[delta(content=""), STOP, DONE]), ModelEmpty, "too long",
                     id="no word, but an end"),
        pytest.param(Reply(reasoning="I wonder about it"), ModelEmpty, "only thought",
                     id="M5 reasoning_content only"),
        pytest.param(Reply(reasoning="hm hm", reasoning_field="reasoning"), ModelEmpty,
                     "only thought", id="M5 reasoning only"),
        pytest.param(Reply("<think>I wonder"), ModelEmpty, "only thought", id="thinks on"),
        pytest.param(Reply(body={"error": {"message": "boom in the engine"}}), ModelRefused, "boom",
                     id="error object as a 200 body"),
        pytest.param(Reply(events=[{"error": {"message": "boom"}}]), ModelRefused, "boom",
                     id="error object as an event"),
        pytest.param(Reply(events=[b'event: error\ndata: {"message":"boom"}\n\n']), ModelRefused,
                     "boom", id="an error event"),
        pytest.param(Reply(events=[b"event: error\ndata: boom\n\n"]), ModelRefused, "boom",
                     id="an error event in plain words"),
        pytest.param(Reply(events=[{"object": "error", "message": "boom", "code": 400}]),
                     ModelRefused, "boom", id="an object of kind error"),
        pytest.param(Reply(events=[b"data: {nonsense}\n\n"]), ModelRefused, "no JSON",
                     id="garbage"),
        pytest.param(Reply(body="<html>hello</html>"), ModelRefused, "no JSON", id="a web page"),
        pytest.param(Reply(status=500, body={"error": "boom"}), ModelRefused, "boom", id="500"),
        pytest.param(Reply(status=500, body="gateway boom"), ModelRefused, "boom", id="500 text"),
        pytest.param(Reply(status=400, body={"detail": [{"msg": "boom"}]}), ModelRefused, "boom",
                     id="400 of another shape"),
        pytest.param(Reply(status=401, body={"error": {"message": "bad key"}}), ModelRefused,
                     "llm.api_key", id="401"),
        pytest.param(Reply(status=404, body={"error": "not here"}), ModelRefused, "/v1", id="404"),
        pytest.param(Reply("one two", cut_after=0), ModelCut, "before the first word",
                     id="cut before the first word"),
    ],
)  # fmt: skip
def test_every_answer_that_is_none_becomes_an_error_with_advice(
    opened: Open, reply: Reply, kind: type[ModelError], words: str
) -> None:
    with ModelServer([reply]) as server:
        text, error = until_error(opened(server))
        assert len(server.requests) == 1  # no storm of second tries
    assert text == ""
    assert type(error) is kind
    assert words in str(error)
    assert error.advice


@pytest.mark.parametrize("chunked", [True, False])
def test_a_broken_connection_keeps_what_was_heard(opened: Open, chunked: bool) -> None:
    """M7: the connection breaks after 40 tokens, whether or not HTTP can tell that from an end."""
    words = " ".join(f"w{i}" for i in range(60))
    with ModelServer([Reply(words, cut_after=40, chunked=chunked)]) as server:
        text, error = until_error(opened(server))
    assert text.split() == words.split()[:40]
    assert type(error) is ModelCut
    assert "middle of the answer" in error.what


def test_an_error_after_the_first_word_is_a_cut_too(opened: Open) -> None:
    events = [delta(content="Half an "), {"error": {"message": "out of memory"}}]
    with ModelServer([Reply(events=events)]) as server:
        text, error = until_error(opened(server))
    assert text == "Half an "
    assert type(error) is ModelCut
    assert "out of memory" in error.what


def test_a_server_that_dies_in_the_middle_and_comes_back(opened: Open) -> None:
    with ModelServer([Reply("one two three four", hold_after=2), "all of it"]) as server:
        model = opened(server)
        stream = model.stream(PROMPT, Cancel())
        assert next(stream) == ModelDelta("one ")
        assert next(stream) == ModelDelta("two ")
        server.stop()
        with pytest.raises(ModelCut):
            next(stream)
        with pytest.raises(ModelUnavailable):
            heard(model)
        server.start()
        assert heard(model)[0] == "all of it"


# --- thoughts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pieces",
    [
        ["<think>", "secret", "</think>", "\n\nAnswer [1]."],
        ["<thi", "nk>sec", "ret</th", "ink>Answer [1]."],
        list("<think>secret</think>Answer [1]."),
        ["Ans", "wer<thinking> secret </thinking>", " [1]."],
        ["<|channel|>analysis<|message|>secret<|end|><|start|>assistant",
         "<|channel|>final<|message|>Answer [1].<|return|>"],
        list("<|channel>thought\nsecret<channel|>Answer [1]."),
        ["<|channel>thought\n<channel|>Answer", " [1]."],
        ["[THINK]secret[/THINK]Answer [1]."],
        ["Answer [1].", "<end_of_turn>"],
    ],
)  # fmt: skip
def test_thoughts_inside_the_text_never_reach_the_answer(opened: Open, pieces: list[str]) -> None:
    """M5: tags of several families, whole or split anywhere."""
    events = [*(delta(content=p) for p in pieces), STOP, DONE]
    with ModelServer([Reply(events=events)]) as server:
        assert heard(opened(server))[0] == "Answer [1]."


def test_thoughts_in_a_field_of_their_own_are_dropped(opened: Open) -> None:
    with ModelServer([Reply("The answer.", reasoning="secret secret")]) as server:
        assert heard(opened(server))[0] == "The answer."


def test_text_that_only_looks_like_a_tag_is_kept(opened: Open) -> None:
    text = "if a <b and [x] then <thin> air, <"
    with ModelServer([text]) as server:
        assert heard(opened(server))[0] == text


# --- time ------------------------------------------------------------------------------------


@pytest.mark.parametrize("late_headers", [True, False])
def test_a_server_that_accepts_and_stays_silent(opened: Open, late_headers: bool) -> None:
    """M9: no first token within the limit, before or after the headers."""
    with ModelServer([Reply("never", delay_s=60, late_headers=late_headers)]) as server:
        text, error = until_error(opened(server, first_token_s=0.3))
        assert server.requests[0].closed.wait(10)  # the server was let go
    assert text == ""
    assert type(error) is ModelTimeout
    assert "no first word within 0.3 s" in error.what


def test_keep_alive_comments_are_no_tokens(opened: Open) -> None:
    events = [b": ping\n\n"] * 50 + [b""]
    slow = Reply(events=_Slowly(events, 0.05))
    with ModelServer([slow]) as server:
        _, error = until_error(opened(server, first_token_s=0.3))
    assert "no first word" in error.what


class _Slowly(list[Any]):
    """Events that take their time."""

    def __init__(self, events: list[Any], seconds: float) -> None:
        super().__init__(events)
        self._seconds = seconds

    def __iter__(self) -> Iterator[Any]:
        for event in super().__iter__():
            time.sleep(self._seconds)
            yield event


def test_silence_in_the_middle_keeps_what_was_heard(opened: Open) -> None:
    with ModelServer([Reply("one two three", hold_after=2)]) as server:
        text, error = until_error(opened(server, idle_s=0.3))
    assert text == "one two "
    assert "fell silent for 0.3 s" in error.what


def test_an_endless_answer_ends_at_the_total_limit(opened: Open) -> None:
    with ModelServer([Reply("word " * 3000, per_s=200)]) as server:
        text, error = until_error(opened(server, total_s=0.6))
        assert server.requests[0].closed.wait(10)
    assert text
    assert "not finished after 0.6 s" in error.what


def test_a_slow_reader_is_not_a_silent_server(opened: Open) -> None:
    with ModelServer([Reply("one two three four five")]) as server:
        stream = opened(server, idle_s=0.2).stream(PROMPT, Cancel())
        heard_slowly: list[str] = []
        for piece in stream:
            time.sleep(0.1 if len(heard_slowly) else 0.5)
            heard_slowly.append(getattr(piece, "text", ""))
    assert "".join(heard_slowly) == "one two three four five"


def test_a_first_load_may_take_long(opened: Open) -> None:
    """M16: patience until the limit for the first token."""
    with ModelServer([Reply("At last.", delay_s=1.0, late_headers=True)]) as server:
        assert heard(opened(server, first_token_s=15, idle_s=0.3))[0] == "At last."


# --- Stop ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        Reply("never", delay_s=60, late_headers=True),
        Reply("never", delay_s=60),
        Reply("one two three", hold_after=2),
        Reply("word " * 5000, per_s=100),
    ],
)
def test_stop_breaks_a_wait_at_once_and_the_server_sees_it(opened: Open, reply: Reply) -> None:
    cancel = Cancel()
    with ModelServer([reply]) as server:
        model = opened(server)
        ended: list[BaseException] = []

        def listen() -> None:
            try:
                for _ in model.stream(PROMPT, cancel):
                    pass
            except Cancelled as error:
                ended.append(error)

        listener = threading.Thread(target=listen)
        listener.start()
        request = server.wait_for_request()
        cancel.cancel()
        listener.join(10)
        assert not listener.is_alive()
        assert request.closed.wait(10)
    assert ended


def test_stop_then_ask_again_the_first_socket_is_closed_first(opened: Open) -> None:
    """M10: otherwise the server goes on generating, and the next question queues behind it."""
    with ModelServer([Reply("one two three", hold_after=2), "fresh"]) as server:
        model = opened(server)
        for n in range(5):
            server.replies = [Reply("one two three", hold_after=2)]
            cancel = Cancel()
            stream = model.stream(PROMPT, cancel)
            next(stream)
            cancel.cancel()
            with pytest.raises(Cancelled):
                list(stream)
            server.replies = ["fresh"]
            assert heard(model)[0] == "fresh"
            assert server.requests[2 * n].closed_before_next is True


def test_leaving_the_generator_closes_the_socket(opened: Open) -> None:
    with ModelServer([Reply("one two three", hold_after=2)]) as server:
        with closing(opened(server).stream(PROMPT, Cancel())) as stream:
            assert next(stream) == ModelDelta("one ")
        assert server.requests[0].closed.wait(10)


def test_stop_before_the_question_asks_nobody(opened: Open) -> None:
    cancel = Cancel()
    cancel.cancel()
    with ModelServer() as server:
        with pytest.raises(Cancelled):
            list(opened(server).stream(PROMPT, cancel))
        assert not server.requests


# --- refusals --------------------------------------------------------------------------------

OVERFLOWS = [
    "Cannot truncate prompt with n_keep (5021) >= n_ctx (4096)",
    "Trying to keep the first 10136 tokens when context the overflows. However, the model is "
    "loaded with context length of only 7866 tokens, which is not enough.",
    "request (9009 tokens) exceeds the available context size (8192 tokens), try increasing it",
    "the request exceeds the available context size. try increasing the context size",
    "Context size has been exceeded.",
    "input length exceeds the context length",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
    "'max_tokens' is too large: 1200. This model's maximum context length is 4096 tokens",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "Requested tokens (5000) exceed context window of 4096",
]


@pytest.mark.parametrize("wording", OVERFLOWS)
@pytest.mark.parametrize("status", [400, 200])
def test_every_wording_of_a_full_window(opened: Open, wording: str, status: int) -> None:
    """M3, M4: overflow is told as such, with the window that was counted on."""
    error_body = {"error": {"message": wording, "type": "invalid_request_error"}}
    with ModelServer([Reply(status=status, body=error_body)], flavour="lmstudio") as server:
        _, error = until_error(opened(server))
        assert len(server.requests) == 1
    assert type(error) is ModelOverflow
    assert "8192" in error.advice


@pytest.mark.parametrize(
    "wording",
    [
        'Error rendering prompt with jinja template: "System role not supported"',
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Only user and assistant roles are supported!",
        "Unexpected role 'system' after user",
    ],
)
@pytest.mark.parametrize("status", [400, 500, 200])
def test_a_refused_system_role_is_merged_and_remembered(
    opened: Open, wording: str, status: int
) -> None:
    """M8: Gemma's older templates know no system role."""
    error = {"error": {"message": wording}}
    refusal = Reply(status=status, body=error) if status != 200 else Reply(events=[error])
    with ModelServer(lambda r: refusal if "system" in r.roles else "Fine.") as server:
        model = opened(server)
        assert heard(model)[0] == "Fine."
        assert heard(model)[0] == "Fine."
        assert [r.roles for r in server.requests] == [["system", "user"], ["user"], ["user"]]
        assert server.requests[1].question == "You know networks.\n\nWhat is a VLAN?"


@pytest.mark.parametrize(
    ("roles", "sent"),
    [
        ("s u u", "s u"),
        ("s u a u", "s u a u"),
        ("s a u", "s u a u"),
        ("u s", "s u"),
        ("s u a a u u", "s u a u"),
        ("s", "s u"),
    ],
)
def test_roles_alternate_before_they_are_sent(opened: Open, roles: str, sent: str) -> None:
    """M8: two user turns in a row after a stop, a history that starts with the assistant."""
    names: dict[str, Any] = {"s": "system", "u": "user", "a": "assistant"}
    messages = tuple(Message(names[r], f"text {i}") for i, r in enumerate(roles.split()))
    with ModelServer() as server:
        heard(opened(server), Prompt(messages, (), 1, 8192, 1))
        request = server.requests[0]
    assert request.roles == [names[r] for r in sent.split()]
    assert all(f"text {i}" in request.prompt for i in range(len(messages)))


@pytest.mark.parametrize(
    ("name", "wording", "instead"),
    [
        ("stream_options", "Unrecognized request argument supplied: stream_options", None),
        ("stream_options", "Extra inputs are not permitted in this field", None),
        ("temperature", "Unsupported value: 'temperature' does not support 0.2", None),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use another", "max_completion_tokens"),
    ],
)
def test_a_parameter_that_is_refused_is_left_out_and_remembered(
    opened: Open, name: str, wording: str, instead: str | None
) -> None:
    refusal = Reply(status=400, body={"error": {"message": wording}})
    with ModelServer(lambda r: refusal if name in r.body else "Fine.") as server:
        model = opened(server)
        assert heard(model)[0] == "Fine."
        text, end = heard(model)
        assert len(server.requests) == 3
        assert instead is None or server.requests[-1].body[instead] == PROMPT.max_tokens
    assert (text, end.usage.completion_tokens) == ("Fine.", 1)


def test_a_server_without_usage_is_counted_by_pieces(opened: Open) -> None:
    with ModelServer([Reply("one two three", usage=False)]) as server:
        end = heard(opened(server))[1]
    assert (end.usage.completion_tokens, end.usage.prompt_tokens) == (3, PROMPT.tokens)


def test_a_busy_server_is_waited_for(opened: Open) -> None:
    busy = Reply(status=503, body={"error": {"message": "Loading model", "code": 503}})
    with ModelServer([busy, Reply(status=429, body={"error": "slow down"}), "Ready."]) as server:
        assert heard(opened(server))[0] == "Ready."


def test_a_server_that_stays_busy_is_given_up_at_the_limit(opened: Open) -> None:
    busy = Reply(status=503, body={"error": {"message": "Loading model"}})
    with ModelServer([busy]) as server:
        _, error = until_error(opened(server, first_token_s=0.6))
        assert len(server.requests) < 10
    assert type(error) is ModelTimeout
    assert "not ready in time" in error.what


def test_stop_ends_the_wait_for_a_busy_server(opened: Open) -> None:
    cancel = Cancel()
    busy = Reply(status=503, body={"error": {"message": "Loading model"}})
    with ModelServer([busy]) as server:
        model = opened(server, first_token_s=60)
        stopper = threading.Thread(target=lambda: (server.wait_for_request(), cancel.cancel()))
        stopper.start()
        with pytest.raises(Cancelled):
            list(model.stream(PROMPT, cancel))
        stopper.join()


def test_an_empty_quota_is_not_waited_for(opened: Open) -> None:
    reply = Reply(status=429, body={"error": {"message": "You exceeded your current quota"}})
    with ModelServer([reply]) as server:
        assert "quota" in str(until_error(opened(server))[1])
        assert len(server.requests) == 1
