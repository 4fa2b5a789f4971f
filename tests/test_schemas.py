"""The schemas beside the files are those of the records that check them."""

from __future__ import annotations

import json

import pytest

from aether.lint import RESOURCES, lint
from aether.schemas import SCHEMAS, render


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_on_disk_is_current(name: str) -> None:
    text = (RESOURCES / name).read_text(encoding="utf-8")
    assert text == render(SCHEMAS[name]), "run python -m aether.schemas"
    assert json.loads(text)["additionalProperties"] is False


def test_what_ships_is_clean(home: object) -> None:
    from pathlib import Path

    assert [str(p) for p in lint(Path(str(home)))] == []
