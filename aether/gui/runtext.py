"""A recorded run as readable HTML: everything escaped, because models and pages wrote parts of it.

Pure text in, text out; the colours come from the theme. Records of older versions may lack parts.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, cast

from PySide6.QtCore import QCoreApplication

from aether.gui.phrases import seconds, term_words, verdict_words
from aether.gui.theme import Colours
from aether.replay import Difference

Record = Mapping[str, Any]
Naming = Callable[[str], str]  # an expert's id to its name
SUMMED = ("pre", "verified", "unsupported", "uncited")  # terms that add up; the others are shares


def tr(text: str) -> str:
    """The text in the person's language."""
    return QCoreApplication.translate("Runs", text)


def summary(record: Record, c: Colours, name: Naming) -> str:
    """Question, answer, and how the run went."""
    rows = [
        (tr("Run"), str(record.get("run", ""))),
        (tr("Model"), str(record.get("model") or tr("none was asked"))),
        (tr("Climb"), _climb(record, name)),
        (tr("Time"), _timings(record)),
        (tr("Tokens"), _usage(record)),
        (tr("Notes"), "\n".join(str(n) for n in _list(record.get("notes")))),
        (tr("Error"), str(record.get("error", ""))),
    ]
    asked, answer = str(record.get("question", "")), str(record.get("answer", ""))
    return "".join(
        (
            _head(tr("Question"), c), _text(asked),
            _head(tr("Answer"), c), _text(answer or tr("No answer was written.")),
            _head(tr("How it went"), c), _table([row for row in rows if row[1]], c),
        )
    )  # fmt: skip


def places(record: Record, c: Colours, name: Naming) -> str:
    """Where each expert looked, and what came of it."""
    looked = records(record, "retrievals")
    parts: list[str] = []
    for i, plan in enumerate(records(record, "plans")):
        rows = [
            (tr("Searched for"), str(plan.get("query", ""))),
            (tr("Places"), ", ".join(map(str, _list(plan.get("sources")))) or tr("none")),
            (tr("Sites"), ", ".join(map(str, _list(plan.get("hosts"))))),
            (tr("Namespaces"), ", ".join(map(str, _list(plan.get("namespaces"))))),
        ]
        if i < len(looked):
            found = looked[i]
            rows += [
                (tr("Web"), _way(found, "web")), (tr("Knowledge base"), _way(found, "kb")),
                (tr("Passages"), str(len(_list(found.get("hits"))))),
                (tr("Quality"), f"{_number(found.get('quality')):.2f}"),
            ]  # fmt: skip
        parts += [_head(name(str(plan.get("agent", ""))), c), _table([r for r in rows if r[1]], c)]
    return "".join(parts) or _muted(tr("Nobody looked anywhere."), c)


def prompts(record: Record, c: Colours, name: Naming) -> str:
    """Every prompt as the model got it."""
    parts: list[str] = []
    for prompt in records(record, "prompts"):
        tokens = tr("{} of {} tokens; {} passages did not fit").format(
            prompt.get("tokens", "?"), prompt.get("window", "?"), prompt.get("dropped", 0)
        )
        parts.append(_muted(tokens, c))
        for message in _dicts(prompt.get("messages")):
            parts += [
                _head(str(message.get("role", "")), c),
                _mono(str(message.get("content", "")), c),
            ]
    return "".join(parts) or _muted(tr("No prompt was built."), c)


def confidence(record: Record, c: Colours, name: Naming) -> str:
    """The terms of each score, and each claim with its verdict."""
    parts: list[str] = []
    for scored in records(record, "scores"):
        against = tr("{} against a threshold of {}").format(
            f"{_number(scored.get('value')):.2f}", f"{_number(scored.get('threshold')):.2f}"
        )
        parts += [_head(name(str(scored.get("agent", ""))), c), _text(against)]
        parts.append(_table(_terms(scored), c))
        if cap := scored.get("cap"):
            parts.append(_muted(tr("Capped: {}").format(cap), c))
        parts += [_claim(claim, c) for claim in _dicts(scored.get("claims"))]
    return "".join(parts) or _muted(tr("No answer was scored in this run."), c)


def raw(record: Record, c: Colours, name: Naming) -> str:
    """The line of the log, as it is."""
    return _mono(json.dumps(record, ensure_ascii=False, indent=2, sort_keys=True), c)


def replayed(differences: Sequence[Difference], c: Colours) -> str:
    """What would be otherwise today."""
    if not differences:
        return _text(tr("Nothing differs: today the same would be decided."))
    rows = [(d.what, d.then, d.now) for d in differences]
    return _table(rows, c, (tr("What"), tr("Then"), tr("Today")))


def compared(one: Record, other: Record, c: Colours, name: Naming) -> str:
    """Two runs side by side, and their answers with the words that differ."""
    rows = [
        (words, read(one), read(other))
        for words, read in (
            (tr("Run"), lambda r: str(r.get("run", ""))),
            (tr("Question"), lambda r: str(r.get("question", ""))),
            (tr("Expert"), lambda r: name(str(r.get("agent", "")))),
            (tr("Outcome"), lambda r: str(r.get("outcome", ""))),
            (tr("Confidence"), lambda r: f"{_number(r.get('confidence')):.3f}"),
            (tr("Climb"), lambda r: _climb(r, name)),
            (tr("Model"), lambda r: str(r.get("model", ""))),
            (tr("Places"), _sources),
            (tr("Passages"), lambda r: str(len(_list(r.get("hits"))))),
            (tr("Time"), _timings),
            (tr("Tokens"), _usage),
        )
    ]
    head = ("", tr("First"), tr("Second"))
    table = _table(rows, c, head, marked=True)
    diff = _word_diff(str(one.get("answer", "")), str(other.get("answer", "")), c)
    legend = tr("Struck out: only in the first. Underlined: only in the second.")
    return f"{table}{_head(tr('Answers'), c)}{_muted(legend, c)}{diff}"


def records(record: Record, key: str) -> list[dict[str, Any]]:
    """The objects under a key."""
    return _dicts(record.get(key))


def _word_diff(one: str, other: str, c: Colours) -> str:
    a, b = _tokens(one), _tokens(other)
    out: list[str] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        gone, came = escape("".join(a[i:j])), escape("".join(b[k:m]))
        if kind == "equal":
            out.append(gone)
            continue
        if gone:
            out.append(f'<span style="color:{c.bad}; text-decoration:line-through">{gone}</span>')
        if came:
            out.append(f'<span style="color:{c.good}; text-decoration:underline">{came}</span>')
    return f'<p style="white-space:pre-wrap">{"".join(out)}</p>'


def _tokens(text: str) -> list[str]:
    """Words with the space behind them; at most a few thousand are compared."""
    words = text[:40_000].split(" ")
    return [f"{word} " for word in words[:4000]]


def _claim(claim: Record, c: Colours) -> str:
    verdict = str(claim.get("verdict", ""))
    colour = {"supported": c.good, "weak": c.warn, "uncited": c.warn}.get(verdict, c.bad)
    marks = "".join(f"[{n}]" for n in _list(claim.get("citations")))
    words = f"{verdict_words(verdict)} {_number(claim.get('support')):.2f} {marks}"
    return (
        f'<p style="margin:8px 0 0 0; color:{colour}">{escape(words)}</p>'
        f'<p style="margin:0">{escape(str(claim.get("text", "")))}</p>'
    )


def _climb(record: Record, name: Naming) -> str:
    return " \u2192 ".join(
        f"{name(str(a.get('agent', '?')))} {_number(a.get('confidence')):.2f}"
        for a in records(record, "attempts")
    )


def _terms(scored: Record) -> list[tuple[str, str]]:
    """The terms of the sum with their signs, then the shares they were made of."""
    found = cast(Record, scored.get("parts") or {})
    summed = [(k, f"{_number(found[k]):+.3f}") for k in SUMMED if k in found]
    shares = [(k, f"{_number(v):.2f}") for k, v in found.items() if k not in SUMMED]
    return [(term_words(key)[0], number) for key, number in (*summed, *sorted(shares))]


def _timings(record: Record) -> str:
    found = cast(Record, record.get("timings") or {})
    names = {
        "route_ms": tr("route"), "retrieve_ms": tr("look"), "build_ms": tr("prompt"),
        "first_token_ms": tr("first word"), "total_ms": tr("in all"),
    }  # fmt: skip
    return ", ".join(
        f"{name} {seconds(_number(found[k]))}" for k, name in names.items() if k in found
    )


def _usage(record: Record) -> str:
    found = cast(Record, record.get("usage") or {})
    if not found.get("completion_tokens"):
        return ""
    words = tr("{} read ({} from the cache), {} written, {} a second")
    return words.format(
        found.get("prompt_tokens", 0), found.get("cached_tokens", 0),
        found.get("completion_tokens", 0), f"{_number(found.get('tokens_per_s')):.1f}",
    )  # fmt: skip


def _sources(record: Record) -> str:
    found = [str(s) for plan in records(record, "plans") for s in _list(plan.get("sources"))]
    return ", ".join(dict.fromkeys(found))


def _way(found: Record, key: str) -> str:
    detail = str(found.get(f"{key}_detail") or "")
    return f"{found.get(key, '')} ({detail})" if detail else str(found.get(key, ""))


def _head(text: str, c: Colours) -> str:
    return f'<p style="margin:16px 0 4px 0; font-weight:600">{escape(text)}</p>'


def _text(text: str) -> str:
    return f'<p style="margin:0 0 4px 0; white-space:pre-wrap">{escape(text)}</p>'


def note(text: str, c: Colours) -> str:
    """A sentence about the page itself."""
    return _muted(text, c)


def _muted(text: str, c: Colours) -> str:
    return f'<p style="margin:0 0 4px 0; color:{c.muted}">{escape(text)}</p>'


def _mono(text: str, c: Colours) -> str:
    return (
        f'<p style="margin:0 0 8px 0; white-space:pre-wrap; font-family:monospace; '
        f'background:{c.code}">{escape(text)}</p>'
    )


def _table(
    rows: Sequence[tuple[str, ...]], c: Colours, head: Sequence[str] = (), marked: bool = False
) -> str:
    """Rows of cells; `marked` brings out rows whose two last cells differ."""
    lines: list[str] = []
    if head:
        cells = "".join(f'<td style="color:{c.muted}">{escape(h)}&nbsp;</td>' for h in head)
        lines.append(f"<tr>{cells}</tr>")
    for row in rows:
        other = marked and row[-1] != row[-2]
        first = f'<td style="color:{c.muted}; white-space:nowrap">{escape(row[0])}&nbsp;&nbsp;</td>'
        style = f' style="color:{c.accent}"' if other else ""
        rest = "".join(f"<td{style}>{escape(cell)}</td>" for cell in row[1:])
        lines.append(f"<tr>{first}{rest}</tr>")
    return f'<table cellspacing="0" cellpadding="4">{"".join(lines)}</table>'


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
