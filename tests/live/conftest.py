"""An engine over a real instruction-tuned model, served by the embedded server.

`AETHER_LIVE_MODEL` names the GGUF file; `-m live` selects these tests. Nothing is downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from aether.engine import Engine
from aether.settings import load_settings

MODEL = os.environ.get("AETHER_LIVE_MODEL", "")  # read before a fixture clears AETHER_…


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Aether with an empty user folder, the starter notes and the live model; web off."""
    if not MODEL:
        pytest.skip("AETHER_LIVE_MODEL names no model: set it to an instruction-tuned GGUF file")
    if not Path(MODEL).is_file():
        pytest.skip(f"AETHER_LIVE_MODEL names no file: {MODEL}")
    home = str(tmp_path_factory.mktemp("live"))
    flags = {"home": home, "llm.model_path": MODEL, "llm.first_token_s": "600",
             "llm.idle_s": "300", "llm.total_s": "1800", "web.enabled": "false"}  # fmt: skip
    engine = Engine(load_settings(flags))
    try:
        if (server := engine.model().info().server) != "embedded":
            pytest.skip(f"a model server of another kind answers here ({server}): stop it first")
        yield engine
    finally:
        engine.close()
