"""Step six: how sure we are. Computed from what was found and what was cited, never asked for.

The weights stand together in `Weights`, so that a refit on labelled answers replaces one record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aether.claims import SUPPORTED, UNSUPPORTED, check, marker_supports
from aether.records import Answer, Claim, Confidence, Hit


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the confidence sum; a start, to be refitted on labels."""

    bonus: float = 0.2  # times V * P
    unsupported: float = 0.25  # times U
    uncited: float = 0.15  # times W
    weak_cap: float = 0.69  # V below `weak_at`, a contradicted number, nothing to check
    weak_at: float = 0.5


WEIGHTS = Weights()
_REFUSAL = re.compile(
    r"\b(i (?:can(?:no|')t|cannot|am unable to|must decline to) (?:help|answer|assist|provide)|"
    r"outside (?:of )?(?:my|our) (?:field|domain|scope|mandate))",
    re.IGNORECASE,
)


def overlap(points: float) -> float:
    """Domain overlap O: the routed score, 0-100 points, mapped to 0.1 … 0.85.

    Full from 35 points on; of labelled questions routed with 14 to 35, three in four are right.
    """
    return 0.1 + 0.75 * min(1.0, max(0.0, points) / 35)


def best_possible(pre: float, best: float) -> float:
    """The highest confidence an attempt can still reach; the test for climbing before a token."""
    return max(pre, best) + WEIGHTS.bonus


def score(
    answer: Answer, hits: Sequence[Hit], pre: float, best_pre: float, threshold: float
) -> Confidence:
    """Confidence of one attempt, 0-1.

    raw = max(pre, best_pre) + 0.2*V*P - 0.25*U - 0.15*W over the checkable claims, where
    V = (sum of support + 0.5)/(N + 1), P the share of markers that hold (forged ones count as not),
    U the share cited with support below 0.25, W the share uncited.
    """
    claims = check(answer.text, hits)
    count = len(claims)
    base = max(pre, best_pre)
    supports = marker_supports(claims, hits)
    markers = len(supports) + answer.forged
    v = (sum(c.support for c in claims) + 0.5) / (count + 1) if count else 0.0
    p = sum(s >= SUPPORTED for s in supports) / markers if markers else 0.0
    u = sum(bool(c.citations) and c.support < UNSUPPORTED for c in claims) / (count or 1)
    w = sum(not c.citations for c in claims) / (count or 1)
    terms = (
        ("pre", base),
        ("verified", WEIGHTS.bonus * v * p),
        ("unsupported", -WEIGHTS.unsupported * u),
        ("uncited", -WEIGHTS.uncited * w),
    )
    raw = min(1.0, max(0.0, sum(points for _, points in terms)))
    value, cap = _capped(raw, pre, v, claims, answer)
    parts = (*terms, ("V", v), ("P", p), ("U", u), ("W", w))
    verdict = "answer" if value >= threshold else "escalate"
    return Confidence(round(value, 6), verdict, pre, threshold, parts, claims, cap)


def _capped(
    raw: float, pre: float, v: float, claims: Sequence[Claim], answer: Answer
) -> tuple[float, str]:
    if is_refusal(answer.text):
        return 0.0, "the answer is a refusal"
    if not claims:
        return min(raw, pre, WEIGHTS.weak_cap), "nothing in the answer can be checked"
    if any(c.contradicted for c in claims):
        return min(raw, WEIGHTS.weak_cap), "a number contradicts the passage it cites"
    if v < WEIGHTS.weak_at:
        return min(
            raw, WEIGHTS.weak_cap
        ), "less than half of what is said is carried by its sources"
    return raw, ""


def is_refusal(text: str) -> bool:
    """Whether the opening of an answer declines to answer."""
    return not text.strip() or bool(_REFUSAL.search(text[:300]))
