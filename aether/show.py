"""Records as text for a terminal: tables, source lists, the confidence line.

Apart from the verbs so that they stay one call each. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aether.records import Candidate, Confidence, Hit, Plan, Retrieval, Route, Run


def table(rows: Sequence[Candidate], head: str) -> str:
    """A score table with every column that is not zero throughout; zero rows are shown too."""
    names = list(dict.fromkeys(name for row in rows for name, _ in row.parts))
    used = [
        n for n in names if any(points for row in rows for name, points in row.parts if name == n)
    ]
    width = max((len(row.agent) for row in rows), default=8)
    lines = [f"{head:<{width}}  {'score':>7}  " + "  ".join(f"{n:>11}" for n in used)]
    for row in rows:
        points = dict(row.parts)
        cells = "  ".join(f"{points.get(n, 0.0):>11.1f}" for n in used)
        lines.append(f"{row.agent:<{width}}  {row.score:>7.1f}  {cells}".rstrip())
    return "\n".join(lines)


def routing(route: Route) -> str:
    """The decision, its sentence and its table."""
    what = f"{route.decision} ({route.pass_}, confidence {route.confidence:.2f}): {route.reason}"
    return f"{what}\n\n{table(route.candidates, 'expert')}"


def planning(plan: Plan) -> str:
    """The picked places and the planning table."""
    picked = ", ".join(plan.sources) or "no site"
    spaces = ", ".join(plan.namespaces)
    return f'query "{plan.query}" in {picked}; knowledge: {spaces}\n\n{table(plan.table, "place")}'


def retrieval(found: Retrieval) -> str:
    """How each way of looking ended, in one line."""
    web = f"web: {found.web}" + (f" ({found.web_detail})" if found.web_detail else "")
    kb = f"knowledge base: {found.kb}" + (f" ({found.kb_detail})" if found.kb_detail else "")
    return f"{len(found.hits)} passages; {web}; {kb}"


def sources(hits: Iterable[Hit]) -> str:
    """The numbered source list under an answer."""
    lines: list[str] = []
    for hit in hits:
        place = " - ".join(p for p in (hit.title, hit.locator, hit.date) if p)
        link = hit.url or hit.path
        lines.append(f"[{hit.n}] {place}" + (f"\n    {link}" if link else ""))
    return "\n".join(lines)


def confidence(run: Run) -> str:
    """The confidence line: the number against the threshold, and how the run ended."""
    sign = ">=" if run.confidence >= run.threshold else "<"
    chain = " -> ".join(f"{a.agent} {a.confidence:.2f}" for a in run.attempts)
    return f"confidence {run.confidence:.2f} {sign} {run.threshold:.2f}, {run.outcome} ({chain})"


def run_line(record: Mapping[str, Any]) -> str:
    """One run of the audit in one line; a line from elsewhere may lack any of it."""
    asked = " ".join(str(record.get("question", "")).split())[:70]
    sure = record.get("confidence")
    number = f"{sure:.2f}" if isinstance(sure, int | float) else "-"
    words = [str(record.get(key, "-")) for key in ("run", "outcome", "agent")]
    return f"{words[0]}  {words[1]:<14} {number:>4}  {words[2]:<30} {asked}"


def terms(scored: Confidence) -> str:
    """Every term of the confidence, and every claim with its verdict."""
    sums = "\n".join(f"  {name:<12} {points:+.3f}" for name, points in scored.parts)
    cap = f"\n  capped: {scored.cap}" if scored.cap else ""
    claims = "\n".join(
        f"  {c.verdict:<11} {c.support:.2f}  {''.join(f'[{n}]' for n in c.citations):<8} {c.text}"
        for c in scored.claims
    )
    return f"confidence {scored.value:.3f}\n{sums}{cap}\nclaims\n{claims}"
