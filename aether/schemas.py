"""JSON Schemas of the files that people write, for editors; `python -m aether.schemas` renews them.

Made from the very records that check the files, so a schema cannot promise anything else.
"""

from __future__ import annotations

import json

from pydantic import BaseModel

from aether.agents import AgentManifest, Mandates, Routes
from aether.lint import RESOURCES
from aether.sources import Source

SCHEMAS: dict[str, type[BaseModel]] = {
    "agents/expert.schema.json": AgentManifest,
    "agents/routes.schema.json": Routes,
    "agents/mandates.schema.json": Mandates,
    "kb/sources/source.schema.json": Source,
}


def render(model: type[BaseModel]) -> str:
    """The schema file of one record, as text."""
    return json.dumps(model.model_json_schema(), indent=2) + "\n"


def write_all() -> None:
    """Write every schema beside its files."""
    for name, model in SCHEMAS.items():
        (RESOURCES / name).write_text(render(model), encoding="utf-8")


if __name__ == "__main__":
    write_all()
