"""Web search services by name: a dict, one module per service, one contract test for all.

A service is built from the settings of the web and offers `protocols.SearchProvider`.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from aether.errors import SettingsError
from aether.protocols import SearchProvider
from aether.search.ddgs import DdgsSearch
from aether.settings import WebSettings

PROVIDERS: dict[str, Callable[[WebSettings], SearchProvider]] = {
    "ddgs": lambda web: DdgsSearch(proxy=web.proxy, ca_file=web.ca_file),
}


def search_provider(web: WebSettings) -> SearchProvider:
    """Build the service that `web.provider` names; raises SettingsError for an unknown name."""
    build = PROVIDERS.get(web.provider)
    if build is None:
        near = get_close_matches(web.provider, PROVIDERS, 1)
        raise SettingsError(
            f"web.provider: there is no search service {web.provider!r}",
            where="web.provider",
            advice=f"did you mean {near[0]}?" if near else f"one of: {', '.join(PROVIDERS)}",
        )
    return build(web)
