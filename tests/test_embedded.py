"""The embedded server with the real packaged Gemma: small answers, but real weights and cache."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from aether.cancel import Cancel
from aether.embedded import serve
from aether.errors import (
    Cancelled,
    ModelCut,
    ModelOverflow,
    ModelRefused,
    ModelUnavailable,
)
from aether.llm import OpenAIModel, open_model
from aether.records import Message, ModelDelta, ModelEnd, Prompt
from aether.settings import LlmSettings, Settings

QUESTION = "What is a VLAN?"


def prompt(system: str = "You know networks.", question: str = QUESTION, most: int = 8) -> Prompt:
    messages = (Message("system", system), Message("user", question))
    return Prompt(messages, (), 1, 8192, 1, max_tokens=most)


def heard(model: OpenAIModel, asked: Prompt) -> tuple[str, ModelEnd]:
    *pieces, end = model.stream(asked, Cancel())
    assert isinstance(end, ModelEnd)
    return "".join(p.text for p in pieces if isinstance(p, ModelDelta)), end


def children() -> list[psutil.Process]:
    """The embedded servers that this process runs."""
    return [c for c in psutil.Process().children() if "aether.embedded" in " ".join(c.cmdline())]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user folder in which the packaged model is unpacked once."""
    return tmp_path_factory.mktemp("embedded")


@pytest.fixture(scope="module")
def model(shared: Path) -> Iterator[OpenAIModel]:
    """The door with no other server anywhere, so that the embedded one answers."""
    with closing(open_model(Settings(home=shared), notify=lambda _: None, places=())) as door:
        yield door
    assert children() == []


# --- without starting it ---------------------------------------------------------------------


def test_nothing_is_started_to_say_who_would_answer(home: Path) -> None:
    settings = Settings(home=home, llm=LlmSettings(context=3000))
    with closing(open_model(settings, notify=lambda _: None, places=())) as door:
        info = door.info()
        assert door.count_tokens("an estimate will do") > 0
    assert (info.id, info.server, info.context) == ("gemma-3-270m", "embedded", 3000)
    assert "for trying Aether out" in info.note
    assert children() == []
    assert not home.exists()


def test_a_machine_that_cannot_run_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with closing(open_model(Settings(home=home), notify=lambda _: None, places=())) as door:
        with pytest.raises(ModelUnavailable, match="no model server answers") as told:
            door.info()
        with pytest.raises(ModelUnavailable):
            heard(door, prompt())
    assert "start LM Studio" in told.value.advice


def test_a_model_path_that_leads_nowhere(home: Path) -> None:
    settings = Settings(home=home, llm=LlmSettings(model_path=str(home / "missing.gguf")))
    with (
        closing(open_model(settings, notify=lambda _: None, places=())) as door,
        pytest.raises(ModelUnavailable, match="names no GGUF file"),
    ):
        door.info()


def test_serve_refuses_a_port_that_is_taken(home: Path, tmp_path: Path) -> None:
    gguf = tmp_path / "some.gguf"
    gguf.write_bytes(b"GGUF")
    settings = Settings(home=home, llm=LlmSettings(model_path=str(gguf)))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ModelUnavailable, match=f"port {port} cannot be used"):
            serve(settings, port, notify=lambda _: None, cancel=Cancel())


@pytest.mark.slow
def test_a_file_that_is_broken_is_told_and_leaves_nothing_running(
    home: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\x03\x00\x00\x00" * 500)
    settings = Settings(home=home, llm=LlmSettings(model_path=str(broken)))
    with closing(open_model(settings, notify=lambda _: None, places=())) as door:
        with pytest.raises(ModelUnavailable, match="did not start") as told:
            heard(door, prompt())
        assert children() == []
    assert "aether model list" in told.value.advice


# --- the real thing --------------------------------------------------------------------------


@pytest.mark.slow
def test_it_answers_streams_and_counts(model: OpenAIModel) -> None:
    before = model.info()
    text, end = heard(model, prompt(most=12))
    after = model.info()
    assert text.strip()
    assert end.usage.completion_tokens <= 12
    assert end.usage.prompt_tokens > 5
    assert end.usage.tokens_per_s > 0
    assert (before.base_url, before.context) == ("", 8192)
    assert after.base_url.startswith("http://127.0.0.1:")
    assert after.context == 8192
    assert model.count_tokens("hello world") == 2


@pytest.mark.slow
def test_the_headings_of_its_prompt_do_not_leak_into_the_answer(model: OpenAIModel) -> None:
    """A model that was never tuned to chat goes on with a question of its own: stopped there."""
    text, _ = heard(model, prompt("Answer in one word.", "Is 7 a prime number?", most=40))
    assert "## Question" not in text


@pytest.mark.slow
def test_each_personas_prompt_stays_cached(model: OpenAIModel) -> None:
    personas = [f"You are expert number {n}. " + f"Rule {n}: be brief. " * 40 for n in range(3)]
    first = [heard(model, prompt(persona))[1].usage for persona in personas]
    again = [heard(model, prompt(persona, "And BGP?"))[1].usage for persona in personas]
    for cold, warm in zip(first, again, strict=True):
        assert cold.cached_tokens < 50
        assert warm.cached_tokens > 0.8 * warm.prompt_tokens


@pytest.mark.slow
def test_stop_and_ask_again_twenty_times(model: OpenAIModel) -> None:
    """M11: cancel, then resend, crashed servers of this kind."""
    heard(model, prompt())
    server = children()[0].pid
    for _ in range(20):
        cancel = Cancel()
        stream = model.stream(prompt(most=400), cancel)
        assert isinstance(next(stream), ModelDelta)
        cancel.cancel()
        with pytest.raises(Cancelled):
            list(stream)
    assert heard(model, prompt())[0].strip()
    assert [child.pid for child in children()] == [server]


@pytest.mark.slow
def test_a_prompt_that_does_not_fit_is_told(model: OpenAIModel) -> None:
    with pytest.raises(ModelOverflow, match="does not fit"):
        heard(model, prompt(question="word " * 9000))


@pytest.mark.slow
def test_a_crash_is_told_and_the_next_question_starts_it_anew(model: OpenAIModel) -> None:
    stream = model.stream(prompt(most=400), Cancel())
    next(stream)
    children()[0].kill()
    with pytest.raises(ModelCut, match="stopped by itself"):
        list(stream)
    assert heard(model, prompt())[0].strip()


@pytest.mark.slow
def test_stop_while_it_starts(shared: Path) -> None:
    cancel = Cancel()
    before = [child.pid for child in children()]

    def notify(text: str) -> None:
        assert "starting the embedded model" in text
        cancel.cancel()

    with closing(open_model(Settings(home=shared), notify=notify, places=())) as door:
        with pytest.raises(Cancelled):
            list(door.stream(prompt(), cancel))
        assert [child.pid for child in children()] == before


@pytest.mark.slow
def test_serve_for_other_programs(shared: Path) -> None:
    cancel, said, ready = Cancel(), list[str](), threading.Event()

    def notify(text: str) -> None:
        said.append(text)
        if text.startswith("key: "):
            ready.set()

    settings = Settings(home=shared)
    server = threading.Thread(
        target=serve, args=(settings, 0), kwargs={"notify": notify, "cancel": cancel}
    )
    server.start()
    try:
        assert ready.wait(60), said
        url = next(word for word in said[-2].split() if word.startswith("http"))
        key = said[-1].removeprefix("key: ")
        right = Settings(llm=LlmSettings(base_url=url, api_key=key))
        with closing(open_model(right, notify=lambda _: None)) as door:
            assert door.info().server == "llama.cpp"
            assert heard(door, prompt())[0].strip()
        wrong = Settings(llm=LlmSettings(base_url=url, api_key="guess"))
        with (
            closing(open_model(wrong, notify=lambda _: None)) as door,
            pytest.raises(ModelRefused, match="key"),
        ):
            heard(door, prompt())
    finally:
        cancel.cancel()
        server.join(20)
    assert not server.is_alive()
