"""Plain functions over plain text: words, sentences, windows, word weights, token estimates.

Apart because routing, web extraction, ingest and the claim check must agree on what a word and a
sentence are; each door would otherwise bring its own.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

WORD = re.compile(r"[^\W_]+(?:[.+#'\u2019/_-][^\W_]+)*[+#]*", re.UNICODE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9\u00c0-\u024f`*])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|sec|inc|ltd|dr|mr|ms|st|max|min)|\b[A-Z])\.$",
    re.IGNORECASE,
)
UNSEEN = re.compile(  # control characters, direction overrides, zero widths, lone surrogates
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SPLIT = re.compile(r"[.\-_/'+#]+")
_STOP = """
    a about after all also am an and any are as at be because been before being between both but
    by can could did do does doing for from get had has have having he her here him his how i if
    in into is it its just let like make me more most my need no not of off on one only or other
    our out over own please same she should so some such than that the their them then there
    these they this those through to too two under until up use using very want was way we were
    what when where which while who why will with would you your
"""
STOP_WORDS = frozenset(_STOP.split())


def fold(text: str) -> str:
    """Lower case, compatibility-normalised, curly quotes and dashes made plain, spaces single."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = text.translate(str.maketrans("\u2019\u2018\u201c\u201d\u2013\u2014\u2011", "''\"\"---"))
    return " ".join(text.split())


def words(text: str) -> list[str]:
    """Words of folded text in order; `c++`, `802.1x` and `wi-fi` stay whole."""
    return [m.group().replace("\u2019", "'") for m in WORD.finditer(fold(text))]


def content_words(text: str) -> list[str]:
    """Words that carry meaning, stemmed; stop words and single letters are left out."""
    return [stem(w) for w in words(text) if w not in STOP_WORDS and (len(w) > 1 or w.isdigit())]


def tokens(text: str) -> tuple[str, ...]:
    """Stemmed words for matching phrases; `site-to-site` and `google_project` fall into parts."""
    return tuple(
        stem(part)
        for word in words(text)
        for part in (_SPLIT.split(word) if len(word) > 3 else [word])
        if part
    )


def stem(word: str) -> str:
    """Fold plain English plurals and possessives; `vpcs` -> `vpc`, `policies` -> `policy`."""
    word = word.removesuffix("'s")
    if len(word) <= 3 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def sentences(text: str) -> list[str]:
    """Sentences of a stretch of prose; abbreviations and versions do not end one."""
    out: list[str] = []
    for line in text.splitlines():
        start = 0
        for match in _SENTENCE_END.finditer(line):
            # only the last few letters, or a line full of initials would take for ever
            if _ABBREVIATION.search(line, max(start, match.start() - 12), match.start()):
                continue
            out.append(line[start : match.end()].strip())
            start = match.end()
        out.append(line[start:].strip())
    return [s for s in out if s]


def windows(text: str, size: int = 3) -> list[str]:
    """Overlapping windows of `size` sentences; the whole text where it has fewer."""
    parts = sentences(text)
    if len(parts) <= size:
        return [" ".join(parts)] if parts else []
    return [" ".join(parts[i : i + size]) for i in range(len(parts) - size + 1)]


def idf(documents: Iterable[Iterable[str]]) -> dict[str, float]:
    """Smoothed inverse document frequency, `ln((1+N)/(1+n)) + 1` (as in scikit-learn)."""
    seen: Counter[str] = Counter()
    total = 0
    for document in documents:
        seen.update(set(document))
        total += 1
    return {word: math.log((1 + total) / (1 + n)) + 1 for word, n in seen.items()}


def coverage(wanted: Sequence[str], given: Iterable[str], weights: Mapping[str, float]) -> float:
    """Weighted share, 0-1, of the distinct `wanted` words found in `given`; unknown weigh most."""
    need = set(wanted)
    if not need:
        return 0.0
    have = set(given)
    rare = max(weights.values(), default=1.0)
    total = sum(weights.get(w, rare) for w in need)
    return sum(weights.get(w, rare) for w in need if w in have) / total


def estimate_tokens(text: str) -> int:
    """Tokens of `text` without a tokenizer: the larger of bytes/3.6 and 1.3 a word, rounded up.

    Meant to err upwards for Gemma and Qwen vocabularies, so that a budget is kept.
    """
    return math.ceil(max(len(text.encode("utf-8")) / 3.6, 1.3 * len(text.split())))
