"""Settings and the user folder; the only place that reads the environment.

Order: command-line flag, environment `AETHER_SECTION__KEY`, `settings.toml` in the user folder,
default. `AETHER_HOME` moves the user folder; everything that Aether writes lies below it.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from aether.errors import SettingsError


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
        path = default_home() / "settings.toml"
        return init_settings, env_settings, InitSettingsSource(settings_cls, read_toml(path))


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
    for dotted, value in (flags or {}).items():
        section, _, key = dotted.partition(".")
        if key:
            nested.setdefault(section, {})[key] = value
        else:
            nested[section] = value
    try:
        return Settings(**nested)
    except ValidationError as error:
        raise SettingsError(
            "; ".join(f"{_dotted(e['loc'])}: {e['msg'].lower()}" for e in error.errors()),
            where="command line, AETHER_… environment or settings.toml",
            advice="the keys and their meaning stand in README.md under Settings",
        ) from error


def _dotted(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location)
