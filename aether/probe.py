"""Short questions to a model server over HTTP, and the rules for the way there.

Apart from `servers.py`, which knows what to ask: here is only how, with short time-outs, and
never through a proxy to this machine.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2

from aether.settings import LlmSettings

SILENT = -1  # connected, but no answer in time


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP status with its JSON; 0 for an answer that is no JSON, SILENT for none in time."""

    status: int
    data: object

    def rows(self, key: str = "data") -> list[dict[str, Any]] | None:
        """The list of objects under `key`, [] for null; None where the answer has no such list."""
        if self.status != 200 or not isinstance(self.data, dict):
            return None
        data = cast(dict[str, Any], self.data)
        if key not in data:
            return None
        value = data[key]
        rows = cast(list[Any], value) if isinstance(value, list) else []
        return [cast(dict[str, Any], row) for row in rows if isinstance(row, dict)]

    def at(self, *path: str) -> Any:
        """The value at a path of keys, None where it does not lead anywhere."""
        value: Any = self.data if self.status == 200 else None
        for key in path:
            value = cast(dict[str, Any], value).get(key) if isinstance(value, dict) else None
        return value


class Probe:
    """Short questions, each over a connection of its own: none is stale after a restart."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._clients: dict[tuple[bool, bool], httpx2.Client] = {}
        self._lock = threading.Lock()
        self.kinds: dict[str, str] = {}

    def ask(self, url: str, body: Mapping[str, Any] | None = None, key: str = "") -> Reply | None:
        """GET, or POST of JSON; None where nobody answers in time."""
        client = self._client(uses_environment(self._settings, url), url.startswith("https:"))
        headers = {"Authorization": f"Bearer {key or self._settings.api_key or 'none'}"}
        try:
            if body is None:
                response = client.get(url, headers=headers)
            else:
                response = client.post(url, headers=headers, json=dict(body))
            data: object = response.json()
        except ValueError:  # an answer, but not JSON
            return Reply(0, None)
        except httpx2.ReadTimeout:  # several servers answer nothing else while they generate
            return Reply(SILENT, None)
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return None
        return Reply(response.status_code, data)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            while self._clients:
                self._clients.popitem()[1].close()

    def _client(self, environment: bool, tls: bool) -> httpx2.Client:
        with self._lock:
            if (environment, tls) not in self._clients:
                self._clients[environment, tls] = httpx2.Client(
                    trust_env=environment,
                    verify=tls,  # reading the authorities takes 0.1 s, for nothing on plain HTTP
                    timeout=httpx2.Timeout(2.0, connect=0.7),
                    limits=httpx2.Limits(max_keepalive_connections=0),
                )
            return self._clients[environment, tls]


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def uses_environment(settings: LlmSettings, url: str) -> bool:
    """Whether a proxy of the environment applies: never to this machine."""
    return settings.trust_env and not is_loopback(url)


def tidy(base_url: str) -> str:
    """`llm.base_url` as people write it: no slash at the end, and `/v1` where no path is given."""
    url = base_url.strip().rstrip("/")
    if "://" not in url:
        url = f"http://{url}"
    parts = urlsplit(url)
    return f"{url}/v1" if not parts.path else url


def root_of(base: str) -> str:
    """Where a server's own endpoints lie, beside its `/v1`."""
    return base.removesuffix("/v1")
