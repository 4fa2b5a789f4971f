"""The door to LanceDB: what is put in is found at once, once, and by whatever people type."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lancedb
import numpy as np
import pytest

from aether import store as store_module
from aether.errors import EmbedderMismatch, StoreError
from aether.store import TABLE, LanceStore
from tests.fakes.embedder import WordEmbedder
from tests.kb_fixtures import new_file

ROOT = Path(__file__).parents[1]
NAMESPACES = [f"kb_{i}" for i in range(13)]
ODD_PATHS = [
    "/kb/it's.md", '/kb/say "hi".md', "/kb/a'; DROP TABLE passages; --.md", "/kb/50% #1?.md",
    "/kb/with space/\u00fcber \u6587.md", "C:/Program Files/x.md", "/kb/a''b.md",
    "/kb/back\\slash.md",
]  # fmt: skip


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def store(tmp_path: Path, embedder: WordEmbedder) -> LanceStore:
    return LanceStore(str(tmp_path / "kb"), embedder)


def other(store: LanceStore, embedder: WordEmbedder | None = None) -> LanceStore:
    """A second instance on the same folder, as another process has it."""
    return LanceStore(store._uri, embedder or WordEmbedder())


def script(code: str, *args: str) -> subprocess.Popen[str]:
    """A real second process."""
    head = (
        "import sys; from aether.store import LanceStore\n"
        "from tests.fakes.embedder import WordEmbedder; from tests.kb_fixtures import new_file\n"
        "e = WordEmbedder(); s = LanceStore(sys.argv[1], e)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *args],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def texts(store: LanceStore, query: str, k: int = 10) -> list[str]:
    return [hit.text for hit in store.search(query, (), k)]


# --- an empty knowledge base ------------------------------------------------------------


def test_a_fresh_install_answers_with_nothing_and_creates_nothing(store: LanceStore) -> None:
    assert store.search("how do I peer two networks?", ("kb_aws",), 5) == ()
    assert store.files() == ()
    assert store.digests("kb_aws") == {}
    assert store.remove(["/x.md"], "kb_aws") == 0
    assert store.stats()["passages"] == 0
    store.optimize()
    assert not Path(store._uri).exists()


def test_an_emptied_knowledge_base_still_searches(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "alpha beta")])
    assert store.remove(["/a.md"], "kb_aws") == 1
    assert store.search("alpha", ("kb_aws",), 5) == ()
    assert store.stats()["files"] == 0


# --- putting and finding ----------------------------------------------------------------


def test_a_hit_carries_everything_a_citation_needs(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "alpha beta gamma")])
    (hit,) = store.search("alpha beta gamma", (), 3)
    assert (hit.text, hit.title, hit.path) == ("alpha beta gamma", "A title", "/a.md")
    assert (hit.source, hit.origin, hit.vendor) == ("kb_aws", "kb", "Vendor")
    assert (hit.locator, hit.date) == ("line 1, A heading", "2026-11")


def test_the_score_is_the_cosine_whichever_search_found_it(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    bodies = [f"passage number {i} about routers and switches" for i in range(120)]
    store.put([new_file(embedder, "/a.md", *bodies), new_file(embedder, "/b.md", "error zx81q")])
    query = "error zx81q"
    vector = embedder.encode([query])[0]
    hits = store.search(query, (), 20)
    assert hits[0].text == "error zx81q"
    for hit in hits:
        own = embedder.encode([f"A title\nA heading\n{hit.text}"])[0]
        assert hit.score == pytest.approx(float(np.dot(vector, own)), abs=1e-4)
        assert 0 <= hit.score <= 1


@pytest.mark.parametrize(
    "identifier",
    ["0x80070005", "AADSTS50105", "Get-MgUser", "KB5034441", "ge-0/0/1", "10.20.0.0/16"],
)
def test_an_exact_identifier_is_found_among_alike_passages(
    identifier: str, store: LanceStore, embedder: WordEmbedder
) -> None:
    alike = [f"sign in fails on device {i} with an unknown error code" for i in range(150)]
    store.put(
        [new_file(embedder, "/a.md", *alike[:75], f"it fails with {identifier}", *alike[75:])]
    )
    assert identifier in texts(store, f"sign in fails with error {identifier}", 3)[0]


def test_only_the_asked_namespaces_are_searched(store: LanceStore, embedder: WordEmbedder) -> None:
    for name in ("kb_aws", "kb_azure", 'kb_"x"', "kb_o'x"):
        store.put([new_file(embedder, "/same.md", f"alpha in {name}", namespace=name)])
    for name in ("kb_azure", 'kb_"x"', "kb_o'x"):
        assert [h.source for h in store.search("alpha", (name,), 9)] == [name]
    assert {h.source for h in store.search("alpha", ("kb_aws", "kb_azure"), 9)} == {
        "kb_aws", "kb_azure",
    }  # fmt: skip
    assert len(store.search("alpha", (), 9)) == 4


def test_thirteen_namespaces_are_all_listed(store: LanceStore, embedder: WordEmbedder) -> None:
    store.put([new_file(embedder, "/n.md", "alpha", namespace=n) for n in NAMESPACES])
    assert set(store.stats()["namespaces"]) == set(NAMESPACES)
    assert len({f.namespace for f in store.files()}) == 13


@pytest.mark.parametrize(
    "query",
    ["what is it?", "VNet (hub/spoke) AND \"UDR", "C:\\Program Files", "*", "\U0001f600",
     "NOT alpha", "alpha OR", "alpha^2", "+alpha -beta", "title:alpha", "[alpha]", "~", "alpha~2",
     "'; DROP TABLE passages; --", "\x00\x07alpha\x1b", "alpha " * 20_000, "{", "\"", "the of and"],
)  # fmt: skip
def test_no_text_is_read_as_query_syntax(
    query: str, store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "alpha beta", "gamma delta")])
    hits = store.search(query, ("kb_aws",), 5)
    assert len(hits) == 2  # a question of stop words or signs only goes by meaning
    if "alpha" in query:
        assert hits[0].text == "alpha beta"


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\x00\x01"])
def test_a_question_of_nothing_finds_nothing(
    query: str, store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "alpha")])
    assert store.search(query, (), 5) == ()


@pytest.mark.parametrize("path", ODD_PATHS)
def test_odd_file_names_are_added_found_listed_replaced_and_removed(
    path: str, store: LanceStore, embedder: WordEmbedder
) -> None:
    keep = new_file(embedder, "/keep.md", "other words")
    store.put([keep, new_file(embedder, path, "alpha one", "alpha two")])
    store.put([new_file(embedder, path, "alpha three", digest="d2")])
    assert store.digests("kb_aws") == {path: "d2", "/keep.md": "d1"}
    assert [h.path for h in store.search("alpha three", (), 1)] == [path]
    assert [f.passages for f in store.files() if f.path == path] == [1]
    assert store.remove([path], "kb_aws") == 1
    assert [f.path for f in store.files()] == ["/keep.md"]


def test_new_rows_are_found_at_once_indexed_or_not(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/old.md", *(f"word{i} filler" for i in range(300)))])
    store.optimize()
    assert store.stats()["unindexed"] == 0
    store.put([new_file(embedder, "/new.md", "the unicorn8734 lives here")])
    assert store.stats()["unindexed"] == 1
    assert texts(store, "unicorn8734", 1) == ["the unicorn8734 lives here"]
    store.optimize()
    assert texts(store, "unicorn8734", 1) == ["the unicorn8734 lives here"]


def test_many_single_files_are_indexed_in_batches_and_never_pile_up(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    for i in range(70):
        store.put([new_file(embedder, f"/{i}.md", f"word{i}")])
    table = lancedb.connect(store._uri).open_table(TABLE)
    assert table.stats()["fragment_stats"]["num_fragments"] < 70
    assert len(store.files()) == 70


def test_putting_replaces_a_file_whole_and_touches_no_namesake(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "one", "two", "three", namespace=n) for n in ("x", "y")])
    before = lancedb.connect(store._uri).open_table(TABLE).version
    store.put([new_file(embedder, "/a.md", "four", namespace="x", digest="d2")])
    after = lancedb.connect(store._uri).open_table(TABLE).version
    assert after == before + 1  # one commit: no moment without the file
    assert {(f.namespace, f.passages) for f in store.files()} == {("x", 1), ("y", 3)}


def test_a_file_without_passages_and_a_batch_of_nothing_are_harmless(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([])
    store.put([new_file(embedder, "/empty.md")])
    store.put([new_file(embedder, "/a.md", "alpha"), new_file(embedder, "/empty.md")])
    assert [f.path for f in store.files()] == ["/a.md"]
    store.put([new_file(embedder, "/a.md")])
    assert store.files() == ()


def test_the_same_file_twice_in_one_batch_is_there_once(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "one", "two"), new_file(embedder, "/a.md", "three")])
    assert [f.passages for f in store.files()] == [1]


def test_the_version_changes_with_every_change_and_with_nothing_else(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    seen = [store.version()]
    for i in range(3):
        store.put([new_file(embedder, f"/{i}.md", "alpha")])
        seen.append(store.version())
    store.remove(["/0.md"], "kb_aws")
    seen.append(store.version())
    store.search("alpha", (), 3)
    assert store.version() == seen[-1]
    shutil.rmtree(store._uri)
    fresh = other(store)
    fresh.put([new_file(embedder, "/0.md", "alpha")])
    seen.append(fresh.version())
    assert len(set(seen)) == len(seen)


def test_a_large_knowledge_base_is_searched_on_the_disk_with_the_same_result(
    store: LanceStore, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for space in ("kb_aws", "kb_azure"):
        bodies = [f"word{i} word{i + 1} in {space}" for i in range(60)]
        store.put([new_file(embedder, "/a.md", *bodies, namespace=space)])
    asked = [("word7 word8", ("kb_azure",)), ("word7", ()), ("nothing known", ("kb_aws",))]
    in_memory = [store.search(text, spaces, 5) for text, spaces in asked]
    monkeypatch.setattr(store_module, "_IN_MEMORY", 0)
    for (text, spaces), before in zip(asked, in_memory, strict=True):
        found = store.search(text, spaces, 5)
        assert [h.score for h in found] == pytest.approx([h.score for h in before], abs=1e-5)
        assert found[0].text == before[0].text


def test_a_file_can_be_shown_whole_in_the_order_of_its_text(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    parts = [f"part {i}" for i in range(12)]
    store.put([new_file(embedder, "/it's.md", *parts), new_file(embedder, "/b.md", "other")])
    assert [hit.text for hit in store.passages("/it's.md", "kb_aws")] == parts
    assert store.passages("/it's.md", "kb_azure") == ()


def test_every_column_is_lower_case(store: LanceStore, embedder: WordEmbedder) -> None:
    store.put([new_file(embedder, "/a.md", "alpha")])
    names = lancedb.connect(store._uri).open_table(TABLE).schema.names
    assert names == [n.lower() for n in names]
    assert {"vector", "text", "namespace", "path", "digest", "ordinal", "product"} <= set(names)


# --- another embedder -------------------------------------------------------------------


def test_another_embedder_is_named_and_nothing_is_lost(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "alpha")])
    bigger = WordEmbedder(96, "bigger")
    changed = other(store, bigger)
    for attempt in (
        lambda: changed.search("alpha", (), 3),
        lambda: changed.put([new_file(bigger, "/b.md", "beta")]),
        lambda: changed.digests("kb_aws"),
    ):
        with pytest.raises(EmbedderMismatch, match="words .64 dim.*bigger .96 dim") as caught:
            attempt()
        assert "re-index" in caught.value.advice
    assert [f.path for f in changed.files()] == ["/a.md"]
    assert texts(store, "alpha") == ["alpha"]


def test_reindexing_twice_keeps_every_passage_searchable(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put(
        [new_file(embedder, "/a.md", "alpha one", "beta two"), new_file(embedder, "/b.md", "c")]
    )
    before = store.files()
    for size in (96, 64):
        changed = other(store, WordEmbedder(size, f"model{size}"))
        assert changed.reindex() == 3
        assert changed.files() == before
        assert changed.search("beta two", (), 1)[0].text == "beta two"
        changed.put([new_file(WordEmbedder(size), f"/new{size}.md", "gamma")])
        assert changed.remove([f"/new{size}.md"], "kb_aws") == 1


# --- several at once --------------------------------------------------------------------


def test_eight_threads_search_while_others_write(store: LanceStore, embedder: WordEmbedder) -> None:
    store.put([new_file(embedder, "/base.md", *(f"alpha word{i}" for i in range(50)))])

    def read(_: int) -> int:
        return min(len(store.search("alpha", ("kb_aws",), 10)) for _ in range(6))

    def write(n: int) -> int:
        store.put([new_file(embedder, f"/{n}.md", f"alpha file{n}", "alpha again")])
        return 10

    with ThreadPoolExecutor(12) as pool:
        jobs = [pool.submit(write if i % 3 == 0 else read, i) for i in range(24)]
        assert [job.result(timeout=100) for job in jobs] == [10] * 24
    assert len(store.files()) == 9
    assert store.stats()["passages"] == 50 + 8 * 2


def test_the_first_use_by_many_threads_makes_one_table(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    with ThreadPoolExecutor(8) as pool:
        files = [new_file(embedder, f"/{i}.md", f"alpha {i}") for i in range(8)]
        list(pool.map(lambda f: store.put([f]), files))
    assert [f.path for f in store.files()] == [f"/{i}.md" for i in range(8)]


@pytest.mark.slow
def test_two_processes_write_and_nothing_is_lost_or_doubled(store: LanceStore) -> None:
    code = (
        "for i in range(12):\n"
        "    s.put([new_file(e, f'/{sys.argv[2]}{i}.md', f'alpha {i}', 'two')])\n"
        "    s.put([new_file(e, '/shared.md', f'from {sys.argv[2]} {i}', 'b', 'c')])\n"
    )
    running = [script(code, store._uri, name) for name in ("left", "right")]
    for process in running:
        assert process.wait(timeout=100) == 0, process.communicate()[1]
        process.communicate()
    counts = {f.path: f.passages for f in store.files()}
    assert len(counts) == 25
    assert counts.pop("/shared.md") == 3
    assert set(counts.values()) == {2}


@pytest.mark.slow
def test_what_another_process_wrote_is_found_without_opening_again(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/mine.md", "alpha")])
    before = store.version()
    process = script("s.put([new_file(e, '/theirs.md', 'walrus77')])", store._uri)
    assert process.wait(timeout=60) == 0, process.communicate()[1]
    process.communicate()
    assert texts(store, "walrus77", 1) == ["walrus77"]
    assert store.version() != before


@pytest.mark.slow
def test_a_killed_writer_leaves_the_old_file_or_the_new_one_whole(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    code = (
        "files = [[new_file(e, f'/{f}.md', *(f'gen{g} part{i}' for i in range(6 + g % 3)),\n"
        "                   digest=f'{g}') for f in range(5)] for g in range(60)]\n"
        "for batch in files:\n    s.put(batch); print('.', flush=True)\n"
    )
    for pauses in (3, 7):
        process = script(code, store._uri)
        assert process.stdout is not None
        for _ in range(pauses):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        counts = {f.path: (int(f.digest), f.passages) for f in other(store).files()}
        assert len(counts) == 5
        assert all(passages == 6 + digest % 3 for digest, passages in counts.values())
        assert len(set(counts.values())) == 1  # one batch is one commit
    store.put([new_file(embedder, "/after.md", "the lock of the dead is gone")])
    assert len(store.files()) == 6


# --- faults of the disk -----------------------------------------------------------------


@pytest.mark.slow
def test_a_full_disk_is_told_and_leaves_what_was_there(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "alpha")])
    code = (
        "import json, resource, signal\nfrom aether.errors import StoreError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "big = new_file(e, '/big.md', *('beta ' * 200 for _ in range(400)))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "try:\n    s.put([big])\n"
        "except StoreError as error:\n"
        "    print(json.dumps([error.what, error.where, error.advice]))\n"
    )
    out, err = script(code, store._uri).communicate(timeout=60)
    assert out, err
    what, where, advice = json.loads(out)
    assert "cannot be written" in what
    assert where == store._uri
    assert "disk is full" in advice
    assert [f.path for f in store.files()] == ["/a.md"]


def test_a_place_that_is_no_folder_is_told(tmp_path: Path, embedder: WordEmbedder) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    store = LanceStore(str(file), embedder)
    assert store.search("alpha", (), 3) == ()
    with pytest.raises(StoreError, match="cannot be written") as caught:
        store.put([new_file(embedder, "/a.md", "alpha")])
    assert "kb.uri" in caught.value.advice
    with pytest.raises(StoreError) as caught:
        LanceStore(str(file / "kb"), embedder).put([new_file(embedder, "/a.md", "alpha")])
    assert "kb.uri" in caught.value.advice


def test_a_damaged_table_is_told_and_not_taken_for_an_empty_one(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "alpha")])
    for path in Path(store._uri, f"{TABLE}.lance", "_versions").iterdir():
        path.write_bytes(b"garbage")
    with pytest.raises(StoreError, match="cannot be") as caught:
        other(store).search("alpha", (), 3)
    assert caught.value.advice
    with pytest.raises(StoreError):
        other(store).put([new_file(embedder, "/b.md", "beta")])


def test_a_folder_that_is_moved_away_under_a_live_store_comes_back_as_new(
    store: LanceStore, embedder: WordEmbedder
) -> None:
    store.put([new_file(embedder, "/a.md", "alpha")])
    shutil.rmtree(store._uri)
    with pytest.raises(StoreError):
        store.search("alpha", (), 3)
    assert store.search("alpha", (), 3) == ()
    store.put([new_file(embedder, "/b.md", "beta")])
    assert texts(store, "beta") == ["beta"]
