"""What may change while the engine runs: experts, settings, a page that becomes a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from aether.cancel import Cancel
from aether.engine import Engine
from aether.errors import ManifestError, WebRefused
from aether.hosts import Place
from aether.ingest import listed
from aether.lint import RESOURCES
from aether.records import Question
from aether.settings import WebSettings, load_settings
from aether.web import WebDoor
from aether.workshop import own_copy, save_manifest
from tests.fakes.embedder import WordEmbedder
from tests.fakes.sealed_web import SealedWeb
from tests.test_web import Service

URL = "https://docs.vendor.example/peering.html"
PAGE = (
    "<html><head><title>Peering limits</title></head><body><main><h1>Peering limits</h1><p>"
    "A peering connection joins two networks. One network may have fifty active peering "
    "connections, and the quota can be raised to one hundred and twenty-five on request. Routes "
    "have to be added on both sides before any traffic flows between them.</p></main></body></html>"
)


@pytest.fixture
def engine(home: Path) -> Engine:
    made = Engine(load_settings({"web.enabled": "false"}))
    vars(made)["embedder"] = WordEmbedder()
    return made


def test_edited_experts_are_in_force_after_a_reload(engine: Engine, home: Path) -> None:
    assert engine.route(Question("zorgblat")).agent == engine.tree.root
    text = own_copy("wireless_specialist", home).text
    save_manifest(
        "wireless_specialist", home, text.replace("aliases: [", "aliases: [zorgblat, ", 1)
    )
    before = engine.tree
    assert engine.route(Question("@wireless_specialist hello")).agent == "wireless_specialist"
    engine.reload()
    assert engine.tree is not before
    assert engine.route(Question("how do I tune the zorgblat?")).agent == "wireless_specialist"


def test_without_a_sound_expert_the_old_ones_stay(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = engine.tree
    monkeypatch.setattr("aether.engine.folders", lambda kind, home: (tmp_path / "nothing",))
    with pytest.raises(ManifestError):
        engine.reload()
    assert engine.tree is before


def test_only_the_doors_concerned_open_anew(engine: Engine) -> None:
    engine.seed()
    store, library = engine.store, engine.library
    assert engine.web is None
    other = engine.settings.web.model_copy(update={"enabled": True})
    engine.adopt(engine.settings.model_copy(update={"web": other}))
    assert engine.web is not None
    assert engine.store is store
    assert engine.library is library
    kb = engine.settings.kb.model_copy(update={"uri": str(engine.settings.home / "other")})
    engine.adopt(engine.settings.model_copy(update={"kb": kb}))
    vars(engine)["embedder"] = WordEmbedder()
    assert engine.store is not store
    assert engine.store.files() == ()
    engine.seed()
    assert engine.store.files()


def test_a_listed_page_becomes_a_file(engine: Engine, home: Path, tmp_path: Path) -> None:
    with SealedWeb({URL: PAGE}, tmp_path) as web:
        settings = WebSettings(proxy=web.proxy, ca_file=web.ca_file)
        place = Place("vendor_docs", ("docs.vendor.example",), "Vendor")
        vars(engine)["web"] = WebDoor(settings, (place,), Service(()))
        path = engine.kept_page(URL, Cancel())
        with pytest.raises(WebRefused, match="not on the allowlist"):
            engine.kept_page("https://evil.example/x", Cancel())
        with pytest.raises(WebRefused, match="not https"):
            engine.kept_page("http://docs.vendor.example/peering.html", Cancel())
    reports = list(engine.kb_add([path], "kb_network", Cancel()))
    assert [r.status for r in reports] == ["added"]
    hits, _ = engine.timed_search("How many active peering connections?", ["kb_network"], 3)
    (hit,) = [hit for hit in hits if hit.path == path.as_posix()]
    assert hit.url == URL
    assert hit.title == "Peering limits"


def test_a_link_without_the_web_is_refused_with_advice(engine: Engine) -> None:
    with pytest.raises(WebRefused, match="switched off") as caught:
        engine.kept_page(URL, Cancel())
    assert "web.enabled" in caught.value.advice


def test_files_tell_what_happens_to_them(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nSome words about peering.\n", encoding="utf-8")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    told: list[tuple[str, str]] = []

    def tell(path: str, stage: str) -> None:
        told.append((Path(path).name, stage))

    reports = list(engine.kb_add([folder], "kb_aws", Cancel(), tell=tell))
    assert told == [("a.md", "reading"), ("a.md", "embedding")]
    found = dict(listed([folder]))
    assert list(found) == [r.path for r in reports]
    assert [bool(why) for why in found.values()] == [False, True]


def test_passages_of_a_file_in_the_order_of_the_text(engine: Engine, tmp_path: Path) -> None:
    text = "\n\n".join(f"## Part {i}\n\n" + f"Sentence {i} about peering. " * 60 for i in range(4))
    path = tmp_path / "it's.md"
    path.write_text(text, encoding="utf-8")
    list(engine.kb_add([path], "kb_aws", Cancel()))
    found = engine.store.passages(path.as_posix(), "kb_aws")
    assert len(found) >= 4
    first = [int(hit.text.split("Sentence ", 1)[1].split()[0]) for hit in found]
    assert first == sorted(first)
    assert engine.store.passages(path.as_posix(), "kb_gcp") == ()


def test_the_shipped_experts_are_never_written(engine: Engine, home: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in (RESOURCES / "agents").glob("*.yaml")}
    save_manifest("aws_specialist", home, "broken: [")
    engine.reload()
    assert "aws_specialist" in engine.tree
    assert {p: p.stat().st_mtime_ns for p in (RESOURCES / "agents").glob("*.yaml")} == before
