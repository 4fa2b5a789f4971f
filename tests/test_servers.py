"""Which server answers, with which model and window: fakes of each kind over real HTTP.

Names such as M3 or W6 are the kinds of fault that field reports of local model servers describe.
"""

from __future__ import annotations

import itertools
from contextlib import closing
from typing import Any

import pytest

from aether.cancel import Cancel
from aether.errors import ModelNotLoaded, ModelRefused, ModelUnavailable
from aether.llm import open_model
from aether.records import Message, Prompt
from aether.settings import Settings
from aether.text import estimate_tokens
from tests.fakes.model_door import PROMPT, Open, heard, opened, until_error
from tests.fakes.model_server import FakeModel, ModelServer, Reply

__all__ = ["opened"]  # the fixture
OVERFLOW = "Cannot truncate prompt with n_keep (5021) >= n_ctx (4096)"


def test_lm_studio_tells_the_window_that_is_loaded_not_the_largest(opened: Open) -> None:
    """M3: a budget taken from the model's maximum never fits."""
    models = [FakeModel("gemma-3-4b-it", context=4096, largest=131072)]
    with ModelServer(flavour="lmstudio", models=models) as server:
        info = opened(server).info()
    assert (info.server, info.context, info.note) == ("lmstudio", 4096, "")


@pytest.mark.parametrize("flavour", ["lmstudio", "ollama", "llama.cpp", "vllm"])
def test_every_server_tells_its_window(opened: Open, flavour: str) -> None:
    with ModelServer(flavour=flavour, models=[FakeModel("gemma-3-4b-it", context=6144)]) as server:
        info = opened(server).info()
    assert (info.id, info.server, info.context) == ("gemma-3-4b-it", flavour, 6144)
    assert info.base_url == server.url


def test_ollama_tells_the_window_of_a_model_that_is_not_running(opened: Open) -> None:
    models = [FakeModel("gemma3:4b", loaded=False, context=5000)]
    with ModelServer(flavour="ollama", models=models) as server:
        assert opened(server).info().context == 5000


def test_an_unknown_window_is_assumed_small_and_said(opened: Open) -> None:
    with ModelServer(flavour="openai") as server:
        info = opened(server).info()
        assert info.context == 4096
        assert "4096 tokens are assumed" in info.note
        assert opened(server, context=16000).info().context == 16000


@pytest.mark.parametrize(
    ("flavour", "models", "chosen"),
    [
        ("openai", ["qwen3-8b", "gemma-3-4b-it"], "gemma-3-4b-it"),
        ("openai", ["embeddinggemma-300m", "qwen3-8b"], "qwen3-8b"),
        ("openai", ["nomic-embed-text", "bge-m3", "mistral-7b"], "mistral-7b"),
        ("openai", ["gemma-2-9b-it", "google/gemma-4-e4b-it"], "google/gemma-4-e4b-it"),
        ("openai", ["gemma-3-4b-pt", "gemma-3-4b-it"], "gemma-3-4b-it"),
        ("openai", ["gemma-7b-it", "gemma-3-4b-it"], "gemma-3-4b-it"),
        ("ollama", [FakeModel("llama3:8b"), FakeModel("gemma3:4b", False)], "gemma3:4b"),
        ("lmstudio", [FakeModel("gemma-3-12b", False), FakeModel("qwen3-8b")], "qwen3-8b"),
        ("lmstudio", [FakeModel("gemma-embed", type="embeddings"), FakeModel("phi-4", False)],
         "phi-4"),
    ],
)  # fmt: skip
def test_a_gemma_is_preferred_but_never_an_embedding_model(
    opened: Open, flavour: str, models: list[Any], chosen: str
) -> None:
    with ModelServer(flavour=flavour, models=models) as server:
        assert opened(server).info().id == chosen


def test_a_configured_model_wins_and_an_unknown_one_is_believed(opened: Open) -> None:
    with ModelServer(models=["gemma-3-4b-it", "qwen3-8b", "gemma3:12b"]) as server:
        assert opened(server, model="qwen3-8b").info().id == "qwen3-8b"
        assert opened(server, model="gemma3").info().id == "gemma3:12b"
        assert opened(server, model="an-alias").info().id == "an-alias"


@pytest.mark.parametrize("flavour", ["lmstudio", "ollama", "openai"])
def test_a_server_without_a_model_recovers_without_a_restart(opened: Open, flavour: str) -> None:
    """M13: say "load a model", and see it as soon as it is there."""
    advice = "ollama pull" if flavour == "ollama" else "load a model in LM Studio"
    with ModelServer(["Now."], flavour=flavour, models=[]) as server:
        model = opened(server)
        for call in (model.info, lambda: list(model.stream(PROMPT, Cancel()))):
            with pytest.raises(ModelNotLoaded, match=advice):
                call()
        server.models = [FakeModel("gemma-3-4b-it")]
        assert model.info().id == "gemma-3-4b-it"
        assert heard(model)[0] == "Now."


@pytest.mark.parametrize(
    "wording",
    [
        "No models loaded. Please load a model in the developer page or use `lms load`.",
        'model "gemma3" not found, try pulling it first',
        "The model `gemma` does not exist.",
    ],
)
def test_a_model_that_went_away_between_two_questions(opened: Open, wording: str) -> None:
    with ModelServer([Reply(status=404, body={"error": {"message": wording}}), "Back."]) as server:
        model = opened(server)
        assert type(until_error(model)[1]) is ModelNotLoaded
        assert heard(model)[0] == "Back."


def test_what_is_loaded_is_read_again_after_an_error(opened: Open) -> None:
    overflow = Reply(status=400, body={"error": OVERFLOW})
    models = [FakeModel("gemma-3-4b-it", context=8192)]
    with ModelServer([overflow], flavour="lmstudio", models=models) as server:
        model = opened(server)
        assert model.info().context == 8192
        server.models = [FakeModel("gemma-3-4b-it", context=4096)]
        assert model.info().context == 8192  # fresh enough not to be asked again
        until_error(model)
        assert model.info().context == 4096


def test_a_server_that_is_still_loading_is_used_as_soon_as_it_can(opened: Open) -> None:
    with ModelServer(["Ready."], flavour="llama.cpp") as server:
        server.loading = True
        model = opened(server)
        info = model.info()
        assert (info.context, info.note) == (4096, "it is still loading its model")
        server.loading = False
        assert model.info().context == 8192
        assert heard(model)[0] == "Ready."


def test_a_server_too_busy_to_list_its_models_is_still_used(opened: Open) -> None:
    with ModelServer(["Still here."], flavour="llama.cpp") as server:
        model = opened(server)
        before = model.info()
        server.mute = True
        model._forget()  # pyright: ignore[reportPrivateUsage]
        assert model.info() == before
        server.release()
        assert heard(model)[0] == "Still here."


def test_a_wrong_key_is_told(opened: Open) -> None:
    with ModelServer(["Welcome."], key="right") as server:
        with pytest.raises(ModelRefused, match="llm.api_key"):
            opened(server, api_key="wrong").info()
        assert heard(opened(server, api_key="right"))[0] == "Welcome."


def test_base_url_as_people_write_it(opened: Open) -> None:
    with ModelServer() as server:
        for url in (server.root, f"{server.root}/", f"{server.url}/", server.root[7:]):
            assert opened(server, base_url=url).info().base_url == server.url


def test_a_configured_server_that_is_silent_is_not_replaced_by_another(opened: Open) -> None:
    server = ModelServer()
    server.start()
    server.stop()
    model = opened(server)
    with pytest.raises(ModelUnavailable, match="does not answer"):
        model.info()
    assert model.count_tokens("still an estimate") > 0


def test_something_that_is_no_model_server(opened: Open) -> None:
    with ModelServer() as server, pytest.raises(ModelRefused, match="no list of models"):
        opened(server, base_url=f"{server.root}/elsewhere").info()


def test_the_usual_places_in_order(home: Any) -> None:
    """LM Studio, Ollama, llama.cpp; one without a model is passed over while another has one."""
    with (
        ModelServer(flavour="lmstudio", models=[]) as studio,
        ModelServer(["From Ollama."], flavour="ollama", models=["gemma3:4b"]) as ollama,
        ModelServer(flavour="llama.cpp") as llama,
    ):
        places = [("lmstudio", studio.url), ("ollama", ollama.url), ("llama.cpp", llama.url)]
        with closing(open_model(Settings(), notify=lambda _: None, places=places)) as model:
            assert model.info().server == "ollama"
            assert heard(model)[0] == "From Ollama."
            studio.models = [FakeModel("gemma-3-4b-it")]
            model._forget()  # pyright: ignore[reportPrivateUsage]
            assert model.info().server == "lmstudio"
        nobody = [("lmstudio", studio.url)]
        studio.models = []
        with (
            closing(open_model(Settings(), notify=lambda _: None, places=nobody)) as model,
            pytest.raises(ModelNotLoaded, match="LM Studio"),
        ):
            model.info()


@pytest.mark.parametrize("trust_env", [True, False])
def test_a_proxy_in_the_environment_never_stands_before_loopback(
    opened: Open, monkeypatch: pytest.MonkeyPatch, trust_env: bool
) -> None:
    """W6: a company's proxy setting breaks calls to this machine."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ModelServer(["Straight."], flavour="lmstudio") as server:
        model = opened(server, trust_env=trust_env)
        assert model.info().context == 8192
        assert heard(model)[0] == "Straight."


# --- tokens ----------------------------------------------------------------------------------


@pytest.mark.parametrize("flavour", ["llama.cpp", "vllm"])
def test_tokens_are_counted_by_the_server_once_a_text(opened: Open, flavour: str) -> None:
    text = "one two three, four"
    with ModelServer(flavour=flavour) as server:
        model = opened(server)
        assert [model.count_tokens(text) for _ in range(5)] == [5] * 5
        assert server.asked.count("/tokenize") == 1
        assert model.count_tokens("") == 0


def test_an_estimate_learns_from_what_the_server_reports(opened: Open) -> None:
    text = "a fairly ordinary sentence about networks and switches. " * 20
    prompt = Prompt((Message("user", text),), (), 1, 8192, 1)
    guess = estimate_tokens(text)
    usage = itertools.chain([1.5, 0.2, 9.0], itertools.repeat(1.0))

    def reply(_: object) -> Reply:
        return Reply("ok", usage={"prompt_tokens": round(guess * next(usage)) + 6})

    with ModelServer(reply) as server:
        model = opened(server, context=100_000)
        assert model.count_tokens(text) == guess  # nothing known: never less than the estimate
        heard(model, prompt)
        assert model.count_tokens(text) == pytest.approx(1.5 * guess, rel=0.02)
        heard(model, prompt)  # one low report moves it down only a little
        assert 0.5 * guess < model.count_tokens(text) < 1.5 * guess
        heard(model, prompt)
        assert model.count_tokens(text) == pytest.approx(2.0 * guess, rel=0.02)  # bounded
