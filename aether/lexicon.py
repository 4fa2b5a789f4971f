"""The phrases of all manifests, compiled once so that a question meets them in a millisecond.

Apart from `steps/route.py` so that the step reads as arithmetic over matches. Everything here is a
pure function of the files: same files, same lexicon, same table, byte for byte.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import regex
from rapidfuzz import process
from rapidfuzz.distance import OSA

from aether.agents import AgentTree, Signals
from aether.examples import ExampleModel
from aether.patterns import REGEX_SECONDS
from aether.text import STOP_WORDS, fold, tokens

COLUMNS = tuple(name for name in Signals.model_fields if name != "conflicts_with")
PARTIAL = frozenset({"intents", "use_when", "capabilities"})
NEAR = 2  # words that may stand between the words of a phrase that is not met in a row
_CLOSE = frozenset({"objects", "aliases", "name", "domain", "keywords"})  # meant as one term
_LONG, _MENDED = 7, 6  # letters of a term whose typos count; unknown words that are looked up


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
    terms: tuple[str, ...] = ()  # long words of products and topics, for typos

    def mended(self, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The text with the terms that unknown words are one edit from; and (typed, meant) pairs.

        An edit is a letter added, lost, changed, or swapped with its neighbour (optimal string
        alignment). A word that any example or phrase knows is never taken for a typo.
        """
        unknown = [
            word
            for word in dict.fromkeys(tokens(text))
            if len(word) >= _LONG and word.isalpha()
            if word not in self.by_word and word not in self.model.rows
        ]
        pairs: list[tuple[str, str]] = []
        for word in unknown[:_MENDED]:
            found = process.extractOne(word, self.terms, scorer=OSA.distance, score_cutoff=1)
            if found and found[1] == 1:
                pairs.append((word, found[0]))
        meant = " ".join(term for _, term in pairs)
        return (f"{text} {meant}" if meant else text), tuple(pairs)

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
        return 0.8 if phrase.column not in _CLOSE or _near(toks, phrase.content) else 0.0
    share = present / need
    return 0.8 * share if phrase.column in PARTIAL and share >= 0.5 else 0.0


def _contains(toks: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    size, first = len(wanted), wanted[0]
    return any(
        toks[i] == first and toks[i : i + size] == wanted for i in range(len(toks) - size + 1)
    )


def _near(toks: tuple[str, ...], content: frozenset[str]) -> bool:
    """Whether all words stand within a window that leaves room for NEAR others."""
    places = [(i, t) for i, t in enumerate(toks) if t in content]
    width = len(content) + NEAR
    return any(
        {t for i, t in places[k:] if i < start + width} >= content
        for k, (start, _) in enumerate(places)
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
    terms = sorted(
        word
        for word, found in by_word.items()
        if len(word) >= _LONG and word.isalpha()
        if any(phrases[i].column in _CLOSE for i in found)
    )
    return Lexicon(tuple(phrases), by_word, tuple(patterns), model, tuple(terms))
