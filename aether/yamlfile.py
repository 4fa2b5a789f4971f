"""Strict reading of the YAML files that people write: manifests, routes, sources, catalogues.

Apart because every kind of file wants the same: YAML 1.2 core scalars (no `NO` -> false, no dates),
duplicate and unknown keys refused, and every problem told with its line, key and advice.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from aether.errors import Problem

MAX_BYTES = 1_000_000
_CORE = (
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z")),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")),
    ("int", re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")),
    ("float", re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# libyaml reads ten times faster; a Python built without it still works
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Key = tuple[str | int, ...]
M = TypeVar("M", bound=BaseModel)


class FileModel(BaseModel):
    """Base of every record that is read from YAML: frozen, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(slots=True)
class Loaded:
    """What one file held: plain data, the line of every key, and the problems met on the way."""

    path: Path
    data: Any = None
    lines: dict[Key, int] = field(default_factory=dict[Key, int])
    problems: list[Problem] = field(default_factory=list[Problem])

    def get(self, key: str) -> Any:
        """The value of a top-level key, None where there is none."""
        return self.data.get(key) if isinstance(self.data, dict) else None  # pyright: ignore

    def problem(self, key: Key, message: str, advice: str = "") -> None:
        """Note a problem at the line of `key`, or of its nearest known parent."""
        line = next(
            (self.lines[key[:i]] for i in range(len(key), -1, -1) if key[:i] in self.lines), 0
        )
        self.problems.append(Problem(str(self.path), line, _dotted(key), message, advice))


def read(path: Path) -> Loaded:
    """Read one YAML file into plain data; never raises for what is in the file."""
    loaded = Loaded(path)
    try:
        raw = path.read_bytes()
        text = raw[: MAX_BYTES + 1].decode("utf-8-sig")
    except OSError as error:
        loaded.problem((), f"cannot be opened: {error.strerror}", "check the file and its rights")
        return loaded
    except UnicodeDecodeError as error:
        loaded.problem((), f"is not UTF-8 (byte {error.start})", "save the file as UTF-8")
        return loaded
    if len(raw) > MAX_BYTES:
        loaded.problem((), "is larger than 1 MB", "split it, or move long lists to examples/")
        return loaded
    try:
        node = cast(yaml.Node | None, yaml.compose(text, Loader=_LOADER))  # pyright: ignore
    except yaml.MarkedYAMLError as error:
        _syntax_problem(loaded, error)
        return loaded
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        _at(loaded, line, f"holds the control character {error.character!r}", "delete it")
        return loaded
    except RecursionError:
        loaded.problem((), "is nested too deeply", "flatten it")
        return loaded
    if node is None:
        loaded.problem((), "is empty", "fill it, or delete it")
        return loaded
    loaded.data = _build(loaded, node, (), set())
    return loaded


def parse(loaded: Loaded, model: type[M]) -> M | None:
    """Check plain data against a record; None, with problems noted, where it does not fit."""
    if loaded.problems:
        return None
    data = cast(object, loaded.data)
    if not isinstance(data, dict):
        loaded.problem((), "must be a mapping of keys", "start with `id: ...` at the left margin")
        return None
    try:
        return model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        for fault in error.errors():
            _fault_problem(loaded, model, fault["type"], fault["loc"], fault["msg"], fault["input"])
        return None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean "x"?` for the nearest known word, or an empty string."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f'did you mean "{near[0]}"?' if near else ""


def _dotted(key: Key) -> str:
    return ".".join(str(part) for part in key)


def _at(loaded: Loaded, line: int, message: str, advice: str) -> None:
    loaded.problems.append(Problem(str(loaded.path), line, "", message, advice))


def _syntax_problem(loaded: Loaded, error: yaml.MarkedYAMLError) -> None:
    mark = error.problem_mark or error.context_mark
    message = (error.problem or "cannot be read as YAML").replace("\t", "\\t")
    advice = "check the indentation, and put text with : # @ % ` or quotes between single quotes"
    if "'\\t'" in message or "\\t" in message:
        advice = "a tab stands where spaces must: indent with two spaces"
    elif "character '" in message:
        advice = "put the value between single quotes"
    _at(loaded, mark.line + 1 if mark else 0, message, advice)


def _build(loaded: Loaded, node: yaml.Node, key: Key, seen: set[int]) -> Any:
    """Node to data, in YAML 1.2 core; aliases are refused, so nothing can grow or loop."""
    loaded.lines.setdefault(key, node.start_mark.line + 1)
    if not isinstance(node, yaml.ScalarNode):
        if id(node) in seen:
            loaded.problem(key, "uses an alias (*name)", "write the value out")
            return None
        seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        return _build_mapping(loaded, node, key, seen)
    if isinstance(node, yaml.SequenceNode):
        return [_build(loaded, child, (*key, i), seen) for i, child in enumerate(node.value)]
    return _scalar(loaded, node, key)


def _build_mapping(loaded: Loaded, node: yaml.MappingNode, key: Key, seen: set[int]) -> Any:
    data: dict[str, Any] = {}
    for name_node, value_node in node.value:
        name = str(name_node.value)
        child = (*key, name)
        line = name_node.start_mark.line + 1
        if name in data:
            advice = f"it stands already in line {loaded.lines[child]}: keep one of the two"
            loaded.problems.append(
                Problem(str(loaded.path), line, _dotted(child), "is given twice", advice)
            )
            continue
        loaded.lines[child] = line
        data[name] = _build(loaded, value_node, child, seen)
    return data


def _scalar(loaded: Loaded, node: yaml.ScalarNode | yaml.Node, key: Key) -> Any:
    text = str(node.value)
    if found := _CONTROL.search(text):
        advice = "write a regular expression between single quotes, so that \\b stays \\b"
        loaded.problem(key, f"holds the control character {found.group()!r}", advice)
    if not isinstance(node, yaml.ScalarNode) or node.style:  # quoted or block text
        return text
    kind = next((name for name, pattern in _CORE if pattern.match(text)), "str")
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind == "int":
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    return float(text) if kind == "float" else text


def _fault_problem(
    loaded: Loaded, model: type[BaseModel], kind: str, where: Key, message: str, value: Any
) -> None:
    key = tuple(where)
    if kind == "extra_forbidden":
        known = _fields_at(model, key[:-1])
        advice = did_you_mean(str(key[-1]), known) or "known keys: " + ", ".join(sorted(known))
        loaded.problem(key, "is not a known key", advice)
    elif kind == "missing":
        loaded.problem(key, "is missing", "add it")
    elif kind == "string_type" and isinstance(value, int | float | bool):
        loaded.problem(key, f"must be text, but YAML reads {value!r}", "put it between quotes")
    else:
        loaded.problem(key, message[:1].lower() + message[1:], f"found: {str(value)[:60]!r}")


def _fields_at(model: type[BaseModel], key: Key) -> set[str]:
    """The known keys of the record that lies at `key` inside `model`."""
    current: Any = model
    for part in key:
        if isinstance(part, int):
            continue
        info = current.model_fields.get(part)
        current = _record_of(info.annotation) if info else None
        if current is None:
            return set()
    return set(current.model_fields)


def _record_of(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner: tuple[Any, ...] = getattr(annotation, "__args__", ())  # pyright: ignore
    return next((r for a in inner if (r := _record_of(a))), None)
