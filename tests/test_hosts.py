"""Rules of the trust boundary: which names, addresses and IP numbers pass."""

from __future__ import annotations

import pytest

from aether.errors import WebRefused
from aether.hosts import (
    Allowlist,
    Place,
    canonical,
    check_addresses,
    host_name,
    is_public,
    under,
)

AWS = Place("aws_docs", ("docs.aws.amazon.com",), "AWS", 0.85)
LEARN = Place("learn", ("learn.microsoft.com",), "Microsoft")
BUECHER = Place("idn", ("bücher.example",))
ALLOW = Allowlist([AWS, LEARN, BUECHER])


@pytest.mark.parametrize(
    ("url", "place", "rebuilt"),
    [
        ("https://docs.aws.amazon.com/vpc/x.html", AWS, "https://docs.aws.amazon.com/vpc/x.html"),
        ("HTTPS://DOCS.AWS.Amazon.com", AWS, "https://docs.aws.amazon.com/"),
        ("https://docs.aws.amazon.com:443/a?b=1#c", AWS, "https://docs.aws.amazon.com/a?b=1"),
        ("https://eu.docs.aws.amazon.com/a", AWS, "https://eu.docs.aws.amazon.com/a"),
        ("https://learn.microsoft.com/a%20b", LEARN, "https://learn.microsoft.com/a%20b"),
        ("https://learn.microsoft.com/ü", LEARN, "https://learn.microsoft.com/%C3%BC"),
        ("https://bücher.example/a", BUECHER, "https://xn--bcher-kva.example/a"),
        ("https://ｌｅａｒｎ.microsoft.com/a", LEARN, "https://learn.microsoft.com/a"),
        ("https://learn。microsoft。com/a", LEARN, "https://learn.microsoft.com/a"),
    ],
)
def test_a_listed_address_passes_and_is_rebuilt(url: str, place: Place, rebuilt: str) -> None:
    target = ALLOW.check(url)
    assert (target.place, target.url) == (place, rebuilt)
    assert target.url == f"https://{target.host}{target.path}"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "docs.aws.amazon.com/x",
        "//docs.aws.amazon.com/x",
        "http://docs.aws.amazon.com/x",
        "ftp://docs.aws.amazon.com/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https:docs.aws.amazon.com/x",
        "https:///docs.aws.amazon.com/x",
        "https://docs.aws.amazon.com:8443/x",
        "https://docs.aws.amazon.com:80/x",
        "https://docs.aws.amazon.com:0443/x",
        "https://docs.aws.amazon.com:４４３/x",
        "https://user@docs.aws.amazon.com/x",
        "https://user:pw@docs.aws.amazon.com/x",
        "https://docs.aws.amazon.com@evil.example/x",
        "https://evil.example\\@docs.aws.amazon.com/x",
        "https://docs.aws.amazon.com\\.evil.example/x",
        "https://docs.aws.amazon.com./x",
        "https://docs.aws.amazon.com../x",
        "https://.docs.aws.amazon.com/x",
        "https://docs..aws.amazon.com/x",
        "https://evildocs.aws.amazon.com/x",
        "https://docs.aws.amazon.com.evil.example/x",
        "https://evil.example/docs.aws.amazon.com",
        "https://evil.example/?https://docs.aws.amazon.com/",
        "https://evil.example#docs.aws.amazon.com",
        "https://amazon.com/x",
        "https://docs.аws.amazon.com/x",  # Cyrillic a
        "https://docs.aws.amazon.com\t/x",
        "https://docs.aws.amazon.com/x y",
        "https://docs.aws.amazon.com/\r\nHost: evil.example",
        "https://docs.aws.ama\nzon.com/x",
        "https://docs.aws.amazon.com/\x00",
        "https://docs.aws.amazon.com%2eevil.example/x",
        "https://docs.aws.amazon.com%00.evil.example/x",
        "https://localhost/x",
        "https://127.0.0.1/x",
        "https://2130706433/x",
        "https://0177.0.0.1/x",
        "https://0x7f.0.0.1/x",
        "https://0x7f000001/x",
        "https://127.1/x",
        "https://１２７.0.0.1/x",
        "https://127。0。0。1/x",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "https://[fe80::1%25eth0]/x",
        "https://[::1/x",
        "https://docs.aws.amazon.com/" + "a" * 3000,
    ],
)
def test_any_other_address_is_refused_with_advice(url: str) -> None:
    with pytest.raises(WebRefused) as refused:
        ALLOW.check(url)
    assert refused.value.what
    assert refused.value.advice
    assert "\n" not in refused.value.where


def test_a_redirect_is_checked_like_any_address() -> None:
    base = "https://docs.aws.amazon.com/vpc/latest/x.html"
    assert ALLOW.check("../y.html", base).url == "https://docs.aws.amazon.com/vpc/y.html"
    assert ALLOW.check("//learn.microsoft.com/a", base).place == LEARN
    for location in ("//evil.example/a", "http://docs.aws.amazon.com/a", "https://10.0.0.1/", ""):
        with pytest.raises(WebRefused):
            ALLOW.check(location, base)


def test_the_longest_listed_suffix_names_the_place() -> None:
    blogs = Place("blogs", ("blogs.vendor.example",), tier=0.7)
    vendor = Place("vendor", ("vendor.example",), tier=0.85)
    allow = Allowlist([vendor, blogs])
    assert allow.check("https://eu.blogs.vendor.example/").place == blogs
    assert allow.check("https://docs.vendor.example/").place == vendor


def test_a_plan_cannot_widen_the_list() -> None:
    asked = ["Docs.AWS.amazon.com", "evil.example", "10.0.0.1", "docs.aws.amazon.com", "com", ""]
    assert ALLOW.listed(asked) == ("docs.aws.amazon.com",)


@pytest.mark.parametrize("host", ["com", "localhost", "10.0.0.1", "a b.example", "a_b.example", ""])
def test_a_place_cannot_list_a_bare_suffix_or_a_number(host: str) -> None:
    with pytest.raises(WebRefused):
        Allowlist([Place("bad", (host,))])


def test_names_are_compared_on_label_boundaries() -> None:
    assert under("a.b.example", ["b.example"])
    assert under("b.example", ["b.example"])
    assert not under("ab.example", ["b.example"])
    assert host_name("WWW.Example.COM") == "www.example.com"


@pytest.mark.parametrize(
    "number",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "192.168.1.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "233.252.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "64:ff9b::7f00:1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1111%1",
        "ff02::1",
        "ff0e::1",
        "2001:db8::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "fec0::1",
        "no number",
        "",
    ],
)
def test_numbers_that_are_not_public(number: str) -> None:
    assert not is_public(number)


@pytest.mark.parametrize(
    "number",
    ["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34", "2002:5db8:d822::1"]
    + ["64:ff9b::5db8:d822"],
)
def test_numbers_that_are_public(number: str) -> None:
    assert is_public(number)


def test_one_private_address_among_public_ones_refuses_the_name() -> None:
    assert check_addresses("a.example", ["93.184.216.34"] * 2) == ("93.184.216.34",)
    for answer in ([], ["93.184.216.34", "10.0.0.1"], ["::1"]):
        with pytest.raises(WebRefused):
            check_addresses("a.example", answer)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x/", "https://a.example/x"),
        ("https://www.a.example/x", "https://a.example/x#part"),
        ("https://a.example/x/index.html", "https://a.example/x"),
        ("https://a.example/x?b=2&a=1&utm_source=q", "https://a.example/x?a=1&b=2"),
    ],
)
def test_two_addresses_of_one_page_have_one_key(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


def test_different_pages_keep_different_keys() -> None:
    urls = ("https://a.example/x", "https://a.example/y", "https://a.example/x?id=1")
    assert len({canonical(url) for url in urls}) == 3
