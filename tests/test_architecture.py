"""Who may import whom, what stays behind which door, and how long things may grow.

Walks the syntax trees of `aether/`, imports inside functions too. A module that is not named below
counts as a flow: it may use words, files and steps, but neither a door nor the engine.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.line import weights

__all__ = ["weights"]

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aether"

WORDS = "records errors events cancel text echo yamlfile patterns tomlfile chunks hosts keys"
FILES = (
    "protocols settings agents sources examples lexicon scoretable claims attribution schemas"
    " feedback"
)
DOORS = {
    "model": "llm answer servers probe dialect wire thoughts embedded models download trial",
    "store": "store rows storefault",
    "web": "web fetch extract evidence page",
    "embed": "embed",
    "readers": "readers",
    "search": "search",
}
FACES = "cli verbs auditverbs terminal show doctor gui __main__"
FLOW = {"words", "files", "steps", "flow"}
MAY: dict[str, set[str]] = {
    "words": {"words"},
    "files": {"words", "files"},
    "steps": {"words", "files", "steps"},
    "flow": FLOW,
    "face": {"words", "files", "flow", "engine", "face"},
    **{door: {"words", "files", door} for door in DOORS},
}
# (who, whom): why this one may all the same
EXCEPTIONS = {
    ("ingest", "readers"): "files are read in its threads; readers are functions without state",
    ("lint", "models"): "the catalogue of models is a file that people write",
    ("links", "page"): "a dropped link is a page that was read by the engine's web door",
    ("schemas", "lint"): "schemas lie beside the files, whose place lint knows",
    ("verbs", "models"): "`aether model` works without an engine",
    ("verbs", "embedded"): "`aether model serve` works without an engine",
    ("verbs", "steps.audit"): "the record of runs is read where it is written",
    ("auditverbs", "steps.audit"): "the record of runs is read where it is written",
    ("doctor", "steps.audit"): "the chain is verified where it is written",
    ("gui", "models"): "the window shows the catalogue of models",
    ("gui", "trial"): "the window shows who answers, in the records of the trial",
}
# foreign library -> the only modules that may import it
FOREIGN = {
    "PySide6": "gui", "shiboken6": "gui",
    "lancedb": "store", "lance": "store", "pyarrow": "store rows",
    "openai": "llm", "xllamacpp": "embedded",
    "torch": "embed", "sentence_transformers": "embed", "transformers": "embed",
    "ddgs": "search", "primp": "search",
    "httpx": "", "requests": "", "urllib3": "", "aiohttp": "", "urllib.request": "",
    "http.client": "",
    "httpx2": "llm probe download", "httpcore": "fetch",
    "socket": "wire fetch hosts embedded gui",
    "yaml": "yamlfile readers", "keyring": "keys",
    "sklearn": "examples", "scipy": "examples",
    "trafilatura": "extract", "bs4": "extract page readers",
    "markitdown": "readers", "pypdf": "readers", "docx": "readers gui", "openpyxl": "readers",
    "pickle": "", "marshal": "", "shelve": "", "importlib.metadata": "",
}  # fmt: skip
ENVIRONMENT = {"settings", "gui.diagram"}  # the second sets what Chromium reads when it starts
# module -> how many catch-alls it may have; each hands the error on, none swallows it
CATCH_ALLS = {"cli": 1, "gui.tasks": 1, "web": 1, "search.ddgs": 3}
PRINTERS = {"cli", "verbs", "auditverbs", "terminal", "embedded"}  # the last to its parent process
MODULE_LINES, FUNCTION_LINES = 350, 40
LONG = {"gui.panels.web:__init__"}  # a form, field by field


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return {name_of(p): ast.parse(p.read_text(encoding="utf-8"), str(p)) for p in paths}


@cache
def imported(module: str) -> frozenset[str]:
    """Everything that a module imports, wherever in it."""
    return frozenset(imports(modules()[module]))


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names of everything imported, `import_module("x")` with a plain name included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written from the root"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).rpartition(".")[2]
            first = node.args[0]
            if called in ("import_module", "__import__") and isinstance(first, ast.Constant):
                yield str(first.value)


def ours(module: str) -> set[str]:
    """Modules of ours that a module imports."""
    names = {n.removeprefix("aether.") for n in imported(module) if n.startswith("aether.")}
    return {n for n in names if n in modules()}


def layer(module: str) -> str:
    top = module.partition(".")[0]
    named = {"words": WORDS, "files": FILES, "face": FACES, "engine": "engine", "steps": "steps"}
    for found, members in {**named, **DOORS}.items():
        if top in members.split():
            return found
    return "flow"


def excepted(who: str, whom: str) -> tuple[str, str] | None:
    for pair in EXCEPTIONS:
        if f"{who}.".startswith(pair[0] + ".") and f"{whom}.".startswith(pair[1] + "."):
            return pair
    return None


def strays() -> Iterator[tuple[str, str, str]]:
    """Every import that its layer does not allow: who, whom, in words."""
    for who in modules():
        mine = layer(who)
        for whom in sorted(ours(who)) if mine != "engine" and who else ():
            theirs = layer(whom)
            if theirs not in MAY[mine] and whom != "steps":
                yield who, whom, f"{who} ({mine}) imports {whom} ({theirs})"


def test_every_module_imports_downwards_only() -> None:
    assert [said for who, whom, said in strays() if not excepted(who, whom)] == []


def test_every_exception_is_needed() -> None:
    used = {excepted(who, whom) for who, whom, _ in strays()}
    assert set(EXCEPTIONS) - used == set()


def test_every_name_above_is_a_module() -> None:
    named = f"{WORDS} {FILES} {FACES} {' '.join(DOORS.values())}".split()
    assert [n for n in named if n not in modules()] == []
    assert set(CATCH_ALLS) | ENVIRONMENT | PRINTERS <= set(modules())


def test_nothing_imports_in_a_circle() -> None:
    """When it is loaded; imports inside functions are for later."""
    edges = {
        who: {n for n in _on_load(tree) if n != who and n in modules()}
        for who, tree in modules().items()
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in sorted(edges[module]):
                visit(other, (*path, module))
            done.add(module)

    for module in edges:
        visit(module, ())


def _on_load(tree: ast.Module) -> set[str]:
    body = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {n.removeprefix("aether.") for n in imports(ast.Module(body, [])) if "aether." in n}
    return {n for n in names if n in modules()}


@pytest.mark.parametrize("library", FOREIGN)
def test_a_foreign_library_stays_behind_its_door(library: str) -> None:
    allowed = FOREIGN[library].split()
    wrong = [
        module
        for module in modules()
        if module.partition(".")[0] not in allowed
        and any(f"{name}.".startswith(library + ".") for name in imported(module))
    ]
    assert wrong == []


def test_only_settings_reads_the_environment() -> None:
    readers = {
        module
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb")
        or isinstance(node, ast.alias) and node.name in ("environ", "getenv")
    }  # fmt: skip
    assert readers == ENVIRONMENT


def test_catch_alls_are_few_and_give_their_reason() -> None:
    found: dict[str, int] = {}
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else ""
                assert node.type is not None, f"{module}:{node.lineno} bare except"
                assert "BaseException" not in caught, f"{module}:{node.lineno}"
                if "Exception" in caught.replace("(", " ").replace(",", " ").split():
                    found[module] = found.get(module, 0) + 1
    assert found == CATCH_ALLS


def test_nothing_runs_text_as_code_or_in_a_shell() -> None:
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            where = f"{module}:{node.lineno}"
            called = ast.unparse(node.func)
            assert called not in ("eval", "exec", "compile", "os.system", "os.popen"), where
            for keyword in node.keywords:
                assert keyword.arg != "shell", where
                if keyword.arg == "verify" and isinstance(keyword.value, ast.Constant):
                    assert keyword.value.value is not False, where


def test_only_the_terminal_prints() -> None:
    printers = {
        module
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
    }
    assert printers <= PRINTERS


def test_executors_of_the_window_live_in_one_file() -> None:
    threads = ("threading", "concurrent.futures", "multiprocessing", "asyncio")
    wrong = {
        module
        for module in modules()
        if module.startswith("gui") and module != "gui.tasks"
        for name in imported(module)
        if name in threads or name.startswith("PySide6.QtCore.QThread")
    }
    assert wrong == set()


# --- size and words ---


def test_every_module_says_what_it_is_and_stays_readable() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= MODULE_LINES, f"{path.name} is too long"
        assert ast.get_docstring(modules()[name_of(path)]), f"{path.name} says not what it is"


def test_everything_public_has_a_line_of_words() -> None:
    silent = [
        f"{module}:{node.name}"
        for module, tree in modules().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


def test_no_function_is_too_long() -> None:
    """Lines of code; words and text in quotes over several lines do not count."""
    long = [
        f"{name} has {lines} lines"
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and (name := f"{module}:{node.name}") not in LONG
        and (lines := _lines(node)) > FUNCTION_LINES
    ]
    assert long == []


def _lines(function: ast.FunctionDef) -> int:
    whole = (function.end_lineno or 0) - function.lineno + 1
    quoted = sum(
        (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(function)
        if isinstance(node, ast.Constant | ast.JoinedStr)
        and (node.end_lineno or 0) > node.lineno
    )  # fmt: skip
    words = ast.get_docstring(function)
    return whole - quoted - (1 if words and "\n" not in words else 0)


def test_nothing_is_left_undone() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "X" * 3 + ":", "raise NotImplemented" + "Error")
    for folder in (PACKAGE, ROOT / "tests", ROOT / "benchmarks"):
        for path in folder.rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not [m for m in marks if m in text], path


# --- what is loaded when ---


def test_light_verbs_load_nothing_heavy(home: Path, weights: Path) -> None:
    """`route`, `lint`, `agents` and `score` start without model, store, embedder and window."""
    shutil.copytree(weights, home / "cache")
    script = """
import io, json, sys
from contextlib import redirect_stdout
from aether.cli import main
item = {"question": "vpc peering", "answer": "It joins two VPCs [1].",
        "hits": [{"n": 1, "text": "Peering joins two VPCs."}]}
status = []
with redirect_stdout(io.StringIO()):
    for words in (["route", "--question", "vpc"], ["lint"], ["agents", "list"],
                  ["agents", "show", "aws_specialist"], ["score", "--json"]):
        sys.stdin = io.StringIO(json.dumps(item))
        status.append(main(words))
heavy = ["torch", "lancedb", "PySide6", "openai", "sentence_transformers", "transformers",
         "xllamacpp", "ddgs", "trafilatura", "bs4"]
print(json.dumps([status, [name for name in heavy if name in sys.modules]]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[0, 0, 0, 0, 0], []]
