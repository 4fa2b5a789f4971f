"""Every error that Aether raises on purpose, and why it is one tree.

    AetherError                    what happened, where, what to do
    ├── SettingsError              a setting that cannot be read or makes no sense
    ├── ManifestError              YAML files with problems, all of them at once
    ├── ModelError                 the model server
    │   ├── ModelUnavailable       nothing answers
    │   ├── ModelNotLoaded         a server answers, but holds no model
    │   ├── ModelTimeout           first token, silence between tokens, or in all
    │   ├── ModelOverflow          the prompt did not fit the loaded window
    │   ├── ModelRefused           the server said no (HTTP 4xx/5xx, an error object in a 200)
    │   ├── ModelCut               the connection broke in the middle of an answer
    │   └── ModelEmpty             a stream that ended without a word
    ├── WebError                   the network
    │   ├── WebUnavailable         the search library is missing or broken
    │   ├── WebRateLimited         the search service asks us to slow down
    │   ├── WebOffline             no network, no DNS, no proxy
    │   ├── WebRefused             an address that may not be fetched
    │   └── WebFailed              a page or an engine that answered badly
    ├── StoreError                 the knowledge base
    │   └── EmbedderMismatch       built with another embedder
    ├── EmbedError                 the embedding model
    ├── ReaderError                a file that cannot be read
    │   └── NothingToRead          a sound file without text: empty, image-only
    ├── DownloadError              a model file
    └── AuditError                 the record of runs

Errors are data: doors translate foreign exceptions into these, the command line and
the window only print them. `Cancelled` stands apart, because stopping is no fault.
"""

from __future__ import annotations

from dataclasses import dataclass


class AetherError(Exception):
    """A known fault: what happened, where, and what the reader can do about it."""

    def __init__(self, what: str, *, where: str = "", advice: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        hint = f"\n  hint: {self.advice}" if self.advice else ""
        return f"{self.what}{place}{hint}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault in one file that a person wrote; `line` counts from 1, 0 where unknown."""

    path: str
    line: int
    key: str
    message: str
    advice: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        key = f" [{self.key}]" if self.key else ""
        hint = f" - {self.advice}" if self.advice else ""
        return f"{place}{key} {self.message}{hint}"


class SettingsError(AetherError):
    """A setting cannot be read or has a value that makes no sense."""


class ManifestError(AetherError):
    """Files with problems so grave that nothing can start; carries all of them."""

    def __init__(self, what: str, problems: tuple[Problem, ...], *, advice: str = "") -> None:
        super().__init__(what, where="; ".join(str(p) for p in problems[:3]), advice=advice)
        self.problems = problems


class ModelError(AetherError):
    """The model server failed."""


class ModelUnavailable(ModelError):
    """No model server answers."""


class ModelNotLoaded(ModelError):
    """A server answers but has no model loaded."""


class ModelTimeout(ModelError):
    """No first token, silence between tokens, or the whole generation took too long."""


class ModelOverflow(ModelError):
    """The prompt did not fit the window that is loaded."""


class ModelRefused(ModelError):
    """The server answered with an error of its own."""


class ModelCut(ModelError):
    """The connection broke in the middle of an answer; the text so far is worth keeping."""


class ModelEmpty(ModelError):
    """The stream ended without a single word of answer."""


class WebError(AetherError):
    """Search or fetch failed."""


class WebUnavailable(WebError):
    """The search library is missing or cannot be used."""


class WebRateLimited(WebError):
    """The search service asks us to slow down."""


class WebOffline(WebError):
    """The network cannot be reached."""


class WebRefused(WebError):
    """An address that the trust boundary does not let through."""


class WebFailed(WebError):
    """A page or a search engine answered badly."""


class StoreError(AetherError):
    """The knowledge base cannot be opened, read or written."""


class EmbedderMismatch(StoreError):
    """The knowledge base was built with another embedding model."""


class EmbedError(AetherError):
    """The embedding model cannot be loaded or used."""


class ReaderError(AetherError):
    """A file cannot be read."""


class NothingToRead(ReaderError):
    """A sound file that holds no text: empty, or images only."""


class DownloadError(AetherError):
    """A download failed or does not match its checksum."""


class AuditError(AetherError):
    """The record of runs cannot be read or written."""


class Cancelled(Exception):
    """The person pressed Stop. Not a fault, hence outside the tree."""
