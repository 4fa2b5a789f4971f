"""What Aether needs, checked one by one, each with the way to mend it.

Nothing here changes anything: a check looks, and says in words what it saw.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from aether.engine import Engine
from aether.errors import AetherError
from aether.lint import lint
from aether.steps.audit import verify

LEAST_FREE = 2_000_000_000  # bytes; the embedded model and a knowledge base need about one


@dataclass(frozen=True, slots=True)
class Check:
    """One check; `matters` tells whether Aether can work without it."""

    check: str
    ok: bool
    detail: str
    fix: str = ""
    matters: bool = True


def examine(engine: Engine) -> Iterator[Check]:
    """Run every check in order; never raises for what it finds."""
    for look in (_python, _folder, _experts, _model, _embedder, _knowledge, _web, _window, _runs):
        yield _guarded(look, engine)


def _guarded(look: Callable[[Engine], Check], engine: Engine) -> Check:
    try:
        return look(engine)
    except AetherError as error:
        return Check(look.__name__.strip("_"), False, error.what, error.advice)


def _python(engine: Engine) -> Check:
    return Check("python", sys.version_info >= (3, 11), sys.version.split()[0], "use Python 3.11+")


def _folder(engine: Engine) -> Check:
    home = engine.settings.home
    try:
        home.mkdir(parents=True, exist_ok=True)
        probe = home / ".write-test"
        probe.write_text("", encoding="utf-8")
        probe.unlink()
    except OSError as error:
        return Check("folder", False, f"{home}: {error.strerror}", "set AETHER_HOME to another one")
    free = shutil.disk_usage(home).free
    detail = f"{home}, {free / 1e9:.1f} GB free"
    return Check("folder", free > LEAST_FREE, detail, "free some disk space")


def _experts(engine: Engine) -> Check:
    problems = lint(engine.settings.home)
    sound = len(engine.tree.agents)
    detail = f"{sound} experts, {len(problems)} problems"
    return Check("experts", not problems, detail, "run `aether lint`", matters=sound == 0)


def _model(engine: Engine) -> Check:
    info = engine.model().info()
    detail = f"{info.id} at {info.base_url} ({info.server}), window {info.context} tokens"
    return Check("model", True, f"{detail}. {info.note}".strip())


def _embedder(engine: Engine) -> Check:
    vector = engine.embedder.encode(["ready"])
    return Check("embedder", True, f"{engine.embedder.fingerprint}, {vector.shape[1]} dimensions")


def _knowledge(engine: Engine) -> Check:
    engine.seed()
    stats = engine.store.stats()
    detail = f"{stats.get('passages', 0)} passages in {stats.get('files', 0)} files"
    return Check(
        "knowledge base", bool(stats.get("passages")), detail, "run `aether kb add FOLDER`"
    )


def _web(engine: Engine) -> Check:
    if not engine.settings.web.enabled:
        return Check("web", True, "switched off (web.enabled)", matters=False)
    if find_spec("ddgs") is None:
        fix = "start again with `python3 run.py`"
        return Check("web", False, "the search library ddgs is missing", fix, matters=False)
    sites = len(engine.library.web())
    return Check("web", True, f"{sites} sites on the list, provider {engine.settings.web.provider}",
                 matters=False)  # fmt: skip


def _window(engine: Engine) -> Check:
    found = find_spec("PySide6") is not None
    return Check("window", found, "Qt is installed" if found else "Qt is missing",
                 "start again with `python3 run.py`", matters=False)  # fmt: skip


def _runs(engine: Engine) -> Check:
    done = verify(engine.audit_path)
    detail = done.broken or f"{done.runs} runs, the chain is whole"
    fix = "the log was changed from outside; restore audit/runs.jsonl from a backup"
    return Check("runs", not done.broken, detail, fix, matters=False)
