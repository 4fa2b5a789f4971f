"""What happens during one question, in order; command line and window iterate the same events.

Apart from the records because an event is a record with a name and a moment: `event` is its name
in `--json`, and nothing is ever computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aether.records import Confidence, Plan, Retrieval, Route, Run


@dataclass(frozen=True, slots=True)
class Routed:
    """Who answers, with the score table."""

    route: Route
    event: str = field(default="routed", init=False)


@dataclass(frozen=True, slots=True)
class Planned:
    """Where this expert looks."""

    plan: Plan
    event: str = field(default="planned", init=False)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found there."""

    agent: str
    retrieval: Retrieval
    pre: float
    event: str = field(default="retrieved", init=False)


@dataclass(frozen=True, slots=True)
class Built:
    """The prompt is ready: its tokens against the loaded window."""

    agent: str
    tokens: int
    window: int
    budget: int
    passages: int
    dropped: int
    model: str
    event: str = field(default="built", init=False)


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer, cleaned of markers that name no source."""

    text: str
    event: str = field(default="delta", init=False)


@dataclass(frozen=True, slots=True)
class Scored:
    """The confidence of one attempt."""

    agent: str
    confidence: Confidence
    event: str = field(default="scored", init=False)


@dataclass(frozen=True, slots=True)
class Escalated:
    """The question climbs to the parent."""

    agent: str
    to: str
    confidence: float
    best: float
    reason: str
    event: str = field(default="escalated", init=False)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know while waiting; never part of the answer."""

    text: str
    event: str = field(default="notice", init=False)


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a run, also after a stop or a fault."""

    run: Run
    event: str = field(default="finished", init=False)


Event = Routed | Planned | Retrieved | Built | Delta | Scored | Escalated | Notice | Finished
