"""Settings: flag over environment over file over default, and every fault names its key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from aether.errors import SettingsError
from aether.settings import Settings, default_home, load_settings


@pytest.fixture
def toml(home: Path) -> Path:
    home.mkdir(parents=True)
    return home / "settings.toml"


def test_defaults_are_those_of_the_contract(home: Path) -> None:
    settings = load_settings()
    assert settings.home == home
    assert settings.kb_uri == str(home / "kb")
    assert settings.model_dump(exclude={"home"}) == {
        "llm": {
            "base_url": "", "model": "", "model_path": "", "api_key": "", "context": 0,
            "first_token_s": 120, "idle_s": 60, "total_s": 600, "trust_env": False,
        },
        "web": {
            "enabled": True, "provider": "ddgs", "proxy": "", "ca_file": "",
            "budget_s": 8, "min_chars": 1200,
        },
        "kb": {"uri": "", "embedder": "all-MiniLM-L6-v2"},
        "routing": {"cache_url": ""},
        "confidence": {"threshold": 0.7},
        "answers": {"cache": True},
    }  # fmt: skip


def test_flag_beats_environment_beats_file_beats_default(
    toml: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def budget(flags: dict[str, str] | None = None) -> float:
        return load_settings(flags).web.budget_s

    assert budget() == 8
    toml.write_text("[web]\nbudget_s = 5\nmin_chars = 10\n")
    assert budget() == 5
    monkeypatch.setenv("AETHER_WEB__BUDGET_S", "4")
    assert budget() == 4
    assert budget({"web.budget_s": "3"}) == 3
    assert load_settings({"web.budget_s": "3"}).web.min_chars == 10  # the others stay


def test_names_in_the_environment_may_be_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("aether_web__enabled", "false")
    assert not load_settings().web.enabled


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[llm]\nbase_ur = 'x'\n", "llm.base_ur: is no setting"),
        ("[lmm]\nmodel = 'x'\n", "lmm: is no setting"),
        ("[web]\nbudget_s = 'soon'\n", "web.budget_s"),
        ("[web]\nbudget_s = 0\n", "web.budget_s"),
        ("[confidence]\nthreshold = 1.5\n", "confidence.threshold"),
        ("[llm]\ncontext = -1\n[web]\nmin_chars = -1\n", "web.min_chars"),
        ("[llm\n", "settings.toml cannot be read"),
        ("llm = 5\n", "llm"),
        ("\xff", "settings.toml cannot be read"),
    ],
)
def test_a_bad_file_names_what_is_wrong(toml: Path, text: str, words: str) -> None:
    toml.write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert words in str(caught.value)
    assert caught.value.where
    assert caught.value.advice


def test_all_faults_come_at_once(toml: Path) -> None:
    toml.write_text("[llm]\ncontext = -1\nbogus = 1\n[web]\nmin_chars = -1\n")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    for key in ("llm.context", "llm.bogus", "web.min_chars"):
        assert key in caught.value.what


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("AETHER_LLM__BOGUS", "1", "llm.bogus: is no setting"),
        ("AETHER_LMM__MODEL", "x", "AETHER_LMM__MODEL: is no setting"),
        ("AETHER_LLM", "{not json", "llm"),
        ("AETHER_CONFIDENCE__THRESHOLD", "high", "confidence.threshold"),
    ],
)
def test_a_bad_variable_names_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=words.replace(".", r"\.")):
        load_settings()


@pytest.mark.parametrize("key", ["llm.bogus", "bogus.key", "bogus", "llm", "llm.a.b", "", "."])
def test_a_bad_flag_is_a_settings_error(key: str) -> None:
    with pytest.raises(SettingsError):
        load_settings({key: "x"})


def test_a_settings_file_that_is_a_folder_is_told(toml: Path) -> None:
    toml.mkdir()
    with pytest.raises(SettingsError, match="cannot be opened"):
        load_settings()


@pytest.mark.parametrize("moved", ["", "  "])
def test_an_empty_home_is_the_platforms_folder(monkeypatch: pytest.MonkeyPatch, moved: str) -> None:
    monkeypatch.setenv("AETHER_HOME", moved)
    assert load_settings().home == default_home()
    assert default_home().name == "aether"


def test_a_tilde_is_the_persons_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("AETHER_HOME", "~/aether here")
    assert load_settings().home == tmp_path / "aether here"
    assert default_home() == tmp_path / "aether here"


def test_nothing_is_made_by_reading(home: Path) -> None:
    load_settings()
    assert not home.exists()


def test_settings_do_not_change() -> None:
    settings = load_settings()
    with pytest.raises(ValidationError):
        settings.web.budget_s = 1  # type: ignore[misc]
    with pytest.raises(ValidationError):
        settings.home = Path()  # type: ignore[misc]


def test_the_key_is_in_no_printed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AETHER_LLM__API_KEY", "sk-secret")
    settings = load_settings()
    assert settings.llm.api_key == "sk-secret"
    assert "sk-secret" not in f"{settings} {settings!r}"


def test_only_the_sections_of_the_contract_exist() -> None:
    assert list(Settings.model_fields) == [
        "home", "llm", "web", "kb", "routing", "confidence", "answers",
    ]  # fmt: skip
