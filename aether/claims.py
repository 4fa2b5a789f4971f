"""Claims of an answer, and how far a passage carries one: words, numbers, names, negation.

Pure text arithmetic, apart from `steps/score.py` so that it can be measured on labelled pairs
without a model, a store or a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aether.records import Claim, Hit, Verdict
from aether.text import (
    STOP_WORDS,
    content_words,
    coverage,
    fold,
    idf,
    sentences,
    stem,
    windows,
    words,
)

_BODY = r"\d{1,3}(?:[,;\s\u2013-]+\d{1,3})*"
MARKER = re.compile(r"[\[\u3010\uff3b]\s*(" + _BODY + r")\s*[\]\u3011\uff3d]")
MOST_OF_A_RANGE = 20
COVERAGE_FREE, COVERAGE_SPAN = 0.25, 0.5  # coverage below the first says nothing
NUMBER_MISS, NEGATION_MISS = 0.3, 0.7
SUPPORTED, UNSUPPORTED = 0.5, 0.25
_FENCE = re.compile(r"^\s*(```|~~~)")
_LIST = re.compile(r"^\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+")
_TRAILING = re.compile(r"([.!?:])[\"')]*\s*((?:" + MARKER.pattern + r"\s*)+)")
_NUMBER = re.compile(
    r"(?<![\w.])(?:v)?(\d+(?:[.,:/x]\d+)*)\s?-?\s?"
    r"(%|[a-z\u00b5]{1,12}\b(?:/s)?)?",
    re.IGNORECASE,
)
_VERSION = re.compile(r"v\d", re.IGNORECASE)
_UNITS = {
    "ms": "ms", "millisecond": "ms", "s": "s", "sec": "s", "second": "s", "min": "min",
    "minute": "min", "h": "h", "hour": "h", "d": "d", "day": "d", "week": "week", "month": "month",
    "year": "year", "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb", "pb": "pb", "kib": "kb",
    "mib": "mb", "gib": "gb", "tib": "tb", "kbps": "kbps", "mbps": "mbps", "gbps": "gbps",
    "tbps": "tbps", "gbit": "gbps", "mbit": "mbps", "ghz": "ghz", "mhz": "mhz", "db": "db",
    "dbm": "dbm", "m": "m", "km": "km", "byte": "byte", "bit": "bit", "%": "%", "percent": "%",
}  # fmt: skip


def _set(line: str) -> frozenset[str]:
    return frozenset(line.split())


MEASURES = frozenset(_UNITS.values())
_COUNT_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_NEGATIONS = _set(
    "not no never cannot none nor neither without unsupported unavailable impossible don't"
    " doesn't isn't aren't can't won't mustn't shouldn't didn't wasn't weren't"
)
_OPPOSITES = (
    (_set("enable enables enabled enabling"), _set("disable disables disabled disabling")),
    (_set("allow allows allowed permit permits permitted"), _set("deny denies denied forbidden")),
    (_set("before"), _set("after")),
    (_set("minimum lowest"), _set("maximum highest")),
    (_set("increase increases increased"), _set("decrease decreases decreased")),
    (_set("inbound ingress"), _set("outbound egress")),
    (_set("encrypted"), _set("unencrypted")),
    (_set("synchronous synchronously"), _set("asynchronous asynchronously")),
    (_set("public"), _set("private")),
    (_set("first"), _set("last")),
    (_set("required mandatory"), _set("optional")),
)
_FACT_VERBS = _set(
    "is are was were has have supports support requires require allows allow uses use provides"
    " provide must can cannot runs run sends send needs need creates create enables enable blocks"
    " block limits limit costs includes include contains contain replaces replace connects connect"
    " routes route encrypts encrypt stores store defaults default does do works work takes take"
    " shares share advertises advertise carries carry stays stay applies apply becomes become"
    " lets let makes make keeps keep gives give means belongs"
)
_ENDINGS = (
    "ations", "ation", "ingly", "ments", "ment", "ities", "ity", "ions", "ion", "ings", "ing",
    "edly", "ers", "er", "ors", "or", "ed", "ly", "al", "ive", "able", "es", "e", "y",
)  # fmt: skip
_NOT_A_CLAIM = re.compile(
    r"^(?:here (?:is|are)|in summary|to summari[sz]e|overall|note that this|let me|i |sure|"
    r"assumptions?\b|the (?:numbered |given |provided )?sources? (?:do|does) not|"
    r"(?:the )?following|see (?:also )?\[|(?:sources?|references|citations)\W*$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Support:
    """How far one window carries one claim; `value` is 0-1, `parts` its factors."""

    value: float
    parts: tuple[tuple[str, float], ...]
    window: str
    contradicted: bool = False


def source_numbers(body: str) -> tuple[int, ...]:
    """Numbers inside one marker, in order: `1, 3-5` -> 1 3 4 5; () where it is none, as in `0-9`.

    Dates, years and character classes stand in brackets too: a number of more than three digits,
    a range that runs down or one that starts at nought is no marker.
    """
    if not re.fullmatch(_BODY, body.strip()):
        return ()
    found: list[int] = []
    for piece in re.split(r"[,;\s]+", re.sub(r"\s*[\u2013-]\s*", "-", body.strip())):
        span = re.fullmatch(r"(\d+)(-\d+)?", piece)
        if not span:
            return ()
        low, high = int(span[1]), int((span[2] or span[1]).lstrip("-"))
        if low > high or span[2] and not low:
            return ()
        found.extend(range(low, min(high, low + MOST_OF_A_RANGE) + 1))
    return tuple(found)


def cited(text: str) -> tuple[int, ...]:
    """Source numbers named in a text, in order, each once; `[1, 2]`, `[1-3]` and full-width too."""
    found = (n for match in MARKER.finditer(text) for n in source_numbers(match.group(1)))
    return tuple(dict.fromkeys(found))


def without_markers(text: str) -> str:
    """The text with its citation markers taken out."""
    return re.sub(r"(?<!\s)\s+([.,;:!?])", r"\1", MARKER.sub("", text)).strip()


def statements(answer: str) -> tuple[str, ...]:
    """Sentences, bullets and table rows of an answer, with their markers; code is left out."""
    found: list[str] = []
    fenced = False
    for line in answer.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith(("#", ">", "    ", "\t")):
            found.extend(_of_line(line))
    return tuple(found)


def _of_line(line: str) -> list[str]:
    line = _LIST.sub("", line.strip())
    if line.startswith("|"):
        cells = [c.strip() for c in line.strip("|").split("|")]
        return [] if all(set(c) <= set("-: ") for c in cells) else [" \u2014 ".join(cells)]
    # a marker behind the full stop belongs to the sentence before it
    return sentences(_TRAILING.sub(lambda m: f" {m.group(2).strip()}{m.group(1)} ", line).strip())


def is_checkable(statement: str) -> bool:
    """Whether a statement asserts something: a number, a name, a factual verb, or a citation."""
    bare = without_markers(statement).strip("*_ ")
    said = words(bare)
    if bare.endswith(("?", ":")) or _NOT_A_CLAIM.match(bare) or len(said) < 3:
        return bool(cited(statement)) and len(said) >= 2 and not bare.endswith("?")
    asserts = numbers(bare) or names(bare) or _FACT_VERBS & set(said)
    return bool(asserts or cited(statement))


def numbers(text: str) -> frozenset[tuple[str, str]]:
    """Numbers with what they count: `10 Gbps` -> ("10", "gbps"), `50 routes` -> ("50", "route")."""
    found: set[tuple[str, str]] = set()
    for match in _NUMBER.finditer(fold(text)):
        value = match.group(1)
        value = value.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", value) else value
        unit = (match.group(2) or "").lower()
        found.add((value.rstrip(".,:/"), _unit(unit)))
    return frozenset(found)


def _unit(word: str) -> str:
    return (
        _UNITS.get(word)
        or _UNITS.get(word.removesuffix("s"))
        or ("" if word in STOP_WORDS else stem(word))
    )


def names(text: str) -> frozenset[str]:
    """Names, acronyms and types, folded: `AWS`, `vNet`, `gp3`; a plain capital inside the text."""
    found: set[str] = set()
    for i, raw in enumerate(re.findall(r"[\w][\w.+/&-]*", text)):
        if not raw[0].isalpha():  # a number with its unit
            continue
        inner = any(c.isupper() for c in raw[1:])
        typed = any(c.isdigit() for c in raw) and not _VERSION.match(raw)
        if inner or typed or (i > 0 and raw[0].isupper()):
            found.update(words(raw))
    return frozenset(found)


def roots(text: str) -> list[str]:
    """Content words without their endings, so that `peered` is carried by `peering`."""
    return [_root(word) for word in content_words(text)]


def _root(word: str) -> str:
    if len(word) <= 4 or not word.isalpha():
        return word
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 4), "")
    word = word.removesuffix(ending)
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word


def _weights(served: Mapping[int, str]) -> dict[str, float]:
    return idf(roots(w) for text in served.values() for w in windows(text))


def support(claim: str, passages: Sequence[str], weights: Mapping[str, float]) -> Support:
    """The window of these passages that carries the claim best.

    support = clip((coverage - 0.25)/0.5, 0, 1) * (1 if numbers else 0.3) * (0.5 + 0.5*names)
    * (1 if negation else 0.7), after the design of Aether's confidence.
    """
    bare = without_markers(claim)
    best = Support(0.0, (), "")
    for window in (w for passage in passages for w in windows(passage)):
        found = _window_support(bare, window, weights)
        if (found.value, found.parts) > (best.value, best.parts):
            best = found
    return best


def _window_support(claim: str, window: str, weights: Mapping[str, float]) -> Support:
    have = set(roots(window))
    covered = coverage(roots(claim), have, weights)
    agree, differ = _numbers_agree(numbers(claim), window)
    wanted = {stem(name) for name in names(claim)}
    named = len(wanted & {stem(w) for w in words(window)}) / len(wanted) if wanted else 1.0
    parity = _same_parity(claim, window)
    value = min(1.0, max(0.0, (covered - COVERAGE_FREE) / COVERAGE_SPAN))
    value *= (1.0 if agree else NUMBER_MISS) * (0.5 + 0.5 * named)
    value *= 1.0 if parity else NEGATION_MISS
    parts = (("coverage", covered), ("numbers", float(agree)), ("names", named),
             ("negation", float(parity)))  # fmt: skip
    return Support(value, parts, window, contradicted=differ and covered >= 0.5)


def _numbers_agree(wanted: frozenset[tuple[str, str]], window: str) -> tuple[bool, bool]:
    """Whether all numbers of the claim stand in the window, and whether one is contradicted there.

    Contradicted means: the window gives another number in the very unit that the claim uses.
    """
    given = numbers(window)
    given |= {(_COUNT_WORDS[w], "") for w in words(window) if w in _COUNT_WORDS}
    values = {value for value, _ in given}
    missing = [
        (v, u) for v, u in wanted if (v, u) not in given and not _loosely(v, u, given, values)
    ]
    units = {unit for _, unit in given if unit}
    return not missing, any(unit in units for _, unit in missing if unit)


def _loosely(value: str, unit: str, given: frozenset[tuple[str, str]], values: set[str]) -> bool:
    """The same number, unless both sides state a unit of measure and the units differ."""
    if unit not in MEASURES:
        return value in values
    return any(v == value and u not in MEASURES for v, u in given)


def _same_parity(claim: str, window: str) -> bool:
    """Whether claim and the sentence of the window nearest to it both deny, or both do not."""
    wanted = set(roots(claim))
    said = [(set(roots(sentence)), sentence) for sentence in sentences(window) or [""]]
    _, nearest = max(said, key=lambda s: (len(wanted & s[0]), -len(s[0])))
    a, b = set(words(claim)), set(words(nearest))
    if len(_NEGATIONS & a) % 2 != len(_NEGATIONS & b) % 2:
        return False
    return not any(
        (x & a and y & b and not x & b) or (y & a and x & b and not y & b) for x, y in _OPPOSITES
    )


def check(answer: str, hits: Sequence[Hit]) -> tuple[Claim, ...]:
    """Every checkable claim of an answer against the passages it cites."""
    served = {hit.n: hit.text for hit in hits}
    weights = _weights(served)
    return tuple(
        _check_one(statement, served, weights)
        for statement in statements(answer)
        if is_checkable(statement)
    )


def _check_one(statement: str, served: Mapping[int, str], weights: Mapping[str, float]) -> Claim:
    markers = tuple(n for n in cited(statement) if n in served)
    bare = without_markers(statement)
    if not markers:
        return Claim(bare, (), 0.0, "uncited")
    found = support(statement, [served[n] for n in markers], weights)
    verdict: Verdict = "weak"
    if found.value >= SUPPORTED:
        verdict = "supported"
    elif found.value < UNSUPPORTED:
        verdict = "unsupported"
    return Claim(bare, markers, found.value, verdict, found.parts, found.window, found.contradicted)


def marker_supports(claims: Iterable[Claim], hits: Sequence[Hit]) -> list[float]:
    """Support of every single marker, in order: what each cited source carries alone."""
    served = {hit.n: hit.text for hit in hits}
    weights = _weights(served)
    return [
        support(claim.text, [served[n]], weights).value
        if len(claim.citations) > 1
        else claim.support
        for claim in claims
        for n in claim.citations
    ]
