"""Regular expressions that people write into manifests: sound ones only, and none that never ends.

Apart from the manifests, because matching is bounded here as well: whoever searches with a
person's pattern uses `REGEX_SECONDS`.
"""

from __future__ import annotations

import re

import regex

REGEX_SECONDS = 0.05
_ESCAPED = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)  # an escape, or a whole class
_UNBOUNDED = re.compile(r"[*+]|\{\d*,\}")
_ENDLESS = ("may never end on long text", "do not repeat a group that repeats: (a+)+ -> a+")
_PROBES = tuple(c * 48 + "!" for c in ("a", "0", " ", "a ", "-", "aA", "x0", ".")) + ("ab" * 40,)


def pattern_fault(pattern: str) -> tuple[str, str] | None:
    """What is wrong with a regular expression, and advice; None where it is sound.

    A repeat inside a repeat can take for ever; other traps are probed on long repetitive text.
    """
    try:
        compiled = regex.compile(pattern, regex.IGNORECASE)
    except regex.error as error:
        return (
            f"is not a regular expression: {error}",
            "put \\ before ( ) [ ] . * + ? to mean itself",
        )
    if compiled.search(""):
        return "matches the empty text", "ask for at least one character"
    if _nested_repeat(pattern):
        return _ENDLESS
    try:
        for probe in _PROBES:
            compiled.search(probe, timeout=REGEX_SECONDS)
    except TimeoutError:
        return (
            "may never end on long text",
            "do not repeat a group that repeats itself: (a+)+ -> a+",
        )
    return None


def _nested_repeat(pattern: str) -> bool:
    """Whether a group that holds an unbounded repeat is itself repeated without bound."""
    bare = _ESCAPED.sub("x", pattern)
    groups = [False]
    for i, char in enumerate(bare):
        if char == "(":
            groups.append(False)
        elif char == ")" and len(groups) > 1:
            inside = groups.pop()
            if inside and _UNBOUNDED.match(bare, i + 1):
                return True
            groups[-1] = groups[-1] or inside
        elif _UNBOUNDED.match(bare, i):
            groups[-1] = True
    return False
