"""How a listed page is fetched: pinned connections, capped bodies, redirects checked again.

A name is resolved once, its addresses checked, and the connection made to just those, so that a
name server cannot answer differently a second time (DNS rebinding). With `web.proxy` the proxy
resolves, and gets names only. httpcore reads no environment; that is why it is used directly.
"""

from __future__ import annotations

import codecs
import re
import socket
import ssl
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore

from aether import __version__
from aether.errors import WebError, WebFailed, WebOffline
from aether.hosts import Allowlist, Target, check_addresses

USER_AGENT = f"Aether/{__version__}"
MAX_BYTES = 3_000_000  # of one page, after decompression
_MAX_REDIRECTS = 4
_CONNECT_S = 3.0  # for one address of several
_HTML = ("text/html", "application/xhtml+xml")
_TEXT = ("text/plain", "text/markdown", "text/x-markdown")
_HEADERS = (
    ("User-Agent", USER_AGENT),
    ("Accept", "text/html, text/markdown;q=0.9, text/plain;q=0.8"),
    ("Accept-Language", "en"),
    ("Accept-Encoding", "gzip"),
)
_CHARSETS = re.compile(
    r"(?:utf-?8|utf-?16|iso-?8859|windows-|cp\d|(?:us-)?ascii|latin|gb|big5|euc|shift|koi8)"
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{2,20})", re.IGNORECASE)
Resolver = Callable[[str], Sequence[str]]
Dial = Callable[[str, int, float], httpcore.NetworkStream]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Reply:
    """A page as it came: where it really was after redirects, and its text."""

    target: Target
    text: str
    html: bool


def resolve(host: str) -> list[str]:
    """Return the IP numbers of a name as the system knows them; raises OSError."""
    rows = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in rows]


def dial(address: str, port: int, timeout_s: float) -> httpcore.NetworkStream:
    """Open a TCP connection; raises httpcore's ConnectError or ConnectTimeout."""
    return httpcore.SyncBackend().connect_tcp(address, port, timeout=timeout_s)


def tls_context(ca_file: str) -> ssl.SSLContext:
    """Return a context that trusts the usual authorities and the one in `ca_file`."""
    context = httpcore.default_ssl_context()
    if ca_file:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:  # ssl.SSLError is one
            raise WebFailed(
                "web.ca_file cannot be read",
                where=f"{ca_file}: {error}",
                advice="name a PEM file with the authority of the proxy",
            ) from error
    return context


def fetch(
    target: Target, allow: Allowlist, wire: Wire, context: ssl.SSLContext, proxy: str
) -> Reply:
    """Fetch one page, following redirects to listed sites; raises WebError."""
    try:
        with _pool(proxy, context, wire) as pool:
            for _ in range(_MAX_REDIRECTS + 1):
                answer = _get(pool, target, allow)
                if isinstance(answer, Reply):
                    return answer
                target = answer
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
    ) as error:
        raise _translated(error, target.host) from error
    raise WebFailed(f"{target.host}: too many redirects", where=target.url)


def _pool(proxy: str, context: ssl.SSLContext, wire: Wire) -> httpcore.ConnectionPool:
    if not proxy:
        return httpcore.ConnectionPool(ssl_context=context, network_backend=wire)
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise _no_proxy() from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _no_proxy()
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return httpcore.HTTPProxy(
        httpcore.URL(scheme=parts.scheme, host=parts.hostname, port=port, target="/"),
        proxy_auth=auth,
        ssl_context=context,
        proxy_ssl_context=context if parts.scheme == "https" else None,
        network_backend=wire,
    )


def _no_proxy() -> WebFailed:
    advice = "such as http://proxy.example:3128"
    return WebFailed("web.proxy is no address of an HTTP proxy", advice=advice)


def _get(pool: httpcore.ConnectionPool, target: Target, allow: Allowlist) -> Reply | Target:
    """One request: the page, or where it redirects to, checked like any other address."""
    url = httpcore.URL(scheme=b"https", host=target.host, port=443, target=target.path)
    with pool.stream("GET", url, headers=[("Host", target.host), *_HEADERS]) as response:
        fields = {k.decode("latin-1").lower(): v for k, v in response.headers}
        if response.status in (301, 302, 303, 307, 308):
            return allow.check(_text(fields.get("location", b"")), base=target.url)
        if response.status != 200:
            raise WebFailed(f"{target.host} answered HTTP {response.status}", where=target.url)
        kind, _, options = _text(fields.get("content-type", b"")).lower().partition(";")
        if kind.strip() not in (*_HTML, *_TEXT):
            raise WebFailed(f"{target.host} sent {kind.strip() or 'no type'}", where=target.url)
        body = _body(response, _text(fields.get("content-encoding", b"")).lower(), target)
        charset = options.partition("charset=")[2].split(";")[0].strip(" \"'")
        html = kind.strip() in _HTML
        return Reply(target, _decode(body, charset, html), html)


def _body(response: httpcore.Response, encoding: str, target: Target) -> bytes:
    """Read at most MAX_BYTES, counted after decompression and before anything larger exists."""
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise WebFailed(f"{target.host} sent an encoding nobody asked for", where=encoding)
    inflate = zlib.decompressobj(47) if encoding not in ("", "identity") else None
    body = bytearray()
    for chunk in response.iter_stream():
        try:
            body += inflate.decompress(chunk, MAX_BYTES + 1 - len(body)) if inflate else chunk
        except zlib.error as error:
            raise WebFailed(f"{target.host} sent a broken page", where=target.url) from error
        if len(body) > MAX_BYTES:
            raise WebFailed(f"{target.host} sent more than {MAX_BYTES:,} bytes", where=target.url)
    return bytes(body)


def _decode(body: bytes, charset: str, html: bool) -> str:
    """Decode by byte-order mark, header, the page's own word, UTF-8, and Windows-1252 at last."""
    found = _META_CHARSET.search(body[:4096]) if html else None
    named = [charset, found.group(1).decode("ascii") if found else "", "utf-8"]
    if body.startswith(codecs.BOM_UTF8):
        named.insert(0, "utf-8-sig")
    for name in filter(_CHARSETS.match, named):
        with suppress(LookupError, UnicodeError):
            return body.decode(name)
    return body.decode("cp1252", errors="replace")


def _text(field: bytes) -> str:
    with suppress(UnicodeDecodeError):
        return field.decode("utf-8").strip()
    return field.decode("latin-1").strip()


def _translated(error: Exception, host: str) -> WebError:
    said = " ".join(str(error).split())
    if isinstance(error, httpcore.TimeoutException):
        return WebFailed(f"{host} did not answer in time")
    if "certificate" in said.lower():
        advice = "behind an inspecting proxy, web.ca_file names the proxy's authority"
        return WebFailed(f"the certificate of {host} is not trusted", where=said, advice=advice)
    if isinstance(error, httpcore.ConnectError) and "unreachable" in said.lower():
        return WebOffline("the network cannot be reached", where=said)
    if isinstance(error, httpcore.ProxyError):
        return WebFailed(f"web.proxy does not let {host} through: {said}")
    return WebFailed(f"{host} cannot be read: {said or type(error).__name__}")


class Wire(httpcore.NetworkBackend):
    """The connections of one lookup: resolved once, checked, pinned, and over at the deadline.

    `resolver` None means that a proxy resolves: only the proxy is connected to.
    """

    def __init__(self, resolver: Resolver | None, dial: Dial, end: float, clock: Clock) -> None:
        self._resolver = resolver
        self._dial = dial
        self._end = end
        self._clock = clock
        self._broken = False
        self._streams: list[httpcore.NetworkStream] = []

    def left(self, timeout: float | None = None) -> float:
        """Return the seconds that a wait may take; raises httpcore's timeout when none are."""
        left = self._end - self._clock()
        if left <= 0 or self._broken:
            raise httpcore.ReadTimeout("the time for this lookup is over")
        return left if timeout is None else min(left, timeout)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        """Connect to the checked addresses of `host` in turn; raises WebRefused, WebOffline."""
        failure: Exception = httpcore.ConnectError(f"no address of {host} answers")
        for address in self._addresses(host):
            try:
                stream = self._dial(address, port, self.left(_CONNECT_S))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return self.hold(stream)
        if self._resolver is None:
            raise WebOffline("web.proxy does not answer", where=str(failure)) from failure
        raise failure

    def hold(self, stream: httpcore.NetworkStream) -> httpcore.NetworkStream:
        """Put a stream under the deadline of this lookup."""
        self._streams.append(stream)
        return _Stream(stream, self)

    def _addresses(self, host: str) -> tuple[str, ...]:
        if self._resolver is None:
            return (host,)
        try:
            found = self._resolver(host)
        except OSError as error:
            raise WebOffline(f"{host} does not resolve", where=str(error)) from error
        return check_addresses(host, found)

    def break_off(self) -> None:
        """End every wait now; a shutdown wakes the thread that reads, which then closes."""
        self._broken = True
        for stream in tuple(self._streams):
            sock = stream.get_extra_info("socket")
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


class _Stream(httpcore.NetworkStream):
    """A stream whose every wait is cut to what the lookup has left."""

    def __init__(self, stream: httpcore.NetworkStream, wire: Wire) -> None:
        self._stream = stream
        self._wire = wire

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._wire.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._wire.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._wire.left(timeout)
        return self._wire.hold(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
