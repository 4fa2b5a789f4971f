"""What README and CONTRIBUTING claim, held against the code."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aether import cli, records
from aether.agents import Floor
from aether.errors import AetherError
from aether.readers import READERS
from aether.settings import Settings
from aether.steps.score import WEIGHTS, is_refusal, overlap
from tests.test_architecture import modules

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of a Markdown table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def ticked(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def verbs() -> Iterator[str]:
    """Every verb that the command line takes, families in two words."""

    def below(parser: argparse.ArgumentParser, head: str) -> Iterator[str]:
        found = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        if not found:
            yield head
        for action in found:
            for name, child in action.choices.items():
                yield from below(child, f"{head} {name}".strip())

    return below(cli._parser(), "")


def keys() -> dict[str, object]:
    """Every setting with its default."""
    return {
        f"{section}.{key}": field.default
        for section, part in Settings.model_fields.items()
        if section != "home"
        for key, field in type(part.default).model_fields.items()
    }


def test_the_readme_lists_every_verb_and_no_other() -> None:
    told = [verb for row in rows(section(README, "Verbs")) for verb in ticked(row[0])]
    assert sorted(told) == sorted(verbs())


def test_every_verb_in_the_readmes_examples_exists() -> None:
    known = set(verbs()) | {v.split()[0] for v in verbs()} | {"test"}
    blocks = "\n".join(re.findall(r"```\n(.*?)```", README, re.DOTALL))
    for line in re.findall(r"^(?:aether|python3 run\.py) +(\w[^#\n]*)", blocks, re.MULTILINE):
        words = line.split()
        assert words[0] in known, line
        if words[0] in ("kb", "model", "agents", "audit"):
            assert " ".join(words[:2]) in known, line


def test_the_readme_lists_every_setting_with_its_default() -> None:
    told: dict[str, str] = {}
    for names, default, _ in rows(section(README, "Settings")):
        parts = [p.strip(" `") for p in default.split(",")]
        each = parts if len(parts) == len(ticked(names)) else [default] * len(ticked(names))
        told |= dict(zip(ticked(names), each, strict=True))
    assert set(told) == set(keys())
    for key, default in keys().items():
        words = told[key].strip("` ")
        if isinstance(default, bool):
            assert words == str(default).lower(), key
        elif default == "":
            assert words.startswith("empty") or key == "kb.uri", key
        else:
            assert words.partition(":")[0] == f"{default}", key


def test_the_exit_statuses_of_the_readme_are_those_of_the_code() -> None:
    told = dict(re.findall(r"(\d+) ([a-z][a-z ]+)", section(README, "Verbs").split("Exit")[-1]))
    assert set(told) == {"0", "1", "2", "3", "130"}
    words = re.sub(r"\s+", " ", cli.__doc__ or "")
    for status in told:
        assert re.search(rf"\b{status} ", words), status


def test_the_outcomes_of_the_readme_exist() -> None:
    table = section(README, "What an answer looks like")
    outcomes = records.Outcome.__args__  # type: ignore[attr-defined]
    for word in re.findall(r"`(low_confidence|refused|answered|\w+ed)`", table):
        assert word in outcomes


@pytest.mark.parametrize(
    ("kind", "ending"),
    [("Markdown", ".md"), ("text", ".txt"), ("HTML", ".html"), ("PDF", ".pdf"), ("Word", ".docx"),
     ("PowerPoint", ".pptx"), ("Excel", ".xlsx"), ("CSV", ".csv")],
)  # fmt: skip
def test_every_kind_of_file_in_the_readme_has_a_reader(kind: str, ending: str) -> None:
    assert kind in section(README, "Your own knowledge")
    assert ending in READERS


def test_the_layers_of_contributing_name_real_modules() -> None:
    for _, named, _ in rows(section(CONTRIBUTING, "Who may import whom")):
        for word in " ".join(ticked(named)).split():
            assert word.strip("/\u2026") in modules(), word


def test_the_formula_of_contributing_is_the_one_that_is_computed() -> None:
    told = section(CONTRIBUTING, "Confidence")
    for sign, weight in (
        ("+", WEIGHTS.bonus), ("-", WEIGHTS.unsupported), ("-", WEIGHTS.uncited),
    ):  # fmt: skip
        assert f"{sign} {weight}*" in told
    assert f"{WEIGHTS.weak_cap}" in told
    assert f"{overlap(0):.1f} \u2026 {overlap(100):.2f}" in told
    assert is_refusal("I cannot help with that.")


def test_the_files_that_prose_links_to_are_there() -> None:
    for text in (README, CONTRIBUTING):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (ROOT / target).exists(), target
    for path in re.findall(r"`((?:aether|agents|tests|kb)/[\w/.]+)`", README + CONTRIBUTING):
        mine = "storage_specialist" in path  # the example of a new expert
        assert mine or (ROOT / path).exists(), path


def test_the_error_tree_is_drawn_as_it_is() -> None:
    import aether.errors as errors

    drawn = re.findall(r"[\u251c\u2514]\u2500\u2500 (\w+)", errors.__doc__ or "")

    def below(kind: type[AetherError]) -> Iterator[str]:
        for child in kind.__subclasses__():
            if child.__module__ == errors.__name__:
                yield child.__name__
                yield from below(child)

    assert drawn == list(below(AetherError))


def test_the_floors_of_the_code_have_a_line_in_the_rules() -> None:
    rules = (ROOT / "agents" / "routes.yaml").read_text(encoding="utf-8")
    for name in Floor.model_fields:
        assert f"{name}:" in rules, name
