"""Changing settings.toml: typed, checked first, comments kept, the key in a safe place."""

from __future__ import annotations

import stat
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring

from aether.errors import SettingsError
from aether.settings import load_settings, save_settings, set_elsewhere, with_keys
from aether.tomlfile import changed


class MemoryKeyring(KeyringBackend):
    """A keyring that lives in this process."""

    priority = 9  # type: ignore[assignment]

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    """No test writes into the keyring of the person who runs it."""
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def file(home: Path) -> Path:
    home.mkdir(parents=True)
    return home / "settings.toml"


def test_first_change_makes_the_file(home: Path, file: Path) -> None:
    saved = save_settings(home, {"web.budget_s": "5", "llm.base_url": "http://127.0.0.1:9/v1"})
    assert saved.web.budget_s == 5
    assert load_settings() == saved
    assert tomllib.loads(file.read_text())["llm"] == {"base_url": "http://127.0.0.1:9/v1"}


def test_values_get_the_type_of_their_setting(home: Path, file: Path) -> None:
    save_settings(home, {"web.enabled": "false", "llm.context": "8192", "llm.model": "8192"})
    data = tomllib.loads(file.read_text())
    assert data["web"]["enabled"] is False
    assert data["llm"] == {"context": 8192, "model": "8192"}


def test_comments_order_and_other_keys_stay(home: Path, file: Path) -> None:
    file.write_text(
        "# mine\n[web]\nbudget_s = 8  # patience # really\nprovider = 'ddgs'\n\n[kb]\n"
        'uri = "a # b"   # where\n',
        encoding="utf-8",
    )
    save_settings(home, {"web.budget_s": "3", "web.min_chars": "10", "llm.model": "gemma"})
    assert file.read_text(encoding="utf-8") == (
        "# mine\n[web]\nbudget_s = 3.0  # patience # really\nprovider = 'ddgs'\nmin_chars = 10\n\n"
        '[kb]\nuri = "a # b"   # where\n\n[llm]\nmodel = "gemma"\n'
    )


def test_none_goes_back_to_the_default(home: Path, file: Path) -> None:
    file.write_text("[web]\nenabled = false\nbudget_s = 2\n", encoding="utf-8")
    assert save_settings(home, {"web.enabled": None}).web.enabled is True
    assert file.read_text(encoding="utf-8") == "[web]\nbudget_s = 2\n"


@pytest.mark.parametrize(
    "text",
    [
        'llm = { model = "old", context = 1 }\n',
        'llm.model = "old"\nllm.context = 1\n',
        '["llm"]\nmodel = """old\nmodel = 3"""\ncontext = 1\n',
        "[llm]\ncontext = 1\n[other.deep]\nlist = ['a', 'b']\nmodel = 'theirs'\n",
    ],
    ids=["inline table", "dotted keys", "odd quotes", "tables below"],
)
def test_every_shape_of_file_keeps_its_values(text: str) -> None:
    before = tomllib.loads(text)
    after = tomllib.loads(changed(text, {"llm.model": 'new "x"\\\n\x7f é'}))
    assert after == {**before, "llm": {**before["llm"], "model": 'new "x"\\\n\x7f é'}}


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"web.budget_s": "soon"}, "web.budget_s"),
        ({"web.budgets": "3"}, "web.budgets"),
        ({"nothing": "3"}, "nothing"),
        ({"llm.model": "ok", "confidence.threshold": "7"}, "confidence.threshold"),
    ],
)
def test_what_makes_no_sense_changes_nothing(
    home: Path, file: Path, changes: dict[str, str], word: str
) -> None:
    file.write_text("[web]\nbudget_s = 2\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=word):
        save_settings(home, changes)
    assert file.read_text(encoding="utf-8") == "[web]\nbudget_s = 2\n"
    assert [p.name for p in home.iterdir()] == ["settings.toml"]


def test_a_torn_file_is_named_and_left_alone(home: Path, file: Path) -> None:
    file.write_text("[web\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"settings\.toml cannot be read"):
        save_settings(home, {"web.budget_s": "3"})
    assert file.read_text(encoding="utf-8") == "[web\n"


def test_the_key_goes_to_the_keyring(home: Path, file: Path) -> None:
    ring = MemoryKeyring()
    keyring.set_keyring(ring)
    assert save_settings(home, {"llm.api_key": "sk-secret"}).llm.api_key == "sk-secret"
    assert "sk-secret" not in file.read_text(encoding="utf-8")
    assert list(ring.kept.values()) == ["sk-secret"]
    assert load_settings().llm.api_key == "sk-secret"
    assert save_settings(home, {"llm.api_key": ""}).llm.api_key == ""
    assert ring.kept == {}


@pytest.mark.skipif(sys.platform == "win32", reason="rights of files are other things there")
def test_without_a_keyring_only_the_owner_reads_the_file(home: Path, file: Path) -> None:
    file.write_text("", encoding="utf-8")
    file.chmod(0o644)
    assert save_settings(home, {"llm.api_key": "sk-secret"}).llm.api_key == "sk-secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    save_settings(home, {"web.budget_s": "3"})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="rights of folders are other things there")
def test_a_folder_that_cannot_be_written_is_told(home: Path, file: Path) -> None:
    blocked = home / "settings.toml"
    blocked.mkdir()
    with pytest.raises(SettingsError):
        save_settings(home, {"web.budget_s": "3"})
    assert [p.name for p in home.iterdir()] == ["settings.toml"]


def test_environment_is_named_where_it_decides(
    home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set_elsewhere("web.enabled") == ""
    monkeypatch.setenv("AETHER_WEB__ENABLED", "false")
    assert set_elsewhere("web.enabled") == "AETHER_WEB__ENABLED"
    assert save_settings(home, {"web.enabled": "true"}).web.enabled is False


def test_flags_of_the_command_line_stay(home: Path, file: Path) -> None:
    running = load_settings({"llm.model": "from the flag"})
    newer = save_settings(home, {"web.budget_s": "3"})
    now = with_keys(running, newer, ["web.budget_s"])
    assert (now.llm.model, now.web.budget_s) == ("from the flag", 3)
