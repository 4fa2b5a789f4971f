"""The real embedding model: faithful, offline, loaded once, and plain about what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aether import embed
from aether.embed import PACKAGED, SentenceEmbedder
from aether.errors import EmbedError
from tests.kb_fixtures import real_embedder

TEXTS = [
    "VPC peering joins two networks of different accounts.",
    "Two virtual private clouds in separate accounts are connected by peering.",
    "The Wi-Fi controller assigns channels to the access points.",
    "",
    "word " * 3000,
    "\U0001f600 \u6587\u5b57 \x07",
]


def test_the_fingerprint_names_model_dimension_and_scheme_without_loading() -> None:
    code = (
        "import sys; from pathlib import Path; from aether.embed import SentenceEmbedder\n"
        f"e = SentenceEmbedder({PACKAGED!r}, Path('x')); print(e.fingerprint, e.dimension)\n"
        "print([m for m in ('torch', 'transformers', 'sentence_transformers') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split("\n")[:2] == ["all-MiniLM-L6-v2/384/t1 384", "[]"]


def test_another_folder_has_another_fingerprint(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "pool").mkdir(parents=True)
    modules = [{"type": "x.Transformer", "path": ""}, {"type": "x.Pooling", "path": "pool"}]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    pooling = {"word_embedding_dimension": 512, "pooling_mode_mean_tokens": True}
    (folder / "pool" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    first = SentenceEmbedder(str(folder), tmp_path)
    assert first.dimension == 512
    assert first.fingerprint.startswith("mine@")
    assert first.fingerprint.endswith("/512/t1")
    (folder / "config.json").write_text('{"hidden_size": 1}', encoding="utf-8")
    assert SentenceEmbedder(str(folder), tmp_path).fingerprint != first.fingerprint


@pytest.mark.slow
def test_a_folder_that_holds_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(EmbedError, match="cannot be loaded") as caught:
        SentenceEmbedder(str(tmp_path), tmp_path).encode(["x"])
    assert PACKAGED in caught.value.advice
    assert caught.value.where == str(tmp_path)


@pytest.mark.slow
def test_vectors_are_unit_float32_in_the_order_of_the_texts() -> None:
    vectors = real_embedder().encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > vectors[0] @ vectors[2]
    single = np.concatenate([real_embedder().encode([text]) for text in TEXTS])
    assert (single * vectors).sum(axis=1).min() > 0.999
    assert real_embedder().encode([]).shape == (0, 384)


@pytest.mark.slow
def test_many_texts_of_all_lengths_keep_their_order_over_batches() -> None:
    texts = [f"server {i} " + "filler words " * (i * 37 % 90) for i in range(150)]
    together = real_embedder().encode(texts)
    for i in (0, 1, 75, 148, 149):
        assert float(real_embedder().encode([texts[i]])[0] @ together[i]) > 0.999


@pytest.mark.slow
def test_the_fast_setting_is_faithful_to_float32() -> None:
    exact = embed._open(str(real_embedder()._folder()), "float32")
    want = exact.encode(TEXTS[:3], convert_to_numpy=True, show_progress_bar=False)
    assert (want * real_embedder().encode(TEXTS[:3])).sum(axis=1).min() > 0.9995
    fast = embed.has_bfloat16()
    assert real_embedder().precision == ("bfloat16" if fast else "float32")


@pytest.mark.slow
def test_a_fast_setting_that_is_not_faithful_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "_FAITHFUL", 1.1)
    assert SentenceEmbedder(PACKAGED, Path("nowhere")).precision == "float32"


@pytest.mark.slow
def test_threads_in_the_first_second_share_one_load(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    opened = embed._open

    def counted(folder: str, precision: str) -> Any:
        loads.append(precision)
        return opened(folder, precision)

    monkeypatch.setattr(embed, "_open", counted)
    fresh = SentenceEmbedder(PACKAGED, Path("nowhere"))
    start = threading.Barrier(6)
    results: list[Any] = []

    def work() -> None:
        start.wait()
        results.append(fresh.encode(TEXTS[:3]))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    assert all(np.allclose(r, results[0], atol=1e-3) for r in results)
    assert len(loads) == len(set(loads)) <= 2


@pytest.mark.slow
def test_the_packaged_model_never_touches_the_network_and_prints_nothing() -> None:
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise SystemExit(f'network: {a}')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from pathlib import Path; from aether.embed import SentenceEmbedder\n"
        f"print(SentenceEmbedder({PACKAGED!r}, Path('x')).encode(['a', 'b']).shape)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "(2, 384)\n"
    assert out.stderr == ""


@pytest.mark.slow
def test_a_vector_that_is_no_number_is_an_error() -> None:
    damaged = SentenceEmbedder(PACKAGED, Path("nowhere"))
    for weights in damaged._loaded()[0].model.parameters():
        weights.data.fill_(float("nan"))
    with pytest.raises(EmbedError, match="not a number"):
        damaged.encode(["x"])
