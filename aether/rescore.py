"""Confidence of an answer that came from elsewhere: `aether score`, evaluation, replay.

Apart from the step because its input is untrusted JSON, which is checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aether.agents import AgentTree
from aether.errors import AetherError
from aether.lexicon import Lexicon
from aether.records import Answer, Confidence, Hit, Question
from aether.steps.generate import CitationCleaner
from aether.steps.retrieve import quality_of
from aether.steps.route import route
from aether.steps.score import overlap, score

WEB_TIER = 0.85


class _HitIn(BaseModel):
    model_config = ConfigDict(extra="ignore")
    n: Annotated[int, Field(ge=1, le=999)]
    text: str
    source: str = ""
    url: str = ""
    origin: Literal["web", "kb"] = "kb"
    score: Annotated[float, Field(ge=0, le=1)] | None = None


class _ItemIn(BaseModel):
    model_config = ConfigDict(extra="ignore")
    id: str | int = ""
    question: str
    answer: str
    agent: str = ""
    hits: tuple[_HitIn, ...] = ()
    best_pre: Annotated[float, Field(ge=0, le=1)] = 0.0


def rescore(
    item: Mapping[str, Any], tree: AgentTree, lexicon: Lexicon, threshold: float
) -> Confidence:
    """Score one recorded answer; raises AetherError where the record does not fit the contract.

    A hit without a score counts as a middling passage, 0.5; hits of one source without an address
    count as one document.
    """
    try:
        given = _ItemIn.model_validate(item)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise AetherError(
            f"the record cannot be scored: {faults}",
            advice='a line looks like {"id", "question", "answer", "hits": [{"n", "text", …}]}',
        ) from error
    hits = tuple(
        Hit(h.text, h.source, h.url, h.source, h.origin, 0.5 if h.score is None else h.score, h.n,
            path=h.url or h.source, tier=WEB_TIER)
        for h in given.hits
    )  # fmt: skip
    ranked = sorted(hits, key=lambda hit: (-hit.score, hit.n))
    quality, _ = quality_of(given.question, ranked)
    pre = quality * overlap(_points(given, tree, lexicon))
    cleaner = CitationCleaner(frozenset(hit.n for hit in hits))
    text = cleaner.feed(given.answer) + cleaner.flush()
    answer = replace(Answer(text, "stop"), forged=cleaner.forged)
    return score(answer, hits, pre, given.best_pre, threshold)


def _points(given: _ItemIn, tree: AgentTree, lexicon: Lexicon) -> float:
    """Routed points of the expert that answered, or of the best one."""
    verdict = route(Question(given.question[:4000]), tree, lexicon)
    below = set(tree.subtree(given.agent)) if given.agent in tree else set(tree.agents)
    return max((c.score for c in verdict.candidates if c.agent in below), default=0.0)
