"""What the verbs about single runs do beside showing them; apart from `verbs.py` for its length."""

from __future__ import annotations

from argparse import Namespace

from aether.records import as_json
from aether.steps.audit import find
from aether.terminal import json_line, opened


def replay(options: Namespace) -> int:
    """Decide a recorded run again with today's files, and print what differs."""
    with opened(options) as engine:
        done = engine.replay(find(engine.audit_path, options.id))
    for one in done.differences:
        if options.json:
            json_line(as_json(one))
        else:
            print(f"{one.what:<32} {one.then}  ->  {one.now}")
    if options.json:
        json_line({"summary": {"run": done.run, "differences": len(done.differences)}})
    elif not done.differences:
        print(f"{done.run}: nothing differs")
    return 0
