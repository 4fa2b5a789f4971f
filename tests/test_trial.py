"""Looking for model servers, and one short question to the one in use."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from aether.cancel import Cancel
from aether.errors import ModelError, ModelNotLoaded
from aether.llm import open_model
from aether.settings import LlmSettings, Settings
from aether.trial import QUESTION, look_around, try_model
from tests.fakes.model_server import ModelServer, Reply

NOBODY = "http://127.0.0.1:9/v1"


def test_every_place_is_told_whoever_is_there(home: Path) -> None:
    with ModelServer(["x"], flavour="lmstudio") as full, ModelServer(["x"]) as empty:
        empty.models = []
        places = (("lmstudio", full.url), ("ollama", NOBODY), ("llama.cpp", empty.url))
        found = list(look_around(LlmSettings(model="only here"), places))
    assert [seen.base_url for seen in found] == [full.url, NOBODY, empty.url]
    assert [seen.answers for seen in found] == [True, False, False]
    assert "gemma" in found[0].model, "the wanted model of another server is not asked for"
    assert found[0].context > 0
    assert found[1].error is None
    assert isinstance(found[2].error, ModelNotLoaded)


def test_a_trial_tells_words_and_times(home: Path) -> None:
    with ModelServer(["ready"]) as server:
        settings = Settings(home=home, llm=LlmSettings(base_url=server.url))
        with closing(open_model(settings, notify=lambda text: None)) as model:
            trial = try_model(model, Cancel())
        assert server.requests[0].question == QUESTION
        assert len(server.requests) == 1
    assert trial.said == "ready"
    assert 0 < trial.first_token_ms <= trial.total_ms
    assert trial.info.base_url == server.url


def test_a_failing_server_is_an_error(home: Path) -> None:
    with ModelServer([Reply(status=500, body={"error": {"message": "out of memory"}})]) as server:
        settings = Settings(home=home, llm=LlmSettings(base_url=server.url))
        with (
            closing(open_model(settings, notify=lambda text: None)) as model,
            pytest.raises(ModelError, match="out of memory"),
        ):
            try_model(model, Cancel())
