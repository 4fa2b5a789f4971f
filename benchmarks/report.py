"""What every benchmark shares: percentiles, the machine's name, and the JSON result on disk."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0-1) of the values lie; nearest rank."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, max(0, round(share * len(ranked) + 0.5) - 1))]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, p95 and extremes, rounded to microseconds where milliseconds are given."""
    return {
        "p50": round(percentile(values, 0.5), 3),
        "p95": round(percentile(values, 0.95), 3),
        "min": round(min(values), 3),
        "max": round(max(values), 3),
        "count": len(values),
    }


def machine() -> dict[str, Any]:
    """The processor, cores and Python of this machine."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return {"processor": model, "cores": os.cpu_count(), "system": platform.system(),
            "python": platform.python_version()}  # fmt: skip


def write(name: str, result: dict[str, Any]) -> Path:
    """Write one result beside the others, with machine and time; prints it as well."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    when = datetime.now(UTC).isoformat(timespec="minutes")
    body = {"benchmark": name, "at": when, "machine": machine(), **result}
    path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(body, indent=2))
    return path
