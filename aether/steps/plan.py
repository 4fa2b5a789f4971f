"""Step two: where to look. The places of `kb/sources/` scored for one expert and one question.

Same style as routing: points in columns that sum, so that `aether plan` can print the whole table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from aether.agents import AgentTree
from aether.records import Candidate, Plan
from aether.sources import Source, SourceLibrary
from aether.text import STOP_WORDS, tokens, words

NAME, TOPIC, CAPABILITY, KEYWORD, EXPERT, VENDOR, TYPE, RULE = 30, 8, 5, 5, 12, 14, 4, 100
TOP, PICKED = 12, 3
MAX_TEXT = 4000  # characters that are read; a pasted log says no more after that
INHERITED = 2  # how far down a parent sees the namespaces of those below it


def plan(
    question: str,
    agent: str,
    tree: AgentTree,
    library: SourceLibrary,
    lessons: Mapping[str, float] | None = None,
) -> Plan:
    """Score every place, pick one to three sites, and name the namespaces this expert sees."""
    question = question[:MAX_TEXT]
    asked = _spaced(question)
    table = sorted(
        (_row(s, asked, agent, tree, lessons or {}) for s in library.sources.values()),
        key=lambda row: -row.score,
    )
    sites = [r for r in table if library.sources[r.agent].kind == "web" and r.score > 0]
    picked = _pick(sites)
    hosts = tuple(dict.fromkeys(h for row in picked for h in library.sources[row.agent].hosts))
    spaces = (
        tree[agent].namespace,
        *(tree[a].namespace for a in tree.subtree(agent) if a != agent),
    )
    return Plan(
        agent=agent,
        query=search_query(question),
        sources=tuple(row.agent for row in picked),
        hosts=hosts,
        namespaces=spaces,
        table=tuple(table),
    )


def search_query(question: str) -> str:
    """The words for a search engine: the question without filler, at most 16 words."""
    kept = [w for w in words(question) if w not in STOP_WORDS and (len(w) > 1 or w.isdigit())]
    return " ".join((list(dict.fromkeys(kept)) or question[:120].split())[:16])


def _pick(sites: Sequence[Candidate]) -> list[Candidate]:
    """One to three: whatever comes within half of the best."""
    best = sites[0].score if sites else 0.0
    return [row for row in sites[:TOP] if row.score >= best / 2][:PICKED]


def _row(
    source: Source,
    asked: str,
    agent: str,
    tree: AgentTree,
    lessons: Mapping[str, float],
) -> Candidate:
    ladder = tree.ladder(agent)
    rank = _rank(tree[agent].vendors, source.hosts)
    named = _hits((source.name, source.vendor), asked)
    parts = (
        ("name", NAME * float(named > 0)),
        ("topic", TOPIC * min(4, _hits(source.entities, asked))),
        ("capability", CAPABILITY * min(2, _hits(source.capabilities, asked))),
        ("keyword", KEYWORD * min(3, _hits(source.keywords, asked))),
        (
            "expert",
            EXPERT / (1 + ladder.index(_first(source, ladder))) if _knows(source, ladder) else 0,
        ),
        ("vendor", VENDOR / (1 + 0.25 * rank) if rank >= 0 else 0.0),
        ("type", TYPE * float(source.type in ("vendor_docs", "standards", "notes"))),
        ("lesson", max(-100.0, min(100.0, lessons.get(source.id, 0.0)))),
    )
    rounded = tuple([(name, round(points, 3) if points else 0.0) for name, points in parts])
    if not any(points for name, points in rounded if name != "type"):
        rounded = tuple((name, 0.0) for name, _ in rounded)
    return Candidate(source.id, round(sum(p for _, p in rounded), 3), rounded)


def _knows(source: Source, ladder: Sequence[str]) -> bool:
    return any(a in source.experts for a in ladder)


def _first(source: Source, ladder: Sequence[str]) -> str:
    return next(a for a in ladder if a in source.experts)


@lru_cache(maxsize=8192)  # every expert with every place
def _rank(vendors: tuple[str, ...], hosts: tuple[str, ...]) -> int:
    """The place of the first of these vendors that is among the hosts, -1 where none is."""
    ranks = (i for i, v in enumerate(vendors) if v in hosts or _below(v, hosts))
    return next(ranks, -1)


def _below(vendor: str, hosts: Sequence[str]) -> bool:
    return any(vendor.endswith("." + host) or host.endswith("." + vendor) for host in hosts)


def _hits(phrases: tuple[str, ...], asked: str) -> int:
    """How many phrases stand whole in the question, given as `_spaced` text."""
    return sum([phrase in asked for phrase in _spaced_all(phrases)])


def _spaced(text: str) -> str:
    return f" {' '.join(tokens(text))} "


@lru_cache(maxsize=4096)  # the phrases of all places are thousands, and seldom change
def _spaced_all(phrases: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(spaced for p in phrases if (spaced := _spaced(p)).strip())
