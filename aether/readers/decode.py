"""Bytes of a text file to text: the encoding by its mark, by trial, then by statistics."""

from __future__ import annotations

import codecs
import re
from importlib import import_module

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
_SAMPLE = 200_000
_WESTERN = 0.1  # up to this share of bytes beyond ASCII, accents in Latin script explain them


def decode(raw: bytes) -> str:
    """Text of `raw` with line feeds only and no control characters; never fails."""
    text = raw.decode(_encoding(raw), errors="replace")
    return _UNPRINTABLE.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))


def looks_binary(head: bytes) -> bool:
    """Whether the first bytes of a file are no text in any encoding that `decode` knows."""
    if any(head.startswith(mark) for mark, _ in _MARKS) or _wide(head):
        return False
    controls = len(_CONTROL.findall(head))
    return b"\x00" in head or controls > len(head) / 20


def _encoding(raw: bytes) -> str:
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return name
    if wide := _wide(raw[:4096]):
        return wide
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return _single_byte(raw)
    return "utf-8"


def _wide(head: bytes) -> str:
    """UTF-16 without a mark: nearly every second byte of Latin text is zero."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    pairs = max(1, len(head) // 2)
    if odd > 0.7 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 * pairs and odd < 0.1 * pairs else ""


def _single_byte(raw: bytes) -> str:
    sample = raw[:_SAMPLE]
    high = sum(byte > 127 for byte in sample)
    if high <= _WESTERN * len(sample):
        return "cp1252"
    best = import_module("charset_normalizer").from_bytes(sample).best()
    return str(best.encoding) if best is not None else "cp1252"
