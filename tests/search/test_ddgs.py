"""The real search client against search engines of a sealed web, and against broken installs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import trustme

from aether.errors import WebFailed, WebOffline, WebRateLimited, WebUnavailable
from aether.protocols import SearchResult
from aether.search.ddgs import BACKENDS, DdgsSearch
from tests.fakes.sealed_web import ENGINES, SealedWeb

PAGES = {
    "https://docs.vendor.example/peering.html": "<title>Peering</title><p>Peering of networks</p>",
    "https://docs.vendor.example/dns.html": "<title>DNS</title><p>Private DNS zones</p>",
    "https://other.example/peering.html": "<title>Other</title><p>Peering at an exchange</p>",
}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[SealedWeb]:
    with SealedWeb(PAGES, tmp_path) as sealed:
        yield sealed


def client(web: SealedWeb, *backends: str) -> DdgsSearch:
    return DdgsSearch(proxy=web.proxy, ca_file=web.ca_file, backends=backends or BACKENDS)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_engine_is_read_by_the_real_parser(web: SealedWeb, backend: str) -> None:
    rows = client(web, backend).search("peering site:docs.vendor.example", 10, 10)
    assert [(row.url, row.title) for row in rows] == [
        ("https://docs.vendor.example/peering.html", "Peering")
    ]
    assert "Peering of networks" in rows[0].snippet
    assert web.searches == ["peering site:docs.vendor.example"]


def test_several_sites_in_one_query(web: SealedWeb) -> None:
    query = "peering (site:docs.vendor.example OR site:other.example)"
    assert len(client(web).search(query, 10, 10)) == 2
    assert len(web.searches) == 1  # the first engine had results, no other was asked


def test_the_proxy_carries_every_search(web: SealedWeb) -> None:
    client(web).search("peering", 10, 10)
    assert web.proxied == ["html.duckduckgo.com"]


def test_nothing_found_is_empty_and_two_engines_are_believed(web: SealedWeb) -> None:
    web.no_results = True
    assert client(web).search("peering", 10, 10) == ()
    assert len(web.searches) == 2


def test_a_rate_limit_is_told_from_nothing_found(web: SealedWeb) -> None:
    web.rate_limited = True
    with pytest.raises(WebRateLimited):
        client(web).search("peering", 10, 10)
    assert len(web.searches) == 2


def test_another_engine_stands_in_for_one_that_is_limited(web: SealedWeb) -> None:
    web.rate_limited = 1
    assert client(web).search("peering", 10, 10)
    assert len(web.searches) == 2


def test_a_broken_engine_is_told_from_nothing_found(web: SealedWeb) -> None:
    web.engine_error = True
    with pytest.raises(WebFailed, match="HTTP 500"):
        client(web).search("peering", 10, 10)
    assert len(web.searches) == len(BACKENDS)


def test_a_proxy_without_network_is_offline(web: SealedWeb) -> None:
    web.offline = True
    with pytest.raises(WebOffline, match="network"):
        client(web).search("peering", 10, 10)


def test_a_proxy_that_is_gone_is_offline(tmp_path: Path) -> None:
    with SealedWeb({}, tmp_path) as web:
        pass
    with pytest.raises(WebOffline, match="network"):
        client(web).search("peering", 10, 10)


@pytest.mark.parametrize("backend", ["duckduckgo", "mojeek"])
def test_silence_is_a_time_out_even_where_the_query_says_dns(web: SealedWeb, backend: str) -> None:
    web.slow = 60
    with pytest.raises(WebFailed, match="in time"):
        client(web, backend).search("dns connection refused 429 no results", 10, 0.4)


def test_time_for_all_engines_together_is_bounded(web: SealedWeb) -> None:
    web.slow = 60
    with pytest.raises(WebFailed):
        client(web).search("peering", 10, 1.0)
    assert len(web.searches) < len(BACKENDS)


def test_a_certificate_of_a_stranger_is_named_as_that(web: SealedWeb, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    search = DdgsSearch(proxy=web.proxy, ca_file=str(other), backends=["duckduckgo"])
    with pytest.raises(WebFailed, match="certificate") as failed:
        search.search("peering", 10, 10)
    assert "web.ca_file" in failed.value.advice


def test_every_engine_that_is_asked_is_played_by_the_sealed_web(web: SealedWeb) -> None:
    web.engine_error = True
    with pytest.raises(WebFailed):
        client(web).search("peering", 10, 10)
    assert set(web.proxied) == set(ENGINES)


def test_an_unknown_engine_is_refused_and_not_taken_for_another(web: SealedWeb) -> None:
    with pytest.raises(WebUnavailable, match="altavista") as failed:
        client(web, "altavista").search("peering", 10, 10)
    assert "duckduckgo" in failed.value.advice
    assert web.requests == []


# --- a library that is missing, broken or of another release -------------------------


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n == "ddgs" or n.startswith("ddgs.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("missing", ["ddgs", "ddgs.ddgs", "primp"])
def test_a_library_that_cannot_be_imported_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    forget(monkeypatch)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(WebUnavailable, match="cannot be used") as failed:
        DdgsSearch().search("peering", 10, 10)
    assert "install" in failed.value.advice


def stub(monkeypatch: pytest.MonkeyPatch, answer: Callable[[], Any] | None) -> list[str]:
    """Put a package without engines in place of the real one; the engines asked are noted."""
    forget(monkeypatch)
    package = ModuleType("ddgs")
    asked: list[str] = []

    class DDGS:
        def __init__(self, proxy: object, timeout: object, *, verify: object) -> None:
            assert (proxy, verify) == (None, True)

        def text(self, query: str, backend: str, max_results: int) -> Any:
            asked.append(backend)
            return answer() if answer else []

    if answer is not None:
        package.DDGS = DDGS  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ddgs", package)
    return asked


def test_a_package_that_is_only_a_name_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    stub(monkeypatch, None)
    with pytest.raises(WebUnavailable):
        DdgsSearch().search("peering", 10, 10)


class RatelimitException(Exception):
    pass


class TimeoutException(Exception):
    pass


class DDGSException(Exception):
    pass


def thrower(error: Exception) -> Callable[[], Any]:
    def throw() -> Any:
        raise error

    return throw


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RatelimitException("https://html.duckduckgo.com/html 202 Ratelimit"), WebRateLimited),
        (DDGSException("https://x.example/ 429 Too Many Requests"), WebRateLimited),
        (TimeoutException("https://x.example/ timed out"), WebFailed),
        (DDGSException(OSError("Temporary failure in name resolution")), WebOffline),
        (DDGSException("ConnectError: tcp connect error"), WebOffline),
        (DDGSException("unexpected answer"), WebFailed),
        (ValueError("parser"), WebFailed),
        (TypeError("text() got an unexpected keyword argument"), WebFailed),
    ],
)
def test_what_a_failure_means(
    monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[Exception]
) -> None:
    stub(monkeypatch, thrower(error))
    with pytest.raises(kind):
        DdgsSearch().search("peering", 10, 10)


@pytest.mark.parametrize(
    "answer", [list, lambda: None, thrower(DDGSException("No results found."))]
)
def test_nothing_found_in_every_shape(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[], Any]
) -> None:
    stub(monkeypatch, answer)
    assert DdgsSearch().search("peering", 10, 10) == ()


def test_rows_without_an_address_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"title": "a"}, {"href": ""}, {"href": "javascript:x"}, {"href": "https://a.example/"}]
    asked = stub(monkeypatch, lambda: rows)
    assert DdgsSearch().search("peering", 10, 10) == (SearchResult("https://a.example/", "", ""),)
    assert asked == ["duckduckgo"]
