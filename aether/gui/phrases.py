"""What happens, in words a person reads: phases, outcomes, faults, terms of the confidence.

Apart from the widgets so that one place decides how Aether speaks; free of colours and layout.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from aether.conversations import Exchange
from aether.errors import AetherError, Cancelled
from aether.events import Built, Escalated, Event, Finished, Planned, Retrieved, Routed, Scored
from aether.records import Hit, Retrieval, Route, Run

Naming = Callable[[str], str]  # an expert's id to its name


def tr(text: str) -> str:
    """The text in the person's language."""
    return QCoreApplication.translate("Phrases", text)


def phase(event: Event, name: Naming) -> str:
    """The line under the expert's name after this event; "" where it stays."""
    match event:
        case Routed():
            return tr("Chosen; deciding where to look")
        case Planned(plan=plan):
            places = ", ".join((*plan.sources, *plan.namespaces)[:4])
            return tr("Looking in {}").format(places) if places else tr("Looking")
        case Retrieved(retrieval=found):
            return found_words(found)
        case Built(passages=passages, model=model):
            return tr("Reading {} passages with {}").format(passages, model)
        case Escalated(agent=agent, to=to, reason=reason):
            return tr("{} passed the question to {}: {}").format(name(agent), name(to), reason)
        case Scored():
            return tr("Checked against the sources")
        case Finished(run=run):
            return outcome_words(run)
        case _:
            return ""


def found_words(found: Retrieval) -> str:
    """How many passages, and what became of web and knowledge base where that is news."""
    count = len(found.hits)
    words = tr("1 passage found") if count == 1 else tr("{} passages found").format(count)
    extra = [w for w in (web_words(found), kb_words(found)) if w]
    return "; ".join((words, *extra))


def web_words(found: Retrieval) -> str:
    """Why the web gave nothing; "" where it did or was not wanted."""
    table = {
        "web_empty": tr("the web had nothing"),
        "web_rate_limited": tr("the web search asks to slow down"),
        "web_offline": tr("the web cannot be reached"),
        "web_unavailable": tr("web search is not available"),
        "web_error": tr("the web search failed"),
    }
    words = table.get(found.web, "")
    return f"{words} ({found.web_detail})" if words and found.web_detail else words


def kb_words(found: Retrieval) -> str:
    """Why the knowledge base gave nothing; "" where it did or was not asked."""
    if found.kb == "kb_error":
        return tr("the knowledge base failed ({})").format(found.kb_detail)
    return tr("the knowledge base had nothing") if found.kb == "kb_empty" else ""


def outcome_words(run: Run) -> str:
    """How a run ended, in one line."""
    spent = seconds(run.timings.total_ms)
    return {
        "answered": tr("Answered in {}").format(spent),
        "low_confidence": tr("Answered in {}, below the threshold").format(spent),
        "refused": tr("Outside the field"),
        "clarify": tr("Needs to know more"),
        "cancelled": tr("Stopped after {}").format(spent),
        "failed": tr("Not finished"),
    }[run.outcome]


def seconds(ms: float) -> str:
    """A duration as a person says it."""
    if ms < 950:
        return tr("{} ms").format(round(ms))
    return tr("{} s").format(f"{ms / 1000:.1f}" if ms < 59_500 else f"{ms / 1000:.0f}")


def speaker(exchange: Exchange, name: Naming) -> tuple[str, str]:
    """Who speaks: the expert's id, and a title."""
    run = exchange.run
    if run and run.agent:
        return run.agent, name(run.agent)
    if exchange.looks:
        return exchange.looks[-1].agent, name(exchange.looks[-1].agent)
    if exchange.route:
        return exchange.route.agent, name(exchange.route.agent)
    return "", tr("No expert was reached") if run else tr("Choosing an expert")


def sentence(text: str) -> str:
    """The words of a fault as a sentence: a capital first, a full stop last."""
    text = text.strip()
    end = "." if text and text[-1] not in ".!?" else ""
    return text[:1].upper() + text[1:] + end


def fault_words(error: Exception) -> tuple[str, str, str]:
    """A fault as what, where, advice."""
    if isinstance(error, AetherError):
        return error.what, error.where, error.advice
    if isinstance(error, Cancelled):
        return tr("Stopped"), "", ""
    what = tr("Something inside Aether went wrong: {}").format(error)
    return what, type(error).__name__, tr("ask again; if it stays, report it with the log")


def told_fault(text: str) -> tuple[str, str, str]:
    """The same from the text that a run keeps."""
    what, _, advice = text.partition("\n  hint: ")
    return what, "", advice


def route_words(route: Route) -> str:
    """The pass that decided, as a sentence."""
    return {
        "pinned": tr("You chose this expert."),
        "forced": tr("A fixed rule decided."),
        "tier3": tr("Decided among the specialists."),
        "tier2": tr("Decided among the architects, because no specialist stood out."),
        "default": tr("Nothing pointed to one expert, so the root was asked."),
    }[route.pass_]


def decision_words(route: Route, name: Naming) -> str:
    """What was decided, with the others that were close."""
    others = ", ".join(name(a) for a in route.agents if a != route.agent)
    return {
        "route": tr("One expert stood out."),
        "multi": tr("The question belongs to several experts; also: {}").format(others),
        "ambiguous": tr("It was a close call; also possible: {}").format(others),
        "no_route": tr("No expert claimed it."),
    }[route.decision]


_COLUMNS = {
    "intent": QT_TRANSLATE_NOOP("Phrases", "What is to be done"),
    "object": QT_TRANSLATE_NOOP("Phrases", "Things named"),
    "action": QT_TRANSLATE_NOOP("Phrases", "Verbs"),
    "capability": QT_TRANSLATE_NOOP("Phrases", "Skills"),
    "domain": QT_TRANSLATE_NOOP("Phrases", "Field"),
    "name": QT_TRANSLATE_NOOP("Phrases", "Name or alias"),
    "trigger": QT_TRANSLATE_NOOP("Phrases", "Trigger phrases"),
    "specificity": QT_TRANSLATE_NOOP("Phrases", "Words of this expert alone"),
    "examples": QT_TRANSLATE_NOOP("Phrases", "Like its examples"),
    "named": QT_TRANSLATE_NOOP("Phrases", "Named outright"),
    "siblings": QT_TRANSLATE_NOOP("Phrases", "Compares its specialists"),
    "not_when": QT_TRANSLATE_NOOP("Phrases", "Says it is not for this"),
    "foreign": QT_TRANSLATE_NOOP("Phrases", "Things of others"),
    "conflict": QT_TRANSLATE_NOOP("Phrases", "A rival fits better"),
    "cap": QT_TRANSLATE_NOOP("Phrases", "Capped at 100"),
    "lesson": QT_TRANSLATE_NOOP("Phrases", "Learnt from feedback"),
    "topic": QT_TRANSLATE_NOOP("Phrases", "Topic"),
    "type": QT_TRANSLATE_NOOP("Phrases", "Kind of source"),
    "keyword": QT_TRANSLATE_NOOP("Phrases", "Keywords"),
    "rule": QT_TRANSLATE_NOOP("Phrases", "Fixed rule"),
    "expert": QT_TRANSLATE_NOOP("Phrases", "Serves this expert"),
}


def column_words(part: str) -> str:
    """A column of a score table."""
    known = _COLUMNS.get(part)
    return tr(str(known)) if known else part.replace("_", " ").capitalize()


def term_words(part: str) -> tuple[str, str]:
    """A term of the confidence: a short name, and what it means."""
    return {
        "pre": (tr("What was found"), tr("How well the passages fit the question and the expert")),
        "verified": (tr("Carried by sources"), tr("Claims that their passages support")),
        "unsupported": (tr("Not carried"), tr("Claims whose passages do not support them")),
        "uncited": (tr("Without a source"), tr("Claims that cite nothing")),
        "V": (tr("Mean support"), tr("Average support of all claims, 0 to 1")),
        "P": (tr("Citations that hold"), tr("Share of citations whose passage supports the claim")),
        "U": (tr("Share not carried"), tr("Share of claims that their passages do not support")),
        "W": (tr("Share without a source"), tr("Share of claims that cite nothing")),
    }.get(part, (part, ""))


def verdict_words(verdict: str) -> str:
    """The verdict on one claim."""
    return {
        "supported": tr("Supported"), "weak": tr("Weak"), "unsupported": tr("Not supported"),
        "uncited": tr("No source"),
    }.get(verdict, verdict)  # fmt: skip


def origin_words(hit: Hit) -> str:
    """Where a passage comes from, in one line."""
    origin = tr("Web") if hit.origin == "web" else tr("Knowledge base")
    return " \u00b7 ".join(
        p for p in (origin, hit.vendor or hit.source, hit.locator, hit.date) if p
    )
