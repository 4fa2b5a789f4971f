"""The run log: one line a run, chained; torn, changed, crowded and full are all survived."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aether.errors import AuditError
from aether.steps.audit import GENESIS, audit, find, read_log, verify

ROOT = Path(__file__).parents[2]
unix = pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a Unix matter")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "audit" / "runs.jsonl"


def write(log: Path, *runs: str, **more: Any) -> None:
    for run in runs:
        audit(log, {"run": run, "question": f"about {run}?", **more})


def lines(log: Path) -> list[bytes]:
    return log.read_bytes().split(b"\n")[:-1]


def process(code: str, *arguments: str) -> subprocess.Popen[str]:
    head = "import sys; from pathlib import Path; from aether.steps.audit import audit\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_every_line_carries_the_hash_of_the_one_before(log: Path) -> None:
    write(log, "a", "b", "c")
    previous = GENESIS
    for raw in lines(log):
        assert json.loads(raw)["prev"] == previous
        previous = hashlib.sha256(raw).hexdigest()
    done = verify(log)
    assert (done.runs, done.torn, done.broken) == (3, (), "")


def test_an_empty_log_is_whole(log: Path) -> None:
    assert verify(log).runs == 0
    assert list(read_log(log)) == []


@pytest.mark.parametrize(
    "text",
    ["quote \" and back\\slash", "line\nbreak \u2028 \x00", "日本 \U0001f600", "half \ud83d pair"],
)  # fmt: skip
def test_any_text_comes_back_as_it_went_in(log: Path, text: str) -> None:
    audit(log, {"run": "a", "question": text})
    write(log, "b")
    assert find(log, "a")["question"] == text
    assert len(lines(log)) == 2
    assert not verify(log).broken


@pytest.mark.parametrize("victim", [0, 1])
def test_a_changed_line_is_found(log: Path, victim: int) -> None:
    write(log, "a", "b", "c")
    rows = lines(log)
    rows[victim] = rows[victim].replace(b"about", b"ABOUT")
    log.write_bytes(b"\n".join(rows) + b"\n")
    assert f"line {victim + 2}" in verify(log).broken


@pytest.mark.parametrize("order", [[0, 2], [1, 2], [0, 2, 1], [0, 0, 1, 2]])
def test_a_removed_moved_or_doubled_line_is_found(log: Path, order: list[int]) -> None:
    write(log, "a", "b", "c")
    rows = lines(log)
    log.write_bytes(b"".join(rows[i] + b"\n" for i in order))
    assert verify(log).broken


def test_a_torn_last_line_is_kept_and_the_chain_goes_on(log: Path) -> None:
    write(log, "a", "b")
    whole = log.read_bytes()
    log.write_bytes(whole[:-25])  # the power went
    write(log, "c", "d")
    done = verify(log)
    assert (done.runs, done.torn, done.broken) == (3, (2,), "")
    assert [e.record["run"] for e in read_log(log) if e.record] == ["a", "c", "d"]
    assert lines(log)[1] == whole[:-25].split(b"\n")[1]


def test_a_last_line_that_lost_only_its_newline_is_whole(log: Path) -> None:
    write(log, "a", "b")
    log.write_bytes(log.read_bytes()[:-1])
    write(log, "c")
    assert (verify(log).runs, verify(log).torn, verify(log).broken) == (3, (), "")


def test_very_long_lines_are_chained_too(log: Path) -> None:
    write(log, "a", text="x" * 300_000)
    write(log, "b", text="y" * 70_000)
    write(log, "c")
    assert (verify(log).runs, verify(log).broken) == (3, "")


def test_binary_rubbish_is_a_torn_line(log: Path) -> None:
    write(log, "a")
    with log.open("ab") as out:
        out.write(b'\xff\xfe\x00 \n[1, 2]\n"text"\n')
    write(log, "b")
    assert verify(log).torn == (2, 3, 4)
    assert not verify(log).broken
    assert find(log, "last")["run"] == "b"


def test_two_processes_at_once_keep_the_chain(log: Path) -> None:
    code = (
        "for i in range(40):\n"
        "    run = {'run': f'{sys.argv[2]}-{i}', 'pad': 'x' * (i * 37 % 5000)}\n"
        "    audit(Path(sys.argv[1]), run)\n"
    )
    both = [process(code, str(log), name) for name in ("one", "two")]
    for child in both:
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 0, errors
    done = verify(log)
    assert (done.runs, done.torn, done.broken) == (80, (), "")
    runs = [str(e.record["run"]) for e in read_log(log) if e.record]
    for name in ("one", "two"):  # each in its own order
        assert [r for r in runs if r.startswith(name)] == [f"{name}-{i}" for i in range(40)]


@unix
def test_a_disk_that_fills_up_leaves_whole_lines_only(log: Path) -> None:
    write(log, "a")
    code = (
        "import resource; from aether.errors import AuditError\n"
        "path = Path(sys.argv[1]); size = path.stat().st_size\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 500, size + 500))\n"
        "try:\n    audit(path, {'run': 'big', 'pad': 'x' * 5000})\n"
        "except AuditError as error:\n    print(error)\n"
        "audit(path, {'run': 'small'})\n"
    )
    child = process(code, str(log))
    out, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors
    assert "cannot be written" in out
    assert "disk space" in out
    assert (verify(log).runs, verify(log).torn, verify(log).broken) == (2, (), "")
    assert find(log, "last")["run"] == "small"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_told(log: Path) -> None:
    log.parent.mkdir()
    log.symlink_to("/dev/full")
    with pytest.raises(AuditError, match="No space left"):
        write(log, "a")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("a file, not a folder")
    with pytest.raises(AuditError, match="cannot be written down"):
        write(tmp_path / "audit" / "runs.jsonl", "a")


def test_a_log_that_is_a_folder_is_told(log: Path) -> None:
    log.mkdir(parents=True)
    with pytest.raises(AuditError):
        write(log, "a")
    with pytest.raises(AuditError):
        list(read_log(log))


def test_runs_are_found_by_a_unique_beginning(log: Path) -> None:
    write(log, "20261201-aa", "20261201-ab", "20261202-aa")
    assert find(log, "20261202")["run"] == "20261202-aa"
    assert find(log, "20261201-ab")["run"] == "20261201-ab"
    assert find(log, "last")["run"] == "20261202-aa"
    with pytest.raises(AuditError, match="fits 2 runs"):
        find(log, "20261201")
    with pytest.raises(AuditError, match="no run"):
        find(log, "1999")


def test_last_of_nothing_is_an_error(log: Path) -> None:
    with pytest.raises(AuditError, match="no run"):
        find(log, "last")
