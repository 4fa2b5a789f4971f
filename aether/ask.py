"""The straight line: one question from start to end. Read this first.

route -> (plan -> retrieve -> build -> generate -> score) up the ladder of experts -> audit.
Doors arrive in a `Kit`; nothing here knows LanceDB, HTTP or Qt.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aether.agents import AgentTree
from aether.cancel import Cancel
from aether.errors import AetherError, AuditError, Cancelled
from aether.events import Built, Delta, Event, Finished, Notice, Planned, Retrieved, Routed, Scored
from aether.journal import Journal
from aether.lexicon import Lexicon
from aether.protocols import Model, Searchable, Web
from aether.records import Answer, Attempt, Outcome, Question, Retrieval, Route
from aether.sources import SourceLibrary
from aether.steps.build import build
from aether.steps.escalate import next_rung
from aether.steps.generate import generate
from aether.steps.plan import plan
from aether.steps.retrieve import WebRules, retrieve
from aether.steps.route import route, strip_pin
from aether.steps.score import best_possible, overlap, score
from aether.text import UNSEEN

REFUSAL = (
    "That is outside my field: I answer questions about enterprise infrastructure, "
    "cloud, networks and the digital workplace."
)
SHORTENED = {
    "length": "the answer reached its length limit",
    "loop": "the model began to repeat itself and was stopped",
}


@dataclass(frozen=True, slots=True)
class Kit:
    """The doors and rules that one question needs; `engine.py` fills it."""

    tree: AgentTree
    lexicon: Lexicon
    library: SourceLibrary
    model: Callable[[], Model]  # opened late: a refused question never starts a server
    store: Searchable
    web: Web | None
    rules: WebRules
    threshold: float
    write: Callable[[Mapping[str, Any]], None]  # one line of the audit
    lessons: Mapping[str, float] = field(default_factory=dict[str, float])


def ask(question: Question, kit: Kit, cancel: Cancel) -> Iterator[Event]:
    """Answer one question as a stream of events that ends with Finished, whatever happens.

    Known faults and stops do not raise: they end the run as `failed` or `cancelled`, with the text
    so far. The run is written to the audit also when the caller stops listening.
    """
    question = replace(question, text=UNSEEN.sub(" ", question.text))
    journal = Journal(question)
    outcome: Outcome = "failed"
    try:
        outcome = yield from _straight_line(question, kit, cancel, journal)
    except Cancelled:
        outcome = "cancelled"
    except (GeneratorExit, KeyboardInterrupt):  # the caller stopped listening
        outcome = "cancelled"
        raise
    except AetherError as error:
        outcome, journal.error = "failed", str(error)
        journal.break_off("failed")
        yield from _what_the_sources_say(journal)
    finally:
        journal.break_off(outcome)
        run = journal.run(outcome, kit.threshold)
        fault = _write(kit, journal.record(run, kit.tree.digest))
    if fault:
        yield Notice(fault)
        run = replace(run, notes=(*run.notes, fault))
    yield Finished(run)


def _straight_line(
    question: Question, kit: Kit, cancel: Cancel, journal: Journal
) -> Generator[Event, None, Outcome]:
    text = strip_pin(question.text, kit.tree).strip()
    if not text:
        raise AetherError("the question is empty", advice="type a question")
    with journal.timed("route_ms"):
        verdict = journal.route = route(question, kit.tree, kit.lexicon, kit.lessons)
    yield Routed(verdict)
    if verdict.out_of_domain:
        journal.end(Attempt(verdict.agent, 0.0, 0.0, generated=False, answer=REFUSAL))
        journal.show(REFUSAL)
        yield Delta(REFUSAL)
        return "refused"
    best_pre = 0.0
    for agent in kit.tree.ladder(verdict.agent):
        found = yield from _look(question, text, agent, kit, cancel, journal)
        pre = found.quality * _overlap(agent, verdict, kit.tree)
        best_pre = max(best_pre, pre)
        yield Retrieved(agent, found, pre)
        parent = kit.tree.parent(agent)
        if parent and best_possible(pre, best_pre) < kit.threshold:
            attempt = journal.end(Attempt(agent, pre, pre, generated=False, hits=found.hits))
        else:
            attempt = yield from _try(text, agent, found, (pre, best_pre), kit, cancel, journal)
        if attempt.generated and attempt.confidence >= kit.threshold:
            return "answered"
        if parent:
            yield next_rung(journal.attempts, parent, kit.threshold)
    yield from _what_the_sources_say(journal)
    return "low_confidence"


def _look(
    question: Question, text: str, agent: str, kit: Kit, cancel: Cancel, journal: Journal
) -> Generator[Event, None, Retrieval]:
    """One expert looks for passages: in its sites first, in its knowledge where they are thin."""
    cancel.check()
    with journal.timed("retrieve_ms"):
        planned = plan(text, agent, kit.tree, kit.library)
    journal.plans.append(planned)
    yield Planned(planned)
    with journal.timed("retrieve_ms"):
        web = None if question.offline else kit.web
        found = retrieve(text, planned, web, kit.store, kit.rules, cancel)
    journal.retrievals.append(found)
    return found


def _try(
    text: str,
    agent: str,
    found: Retrieval,
    pre: tuple[float, float],
    kit: Kit,
    cancel: Cancel,
    journal: Journal,
) -> Generator[Event, None, Attempt]:
    """One expert answers: build, generate, score. `pre` is its own and the best of the chain."""
    model = kit.model()
    with journal.timed("build_ms"):
        info = model.info()
        prompt = build(journal.question, text, kit.tree[agent], kit.tree.mandates, found.hits,
                       info, model.count_tokens)  # fmt: skip
    journal.model = info.id
    journal.prompts.append(prompt)
    yield Built(agent, prompt.tokens, prompt.window, prompt.budget, len(prompt.hits),
                prompt.dropped, info.id)  # fmt: skip
    journal.begin(Attempt(agent, pre[0], 0.0, True, hits=prompt.hits))
    answer: Answer = yield from _shown(generate(model, prompt, cancel), journal)
    journal.usage = answer.usage
    journal.notes += _remarks(answer)
    if answer.finish in ("cut", "cancelled"):
        journal.break_off(answer.finish)
        raise Cancelled if answer.finish == "cancelled" else AetherError(answer.error)
    scored = score(answer, prompt.hits, *pre, kit.threshold)
    journal.scores.append((agent, scored, answer.forged))
    attempt = Attempt(agent, pre[0], scored.value, True, answer.text, prompt.hits)
    journal.end(attempt)
    yield Scored(agent, scored)
    return attempt


def _remarks(answer: Answer) -> list[str]:
    """What a person should know of an answer beside its words."""
    said = [SHORTENED[answer.finish]] if answer.finish in SHORTENED else []
    counts = ((answer.forged, "removed: no such source"), (answer.moved, "moved to the passage "
              "that carries the sentence"), (answer.attached, "added where a passage carries the "
              "sentence"))  # fmt: skip
    return said + [f"citations {what}: {n}" for n, what in counts if n]


def _shown(
    stream: Generator[Delta, None, Answer], journal: Journal
) -> Generator[Event, None, Answer]:
    """Pass the pieces on, and note in the journal that they were shown."""
    try:
        while True:
            delta = next(stream)
            journal.show(delta.text)
            yield delta
    except StopIteration as end:
        return end.value
    finally:
        stream.close()


def _overlap(agent: str, verdict: Route, tree: AgentTree) -> float:
    """O of the formula: an expert owns what those below it own; a chosen expert gets the floor."""
    below = set(tree.subtree(agent))
    points = max((c.score for c in verdict.candidates if c.agent in below), default=0.0)
    if verdict.pass_ in ("pinned", "forced"):
        points = max(points, tree.routes.tier3.route)
    return overlap(points)


def _what_the_sources_say(journal: Journal) -> Iterator[Delta]:
    """The best passages, verbatim and linked, where no answer passed."""
    best = journal.best()
    if best and best.note:  # an incomplete answer keeps its own words, and nothing else
        return
    hits = best.hits if best else ()
    if not hits and journal.retrievals:
        hits = max(journal.retrievals, key=lambda r: r.quality).hits
    if not hits:
        return
    heading = f"{'Low confidence' if best else 'No answer from the model'}. What the sources say:"
    quotes = [f"> {' '.join(hit.text.split())[:700]} [{hit.n}]\n" for hit in hits[:3]]
    text = f"\n\n---\n\n**{heading}**\n\n" + "\n".join(quotes)
    journal.append_to_best(text, hits)
    yield Delta(text)


def _write(kit: Kit, record: Mapping[str, Any]) -> str:
    """Write the audit line; the words of the fault where that is impossible."""
    try:
        kit.write(record)
    except AuditError as error:
        return str(error)
    return ""
