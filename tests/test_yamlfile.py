"""Every way in which a YAML file can be wrong is told with its line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from aether.yamlfile import FileModel, parse, read


class Inner(FileModel):
    words: tuple[str, ...] = ()


class Sample(FileModel):
    id: str
    count: int = 1
    inner: Inner = Inner()


def check(tmp_path: Path, text: str | bytes) -> tuple[Sample | None, list[str]]:
    path = tmp_path / "sample.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    loaded = read(path)
    found = parse(loaded, Sample)
    return found, [str(p) for p in loaded.problems]


def test_core_scalars_are_not_guessed(tmp_path: Path) -> None:
    found, problems = check(tmp_path, "id: NO\ninner: {words: [yes, 2024-01-01, off, 1e, 0x]}\n")
    assert problems == []
    assert found is not None
    assert found.id == "NO"
    assert found.inner.words == ("yes", "2024-01-01", "off", "1e", "0x")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("id: a\nid: b\n", 2, "given twice"),
        ("id: a\ninner:\n  words: [x]\n  words: [y]\n", 4, "given twice"),
        ("id: a\n\tcount: 2\n", 2, "tab"),
        ("id: @aws\n", 1, "single quotes"),
        ("id: `x`\n", 1, "single quotes"),
        ("id: %x\n", 1, "single quotes"),
        ("id: a\ncuont: 2\n", 2, 'did you mean "count"'),
        ("id: a\ninner:\n  word: [x]\n", 3, 'did you mean "words"'),
        ("id: 1.10\n", 1, "between quotes"),
        ("id: a\ncount: two\n", 2, "valid integer"),
        ("id: a\ninner: &x {words: [y]}\ncount: *x\n", 3, "alias"),
        ("- a\n- b\n", 1, "mapping"),
        ("null\n", 1, "mapping"),
        ("count: 2\n", 1, "is missing"),
        ('id: "\\b(vpc)\\b"\n', 1, "control character"),
        ("id: a\ninner: [unclosed\n", 3, "yaml"),
    ],
)
def test_each_fault_is_told_with_line_and_advice(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    found, problems = check(tmp_path, text)
    assert found is None
    assert any(f"sample.yaml:{line}" in p and says in p for p in problems), problems


@pytest.mark.parametrize(
    ("raw", "says"),
    [(b"", "is empty"), (b"\xff\xfe\x00", "not UTF-8"), (b"id: \x00", "control character"),
     (b"id: " + b"[" * 20000, "nesting depth"), (b"id: x" + b" " * 1_000_001, "larger than 1 MB")],
)  # fmt: skip
def test_files_that_are_no_yaml_at_all(tmp_path: Path, raw: bytes, says: str) -> None:
    found, problems = check(tmp_path, raw)
    assert found is None
    assert any(says in p for p in problems), problems


def test_a_byte_order_mark_is_harmless(tmp_path: Path) -> None:
    found, problems = check(tmp_path, b"\xef\xbb\xbfid: a\n")
    assert (found and found.id, problems) == ("a", [])


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    _, problems = check(tmp_path, "id: 5\ncount: x\nextra: 1\n")
    assert len(problems) == 3


def test_recursive_alias_ends(tmp_path: Path) -> None:
    found, problems = check(tmp_path, "id: a\ninner: &x\n  words: [*x]\n")
    assert found is None
    assert any("alias" in p for p in problems)


def test_a_missing_file_is_a_problem_not_an_exception(tmp_path: Path) -> None:
    loaded = read(tmp_path / "gone.yaml")
    assert parse(loaded, Sample) is None
    assert "cannot be opened" in str(loaded.problems[0])
