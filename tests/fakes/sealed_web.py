"""A sealed web on loopback: a proxy that answers every https host from a table of pages.

It plays the search engines that `ddgs` contacts as well, in the HTML that its parsers read, so that
the real search client and the real fetcher run against it through `web.proxy` and `web.ca_file`.

    with SealedWeb({"https://docs.aws.amazon.com/vpc/x.html": "<html>..."}, tmp_path) as web:
        settings = WebSettings(proxy=web.proxy, ca_file=web.ca_file)

From a shell, `python -m tests.fakes.sealed_web FOLDER` serves the `{url: html}` objects of all
JSON files of a folder and prints the two environment variables that point Aether at it.
"""

from __future__ import annotations

import html
import json
import re
import socket
import ssl
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import trustme

from aether.text import content_words


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is more than a page of HTML; `delay_s` is slept before it is sent."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    type: str = "text/html; charset=utf-8"
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Engine:
    parameter: str
    item: str  # with {url}, {title} and {snippet}
    around: str = "<div>%s</div>"


ENGINES = {
    "html.duckduckgo.com": _Engine(
        "q",
        '<div class="result"><div class="links_main result__body"><h2 class="result__title">'
        '<a class="result__a" href="{url}">{title}</a></h2>'
        '<a class="result__snippet" href="{url}">{snippet}</a></div></div>',
    ),
    "search.yahoo.com": _Engine(
        "p",
        '<div class="dd algo relsrch"><div class="compTitle"><h3><a href="{url}">{title}</a></h3>'
        '</div><div class="compText"><p>{snippet}</p></div></div>',
    ),
    "search.brave.com": _Engine(
        "q",
        '<div data-type="web"><a href="{url}"><div class="title">{title}</div></a>'
        '<div class="snippet-body"><div class="content">{snippet}</div></div></div>',
    ),
    "www.mojeek.com": _Engine(
        "q",
        '<li><h2><a href="{url}">{title}</a></h2><p class="s">{snippet}</p></li>',
        '<ul class="results-standard">%s</ul>',
    ),
}


class SealedWeb:
    """The proxy with its pages; the switches below may be set at any time."""

    def __init__(self, pages: Mapping[str, str | Reply], folder: Path) -> None:
        self.pages = {url: Reply(p) if isinstance(p, str) else p for url, p in pages.items()}
        self.rate_limited: bool | int = False  # True: always; a number: the next so many searches
        self.no_results = False
        self.engine_error = False
        self.slow = 0.0  # seconds before a search engine answers
        self.offline = False  # the proxy finds no host, as when its own network is down
        self.requests: list[str] = []  # every address asked for, engines too
        self.searches: list[str] = []  # the queries, as an engine got them
        self.proxied: list[str] = []  # the hosts that CONNECT named
        self.agents: list[str] = []  # the User-Agent of every request
        self.asked = threading.Event()  # set by the first request that is not a search
        self._authority = trustme.CA()
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sockets: set[socket.socket] = set()
        self.ca_file = str(folder / "sealed-web-ca.pem")
        self._authority.cert_pem.write_to_path(self.ca_file)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._front = socket.create_server(("127.0.0.1", 0))
        self.proxy = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.port = int(self._front.getsockname()[1])  # https without a proxy, host by SNI

    def __enter__(self) -> SealedWeb:
        self._start(lambda: self._accept(self._listener, self._tunnel))
        self._start(lambda: self._accept(self._front, self._direct))
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for listener in (self._listener, self._front):
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._lock:
            sockets, threads = tuple(self._sockets), tuple(self._threads)
        for sock in sockets:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(5)

    @property
    def fetched(self) -> list[str]:
        """The addresses asked for, without the search engines."""
        return [url for url in self.requests if urlsplit(url).hostname not in ENGINES]

    # --- connections ---

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="sealed-web", daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self._start(lambda sock=connection: serve(sock))

    def _tunnel(self, sock: socket.socket) -> None:
        with sock, suppress(OSError, ValueError):  # the client went away, or does not trust us
            sock.settimeout(15)
            line, _, _ = _read_request(sock)
            host = line.split(" ")[1].rpartition(":")[0] if line.startswith("CONNECT ") else ""
            self.proxied.append(host)
            if not host or self.offline:
                sock.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                return
            sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._serve(sock, self._context(host), host)

    def _direct(self, sock: socket.socket) -> None:
        named: list[str] = []

        def choose(wrapped: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
            named.append(name or "")
            wrapped.context = self._context(named[0])

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = choose
        with sock, suppress(OSError, ValueError):
            sock.settimeout(15)
            self._serve(sock, context, named)

    def _serve(self, sock: socket.socket, context: ssl.SSLContext, host: str | list[str]) -> None:
        with context.wrap_socket(sock, server_side=True) as held:
            with self._lock:
                self._sockets.add(held)
            try:
                self._answer(held, host if isinstance(host, str) else host[0])
            finally:
                with self._lock:
                    self._sockets.discard(held)

    def _context(self, host: str) -> ssl.SSLContext:
        with self._lock:
            if host not in self._contexts:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                self._authority.issue_cert(host).configure_cert(context)
                self._contexts[host] = context
            return self._contexts[host]

    def _answer(self, sock: socket.socket, host: str) -> None:
        line, fields, body = _read_request(sock)
        if fields["host"] != host:
            raise ValueError(f"the certificate is for {host}, the request for {fields['host']}")
        self.agents.append(fields.get("user-agent", ""))
        url = f"https://{host}{line.split(' ')[1]}"
        self.requests.append(url)
        if host not in ENGINES:
            self.asked.set()
        reply = self._search(host, url, body) if host in ENGINES else self.pages.get(url)
        reply = reply or Reply("<html><title>Not found</title>404</html>", 404)
        if reply.delay_s:
            self._stop.wait(reply.delay_s)
        content = reply.body.encode() if isinstance(reply.body, str) else reply.body
        sent = {
            "Content-Type": reply.type,
            "Content-Length": str(len(content)),
            "Connection": "close",
            **reply.headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        sock.sendall(f"HTTP/1.1 {reply.status} Sealed\r\n{head}\r\n".encode() + content)

    # --- search ---

    def _search(self, host: str, url: str, body: bytes) -> Reply:
        engine = ENGINES[host]
        form = parse_qs(body.decode() or urlsplit(url).query)
        query = form.get(engine.parameter, [""])[0]
        self.searches.append(query)
        if self.slow:
            self._stop.wait(self.slow)
        if self.rate_limited:
            if self.rate_limited is not True:
                self.rate_limited -= 1
            return Reply("slow down", 202 if "duckduckgo" in host else 429)
        if self.engine_error:
            return Reply("broken", 500)
        found = [] if self.no_results else self.find(query)
        rows = "".join(engine.item.format(url=u, title=t, snippet=s) for u, t, s in found)
        return Reply(f"<html><body>{engine.around % rows}</body></html>")

    def find(self, query: str, limit: int = 10) -> list[tuple[str, str, str]]:
        """Rows (url, title, snippet) of pages that share words with the query, best first."""
        sites = re.findall(r"site:([\w.-]+)", query)
        asked = set(content_words(re.sub(r"site:\S+|\bOR\b", " ", query)))
        rows: list[tuple[int, str, str, str]] = []
        for url, page in self.pages.items():
            host = urlsplit(url).hostname or ""
            if sites and not any(host == s or host.endswith("." + s) for s in sites):
                continue
            source = page.body if isinstance(page.body, str) else page.body.decode("latin-1")
            text = " ".join(re.sub(r"<[^>]*>", " ", source).split())
            shared = len(asked & set(content_words(f"{url} {text}")))
            if shared:
                title = re.search(r"<title>(.*?)</title>", source, re.DOTALL)
                rows.append((shared, url, title.group(1) if title else url, text[:160]))
        rows.sort(key=lambda row: -row[0])
        return [(html.escape(u), html.escape(t), html.escape(s)) for _, u, t, s in rows[:limit]]


def _read_request(sock: socket.socket) -> tuple[str, dict[str, str], bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = sock.recv(65536)
        if not chunk:
            raise ConnectionError("closed in the middle of a request")
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rest = head.decode("latin-1").split("\r\n")
    fields = {k.strip().lower(): v.strip() for k, _, v in (f.partition(":") for f in rest)}
    while len(body) < int(fields.get("content-length", 0)):
        chunk = sock.recv(65536)
        if not chunk:
            raise ConnectionError("closed in the middle of a body")
        body += chunk
    return line, fields, body


def main(folder: Path) -> None:
    """Serve a folder until standard input ends or Ctrl-C is pressed."""
    pages: dict[str, str | Reply] = {}
    for path in sorted(folder.glob("*.json")):
        pages.update(json.loads(path.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as spare, SealedWeb(pages, Path(spare)) as web:
        print(f"AETHER_WEB__PROXY={web.proxy}")
        print(f"AETHER_WEB__CA_FILE={web.ca_file}", flush=True)
        with suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
