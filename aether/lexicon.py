"""The phrases of all manifests, compiled once so that a question meets them in a millisecond.

Apart from `steps/route.py` so that the step reads as arithmetic over matches. Everything here is a
pure function of the files: same files, same lexicon, same table, byte for byte.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import regex

from aether.agents import AgentTree, Signals
from aether.examples import ExampleModel
from aether.patterns import REGEX_SECONDS
from aether.text import STOP_WORDS, fold, tokens

COLUMNS = tuple(name for name in Signals.model_fields if name != "conflicts_with")
PARTIAL = frozenset({"intents", "use_when", "capabilities"})


@dataclass(frozen=True, slots=True)
class Phrase:
    """One phrase of one column of one expert; `weight` is 1 over the number of its owners."""

    text: str
    tokens: tuple[str, ...]
    content: frozenset[str]
    agent: str
    column: str
    weight: float


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase met in a question, with its credit: 1 whole, less where words are missing."""

    phrase: Phrase
    credit: float
    start: int  # position of the first token, for the order of a request


@dataclass(frozen=True)
class Lexicon:
    """The compiled signals of all experts."""

    phrases: tuple[Phrase, ...]
    by_word: Mapping[str, tuple[int, ...]]
    patterns: tuple[tuple[regex.Pattern[str], Phrase], ...]
    model: ExampleModel

    def matches(self, text: str) -> tuple[Match, ...]:
        """Every phrase of every expert that the text earns credit for, in file order."""
        toks = tokens(text)
        have: dict[str, int] = {}
        for position, token in enumerate(toks):
            have.setdefault(token, position)
        count: dict[int, int] = defaultdict(int)
        for word in have:
            for index in self.by_word.get(word, ()):
                count[index] += 1
        found: list[Match] = []
        for index in sorted(count):
            phrase = self.phrases[index]
            credit = _credit(phrase, count[index], toks)
            if credit:
                found.append(
                    Match(phrase, credit, min(have[w] for w in phrase.content if w in have))
                )
        return (*found, *self._pattern_matches(text))

    def _pattern_matches(self, text: str) -> Iterable[Match]:
        folded = text[:4000]
        for pattern, phrase in self.patterns:
            try:
                hit = pattern.search(folded, timeout=REGEX_SECONDS)
            except TimeoutError:  # linted patterns do not get here; a hostile text may
                continue
            if hit:
                yield Match(phrase, 1.0, len(tokens(folded[: hit.start()])))


def _credit(phrase: Phrase, present: int, toks: tuple[str, ...]) -> float:
    """Credit of a phrase of which `present` content words occur, 0-1.

    Whole and in a row earns 1. All words in another order earn 0.8; the partial columns earn the
    share that is there, from one half and from two words on.
    """
    need = len(phrase.content)
    if present == need and _contains(toks, phrase.tokens):
        return 1.0
    if need < 2 or present < 2:
        return 0.0
    if present == need:
        return 0.8
    share = present / need
    return 0.8 * share if phrase.column in PARTIAL and share >= 0.5 else 0.0


def _contains(toks: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    size, first = len(wanted), wanted[0]
    return any(
        toks[i] == first and toks[i : i + size] == wanted for i in range(len(toks) - size + 1)
    )


def build_lexicon(tree: AgentTree, model: ExampleModel) -> Lexicon:
    """Compile the signals of all experts; `model` carries the weights of their examples."""
    raw = [
        (text, agent, column)
        for agent, manifest in tree.agents.items()
        for column in COLUMNS
        for text in getattr(manifest.routing, column)
    ]
    raw += [(manifest.name, agent, "name") for agent, manifest in tree.agents.items()]
    owners: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for text, agent, column in raw:
        if column != "not_when":
            owners[tokens(text)].add(agent)
    phrases: list[Phrase] = []
    patterns: list[tuple[regex.Pattern[str], Phrase]] = []
    for text, agent, column in raw:
        if text.startswith("regex:"):
            phrase = Phrase(text, (), frozenset(), agent, column, 1.0)
            patterns.append((regex.compile(text[6:], regex.IGNORECASE), phrase))
            continue
        toks = tokens(text)
        if not toks:
            continue
        content = frozenset(t for t in toks if t not in STOP_WORDS) or frozenset(toks)
        weight = 1 / max(1, len(owners[toks]))
        phrases.append(Phrase(fold(text), toks, content, agent, column, weight))
    index: dict[str, list[int]] = defaultdict(list)
    for i, phrase in enumerate(phrases):
        for word in phrase.content:
            index[word].append(i)
    by_word = {word: tuple(found) for word, found in index.items()}
    return Lexicon(tuple(phrases), by_word, tuple(patterns), model)
