"""Who may be fetched: the allowlist, the rules for an address, and which IP numbers are public.

Pure functions over text, apart from `web.py`, so that every rule of the trust boundary can be
tested without a socket. An address that passes is rebuilt from its parts: what was checked is
what is fetched, and no second parser gets to read the original text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urljoin, urlsplit

import idna

from aether.errors import WebRefused

PREFERRED = 0.85
LISTED = 0.70
_MAX_URL = 2048
_MAX_HOST = 253
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ufeff]")
_TRACKING = re.compile(r"utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|ocid|wt\.mc_id", re.IGNORECASE)
_INDEX = re.compile(r"/(?:index\.(?:html?|php)|default\.aspx)?$", re.IGNORECASE)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all global IPv6 there is, RFC 4291
_COMPATIBLE = ipaddress.IPv6Network("::/96")  # IPv4-compatible, withdrawn by RFC 4291
_PATH_SAFE = "/%:@!$&'()*+,;=~-._"
_ADVICE = "only https addresses of the sites in kb/sources are fetched"


@dataclass(frozen=True, slots=True)
class Place:
    """A site on the allowlist: whose it is and how far it is trusted."""

    id: str
    hosts: tuple[str, ...]
    vendor: str = ""
    tier: float = LISTED  # PREFERRED for a vendor that the expert prefers, else LISTED
    type: str = "vendor_docs"


@dataclass(frozen=True, slots=True)
class Target:
    """An address that passed: rebuilt, with the name to connect to and the place it belongs to."""

    url: str
    host: str
    path: str  # path and query, as they go on the wire
    place: Place


class Allowlist:
    """Host names that may be fetched, matched by suffix on a label boundary."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places: dict[str, Place] = {}
        for place in places:
            for host in place.hosts:
                self._places.setdefault(host_name(host), place)

    def place(self, host: str) -> Place | None:
        """Return the place of a checked host name; the longest listed suffix wins."""
        labels = host.split(".")
        suffixes = (".".join(labels[i:]) for i in range(len(labels) - 1))
        return next((self._places[s] for s in suffixes if s in self._places), None)

    def check(self, url: str, base: str = "") -> Target:
        """Return the rebuilt address, or raise WebRefused; `base` resolves a relative redirect."""
        parts = _split(url, base)
        if parts.scheme.lower() != "https":
            raise _refused("the address is not https", url)
        if "@" in parts.netloc:
            raise _refused("the address carries a user name", url)
        host = host_name(_without_port(parts.netloc, url))
        place = self.place(host)
        if place is None:
            raise _refused(f"{host} is not on the allowlist", url)
        path = quote(parts.path or "/", safe=_PATH_SAFE)
        if parts.query:
            path += "?" + quote(parts.query, safe=_PATH_SAFE + "?")
        return Target(f"https://{host}{path}", host, path, place)

    def listed(self, hosts: Sequence[str]) -> tuple[str, ...]:
        """Return those of `hosts` that are on the list, checked, in order, without doubles."""
        names: dict[str, None] = {}
        for host in hosts:
            try:
                name = host_name(host)
            except WebRefused:
                continue  # a plan never widens the list
            if self.place(name):
                names[name] = None
        return tuple(names)


def host_name(text: str) -> str:
    """Return the lower-case ASCII form (IDNA, UTS 46) of a host name.

    Raises WebRefused for IP numbers in every notation, for a trailing dot, for a single label
    and for whatever is no name at all. The last-label rule for numbers is the one of the WHATWG
    URL standard ("ends in a number"), taken after the mapping, so that full-width digits count.
    """
    if not text or len(text) > _MAX_HOST or _UNSAFE.search(text):
        raise _refused("the host name is empty, too long or has odd characters", text)
    if any(mark in text for mark in ":[]%@/?#"):
        raise _refused("the host is an IP number or no name", text)
    try:
        name = idna.encode(text, uts46=True, std3_rules=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise _refused("the host name is not a valid name", text) from error
    labels = name.split(".")
    if not labels[-1]:
        raise _refused("the host name ends in a dot", text)
    if _NUMERIC.fullmatch(labels[-1]):
        raise _refused("the host is an IP number", text)
    if len(labels) < 2:
        raise _refused("the host name has a single label", text)
    return name


def under(host: str, hosts: Iterable[str]) -> bool:
    """Tell whether a checked name is one of `hosts` or lies below one of them."""
    return any(host == other or host.endswith("." + other) for other in hosts)


def is_public(text: str) -> bool:
    """Tell whether an IP number may be connected to; tunnels count as what they wrap.

    IPv4-mapped and IPv4-compatible IPv6, 6to4 (RFC 3056) and NAT64 (RFC 6052) are unwrapped,
    because a gateway on the way would deliver to the IPv4 number inside.
    """
    if "%" in text:
        return False  # a zone id names a link of this machine
    try:
        number = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(number, ipaddress.IPv6Address):
        inner = number.ipv4_mapped or number.sixtofour
        if inner is None and (number in _NAT64 or number in _COMPATIBLE):
            inner = ipaddress.IPv4Address(int(number) & 0xFFFFFFFF)
        if inner is None and number not in _UNICAST:
            return False
        number = inner or number
    return number.is_global and not number.is_multicast and not number.is_reserved


def check_addresses(host: str, addresses: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses of a name when all are public, else raise WebRefused.

    One private number among public ones is refused as a whole: that mixture is how a hostile
    name server reaches into the local network.
    """
    if not addresses:
        raise _refused(f"{host} has no address", host)
    inside = [a for a in addresses if not is_public(a)]
    if inside:
        raise _refused(f"{host} resolves to {inside[0]}, which is not a public address", host)
    return tuple(dict.fromkeys(addresses))


def canonical(url: str) -> str:
    """Return a key under which two addresses of one page are equal; never meant for fetching."""
    parts = urlsplit(url)
    kept = sorted(
        (k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if not _tracks(k)
    )
    path = _INDEX.sub("", parts.path)
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}{path}" + (f"?{urlencode(kept)}" if kept else "")


def _tracks(key: str) -> bool:
    return bool(_TRACKING.fullmatch(key))


def _split(url: str, base: str) -> SplitResult:
    if not url or len(url) > _MAX_URL or _UNSAFE.search(url):
        raise _refused("the address is empty, too long or has odd characters", url)
    try:
        return urlsplit(urljoin(base, url) if base else url)
    except ValueError as error:
        raise _refused("the address cannot be read", url) from error


def _without_port(netloc: str, url: str) -> str:
    host, colon, port = netloc.rpartition(":")
    if not colon:
        return netloc
    if port not in ("", "443"):
        raise _refused("the address names a port other than 443", url)
    return host


def _refused(what: str, where: str) -> WebRefused:
    return WebRefused(what, where=where[:200].encode("unicode_escape").decode(), advice=_ADVICE)
