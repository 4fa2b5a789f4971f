"""Files into the knowledge base: one report each, in order, whatever some of them do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from aether import ingest
from aether.cancel import Cancel
from aether.errors import Cancelled, EmbedderMismatch
from aether.ingest import add, seed
from aether.records import FileReport
from aether.store import LanceStore
from tests.fakes.embedder import WordEmbedder
from tests.kb_fixtures import real_embedder
from tests.readers import make

NOTES = Path(__file__).parents[1] / "kb" / "notes"
ODD = [
    "it's.md",
    'say "hi".md',
    "a'; DROP TABLE passages; --.md",
    "50% #1.md",
    "\u00fcber \u6587.md",
]


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def store(tmp_path: Path, embedder: WordEmbedder) -> LanceStore:
    return LanceStore(str(tmp_path / "kb"), embedder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "files"
    path.mkdir()
    return path


def run(store: LanceStore, *paths: Path, namespace: str = "kb_aws") -> list[FileReport]:
    return list(add(paths, namespace, store, store._embedder, cancel=Cancel()))


def brief(reports: Sequence[FileReport]) -> dict[str, str]:
    return {Path(r.path).name: r.status for r in reports}


def write(path: Path, text: str = "Some words about peering.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_added_then_unchanged_then_updated(
    store: LanceStore, embedder: WordEmbedder, folder: Path
) -> None:
    path = write(folder / "a.md", "# Peering\n\nalpha beta")
    (first,) = run(store, path)
    assert (first.path, first.status, first.passages) == (path.as_posix(), "added", 1)
    assert first.seconds > 0
    embedded = embedder.texts
    (again,) = run(store, path)
    assert (again.status, again.passages) == ("unchanged", 0)
    assert embedder.texts == embedded
    write(path, "# Peering\n\ngamma delta")
    (third,) = run(store, path)
    assert third.status == "updated"
    assert [h.text for h in store.search("alpha beta gamma", (), 9)] == ["gamma delta"]


def test_every_file_gets_one_report_in_order_and_a_bad_one_stops_nobody(
    store: LanceStore, folder: Path
) -> None:
    write(folder / "a.md")
    write(folder / ".hidden.md")
    write(folder / "b.exe", "MZ")
    (folder / "c.md").touch()
    make.pdf(folder / "d.pdf", "", "")
    make.pdf(folder / "e.pdf", "text", encrypt={"user_password": "x", "owner_password": "y"})
    (folder / "f.docx").write_bytes(b"PK\x03\x04 cut off")
    (folder / "g.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    make.pdf(folder / "h.txt", "A PDF under another name.")
    write(folder / "sub" / "z.md")
    write(folder / ".git" / "config.md")
    found = run(store, folder, folder / "missing.md")
    assert [Path(r.path).name for r in found] == [
        ".hidden.md", "a.md", "b.exe", "c.md", "d.pdf", "e.pdf", "f.docx", "g.txt", "h.txt",
        "z.md", "missing.md",
    ]  # fmt: skip
    assert brief(found) == {
        ".hidden.md": "skipped", "a.md": "added", "b.exe": "skipped", "c.md": "skipped",
        "d.pdf": "skipped", "e.pdf": "failed", "f.docx": "failed", "g.txt": "failed",
        "h.txt": "added", "z.md": "added", "missing.md": "failed",
    }  # fmt: skip
    reasons = {Path(r.path).name: r.reason for r in found}
    assert "no text layer, 0 passages" in reasons["d.pdf"]
    assert "needs a password" in reasons["e.pdf"]
    assert all(r.reason for r in found if r.status in ("skipped", "failed"))
    assert all((r.passages > 0) == (r.status == "added") for r in found)
    assert len(store.files()) == 3


def test_a_file_named_twice_and_its_folder_are_one_file(store: LanceStore, folder: Path) -> None:
    path = write(folder / "a.md")
    roundabout = folder / ".." / folder.name / "a.md"
    assert len(run(store, path, roundabout, folder, path)) == 1


@pytest.mark.parametrize("name", ODD)
def test_odd_names_go_all_the_way(name: str, store: LanceStore, folder: Path) -> None:
    path = write(folder / name)
    assert [r.status for r in run(store, folder)] == ["added"]
    assert [r.status for r in run(store, path)] == ["unchanged"]
    assert [h.path for h in store.search("peering", ("kb_aws",), 1)] == [path.as_posix()]
    assert store.remove([path.as_posix()], "kb_aws") == 1
    assert store.files() == ()


def test_a_file_that_lost_its_text_is_forgotten(store: LanceStore, folder: Path) -> None:
    path = write(folder / "a.md")
    run(store, path)
    write(path, "")
    (report,) = run(store, path)
    assert report.status == "skipped"
    assert "was removed" in report.reason
    assert store.search("peering", (), 5) == ()


def test_files_that_cannot_be_read_now_keep_what_they_had(store: LanceStore, folder: Path) -> None:
    path = write(folder / "a.txt", "alpha beta")
    run(store, path)
    path.write_bytes(b"\x7fELF" + bytes(200))
    (report,) = run(store, path)
    assert report.status == "failed"
    assert [h.text for h in store.search("alpha", (), 5)] == ["alpha beta"]


def test_texts_of_many_files_are_embedded_and_written_in_large_batches(
    store: LanceStore, embedder: WordEmbedder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BATCH", 8)
    for i in range(20):
        write(folder / f"{i:02}.md", f"number{i}")
    found = run(store, folder)
    assert [r.status for r in found] == ["added"] * 20
    assert embedder.batches == [8, 8, 4]
    assert len(store.files()) == 20


def test_a_long_file_is_embedded_in_slices_and_written_whole(
    store: LanceStore, embedder: WordEmbedder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BATCH", 4)
    text = "\n\n".join(f"## Part {i}\n\n" + f"Sentence {i} tells a fact. " * 30 for i in range(10))
    (report,) = run(store, write(folder / "long.md", text))
    assert report.passages == 10
    assert embedder.batches == [4, 4, 2]
    assert [f.passages for f in store.files()] == [10]


def test_stop_keeps_what_was_written_and_a_second_run_goes_on(
    store: LanceStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BATCH", 3)
    for i in range(30):
        write(folder / f"{i:02}.md", f"number{i}")
    cancel = Cancel()
    seen: list[FileReport] = []

    def until_stopped() -> None:
        for report in add([folder], "kb_aws", store, store._embedder, cancel=cancel):
            seen.append(report)
            if len(seen) == 6:
                cancel.cancel()

    with pytest.raises(Cancelled):
        until_stopped()
    assert [r.status for r in seen] == ["added"] * 6
    assert {f.path for f in store.files()} == {r.path for r in seen}
    assert [r.status for r in run(store, folder)] == ["unchanged"] * 6 + ["added"] * 24


def test_another_embedder_is_refused_before_anything_is_embedded(
    store: LanceStore, folder: Path
) -> None:
    run(store, write(folder / "a.md"))
    bigger = WordEmbedder(96, "bigger")
    changed = LanceStore(store._uri, bigger)
    with pytest.raises(EmbedderMismatch):
        list(add([folder], "kb_aws", changed, bigger, cancel=Cancel()))
    assert bigger.texts == 0


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_to_itself_and_a_broken_link_end(store: LanceStore, folder: Path) -> None:
    (folder / "loop").symlink_to(folder)
    (folder / "dead.md").symlink_to(folder / "nowhere.md")
    write(folder / "a.md")
    assert brief(run(store, folder)) == {"a.md": "added", "dead.md": "failed"}


def test_notes_are_seeded_once_renewed_and_withdrawn(
    store: LanceStore, embedder: WordEmbedder, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    for space in ("kb_aws", "kb_azure"):
        for name in ("one", "two"):
            write(notes / space / f"{name}.md", f"---\ntitle: {name}\n---\n# {name}\n\n{space}.")
    write(tmp_path / "own" / "mine.md", "my own file")
    run(store, tmp_path / "own")
    told: list[str] = []
    assert len(seed(notes, store, embedder, notify=told.append)) == 4
    assert told == ["reading 4 starter notes"]
    assert "kb/notes/kb_aws/one.md" in store.digests("kb_aws")
    version, embedded = store.version(), embedder.texts
    assert seed(notes, store, embedder, notify=told.append) == ()
    assert (store.version(), embedder.texts, len(told)) == (version, embedded, 1)
    write(notes / "kb_aws" / "one.md", "# one\n\nnewer text")
    (notes / "kb_azure" / "two.md").unlink()
    assert [r.status for r in seed(notes, store, embedder)] == ["updated"]
    assert [f.path.rpartition("/")[2] for f in store.files()] == [
        "mine.md", "one.md", "two.md", "one.md",
    ]  # fmt: skip
    shutil.rmtree(notes)
    assert seed(notes, store, embedder) == ()
    assert [f.path.rpartition("/")[2] for f in store.files()] == ["mine.md"]


@pytest.mark.slow
def test_a_note_answers_the_first_question_by_meaning(tmp_path: Path) -> None:
    store = LanceStore(str(tmp_path / "kb"), real_embedder())
    notes = tmp_path / "notes"
    for name in ("kb_aws", "kb_wireless"):
        shutil.copytree(NOTES / name, notes / name)
    reports = seed(notes, store, real_embedder())
    assert {r.status for r in reports} == {"added"}
    question = "How do I let two VPCs in different accounts talk to each other?"
    best = store.search(question, ("kb_aws",), 3)[0]
    assert best.path == "kb/notes/kb_aws/vpc-connectivity-across-accounts.md"
    assert best.score > 0.5
    assert best.url.startswith("https://docs.aws.amazon.com/")
    assert store.search(question, ("kb_wireless",), 1)[0].score < best.score
