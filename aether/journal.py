"""What is known of a run while it is under way, and the records that come of it.

The one mutable thing in the straight line, apart from it: a stop or a fault at any moment still
leaves a whole record, with every word that was shown.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from aether import __version__
from aether.records import (
    Attempt,
    Confidence,
    Hit,
    Outcome,
    Plan,
    Prompt,
    Question,
    Retrieval,
    Route,
    Run,
    Timings,
    Usage,
    as_json,
)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Journal:
    """Everything that happened in one run so far; times in milliseconds."""

    question: Question
    at: datetime = field(default_factory=_now)
    started: float = field(default_factory=time.perf_counter)
    route: Route | None = None
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    plans: list[Plan] = field(default_factory=list[Plan])
    retrievals: list[Retrieval] = field(default_factory=list[Retrieval])
    prompts: list[Prompt] = field(default_factory=list[Prompt])
    scores: list[tuple[str, Confidence, int]] = field(  # expert, terms and claims, forged markers
        default_factory=list[tuple[str, Confidence, int]]
    )
    under_way: Attempt | None = None  # the attempt that the model is writing
    shown: list[str] = field(default_factory=list[str])  # its words so far
    usage: Usage = Usage()
    model: str = ""
    marks: dict[str, float] = field(default_factory=dict[str, float])
    notes: list[str] = field(default_factory=list[str])
    error: str = ""

    @contextmanager
    def timed(self, name: str) -> Generator[None]:
        """Add the time of the block to `marks[name]`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - start) * 1000
            self.marks[name] = self.marks.get(name, 0.0) + spent

    def begin(self, attempt: Attempt) -> None:
        """The model starts to write this attempt."""
        self.under_way, self.shown = attempt, []

    def break_off(self, why: str) -> None:
        """Keep the attempt under way, with the words that were shown; nothing where there is none.

        `why`: cut, cancelled or failed.
        """
        if self.under_way:
            words = "".join(self.shown).strip()
            note = f"incomplete: {why}"
            self.attempts.append(replace(self.under_way, answer=words, note=note))
            self.under_way = None

    def end(self, attempt: Attempt) -> Attempt:
        """The attempt is whole, or was never written."""
        self.under_way = None
        self.attempts.append(attempt)
        return attempt

    def show(self, text: str) -> None:
        """Note words that were shown, and when the first of the run came."""
        self.marks.setdefault("first_token_ms", self.elapsed())
        self.shown.append(text)

    def elapsed(self) -> float:
        """Milliseconds since the question came."""
        return (time.perf_counter() - self.started) * 1000

    def best(self) -> Attempt | None:
        """The attempt that the run stands for: the most confident one with words."""
        return max((a for a in self.attempts if a.answer), key=lambda a: a.confidence, default=None)

    def append_to_best(self, text: str, hits: tuple[Hit, ...]) -> None:
        """Add words behind the best answer; an attempt without a model where there is none."""
        if best := self.best():
            self.attempts[self.attempts.index(best)] = replace(best, answer=best.answer + text)
        else:
            agent = self.plans[-1].agent if self.plans else ""
            self.attempts.append(Attempt(agent, 0.0, 0.0, False, text.strip(), hits))

    def run(self, outcome: Outcome, threshold: float) -> Run:
        """The record of the run as it stands."""
        best = self.best()
        self.marks["total_ms"] = self.elapsed()
        agent = best.agent if best else self.route.agent if self.route else ""
        return Run(
            run=f"{self.at:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}",
            at=self.at.isoformat(timespec="milliseconds"),
            question=self.question.text,
            agent=agent,
            answer=best.answer if best else "",
            confidence=best.confidence if best and outcome != "failed" else 0.0,
            threshold=threshold,
            outcome=outcome,
            hits=best.hits if best else (),
            attempts=tuple(self.attempts),
            timings=Timings(**{name: round(ms, 3) for name, ms in self.marks.items()}),
            usage=self.usage,
            error=self.error,
            notes=tuple(self.notes),
        )

    def record(self, run: Run, rules: str) -> dict[str, Any]:
        """The audit line of a run: its record, and what is needed to rebuild it.

        `rules` is the digest of the manifests that routed and asked.
        """
        return {
            **as_json(run),
            "asked": as_json(self.question),
            "route": as_json(self.route),
            "plans": as_json(self.plans),
            "retrievals": [
                {**as_json(r), "hits": [hit.n for hit in r.hits]} for r in self.retrievals
            ],
            "prompts": [
                {**as_json(p), "hits": [hit.n for hit in p.hits]} for p in self.prompts
            ],
            "scores": [
                {"agent": agent, "forged": forged, **as_json(scored)}
                for agent, scored, forged in self.scores
            ],
            "model": self.model,
            "rules": rules,
            "version": __version__,
        }  # fmt: skip
