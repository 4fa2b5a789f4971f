"""What is kept of a person's questions: counted, and deleted for good, kind by kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from aether import privacy
from aether.errors import AetherError
from aether.feedback import add_feedback
from aether.privacy import PLACES, measure, purge
from aether.runlog import index_of, run_lines
from aether.steps.audit import audit, verify


@pytest.fixture
def used(home: Path) -> Path:
    """A user folder with some of everything."""
    (home / "conversations" / "deleted").mkdir(parents=True)
    (home / "conversations" / "a.jsonl").write_text("{}\n", encoding="utf-8")
    (home / "conversations" / "deleted" / "b.jsonl").write_text("{}\n", encoding="utf-8")
    (home / "cache").mkdir()
    (home / "cache" / "weights.json").write_text("[]", encoding="utf-8")
    for run in ("r1", "r2"):
        audit(home / "audit" / "runs.jsonl", {"run": run})
    list(run_lines(home / "audit" / "runs.jsonl"))
    add_feedback(home, "r1", "up")
    (home / "settings.toml").write_text("", encoding="utf-8")
    return home


def test_everything_is_counted(used: Path) -> None:
    found = {kept.kind: kept for kept in measure(used)}
    assert list(found) == list(PLACES)
    assert {kind: kept.count for kind, kept in found.items()} == {
        "conversations": 1, "runs": 2, "feedback": 1, "cache": 1,
    }  # fmt: skip
    assert found["conversations"].size == 6, "deleted ones take room too"


def test_a_fresh_folder_holds_nothing(home: Path) -> None:
    assert all(kept.count == 0 and kept.size == 0 for kept in measure(home))
    for kind in PLACES:
        purge(home, kind)


@pytest.mark.parametrize("kind", PLACES)
def test_one_kind_goes_and_the_others_stay(used: Path, kind: privacy.Kind) -> None:
    before = {kept.kind: kept for kept in measure(used)}
    purge(used, kind)
    after = {kept.kind: kept for kept in measure(used)}
    assert after[kind].size == 0
    assert {k: v for k, v in after.items() if k != kind} == {
        k: v for k, v in before.items() if k != kind
    }
    assert (used / "settings.toml").exists()


def test_the_list_of_runs_goes_with_the_runs(used: Path) -> None:
    log = used / "audit" / "runs.jsonl"
    assert index_of(log).exists()
    purge(used, "runs")
    assert not index_of(log).exists()
    audit(log, {"run": "r3"})
    assert verify(log).runs == 1
    assert not verify(log).broken


def test_a_run_being_written_is_waited_for(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privacy, "LOCK_S", 0.05)
    log = used / "audit" / "runs.jsonl"
    with FileLock(f"{log}.lock"), pytest.raises(AetherError, match="being written down"):
        purge(used, "runs")
    assert log.exists()
