"""Web search through the `ddgs` package, and what its failures really mean.

ddgs 9.16 raises one and the same `DDGSException` for "no results", a rate limit, a dead network and
a broken engine, drops the HTTP status of every answer, and takes an unknown engine for "auto".
So engines are asked one by one, by names checked here, and the HTTP answers are watched.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from aether.errors import WebError, WebFailed, WebOffline, WebRateLimited, WebUnavailable
from aether.protocols import SearchResult

BACKENDS = ("duckduckgo", "yahoo", "brave", "mojeek")
_SLOW_DOWN = frozenset({202, 403, 429})  # 202 is DuckDuckGo's, 403 what several give to robots
_BELIEVED = 2  # engines that say the same; asking further ones would only be rude
_LEAST_S = 0.3
_SHARE = 0.6  # of the time left, for one engine while others wait
_NETWORK = (
    "dnserror",
    "dnstimeouterror",
    "error resolving",
    "name resolution",
    "name or service not known",
    "getaddrinfo",
    "connecterror",
    "connection refused",
    "unreachable",
    "no route",
    "proxy connect failed: http/1.1 50",
)
_LIMIT = ("ratelimit", "rate limit", "too many requests", "202", "429")
_ADDRESS = re.compile(r"https?://\S+")  # of a request: its query may say "dns"


@dataclass(slots=True)
class _Seen:
    """What the engine's HTTP client met during one search."""

    statuses: list[int] = field(default_factory=list[int])
    errors: list[BaseException] = field(default_factory=list[BaseException])


class _Watched:
    """An engine's HTTP client that notes what the engine throws away."""

    def __init__(self, client: Any, seen: _Seen) -> None:
        self._client = client
        self._seen = seen

    def request(self, *args: Any, **options: Any) -> Any:
        try:
            response = self._client.request(*args, **options)
        except Exception as error:  # noted and raised again: nothing is swallowed here
            self._seen.errors.append(error)
            raise
        self._seen.statuses.append(int(response.status_code))
        return response

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


class DdgsSearch:
    """Asks search engines in turn until one has results; a `SearchProvider`."""

    def __init__(
        self,
        *,
        proxy: str = "",
        ca_file: str = "",
        backends: Sequence[str] = BACKENDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._proxy = proxy or None
        self._verify: bool | str = ca_file or True
        self._backends = tuple(backends)
        self._clock = clock

    def search(self, query: str, limit: int, timeout_s: float) -> tuple[SearchResult, ...]:
        """Return results of the first engine that has any; () where engines answered with none.

        `timeout_s` bounds the whole search. Raises WebUnavailable, WebRateLimited, WebOffline,
        or WebFailed, in that order of weight when engines fail in different ways.
        """
        package = _package()
        end = self._clock() + timeout_s
        failures: list[WebError] = []
        empty: int = 0
        for i, backend in enumerate(_known(package, self._backends)):
            left = end - self._clock()
            if left < _LEAST_S or empty == _BELIEVED or _enough(failures):
                break
            share = left if i + 1 == len(self._backends) else left * _SHARE
            try:
                found = self._ask(package, backend, query, limit, share)
            except WebError as error:
                failures.append(error)
                continue
            if found:
                return found
            empty += 1
        if empty:
            return ()
        raise _worst(failures, timeout_s)

    def _ask(
        self, package: Any, backend: str, query: str, limit: int, timeout_s: float
    ) -> tuple[SearchResult, ...]:
        seen = _Seen()
        try:
            client = package.DDGS(proxy=self._proxy, timeout=timeout_s, verify=self._verify)
            _watch(client, seen)
            rows = client.text(query, backend=backend, max_results=limit)
        except ImportError as error:  # the package imports its parts as late as here
            raise _unusable(error) from error
        except Exception as error:  # the package's, its transport's (primp) and its parsers'
            return _judge(backend, error, seen)
        return tuple(_rows(rows or []))


def _package() -> Any:
    """Import `ddgs` at the moment of need: a missing or broken package is a status, no crash."""
    try:
        package = importlib.import_module("ddgs")
        if not callable(package.DDGS):
            raise AttributeError("DDGS is no class")
    except Exception as error:  # a broken wheel may raise anything while it is imported
        raise _unusable(error) from error
    return package


def _unusable(error: Exception) -> WebUnavailable:
    return WebUnavailable(
        f"the search library cannot be used: {type(error).__name__}: {error}",
        where="ddgs",
        advice="install it again: pip install --force-reinstall ddgs",
    )


def _known(package: Any, backends: Sequence[str]) -> Iterator[str]:
    """Yield the engines that this release has; it would take an unknown name for "auto"."""
    try:
        engines = importlib.import_module(f"{package.__name__}.engines").ENGINES["text"]
    except (ImportError, AttributeError, KeyError):
        yield from backends  # another release, without the registry: its own check must do
        return
    names = [backend for backend in backends if backend in engines]
    if not names:
        raise WebUnavailable(
            f"the search library knows none of {', '.join(backends)}",
            where="ddgs",
            advice=f"this release offers: {', '.join(sorted(engines))}",
        )
    yield from names


def _watch(client: Any, seen: _Seen) -> None:
    """Put a witness between each engine and its HTTP client, where this release has engines."""
    choose = getattr(client, "_get_engines", None)
    if choose is None:
        return

    def watched(category: str, backend: str) -> list[Any]:
        engines: list[Any] = choose(category, backend)
        for engine in engines:
            engine.http_client = _Watched(engine.http_client, seen)
        return engines

    client._get_engines = watched


def _judge(backend: str, error: Exception, seen: _Seen) -> tuple[SearchResult, ...]:
    """Return () where the engine answered and found nothing; else raise what really happened."""
    text = _chain(error)
    kind = type(error).__name__
    bad = [status for status in seen.statuses if status != 200]
    if not bad and not seen.errors and "no results" in text:
        return ()
    said = not seen.statuses and any(mark in text for mark in _LIMIT)
    if said or kind == "RatelimitException" or _SLOW_DOWN.intersection(bad):
        raise WebRateLimited(f"{backend} asks to slow down", where=backend) from error
    if "certificate" in text:
        raise WebFailed(
            f"the certificate of {backend} is not trusted",
            where=backend,
            advice="behind an inspecting proxy, web.ca_file names the proxy's authority",
        ) from error
    if any(mark in text for mark in _NETWORK):
        raise WebOffline(
            f"no network: {backend} cannot be reached",
            where=_short(error),
            advice="check the network, or web.proxy where a proxy is needed",
        ) from error
    if kind == "TimeoutException" or "timed out" in text:
        raise WebFailed(f"{backend} did not answer in time", where=backend) from error
    what = f"{backend} answered HTTP {bad[0]}" if bad else f"{backend} failed: {_short(error)}"
    raise WebFailed(what, where=backend) from error


def _chain(error: BaseException) -> str:
    """Return names and messages of an error and its causes; ddgs keeps some as an argument."""
    parts: list[str] = []
    at: BaseException | None = error
    while at is not None and len(parts) < 8:
        parts.append(f"{type(at).__name__}: {at}")
        inner = at.args[0] if at.args and isinstance(at.args[0], BaseException) else None
        at = at.__cause__ or inner or at.__context__
    return _ADDRESS.sub("", " | ".join(parts)).lower()


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[-160:] or type(error).__name__


def _enough(failures: Sequence[WebError]) -> bool:
    """Tell whether two engines agree that the network or our welcome is the matter."""
    for kind in (WebRateLimited, WebOffline):
        if sum(isinstance(failure, kind) for failure in failures) >= _BELIEVED:
            return True
    return False


def _worst(failures: Sequence[WebError], timeout_s: float) -> WebError:
    for kind in (WebRateLimited, WebOffline):
        for failure in failures:
            if isinstance(failure, kind):
                return failure
    return failures[0] if failures else WebFailed(f"no answer within {timeout_s:.1f} s")


def _rows(rows: Sequence[Any]) -> Iterator[SearchResult]:
    for row in rows:
        url = str(row.get("href") or "")
        if url.startswith(("https://", "http://")):
            yield SearchResult(url, str(row.get("title") or ""), str(row.get("body") or ""))
