"""Step one: who answers. Passes in order, and inside them a score table whose columns sum.

This module decides; `scoretable.py` counts the points. Floors stand in `agents/routes.yaml`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from aether.agents import AgentTree, Rule
from aether.errors import AetherError
from aether.examples import NOBODY
from aether.lexicon import Lexicon
from aether.records import Candidate, Decision, Pass, Question, Route, Strategy
from aether.scoretable import Row, counted, score_table
from aether.text import tokens
from aether.yamlfile import did_you_mean

MAX_TEXT = 4000  # characters that are read for routing; a pasted log says no more after that
OUT_OF_DOMAIN = 0.55  # share of the example model from which a follow-up has a subject of its own
# a question is nobody's from this share on, where the strongest expert has fewer points than this
NOBODYS = ((0.85, 101.0), (0.45, 50.0), (0.3, 20.0))
DOMAIN_SHARE = 0.55  # joint share of an architect and its specialists that wins it a bare question
_PARTS = re.compile(r";|\bthen\b|\balso\b|\bplus\b|\bfirst\b|\bas well as\b|\. and\b", re.I)
_GOES_ON = re.compile(r"^\s*(and|also|same|or|but|how about)\b.{0,60}$", re.I)
WIDE = 4.0  # where a request counts its parts, the parts may lie this many leads apart
_REVERSED = re.compile(r"\b(?:but|and) (?:first|before that)\b|\bbefore (?:that|this)\b", re.I)
_PIN = re.compile(r"^\s*@([A-Za-z][\w-]{1,63})\b\s*")
_STRATEGIES: tuple[tuple[Strategy, re.Pattern[str]], ...] = (
    ("record", re.compile(r"^\s*(remember|note that|record|log that)\b", re.I)),
    ("execute", re.compile(r"^\s*(run|execute|restart|apply|deploy)\b", re.I)),
    ("investigate", re.compile(r"\b(why|error|fail\w*|broken|troubleshoot\w*|not working|cannot"
                               r"|can't|unable|stuck|slow|drops?|debug|diagnos\w+|issue)\b", re.I)),
    ("query", re.compile(r"\b(how many|list|count|which of our|our inventory|show all)\b", re.I)),
    ("search", re.compile(r"\b(compare|versus|vs|design|architect\w*|plan|strategy|best practices?"
                          r"|options|recommend\w*|migrat\w+)\b", re.I)),
)  # fmt: skip


def route(
    question: Question,
    tree: AgentTree,
    lexicon: Lexicon,
    lessons: Mapping[str, float] | None = None,
) -> Route:
    """Decide who answers; raises AetherError where a pinned expert does not exist.

    `lessons` maps experts to points learnt from corrections; they come last, in their own column.
    """
    started = time.perf_counter()
    pinned, text = _pinned(question, tree)
    text, typos = lexicon.mended(text[:MAX_TEXT])
    matches = lexicon.matches(text)
    shares = lexicon.model.shares(text)
    rows = score_table(text, tree, matches, shares, lessons or {})
    if question.previous and not _own_words(text, rows, shares):
        rows = _with_last_turn(question, text, tree, lexicon, lessons or {})
    decided = _decide(text, pinned, tree, rows, shares)
    table = tuple(row.candidate for row in rows)
    ms = (time.perf_counter() - started) * 1000
    nearest = lexicon.model.nearest(text)
    reason = _sentence(decided, table, tree, nearest) + _read_as(typos)
    return replace(decided, candidates=table, strategy=_strategy(text), reason=reason, ms=ms)


def strip_pin(text: str, tree: AgentTree) -> str:
    """The question without a leading `@expert`."""
    match = _PIN.match(text)
    return text[match.end() :] if match and _find_agent(match.group(1), tree) else text


def _pinned(question: Question, tree: AgentTree) -> tuple[str, str]:
    if question.agent:
        agent = _find_agent(question.agent, tree)
        if not agent:
            known = ", ".join(tree.agents)
            advice = did_you_mean(question.agent, tree.agents) or f"known experts: {known}"
            raise AetherError(f'there is no expert "{question.agent}"', advice=advice)
        return agent, strip_pin(question.text, tree)
    match = _PIN.match(question.text)
    agent = _find_agent(match.group(1), tree) if match else ""
    return agent, question.text[match.end() :] if match and agent else question.text


def _find_agent(word: str, tree: AgentTree) -> str:
    """An expert by id, by id without its ending, or by an alias of one word."""
    key = word.lower().replace("-", "_")
    if key in tree:
        return key
    for agent, manifest in tree.agents.items():
        short = agent.removesuffix("_specialist").removesuffix("_architect")
        if key == short or key in (alias.lower() for alias in manifest.routing.aliases):
            return agent
    return ""


def _own_words(text: str, rows: Sequence[Row], shares: Mapping[str, float]) -> bool:
    """Whether a follow-up names its subject itself, so that the last turn must not be added.

    A question that goes on ("and for X?") does so only where it names an expert's own product.
    """
    if _GOES_ON.match(text):
        return any(dict(row.candidate.parts)["named"] > 0 for row in rows)
    return any(row.objects for row in rows) or shares.get(NOBODY, 0.0) >= OUT_OF_DOMAIN


def _with_last_turn(
    question: Question,
    text: str,
    tree: AgentTree,
    lexicon: Lexicon,
    lessons: Mapping[str, float],
) -> list[Row]:
    """Route on own words plus exactly the last whole turn; its expert keeps the floor."""
    assert question.previous is not None  # the caller looked
    joined, _ = lexicon.mended(f"{text} {question.previous.question}"[:MAX_TEXT])
    matches, shares = lexicon.matches(joined), lexicon.model.shares(joined)
    rows = score_table(joined, tree, matches, shares, lessons)
    agent = question.previous.agent
    for i, row in enumerate(rows):
        if row.candidate.agent == agent:
            parts = {**dict(row.candidate.parts), "last_turn": 25.0}
            rows[i] = replace(row, candidate=counted(agent, parts))
    return sorted(rows, key=lambda r: -r.candidate.score)


def _decide(
    text: str, pinned: str, tree: AgentTree, rows: Sequence[Row], shares: Mapping[str, float]
) -> Route:
    if pinned:
        return _verdict("route", (pinned,), "pinned", 1.0)
    if rule := _forced(text, tree.routes.forced):
        return replace(_verdict("route", (rule.agent,), "forced", 1.0), command=rule.command)
    if _nobody(rows, shares):
        verdict = _verdict("no_route", (tree.root,), "default", shares.get(NOBODY, 0.0))
        return replace(verdict, out_of_domain=True)
    best_tier = tree[rows[0].candidate.agent].tier
    passes: tuple[tuple[int, Pass], ...] = ((3, "tier3"), (2, "tier2"))
    for tier, name in passes:
        if best_tier == tier and (verdict := _decide_tier(tier, name, text, tree, rows)):
            return verdict
    if best_tier > 1 and shares.get(NOBODY, 0.0) < 0.1 and (head := _head(tree, shares)):
        return _verdict("route", (head[0],), "tier2", head[1] / 2)
    return _verdict("no_route", (tree.root,), "default", 0.3)


def _head(tree: AgentTree, shares: Mapping[str, float]) -> tuple[str, float] | None:
    """The architect in whose field a question lies that none of the field's experts can claim."""
    joint = {
        agent: sum(shares.get(member, 0.0) for member in {agent, *tree.subtree(agent)})
        for agent, manifest in tree.agents.items()
        if manifest.tier == 2
    }
    best = max(joint, key=lambda agent: joint[agent], default="")
    return (best, joint[best]) if best and joint[best] >= DOMAIN_SHARE else None


def _decide_tier(
    tier: int, name: Pass, text: str, tree: AgentTree, rows: Sequence[Row]
) -> Route | None:
    floor = tree.routes.tier3 if tier == 3 else tree.routes.tier2
    ranked = [r for r in rows if tree[r.candidate.agent].tier == tier]
    if not ranked[0].objects and ranked[0].candidate.score < floor.bare:
        return None
    best, second = ranked[0], ranked[1].candidate.score if len(ranked) > 1 else 0.0
    lead = best.candidate.score - second
    sure = min(1.0, max(0.0, best.candidate.score / 100)) * min(1.0, 0.5 + lead / 60)
    parts = [r for r in ranked[:3] if r.candidate.score >= floor.multi and r.objects]
    apart = floor.lead * (WIDE if _PARTS.search(text) else 1.0)
    if len(parts) >= 2 and lead < apart and _disjoint(parts):
        return _verdict("multi", _in_order(text, parts), name, sure)
    if best.candidate.score >= floor.route and lead >= floor.lead:
        return _verdict("route", (best.candidate.agent,), name, sure)
    if best.candidate.score >= floor.ambiguous:
        near = [r for r in ranked[:4] if best.candidate.score - r.candidate.score < floor.lead]
        agents = tuple(r.candidate.agent for r in near)
        return _verdict("ambiguous" if len(agents) > 1 else "route", agents, name, sure)
    return None


def _in_order(text: str, parts: Sequence[Row]) -> tuple[str, ...]:
    """Best first; in the order of the request where it counts its parts ("then", "but first")."""
    if not _PARTS.search(text) and not _REVERSED.search(text):
        return tuple(row.candidate.agent for row in parts)
    marker = _REVERSED.search(text)
    turn = len(tokens(text[: marker.start()])) if marker else 0
    ranked = sorted(parts, key=lambda r: (r.first < turn, r.first))
    return tuple(row.candidate.agent for row in ranked)


def _disjoint(rows: Sequence[Row]) -> bool:
    return all(not (a.objects & b.objects) for i, a in enumerate(rows) for b in rows[i + 1 :])


def _nobody(rows: Sequence[Row], shares: Mapping[str, float]) -> bool:
    """Out of domain: the example model says so, and no expert has more than a stray word."""
    share = shares.get(NOBODY, 0.0)
    strongest = max(row.candidate.score for row in rows)
    return any(share >= least and strongest < most for least, most in NOBODYS)


def _forced(text: str, rules: Sequence[Rule]) -> Rule | None:
    joined = f" {' '.join(tokens(text))} "
    for rule in rules:
        if any(f" {' '.join(tokens(p))} " in joined for p in rule.phrases) and not any(
            f" {' '.join(tokens(u))} " in joined for u in rule.unless
        ):
            return rule
    return None


def _verdict(decision: Decision, agents: tuple[str, ...], pass_: Pass, sure: float) -> Route:
    return Route(
        decision=decision,
        agent=agents[0],
        agents=agents,
        confidence=round(sure, 4),
        pass_=pass_,
        out_of_domain=False,
        strategy="lookup",
        candidates=(),
    )


def _strategy(text: str) -> Strategy:
    for name, pattern in _STRATEGIES:
        if pattern.search(text):
            return name
    return "lookup"


def _read_as(typos: Sequence[tuple[str, str]]) -> str:
    return "".join(f' Read "{typed}" as "{meant}".' for typed, meant in typos)


def _sentence(
    verdict: Route, table: Sequence[Candidate], tree: AgentTree, nearest: tuple[str, str, float]
) -> str:
    """The decision in one sentence of words."""
    name = tree[verdict.agent].name
    if verdict.pass_ == "pinned":
        return f"{name}: you asked for this expert."
    if verdict.pass_ == "forced":
        return f"{name}: a rule in routes.yaml decides for these words."
    if verdict.out_of_domain:
        return "Nobody: the words are not about enterprise infrastructure."
    row = next(c for c in table if c.agent == verdict.agent)
    strongest = sorted((p for p in row.parts if p[1] > 0), key=lambda p: -p[1])[:3]
    why = ", ".join(f"{column} {points:.0f}" for column, points in strongest) or "nothing matched"
    near = f'; nearest example: "{nearest[1]}"' if nearest[2] >= 0.3 else ""
    return f"{name}: {row.score:.0f} points ({why}){near}."
