"""What `python3 run.py test` runs: lint, format, types, then the tests.

With further words only the tests run, and the words go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys

CHECKS = (
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "basedpyright"]),
)
WORKERS = "2"  # each may hold torch and a window; most tests wait rather than work


def main(extra: list[str]) -> int:
    environment = {**os.environ, "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen")}
    status = 0
    for name, command in () if extra else CHECKS:
        done = subprocess.run([sys.executable, *command], env=environment, check=False)
        print(f"{name}: {'ok' if done.returncode == 0 else 'FAILED'}", flush=True)
        status = status or done.returncode
    words = extra or ["-n", WORKERS, "--dist", "worksteal"]
    tests = subprocess.run([sys.executable, "-m", "pytest", *words], env=environment, check=False)
    return status or tests.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
