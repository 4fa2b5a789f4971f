"""The command line: which verbs there are, what they take, and how every fault ends.

Exit status: 0 done, 1 a known error, 2 wrong usage, 3 an unexpected error with the log named,
130 interrupted. With `--json` standard output carries JSON lines and nothing else.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aether import __version__, auditverbs, verbs
from aether.errors import AetherError, Cancelled
from aether.settings import default_home

Verb = Callable[..., argparse.ArgumentParser]
Family = Callable[[str, str], Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb, or open the window without one; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    _use_utf8()
    try:
        status = options.run(options)
        sys.stdout.flush()
        return status
    except AetherError as error:
        print(f"aether: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, Cancelled):
        print("aether: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `aether … | head` is no fault
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:
        print(f"aether: unexpected error; the log is in {_log_crash()}", file=sys.stderr)
        return 3


def _use_utf8() -> None:
    """Windows consoles and minimal locales still take and print every character."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")  # pyright: ignore


def _log_crash() -> Path:
    """Append the traceback to the log in the user folder; the path, or where it was printed."""
    path = default_home() / "logs" / "crash.log"
    stamp = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as log:
            log.write(f"--- {stamp} aether {__version__}\n{traceback.format_exc()}\n")
    except OSError:
        traceback.print_exc()
        return Path("the lines above")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="aether", description="Thirteen infrastructure experts on one local language model."
    )
    parser.add_argument("--version", action="version", version=f"aether {__version__}")
    parser.set_defaults(run=verbs.window, set=[], json=False)
    groups = parser.add_subparsers(title="verbs", metavar="VERB")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="JSON lines on standard output")
    common.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for this call"
    )

    def verb(name: str, run: object, text: str, into: Any = groups) -> argparse.ArgumentParser:
        made = into.add_parser(name, help=text, description=text, parents=[common])
        made.set_defaults(run=run)
        return made

    def family(name: str, text: str) -> Any:
        made = groups.add_parser(name, help=text, description=text)
        return made.add_subparsers(title="verbs", metavar="VERB", required=True)

    _question_verbs(verb)
    _knowledge_verbs(verb, family("kb", "the knowledge base"))
    _record_verbs(verb, family)
    _model_verbs(verb, family("model", "the language model"))
    return parser


def _question_verbs(verb: Verb) -> None:
    ask = verb("ask", verbs.ask, "answer a question")
    ask.add_argument("question", help="the question; - reads it from standard input")
    ask.add_argument("--agent", default="", metavar="ID", help="ask this expert")
    ask.add_argument("--offline", action="store_true", help="no web, local knowledge only")
    ask.add_argument("--no-cache", action="store_true", help="do not take a remembered answer")
    ask.add_argument("--explain", action="store_true", help="print tables and confidence terms")
    ask.add_argument("--conversation", default="", metavar="ID", help="go on with a conversation")
    route = verb("route", verbs.route, "show who would answer, and why")
    route.add_argument("file", nargs="?", default="-", help="JSON lines of questions; - for input")
    route.add_argument("--question", help="one question instead of a file")
    route.add_argument("--explain", action="store_true", help="print the score table")
    plan = verb("plan", verbs.plan, "show where an expert would look")
    plan.add_argument("--question", required=True)
    plan.add_argument("--agent", default="", metavar="ID")
    verb("sources", verbs.sources, "list every place to look")
    score = verb("score", verbs.score, "compute the confidence of recorded answers")
    score.add_argument("file", nargs="?", default="-", help="JSON lines; - for standard input")


def _knowledge_verbs(verb: Verb, kb: Any) -> None:
    add = verb("add", verbs.kb_add, "read files and folders into the knowledge base", kb)
    add.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    add.add_argument("--namespace", default="", metavar="NS", help="default: kb_enterprise")
    add.add_argument("--workers", type=int, default=2, metavar="N", help="files read at once")
    search = verb("search", verbs.kb_search, "show what would be found", kb)
    search.add_argument("text", nargs="?", default="")
    search.add_argument("--batch", metavar="FILE", help="JSON lines of questions; - for input")
    search.add_argument("-k", type=int, default=10, metavar="N", help="hits a question")
    search.add_argument("--namespace", default="", metavar="NS")
    listing = verb("list", verbs.kb_list, "list the files in it", kb)
    listing.add_argument("--namespace", default="", metavar="NS")
    remove = verb("remove", verbs.kb_remove, "forget files", kb)
    remove.add_argument("paths", nargs="+", metavar="PATH")
    remove.add_argument("--namespace", default="", metavar="NS")
    verb("stats", verbs.kb_stats, "count passages and files", kb)
    compact = verb("optimize", verbs.kb_optimize, "compact the table and its indexes", kb)
    compact.add_argument("--reindex", action="store_true", help="make all vectors anew")


def _record_verbs(verb: Verb, family: Family) -> None:
    agents = family("agents", "the experts")
    verb("list", verbs.agents_list, "the tree of experts", agents)
    show = verb("show", verbs.agents_show, "one expert", agents)
    show.add_argument("agent")
    verb("check", verbs.lint, "every problem of the manifests", agents)
    verb("lint", verbs.lint, "every problem of manifests, routes and sources")
    runs = family("audit", "the record of runs")
    listing = verb("list", verbs.audit_list, "the runs, newest last", runs)
    listing.add_argument("-n", type=int, default=20, metavar="N", help="how many")
    show = verb("show", verbs.audit_show, "one run", runs)
    show.add_argument("id", nargs="?", default="last")
    again = verb("replay", auditverbs.replay, "decide a run again, and print what differs", runs)
    again.add_argument("id", nargs="?", default="last", metavar="RUN")
    verb("verify", verbs.audit_verify, "check that no line was changed", runs)
    verb("doctor", verbs.doctor, "check what Aether needs, and how to mend it")


def _model_verbs(verb: Verb, model: Any) -> None:
    verb("list", verbs.model_list, "models that can be downloaded, and what is there", model)
    get = verb("get", verbs.model_get, "download a model", model)
    get.add_argument("id")
    get.add_argument("--from", dest="base_url", default="", metavar="URL", help="another mirror")
    use = verb("use", verbs.model_use, "answer with this model from now on", model)
    use.add_argument("id", help="an id of the catalogue, or a GGUF file")
    serve = verb("serve", verbs.model_serve, "serve the embedded model to other programs", model)
    serve.add_argument("--port", type=int, default=0, metavar="N")


if __name__ == "__main__":
    sys.exit(main())
