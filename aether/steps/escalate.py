"""The climb: what is said when a question goes to the parent expert.

Nothing but the best score of the chain travels upwards; each expert finds its own passages.
"""

from __future__ import annotations

from collections.abc import Sequence

from aether.events import Escalated
from aether.records import Attempt


def next_rung(attempts: Sequence[Attempt], parent: str, threshold: float) -> Escalated:
    """The event of climbing from the last attempt to `parent`, with its reason in words."""
    last = attempts[-1]
    best = max(a.confidence for a in attempts)
    if last.generated:
        reason = f"confidence {last.confidence:.2f} is below {threshold:.2f}"
    else:
        reason = f"what was found ({last.pre:.2f}) cannot reach {threshold:.2f}"
    return Escalated(last.agent, parent, last.confidence, best, reason)
