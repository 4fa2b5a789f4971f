"""Changing single keys of a TOML file that a person may also edit: comments and order stay.

The standard library reads TOML but does not write it. Lines are edited where that is possible; the
result is read again and compared, and a file of unusual shape is written anew from its values.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

Value = str | bool | int | float | None  # None takes the key out
_TABLE = re.compile(r"\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(?:#.*)?$")
_ANY_TABLE = re.compile(r"\s*\[")
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def changed(text: str, changes: Mapping[str, Value]) -> str:
    """The TOML text with dotted keys (`section.key`) set or taken out; the rest as it was.

    Raises tomllib.TOMLDecodeError where `text` is no TOML.
    """
    wanted = _merged(tomllib.loads(text), changes)
    lines = text.split("\n") if text else []  # a string may hold other line separators
    if lines and not lines[-1]:
        lines.pop()
    for dotted, value in changes.items():
        section, _, key = dotted.rpartition(".")
        _edit(lines, section, key, value)
    edited = "\n".join(lines) + "\n" if lines else ""
    try:
        if _without_empty(tomllib.loads(edited)) == _without_empty(wanted):
            return edited
    except tomllib.TOMLDecodeError:
        pass
    return dumped(wanted)


def dumped(data: Mapping[str, Any]) -> str:
    """A mapping of values and tables as TOML text; plain keys come before tables."""
    return "\n".join(_table_lines(data, ())).strip("\n") + "\n"


def replace_file(path: Path, text: str, *, private: bool = False) -> None:
    """Write a file in one step, so that a power cut leaves the old or the new; raises OSError.

    `private` keeps it from other people of the machine; the rights of an old file are kept.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        new.chmod(0o600 if private else mode)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise


def _merged(data: dict[str, Any], changes: Mapping[str, Value]) -> dict[str, Any]:
    for dotted, value in changes.items():
        section, _, key = dotted.rpartition(".")
        table = data.setdefault(section, {}) if section else data
        if not isinstance(table, dict):
            table = data[section] = {}
        if value is None:
            cast(dict[str, Any], table).pop(key, None)
        else:
            table[key] = value
    return data


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value != {}}


def _edit(lines: list[str], section: str, key: str, value: Value) -> None:
    """Set one key in place: its own line, else a new one at the end of its table."""
    start, end = _span(lines, section)
    if start < 0:
        if value is not None:
            gap = [""] if lines and lines[-1].strip() else []
            lines += [*gap, f"[{section}]", f"{key} = {_scalar(value)}"]
        return
    mine = re.compile(rf"(\s*(?:{re.escape(key)}|\"{re.escape(key)}\")\s*=\s*)(.*)$")
    for i in range(start, end):
        if found := mine.match(lines[i]):
            if value is None:
                del lines[i]
            else:
                lines[i] = f"{found[1]}{_scalar(value)}{_comment(found[2])}"
            return
    if value is not None:
        while end > start and not lines[end - 1].strip():
            end -= 1
        lines.insert(end, f"{key} = {_scalar(value)}")


def _span(lines: Sequence[str], section: str) -> tuple[int, int]:
    """First and last-but-one line inside a table; (-1, -1) where there is none."""
    start = 0 if not section else -1
    for i, line in enumerate(lines):
        if start >= 0 and _ANY_TABLE.match(line):
            return start, i
        if start < 0 and (found := _TABLE.match(line)) and found[1] == section:
            start = i + 1
    return (start, len(lines)) if start >= 0 else (-1, -1)


def _comment(rest: str) -> str:
    """The comment behind a value, with the space before it; a # inside quotes is none."""
    quote = ""
    for i, sign in enumerate(rest):
        if quote:
            escaped = quote == '"' and rest[i - 1] == "\\"
            quote = quote if sign != quote or escaped else ""
        elif sign in "\"'":
            quote = sign
        elif sign == "#":
            return "  " + rest[i:]
    return ""


def _table_lines(data: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {k: v for k, v in data.items() if not isinstance(v, dict)}
    tables = {k: cast(dict[str, Any], v) for k, v in data.items() if isinstance(v, dict)}
    head = [f"[{'.'.join(map(_key, path))}]"] if path and (plain or not tables) else []
    lines = [*head, *(f"{_key(k)} = {_scalar(v)}" for k, v in plain.items())]
    for name, table in tables.items():
        lines += ["", *_table_lines(table, (*path, name))]
    return lines


def _key(name: str) -> str:
    return name if _BARE.match(name) else _scalar(name)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(map(_scalar, cast(list[Any], value))) + "]"
    if isinstance(value, dict):
        inner = cast(dict[str, Any], value)
        return "{" + ", ".join(f"{_key(k)} = {_scalar(v)}" for k, v in inner.items()) + "}"
    return str(value)
