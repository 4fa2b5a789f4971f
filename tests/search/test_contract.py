"""What every search service in the registry has to do, whoever offers it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aether.cancel import Cancel
from aether.errors import SettingsError, WebFailed, WebOffline, WebRateLimited
from aether.hosts import Place
from aether.protocols import SearchProvider, SearchResult
from aether.search import PROVIDERS, search_provider
from aether.settings import WebSettings
from aether.web import WebDoor
from tests.fakes.sealed_web import SealedWeb

HOST = "docs.vendor.example"
URL = f"https://{HOST}/peering.html"
PAGE = (
    "<html><head><title>Peering limits</title></head><body><main><p>One network may have fifty"
    " active peering connections. The quota can be raised on request. Routes have to be added on"
    " both sides before any traffic flows between the two networks.</p></main></body></html>"
)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[SealedWeb]:
    with SealedWeb({URL: PAGE}, tmp_path) as sealed:
        yield sealed


@pytest.fixture(params=sorted(PROVIDERS))
def settings(request: pytest.FixtureRequest, web: SealedWeb) -> WebSettings:
    return WebSettings(provider=request.param, proxy=web.proxy, ca_file=web.ca_file)


@pytest.fixture
def provider(settings: WebSettings) -> SearchProvider:
    return search_provider(settings)


def test_results_are_records_and_no_more_than_asked_for(provider: SearchProvider) -> None:
    rows = provider.search(f"peering site:{HOST}", 1, 10)
    assert isinstance(rows, tuple)
    assert [row.url for row in rows] == [URL]
    assert all(isinstance(row, SearchResult) for row in rows)


def test_nothing_found_is_an_empty_tuple(provider: SearchProvider) -> None:
    assert provider.search("zebra", 10, 10) == ()


@pytest.mark.parametrize(
    ("switch", "kind"),
    [("rate_limited", WebRateLimited), ("engine_error", WebFailed), ("offline", WebOffline)],
)
def test_failures_are_told_apart(
    provider: SearchProvider, web: SealedWeb, switch: str, kind: type[Exception]
) -> None:
    setattr(web, switch, True)
    with pytest.raises(kind):
        provider.search("peering", 10, 10)


@pytest.mark.parametrize(
    ("switch", "value", "status"),
    [
        ("no_results", False, "ok"),
        ("no_results", True, "web_empty"),
        ("rate_limited", True, "web_rate_limited"),
        ("engine_error", True, "web_error"),
        ("offline", True, "web_offline"),
        ("slow", 60.0, "web_error"),
    ],
)
def test_the_whole_way_through_the_door(
    settings: WebSettings, web: SealedWeb, switch: str, value: object, status: str
) -> None:
    setattr(web, switch, value)
    door = WebDoor(settings, [Place("docs", (HOST,))], search_provider(settings))
    budget_s = 2.0 if switch in ("slow", "rate_limited") else 20.0
    result = door.lookup("how many peering connections?", [HOST], budget_s, Cancel())
    assert (result.status, bool(result.hits)) == (status, status == "ok")
    assert result.detail
    assert len(web.searches) <= 4


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(SettingsError) as refused:
        search_provider(WebSettings(provider="ddg"))
    assert "ddgs" in refused.value.advice
