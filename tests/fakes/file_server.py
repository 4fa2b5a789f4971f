"""A server of one large file, as hubs serve model files: redirects, ranges, tags, broken lines."""

from __future__ import annotations

import hashlib
import re
import socket
import ssl
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FileServer:
    """Serves `content` at any path; a context manager. Everything may be changed while it runs."""

    def __init__(self, content: bytes, *, tls: ssl.SSLContext | None = None) -> None:
        self.content = content
        self.etag = '"v1"'
        self.linked = hashlib.sha256(content).hexdigest()  # X-Linked-ETag of the redirect; "": none
        self.redirect = True  # the first answer names another address, as hubs do
        self.cut_after: list[int] = []  # one request after the other breaks after so many bytes
        self.ranges = True
        self.status = 200  # of the file itself
        self.length = True  # tell Content-Length
        self.hold = threading.Event()  # set: the second half waits until the client goes away
        self.asked: list[tuple[str, str]] = []  # path and Range header
        self._tls = tls
        self._http: _Server | None = None

    def __enter__(self) -> FileServer:
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.fake = self
        if self._tls:
            self._http.socket = self._tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._http is not None
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        assert self._http is not None
        scheme = "https" if self._tls else "http"
        return f"{scheme}://localhost:{self._http.server_address[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    fake: FileServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        fake = self.server.fake
        self.close_connection = True
        fake.asked.append((self.path, self.headers.get("Range", "")))
        if fake.redirect and not self.path.startswith("/cdn"):
            headers = {"Location": f"/cdn{self.path}", "Content-Length": "0"}
            if fake.linked:
                headers["X-Linked-ETag"] = f'"{fake.linked}"'
            self._head(302, headers)
            return
        start = self._start()
        total = len(fake.content)
        headers = {"ETag": fake.etag}
        if fake.length:
            headers["Content-Length"] = str(total - start)
        if start:
            headers["Content-Range"] = f"bytes {start}-{total - 1}/{total}"
        status = 206 if start and fake.status == 200 else fake.status
        self._head(status, headers)
        with suppress(OSError):
            self._send(fake.content[start:])

    def _start(self) -> int:
        fake = self.server.fake
        found = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range", fake.etag) == fake.etag
        return int(found[1]) if found and fake.ranges and same else 0

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | {"Connection": "close"}).items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, data: bytes) -> None:
        fake = self.server.fake
        if fake.cut_after:
            self.wfile.write(data[: fake.cut_after.pop(0)])
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fake.hold.is_set():
            self.wfile.write(data[: len(data) // 2])
            self.connection.recv(1)  # until the client goes away
        else:
            self.wfile.write(data)
