"""One large file over HTTP: in pieces, from where it was left, through the company's proxy.

Apart from `models.py`, which knows the catalogue but no network. Redirects are followed by
hand, because Hugging Face tells a file's SHA-256 on the first answer and sends it from elsewhere.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import httpx2

from aether import __version__
from aether.cancel import Cancel
from aether.errors import Cancelled, DownloadError, SettingsError
from aether.probe import is_loopback
from aether.settings import WebSettings
from aether.wire import Wire

SPARE = 200_000_000  # bytes that a download leaves free
Progress = Callable[[int, int], None]  # bytes so far, bytes in all
_SHA256 = re.compile(r'(?:W/)?"?([0-9a-fA-F]{64})"?\Z')
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_PROXY = "behind a company's proxy set web.proxy and web.ca_file"


@dataclass(frozen=True, slots=True)
class Head:
    """What the server says before the bytes: where they begin, how many there are in all."""

    offset: int
    total: int  # bytes of the whole file, 0 where the server does not tell
    etag: str  # sent back as `If-Range`, so that halves of two files are never joined
    sha256: str  # as Hugging Face gives it for large files, else empty


def download(
    url: str,
    *,
    cancel: Cancel,
    offset: int = 0,
    etag: str = "",
    proxy: str = "",
    ca_file: str = "",
) -> Iterator[Head | bytes]:
    """Yield one Head, then the bytes from `offset` on (from 0 where the server cannot resume).

    Raises DownloadError; Cancelled as soon as Stop is pressed, also in the middle of a silence.
    """
    wire = Wire()
    headers = {"User-Agent": f"aether/{__version__}", "Accept-Encoding": "identity"}
    if offset and etag:
        headers |= {"Range": f"bytes={offset}-", "If-Range": etag}
    try:
        with (
            cancel.on_cancel(lambda: wire.cut(Cancelled())),
            httpx2.Client(
                trust_env=False,
                proxy=proxy if proxy and not is_loopback(url) else None,
                verify=_trust(ca_file),
                timeout=httpx2.Timeout(30.0, connect=15.0),
            ) as client,
        ):
            response, sha256 = _follow(client, url, headers, wire)
            try:
                yield _head(response, sha256)
                yield from response.iter_raw()
            finally:
                response.close()
            wire.check()
    except httpx2.ProxyError as error:
        raise DownloadError(f"the proxy refused: {error}", where=url, advice=_PROXY) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        wire.check()
        raise DownloadError(
            f"the download broke off: {str(error) or type(error).__name__}",
            where=url,
            advice=f"run it again, it goes on where it stopped; {_PROXY}",
        ) from error


def fetch(
    url: str,
    part: Path,
    *,
    size: int,
    sha256: str,
    web: WebSettings,
    report: Progress,
    cancel: Cancel,
) -> Path:
    """Bring `part` to the whole file, going on where it stands, and compare its SHA-256; its path.

    `size` in bytes is asked of the disk where the server does not tell its own. A connection that
    breaks is taken up again as long as each try brings something. Raises DownloadError, OSError.
    """
    file = PartFile(part, cancel)
    expected = sha256
    while file.offset != size or not expected:
        start = file.offset
        pieces = download(url, cancel=cancel, offset=start, etag=file.etag,
                          proxy=web.proxy, ca_file=web.ca_file)  # fmt: skip
        try:
            with part.open("ab") as out:
                for piece in pieces:
                    if isinstance(piece, bytes):
                        file.add(out, piece)
                    else:
                        expected = sha256 or _named(piece, url)
                        size = piece.total or size
                        file.begin(out, piece, size)
                    report(file.offset, size)
            break
        except DownloadError:
            if file.offset <= start:
                raise
    file.compare(expected)
    return part


class PartFile:
    """An unfinished download: its bytes, their SHA-256 so far, and the tag of the whole."""

    def __init__(self, path: Path, cancel: Cancel) -> None:
        self._path = path
        self._tag = path.with_suffix(".etag")
        self._digest = hashlib.sha256()
        self.offset = 0
        self.etag = self._tag.read_text("utf-8") if self._tag.is_file() else ""
        if path.is_file():
            with path.open("rb") as file:
                while block := file.read(1 << 22):
                    cancel.check()
                    self._digest.update(block)
                    self.offset += len(block)

    def begin(self, out: IO[bytes], head: Head, size: int) -> None:
        """Go on where the server does: behind what is there, or from the beginning."""
        if head.offset not in (0, self.offset):
            raise DownloadError(
                "the server goes on at another place than was asked for",
                advice=f"delete {self._path}, and run it again",
            )
        if head.offset != self.offset:
            out.truncate(0)
            self._digest, self.offset = hashlib.sha256(), 0
        free = shutil.disk_usage(self._path.parent).free
        if free < size - self.offset + SPARE:
            raise DownloadError(
                f"the disk is too full: {(size - self.offset) / 1e9:.1f} GB are still to come, "
                f"{free / 1e9:.1f} GB are free",
                where=str(self._path.parent),
                advice="free some space, choose a smaller model, or move AETHER_HOME",
            )
        self.etag = head.etag
        self._tag.write_text(head.etag, "utf-8")

    def add(self, out: IO[bytes], piece: bytes) -> None:
        """Write a piece at the end."""
        out.write(piece)
        self._digest.update(piece)
        self.offset += len(piece)

    def compare(self, expected: str) -> None:
        """Check the whole; what does not match is deleted, so that the next try starts afresh."""
        self._tag.unlink(missing_ok=True)
        found = self._digest.hexdigest()
        if found != expected:
            self._path.unlink(missing_ok=True)
            raise DownloadError(
                "the file does not match its checksum, and was deleted",
                where=str(self._path),
                advice=f"SHA-256 {found} instead of {expected}: run it again; if it happens again, "
                "somebody on the way changes the file",
            )


def _named(head: Head, url: str) -> str:
    if not head.sha256:
        raise DownloadError(
            "no checksum is known for this file: neither the catalogue nor the server names one",
            where=url,
            advice="choose another model, or download it by hand and run `aether model use FILE`",
        )
    return head.sha256


def _follow(
    client: httpx2.Client, url: str, headers: dict[str, str], wire: Wire
) -> tuple[httpx2.Response, str]:
    """The answer at the end of at most five redirects, and the SHA-256 met on the way."""
    sha256 = ""
    extensions: Any = {"trace": wire.trace}
    for _ in range(6):
        wire.check()
        request = client.build_request("GET", url, headers=headers, extensions=extensions)
        response = client.send(request, stream=True)
        for name in ("x-linked-etag", "etag"):
            if not sha256 and (found := _SHA256.match(response.headers.get(name, ""))):
                sha256 = found.group(1).lower()
        if response.status_code not in (301, 302, 303, 307, 308):
            return _accepted(response, url), sha256
        onward = str(response.url.join(response.headers.get("location", "")))
        response.close()
        if urlsplit(url).scheme == "https" and urlsplit(onward).scheme != "https":
            raise DownloadError("the server redirects to an address without TLS", where=onward)
        url = onward
    raise DownloadError("the server redirects in a circle", where=url)


def _accepted(response: httpx2.Response, url: str) -> httpx2.Response:
    status = response.status_code
    if status in (200, 206):
        return response
    response.close()
    advice = {
        401: "the publisher asks for a sign-in: choose another model, or download it by hand",
        403: "the publisher asks for a sign-in: choose another model, or download it by hand",
        404: "the file has moved: choose another model, or name a mirror with --from",
        416: "delete the unfinished .part file beside the models, and run it again",
    }.get(status, "try again later")
    raise DownloadError(f"the server answered HTTP {status}", where=url, advice=advice)


def _head(response: httpx2.Response, sha256: str) -> Head:
    found = _RANGE.match(response.headers.get("content-range", ""))
    etag = response.headers.get("etag", "")
    if response.status_code == 206 and found:
        return Head(int(found.group(1)), int(found.group(2)), etag, sha256)
    length = response.headers.get("content-length", "")
    return Head(0, int(length) if length.isdigit() else 0, etag, sha256)


def _trust(ca_file: str) -> ssl.SSLContext | bool:
    if not ca_file:
        return True
    context = httpx2.create_ssl_context()
    try:
        context.load_verify_locations(ca_file)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"web.ca_file cannot be read: {error}",
            where=ca_file,
            advice="it must be a PEM file with the authority of your company's proxy",
        ) from error
    return context
