"""What each verb of the command line does: call the engine, print what comes.

One short function a verb, no logic; `--json` prints JSON lines on standard output and everything
meant for people on standard error.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from tqdm import tqdm

from aether import show
from aether.errors import AetherError
from aether.events import Finished
from aether.lint import lint as all_problems
from aether.records import Question, as_json
from aether.steps.audit import find, read_log
from aether.steps.audit import verify as verify_chain
from aether.terminal import (
    items,
    json_line,
    note,
    opened,
    print_event,
    print_json_event,
    question_of,
    settings_of,
    stoppable,
    talks,
    warn_problems,
)

DEFAULT_NAMESPACE = "kb_enterprise"
OUTCOME_STATUS = {"failed": 1, "cancelled": 130}


def window(options: Namespace) -> int:
    """Open the window."""
    from aether.gui.app import run

    return run(settings_of(options))


def ask(options: Namespace) -> int:
    """Answer a question, streaming."""
    text = sys.stdin.read() if options.question == "-" else options.question
    question = Question(text, agent=options.agent, conversation=options.conversation,
                        offline=options.offline, use_cache=not options.no_cache)  # fmt: skip
    with opened(options) as engine, stoppable() as cancel:
        run = None
        for event in engine.ask(question, cancel):
            if options.json:
                print_json_event(event)
            else:
                print_event(event, options.explain)
            if isinstance(event, Finished):
                run = event.run
    return OUTCOME_STATUS.get(run.outcome, 0) if run else 1


def route(options: Namespace) -> int:
    """Print who would answer each question."""
    with opened(options) as engine:
        for item in items(options.file, options.question):
            verdict = engine.route(question_of(item))
            data = {"id": item.get("id", ""), **as_json(verdict)}
            if options.json or not (options.explain or options.question):
                json_line(data)
            elif options.explain:
                print(show.routing(verdict))
            else:
                print(f"{verdict.agent}  {verdict.reason}")
    return 0


def plan(options: Namespace) -> int:
    """Print where an expert would look."""
    with opened(options) as engine:
        planned = engine.plan(options.question, options.agent)
    json_line(as_json(planned)) if options.json else print(show.planning(planned))
    return 0


def sources(options: Namespace) -> int:
    """List every place to look."""
    with opened(options) as engine:
        for source in engine.library.sources.values():
            if options.json:
                json_line(source.model_dump())
            else:
                where = ", ".join(source.hosts) or source.namespace
                print(f"{source.id:<28} {source.kind:<10} {source.name}  ({where})")
    return 0


def score(options: Namespace) -> int:
    """Compute the confidence of recorded answers."""
    with opened(options) as engine:
        for item in items(options.file, None):
            scored = engine.score(item)
            claims = [
                {"text": c.text, "citations": list(c.citations), "support": round(c.support, 6),
                 "verdict": c.verdict} for c in scored.claims
            ]  # fmt: skip
            if options.json:
                json_line({"id": item.get("id", ""), "confidence": scored.value,
                       "verdict": scored.verdict, "parts": as_json(scored)["parts"],
                       "claims": claims})  # fmt: skip
            else:
                print(show.terms(scored))
    return 0


def kb_add(options: Namespace) -> int:
    """Read files and folders into the knowledge base."""
    counts: dict[str, int] = {}
    with opened(options) as engine, stoppable() as cancel:
        namespace = options.namespace or DEFAULT_NAMESPACE
        reports = engine.kb_add(options.paths, namespace, cancel, options.workers)
        for report in tqdm(reports, unit="file", file=sys.stderr, disable=not talks()):
            counts[report.status] = counts.get(report.status, 0) + 1
            counts["passages"] = counts.get("passages", 0) + report.passages
            if options.json:
                json_line(as_json(report))
            else:
                reason = f"  {report.reason}" if report.reason else ""
                tqdm.write(f"{report.status:<10} {report.passages:>5}  {report.path}{reason}")
    if options.json:
        json_line({"summary": counts})
    return 0 if set(counts) & {"added", "updated", "unchanged"} else 1


def kb_search(options: Namespace) -> int:
    """Print what would be found."""
    if not (options.text or options.batch):
        raise AetherError("nothing to search for", advice="give a text, or --batch FILE")
    namespaces = [options.namespace] if options.namespace else []
    with opened(options) as engine:
        for item in items(options.batch or "", options.text or None):
            hits, ms = engine.timed_search(str(item.get("question", "")), namespaces, options.k)
            rows = [
                {"rank": i, "score": round(h.score, 6), "path": h.path, "title": h.title,
                 "locator": h.locator, "text": h.text} for i, h in enumerate(hits, 1)
            ]  # fmt: skip
            if options.json or options.batch:
                json_line({"id": item.get("id", ""), "hits": rows, "ms": round(ms, 3)})
            else:
                for row in rows:
                    print(f"{row['rank']:>2}  {row['score']:.3f}  {row['title']}  {row['locator']}")
                    print(f"      {row['path']}\n      {' '.join(str(row['text']).split())[:160]}")
    return 0


def kb_list(options: Namespace) -> int:
    """List the files in the knowledge base."""
    with opened(options) as engine:
        for file in engine.store.files(options.namespace):
            if options.json:
                json_line(as_json(file))
            else:
                print(f"{file.namespace:<22} {file.passages:>5}  {file.path}")
    return 0


def kb_remove(options: Namespace) -> int:
    """Forget files."""
    with opened(options) as engine:
        gone = engine.kb_remove(options.paths, options.namespace)
    json_line({"removed": gone}) if options.json else print(f"{gone} passages removed")
    return 0 if gone else 1


def kb_stats(options: Namespace) -> int:
    """Count passages and files."""
    with opened(options) as engine:
        stats = engine.store.stats()
    if options.json:
        json_line(stats)
    else:
        for name, value in stats.items():
            print(f"{name:<14} {value}")
    return 0


def kb_optimize(options: Namespace) -> int:
    """Compact the table and its indexes; with --reindex make all vectors anew first."""
    with opened(options) as engine:
        if options.reindex:
            note(f"{engine.store.reindex()} passages embedded with {engine.embedder.fingerprint}")
        engine.store.optimize()
    return 0


def agents_list(options: Namespace) -> int:
    """Print the tree of experts."""
    with opened(options) as engine:
        tree = engine.tree
        warn_problems(engine)
        for agent in tree.subtree(tree.root):
            manifest = tree[agent]
            if options.json:
                json_line({"id": agent, "name": manifest.name, "tier": manifest.tier,
                       "parent": manifest.parent, "namespace": manifest.namespace,
                       "description": manifest.description})  # fmt: skip
            else:
                print(f"{'  ' * (len(tree.ladder(agent)) - 1)}{agent}  {manifest.description}")
    return 0


def agents_show(options: Namespace) -> int:
    """Print one expert."""
    with opened(options) as engine:
        if options.agent not in engine.tree:
            known = ", ".join(engine.tree.agents)
            raise AetherError(f'there is no expert "{options.agent}"', advice=f"known: {known}")
        manifest = engine.tree[options.agent]
        if options.json:
            json_line(manifest.model_dump())
        else:
            print(f"{manifest.name} ({manifest.id})\n{manifest.description}\n\n{manifest.prompt}")
            print("ladder: " + " -> ".join(engine.tree.ladder(manifest.id)))
            print(f"examples: {len(engine.tree.examples[manifest.id])}")
    return 0


def lint(options: Namespace) -> int:
    """Print every problem of every file."""
    problems = all_problems(settings_of(options).home)
    for problem in problems:
        json_line(as_json(problem)) if options.json else print(problem)
    if not problems and not options.json:
        print("no problems")
    return 1 if problems else 0


def audit_list(options: Namespace) -> int:
    """Print the newest runs."""
    with opened(options) as engine:
        records = [e.record for e in read_log(engine.audit_path) if e.record][-options.n :]
    for record in records:
        if options.json:
            keys = ("run", "at", "agent", "outcome", "confidence", "question")
            json_line({key: record.get(key) for key in keys})
        else:
            print(show.run_line(record))
    return 0


def audit_show(options: Namespace) -> int:
    """Print one run."""
    with opened(options) as engine:
        record = find(engine.audit_path, options.id)
    if options.json:
        json_line(record)
    else:
        print(json.dumps(record, ensure_ascii=False, indent=2))
    return 0


def audit_verify(options: Namespace) -> int:
    """Check the chain of runs."""
    with opened(options) as engine:
        done = verify_chain(engine.audit_path)
    if options.json:
        json_line({"ok": not done.broken, **as_json(done)})
    else:
        torn = f", torn lines: {', '.join(map(str, done.torn))}" if done.torn else ""
        print(done.broken or f"{done.runs} runs, the chain is whole{torn}")
    return 1 if done.broken else 0


def doctor(options: Namespace) -> int:
    """Check what Aether needs."""
    from aether.doctor import examine

    ok = True
    with opened(options) as engine:
        for check in examine(engine):
            ok = ok and (check.ok or not check.matters)
            if options.json:
                json_line({"check": check.check, "ok": check.ok, "detail": check.detail,
                       "fix": check.fix})  # fmt: skip
            else:
                fix = f"\n      -> {check.fix}" if check.fix and not check.ok else ""
                print(f"{'ok  ' if check.ok else 'FAIL'}  {check.check:<20} {check.detail}{fix}")
    return 0 if ok else 1


def model_list(options: Namespace) -> int:
    """List the models that can be downloaded, and what is there."""
    from aether.models import list_models

    for entry in list_models(settings_of(options).home):
        if options.json:
            json_line(as_json(entry))
        else:
            mark = "installed" if entry.installed else f"{entry.size / 1e9:.1f} GB"
            print(f"{entry.id:<22} {entry.ram_gb:>3} GB RAM  {mark:<10} {entry.name} "
                  f"({entry.licence})")  # fmt: skip
    return 0


def model_get(options: Namespace) -> int:
    """Download a model, with progress and resume."""
    from aether.models import get_model

    settings = settings_of(options)
    with (
        stoppable() as cancel,
        tqdm(unit="B", unit_scale=True, file=sys.stderr, disable=not talks()) as bar,
    ):

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        path = get_model(options.id, settings, base_url=options.base_url, progress=progress,
                         cancel=cancel)  # fmt: skip
    json_line({"path": str(path)}) if options.json else print(path)
    return 0


def model_use(options: Namespace) -> int:
    """Answer with this model from now on."""
    from aether.models import use_model

    path = use_model(options.id, settings_of(options).home)
    json_line({"path": str(path)}) if options.json else print(f"llm.model_path = {path}")
    return 0


def model_serve(options: Namespace) -> int:
    """Serve the embedded model until interrupted."""
    from aether.embedded import serve

    with stoppable() as cancel:
        serve(settings_of(options), options.port, notify=note, cancel=cancel)
    return 0
