"""A recorded run rebuilt with today's files: route, plans and confidence, and what differs.

Nothing is looked up and no model is called: what was found and what was written are the recorded
inputs, everything that Aether itself decided is decided again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from aether import __version__
from aether.agents import AgentTree
from aether.errors import AetherError
from aether.lexicon import Lexicon
from aether.records import Answer, Candidate, Confidence, Hit, Plan, Question, Route, Turn, as_json
from aether.sources import SourceLibrary
from aether.steps.plan import plan
from aether.steps.route import route, strip_pin
from aether.steps.score import overlap, score

SAME_POINTS = 0.01  # of routing; less is rounding
SAME_CONFIDENCE = 0.0005
_SOURCES_SAY = "\n\n---\n\n**Low confidence. What the sources say:**"  # added behind the answer


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that would be otherwise today."""

    what: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class Scored:
    """The confidence of one recorded attempt, computed again."""

    agent: str
    then: float
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Replay:
    """Everything that was decided again, and what came out otherwise."""

    run: str
    route: Route
    plans: tuple[Plan, ...]
    scores: tuple[Scored, ...]
    differences: tuple[Difference, ...]


def replay(
    record: Mapping[str, Any],
    tree: AgentTree,
    lexicon: Lexicon,
    library: SourceLibrary,
    threshold: float,
) -> Replay:
    """Decide a recorded run again; raises AetherError where the record is not whole."""
    question = _question(record)
    if question.agent and question.agent not in tree:
        question = Question(question.text, previous=question.previous)
    verdict = route(question, tree, lexicon)
    text = strip_pin(question.text, tree).strip()
    planned = tuple(
        plan(text, str(p["agent"]), tree, library)
        for p in _maps(record, "plans")
        if str(p.get("agent")) in tree
    )
    scores = tuple(_scores(record, verdict, tree, threshold))
    differences = (
        *_files(record, tree, threshold),
        *_route_differences(record, verdict, tree),
        *_plan_differences(record, planned),
        *_score_differences(scores),
    )
    return Replay(str(record.get("run", "")), verdict, planned, scores, tuple(differences))


def candidates_of(rows: object) -> tuple[Candidate, ...]:
    """The rows of a recorded score table."""
    return tuple(
        Candidate(
            str(row.get("agent", "")),
            _number(row.get("score")),
            tuple((k, _number(v)) for k, v in _map(row.get("parts")).items()),
            str(row.get("note", "")),
        )
        for row in _list(rows)
    )


def hits_of(rows: object) -> tuple[Hit, ...]:
    """The passages of a recorded attempt; what an older version did not write is empty."""
    return tuple(
        Hit(
            text=str(row.get("text", "")), title=str(row.get("title", "")),
            url=str(row.get("url", "")), source=str(row.get("source", "")),
            origin="web" if row.get("origin") == "web" else "kb",
            score=_number(row.get("score")), n=int(_number(row.get("n"))),
            path=str(row.get("path", "")), locator=str(row.get("locator", "")),
            vendor=str(row.get("vendor", "")), date=str(row.get("date", "")),
            tier=_number(row.get("tier")),
        )
        for row in _list(rows)
    )  # fmt: skip


def _question(record: Mapping[str, Any]) -> Question:
    asked = _map(record.get("asked"))
    text = str(asked.get("text") or record.get("question") or "")
    if not text.strip():
        raise AetherError(
            "the record holds no question", advice="only runs that Aether wrote can be replayed"
        )
    before = _map(asked.get("previous"))
    turn = Turn(*(str(before.get(k, "")) for k in ("question", "agent", "answer")))
    return Question(text, agent=str(asked.get("agent", "")), previous=turn if before else None)


def _scores(
    record: Mapping[str, Any], verdict: Route, tree: AgentTree, threshold: float
) -> Iterator[Scored]:
    """Each written attempt again, with what was found then and who owns the question now."""
    qualities = [_number(r.get("quality")) for r in _maps(record, "retrievals")]
    forged = {s.get("agent"): int(_number(s.get("forged"))) for s in _maps(record, "scores")}
    best = 0.0
    for i, attempt in enumerate(_maps(record, "attempts")):
        agent = str(attempt.get("agent", ""))
        if agent not in tree or i >= len(qualities):
            continue
        pre = qualities[i] * _overlap(agent, verdict, tree)
        best = max(best, pre)
        if not attempt.get("generated") or attempt.get("note"):
            continue
        text = str(attempt.get("answer", "")).partition(_SOURCES_SAY)[0]
        answer = Answer(text, "stop", forged=forged.get(agent, 0))
        now = score(answer, hits_of(attempt.get("hits")), pre, best, threshold)
        yield Scored(agent, _number(attempt.get("confidence")), now)


def _overlap(agent: str, verdict: Route, tree: AgentTree) -> float:
    below = set(tree.subtree(agent))
    points = max((c.score for c in verdict.candidates if c.agent in below), default=0.0)
    if verdict.pass_ in ("pinned", "forced"):
        points = max(points, tree.routes.tier3.route)
    return overlap(points)


def _files(record: Mapping[str, Any], tree: AgentTree, threshold: float) -> Iterator[Difference]:
    """What lies under the decisions, where that has changed."""
    rules = str(record.get("rules", ""))
    if rules and rules != tree.digest:
        yield Difference("manifests", rules[:12], tree.digest[:12])
    yield from _changed("version", record.get("version"), __version__)
    yield from _changed("threshold", record.get("threshold"), threshold)


def _route_differences(
    record: Mapping[str, Any], verdict: Route, tree: AgentTree
) -> Iterator[Difference]:
    then, now = _map(record.get("route")), as_json(verdict)
    if not then:
        return
    for key, what in (
        ("agent", "expert"), ("decision", "decision"), ("pass", "pass"), ("agents", "experts"),
        ("strategy", "strategy"), ("out_of_domain", "out of domain"), ("command", "command"),
    ):  # fmt: skip
        if key in then:
            yield from _changed(what, then[key], now[key])
    before = {row.agent: row.score for row in candidates_of(then.get("candidates"))}
    for row in verdict.candidates:
        old = before.pop(row.agent, None)
        if old is None or abs(old - row.score) > SAME_POINTS:
            was = "-" if old is None else f"{old:.1f}"
            yield Difference(f"points of {row.agent}", was, f"{row.score:.1f}")
    for gone in before:
        if gone not in tree:
            yield Difference(f"points of {gone}", f"{before[gone]:.1f}", "-")
    climb = [str(p.get("agent")) for p in _maps(record, "plans")]
    ladder = list(tree.ladder(verdict.agent))
    if climb and ladder[: len(climb)] != climb:
        yield Difference("ladder", " -> ".join(climb), " -> ".join(ladder))


def _plan_differences(record: Mapping[str, Any], planned: Sequence[Plan]) -> Iterator[Difference]:
    now = {p.agent: as_json(p) for p in planned}
    for then in _maps(record, "plans"):
        agent = str(then.get("agent"))
        for key in ("query", "sources", "hosts", "namespaces") if agent in now else ():
            yield from _changed(f"{key} of {agent}", then.get(key), now[agent][key])


def _score_differences(scores: Sequence[Scored]) -> Iterator[Difference]:
    for one in scores:
        if abs(one.then - one.confidence.value) > SAME_CONFIDENCE:
            now = f"{one.confidence.value:.3f}"
            yield Difference(f"confidence of {one.agent}", f"{one.then:.3f}", now)


def _changed(what: str, then: object, now: object) -> Iterator[Difference]:
    if then is not None and then != now:
        yield Difference(what, _words(then), _words(now))


def _words(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(v) for v in cast(Sequence[object], value)) or "none"
    return "none" if value is None else str(value)


def _map(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: object) -> list[dict[str, Any]]:
    items = cast(list[object], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]


def _maps(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    return _list(record.get(key))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
