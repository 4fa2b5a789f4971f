"""The score table of routing: one row an expert, columns of points that sum to the score.

Apart from the decision in `steps/route.py`, so that the sum can be read alone. One scale, 0 to
100 points; negative points are allowed, lessons come last and no floor hides them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from aether.agents import AgentTree
from aether.lexicon import Match
from aether.records import Candidate

# points of the cheap stage, by kind of phrase
CANDIDATE = {"name": 60, "aliases": 55, "use_when": 45, "intents": 35, "keywords": 25,
             "capabilities": 20, "objects": 15, "actions": 15, "domain": 25,
             "triggers": 25}  # fmt: skip
CANDIDATE_FLOOR, CANDIDATE_MOST = 15, 20
RANK = {"intent": 35, "object": 18, "action": 16, "capability": 16, "domain": 16, "name": 16,
        "trigger": 14, "specificity": 8}  # fmt: skip
FEEDS = {"intent": ("intents", "use_when"), "object": ("objects", "keywords"),
         "action": ("actions",), "capability": ("capabilities",), "domain": ("domain",),
         "name": ("name", "aliases"), "trigger": ("triggers",)}  # fmt: skip
EXAMPLES, NAMED, FOREIGN, CONFLICT, SIBLINGS = 60, 45, -50, -30, 40
GATE = 0.5  # a column with less credit than this gives nothing
_CONTRAST = re.compile(
    r"\b(vs|versus|compar\w+|difference|or|between|migrat\w+|mov(?:e|ing)|from .+ to)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Row:
    """One expert's row, with what the decision asks beside the points."""

    candidate: Candidate
    anchored: bool  # a strong anchor of intent, object or domain
    objects: frozenset[str]
    first: int = 0  # token position of the first object, for the order of a request


def score_table(
    text: str,
    tree: AgentTree,
    matches: Sequence[Match],
    shares: Mapping[str, float],
    lessons: Mapping[str, float],
) -> list[Row]:
    """Score every expert; best first, then by what the cap cut, then in file order."""
    by_agent: dict[str, list[Match]] = {agent: [] for agent in tree.agents}
    for match in matches:
        by_agent[match.phrase.agent].append(match)
    candidates = _candidates(by_agent, shares)
    owned = _objects(by_agent)
    rows = [
        _row(agent, tree, by_agent[agent], owned, shares, lessons, agent in candidates, text)
        for agent in tree.agents
    ]
    rows = _conflicts(rows, tree)
    order = {agent: i for i, agent in enumerate(tree.agents)}
    return sorted(rows, key=lambda r: (*_rank(r.candidate), order[r.candidate.agent]))


def _rank(row: Candidate) -> tuple[float, float]:
    """Best first; of two that the cap made equal, the one that had more to cut."""
    return -round(row.score, 1), dict(row.parts)["cap"]


def _candidates(by_agent: Mapping[str, list[Match]], shares: Mapping[str, float]) -> set[str]:
    """The cheap stage: whole-phrase signals, or a fair share of the example model."""
    points = {
        agent: max(
            (CANDIDATE.get(m.phrase.column, 0) for m in found if m.credit >= GATE), default=0
        )
        for agent, found in by_agent.items()
    }
    kept = sorted(
        (a for a, p in points.items() if p >= CANDIDATE_FLOOR or shares.get(a, 0.0) >= 0.15),
        key=lambda a: -points[a],
    )
    return set(kept[:CANDIDATE_MOST])


def _objects(by_agent: Mapping[str, list[Match]]) -> dict[str, frozenset[str]]:
    return {
        agent: frozenset(
            m.phrase.text
            for m in found
            if m.phrase.column in ("objects", "aliases", "domain") and m.credit == 1.0
        )
        for agent, found in by_agent.items()
    }


def _row(
    agent: str,
    tree: AgentTree,
    found: Sequence[Match],
    owned: Mapping[str, frozenset[str]],
    shares: Mapping[str, float],
    lessons: Mapping[str, float],
    candidate: bool,
    text: str,
) -> Row:
    parts = dict.fromkeys((*RANK, "examples", "named", "siblings"), 0.0)
    credits = {column: _column(found, feeds) for column, feeds in FEEDS.items()}
    anchored = max(credits["intent"], credits["object"], credits["domain"]) >= GATE
    if candidate:
        for column, credit in credits.items():
            parts[column] = RANK[column] * credit if credit >= GATE else 0.0
        unique = sum(1 for m in found if m.phrase.weight == 1.0 and m.phrase.column != "not_when")
        parts["specificity"] = RANK["specificity"] * min(1.0, unique / 3)
        parts["named"] = NAMED * float(anchored and credits["name"] >= GATE)
        parts["siblings"] = _siblings(agent, tree, owned, text)
    parts["examples"] = EXAMPLES * shares.get(agent, 0.0)
    positive = sum(parts.values())
    parts["cap"] = min(0.0, 100.0 - positive)
    positive = min(100.0, positive)
    kept = 0.6 if anchored else 0.15
    if credits["name"] >= GATE and anchored:  # a product of its own: the examples may vouch for it
        kept += 0.4 * shares.get(agent, 0.0)
    parts["not_when"] = _not_when(found, positive, kept)
    parts["foreign"] = _foreign(agent, tree, owned) if candidate else 0.0
    parts["conflict"] = 0.0
    parts["lesson"] = max(-100.0, min(100.0, lessons.get(agent, 0.0)))
    first = min((m.start for m in found if m.phrase.text in owned[agent]), default=0)
    return Row(counted(agent, parts), anchored, owned[agent], first)


def counted(agent: str, parts: Mapping[str, float]) -> Candidate:
    """A row of the table: rounded parts, and a score that is their sum."""
    rounded = tuple((name, round(points, 3)) for name, points in parts.items())
    return Candidate(agent, round(sum(points for _, points in rounded), 3), rounded)


def _column(found: Sequence[Match], feeds: Iterable[str]) -> float:
    """Credit of one column, 0-1: several matches add up like independent chances."""
    miss = 1.0
    for match in found:
        if match.phrase.column in feeds:
            miss *= 1 - 0.8 * match.credit * match.phrase.weight**0.5
    return 1 - miss


def _not_when(found: Sequence[Match], positive: float, kept: float) -> float:
    """Points lost to a phrase of `not_when`: all but the share `kept` of the capped sum."""
    if not any(m.phrase.column == "not_when" and m.credit >= 0.8 for m in found):
        return 0.0
    return -positive * (1 - kept)


def _foreign(agent: str, tree: AgentTree, owned: Mapping[str, frozenset[str]]) -> float:
    """Up to -50 where the objects of the question all belong to others."""
    line = set(tree.ladder(agent)) | set(tree.subtree(agent))
    others = {obj for other, objs in owned.items() if other not in line for obj in objs}
    if owned[agent] or not others:
        return 0.0
    return FOREIGN * min(1.0, len(others) / 2)


def _siblings(agent: str, tree: AgentTree, owned: Mapping[str, frozenset[str]], text: str) -> float:
    """Points for a parent whose children are compared with one another."""
    children = [a for a, m in tree.agents.items() if m.parent == agent and owned[a]]
    alone = [a for a in children if owned[a] - {o for b in children if b != a for o in owned[b]}]
    return SIBLINGS * float(len(alone) >= 2 and bool(_CONTRAST.search(text)))


def _conflicts(rows: list[Row], tree: AgentTree) -> list[Row]:
    """-30 for an expert that competes on the same objects with a clearly stronger rival."""
    scores = {row.candidate.agent: row for row in rows}
    out: list[Row] = []
    for row in rows:
        agent, score = row.candidate.agent, row.candidate.score
        rivals = (scores[r] for r in tree[agent].routing.conflicts_with if r in scores)
        beaten = any(
            r.anchored and r.candidate.score > score + 10 and r.objects & row.objects
            for r in rivals
        )
        parts = {**dict(row.candidate.parts), "conflict": float(CONFLICT) if beaten else 0.0}
        out.append(replace(row, candidate=counted(agent, parts)) if beaten else row)
    return out
