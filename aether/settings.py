"""Settings and the user folder; the only place that reads the environment.

Order: command-line flag, environment `AETHER_SECTION__KEY`, `settings.toml` in the user folder,
default. `AETHER_HOME` moves the user folder; everything that Aether writes lies below it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import SettingsError as UnreadableSource

from aether.errors import SettingsError
from aether.keys import IN_KEYRING, forget_key, keep_key, read_key
from aether.tomlfile import Value, changed, replace_file

PLACES = "command line, AETHER_… environment or settings.toml"
ADVICE = "the keys and their meaning stand in README.md under Settings"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LlmSettings(_Part):
    """The model server."""

    base_url: str = ""
    model: str = ""
    model_path: str = ""
    api_key: str = Field(default="", repr=False)
    context: int = Field(default=0, ge=0)
    first_token_s: float = Field(default=120, gt=0)
    idle_s: float = Field(default=60, gt=0)
    total_s: float = Field(default=600, gt=0)
    trust_env: bool = False


class WebSettings(_Part):
    """Search and page fetch."""

    enabled: bool = True
    provider: str = "ddgs"
    proxy: str = ""
    ca_file: str = ""
    budget_s: float = Field(default=8, gt=0)
    min_chars: int = Field(default=1200, ge=0)


class KbSettings(_Part):
    """The knowledge base; an empty `uri` means `kb` in the user folder."""

    uri: str = ""
    embedder: str = "all-MiniLM-L6-v2"


class RoutingSettings(_Part):
    """Routing."""

    cache_url: str = ""


class ConfidenceSettings(_Part):
    """The raw threshold, used until a calibration is fitted."""

    threshold: float = Field(default=0.7, ge=0, le=1)


class AnswersSettings(_Part):
    """The repeat-question cache."""

    cache: bool = True


class Settings(BaseSettings):
    """All settings; build with `load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix="AETHER_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    home: Path = Field(default_factory=lambda: default_home())
    llm: LlmSettings = LlmSettings()
    web: WebSettings = WebSettings()
    kb: KbSettings = KbSettings()
    routing: RoutingSettings = RoutingSettings()
    confidence: ConfidenceSettings = ConfidenceSettings()
    answers: AnswersSettings = AnswersSettings()

    @field_validator("home", mode="before")
    @classmethod
    def _expanded(cls, value: object) -> object:
        """`~` is the person's home folder; an empty AETHER_HOME is no choice."""
        if isinstance(value, str):
            return Path(value.strip()).expanduser() if value.strip() else default_home()
        return value

    @property
    def kb_uri(self) -> str:
        """Where LanceDB lives: `kb.uri`, or the folder `kb` below the user folder."""
        return self.kb.uri or str(self.home / "kb")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags over environment over settings.toml; no .env file, no secrets folder."""
        home = default_home()
        kept = read_toml(home / "settings.toml")
        llm = kept.get("llm")
        if isinstance(llm, dict) and llm.get("api_key") == IN_KEYRING:  # pyright: ignore
            kept["llm"] = {**llm, "api_key": read_key(home)}
        return init_settings, env_settings, InitSettingsSource(settings_cls, kept)


def default_home() -> Path:
    """Return the user folder: `AETHER_HOME`, else the platform's data folder for `aether`."""
    moved = os.environ.get("AETHER_HOME", "").strip()
    return Path(moved).expanduser() if moved else Path(platformdirs.user_data_dir("aether", False))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file, {} where there is none; raises SettingsError with the line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"settings.toml cannot be read: {error}",
            where=str(path),
            advice="mend that line, or move the file away to start from the defaults",
        ) from error
    except OSError as error:
        raise SettingsError(
            f"settings.toml cannot be opened: {error.strerror}", where=str(path)
        ) from error


def load_settings(flags: dict[str, str] | None = None) -> Settings:
    """Build the settings; `flags` maps dotted keys (`llm.base_url`) to text, and wins.

    Raises SettingsError naming every key that is unknown or has a value that makes no sense.
    """
    nested: dict[str, Any] = {}
    if unknown := _unknown_variables():
        raise SettingsError(f"{unknown}: is no setting", where="environment", advice=ADVICE)
    for dotted, value in (flags or {}).items():
        section, found, key = dotted.partition(".")
        if not found and section != "home":
            raise SettingsError(f"{dotted}: is no setting", advice=ADVICE)
        if key:
            nested.setdefault(section, {})[key] = value
        else:
            nested[section] = value
    try:
        return Settings(**nested)
    except ValidationError as error:
        faults = "; ".join(_fault(e["loc"], e["type"], e["msg"]) for e in error.errors())
        raise SettingsError(faults, where=PLACES, advice=ADVICE) from error
    except UnreadableSource as error:
        raise SettingsError(str(error), where=PLACES, advice=ADVICE) from error


def save_settings(home: Path, changes: Mapping[str, str | None]) -> Settings:
    """Write dotted keys into settings.toml and load the result; None goes back to the default.

    Everything is checked first, nothing is written where anything is wrong: SettingsError.
    Comments and other keys stay. `llm.api_key` goes to the system keyring where there is one, else
    into the file, which then only its owner may read.
    """
    given = {key: value for key, value in changes.items() if value is not None}
    checked = load_settings(given)
    values: dict[str, Value] = {key: _value_of(checked, key) for key in given}
    values |= {key: None for key in changes if changes[key] is None}
    plain_key = _keep_key(home, values)
    path = home / "settings.toml"
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        replace_file(path, changed(text, values), private=plain_key)
    except OSError as error:
        raise SettingsError(
            f"the settings cannot be written: {error.strerror or error}",
            where=str(path),
            advice="free some disk space, or move the user folder with AETHER_HOME",
        ) from error
    return load_settings()


def with_keys(settings: Settings, newer: Settings, keys: Collection[str]) -> Settings:
    """`settings` with these dotted keys taken from `newer`: flags of the command line stay."""
    for dotted in keys:
        section, _, key = dotted.partition(".")
        part = getattr(settings, section)
        changed_part = part.model_copy(update={key: _value_of(newer, dotted)})
        settings = settings.model_copy(update={section: changed_part})
    return settings


def set_elsewhere(dotted: str) -> str:
    """The environment variable that decides a key, whatever settings.toml says; empty for none."""
    name = f"AETHER_{dotted.replace('.', '__')}".upper()
    return next((known for known in os.environ if known.upper() == name), "")


def _value_of(settings: Settings, dotted: str) -> Any:
    section, _, key = dotted.partition(".")
    return getattr(getattr(settings, section), key)


def _keep_key(home: Path, values: dict[str, Value]) -> bool:
    """Put the key of the model server where it is safest; True where that is the file."""
    if "llm.api_key" not in values:
        return False
    key = values["llm.api_key"]
    if not isinstance(key, str) or not key:
        forget_key(home)
        values["llm.api_key"] = None
        return False
    if keep_key(home, key):
        values["llm.api_key"] = IN_KEYRING
        return False
    return True


def _unknown_variables() -> str:
    """Variables that mean a section which does not exist: AETHER_LMM__MODEL."""
    sections = (n[7:].partition("__") for n in os.environ if n.upper().startswith("AETHER_"))
    return ", ".join(
        f"AETHER_{section}{dashes}{key}"
        for section, dashes, key in sections
        if dashes and section.lower() not in Settings.model_fields
    )


def _fault(location: tuple[int | str, ...], kind: str, message: str) -> str:
    words = "is no setting" if kind == "extra_forbidden" else message.lower()
    return f"{'.'.join(map(str, location))}: {words}"
