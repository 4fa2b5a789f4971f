"""An expert in words, as HTML: its prompt, its signals, its sources, its examples; all escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from PySide6.QtCore import QCoreApplication

from aether.agents import AgentManifest, AgentTree
from aether.gui.theme import Colours
from aether.sources import Source, SourceLibrary


def tr(text: str) -> str:
    """The text in the person's language."""
    return QCoreApplication.translate("Experts", text)


def prompt(manifest: AgentManifest, tree: AgentTree, library: SourceLibrary, c: Colours) -> str:
    """What the model is told: the persona, then what all experts inherit."""
    about = tr("Temperature {}, at most {} tokens an answer").format(
        f"{manifest.temperature:g}", manifest.max_tokens
    )
    return "".join(
        (
            _head(tr("Persona")), _text(manifest.prompt), _note(about, c),
            _head(tr("Common to all experts")), _text(tree.mandates),
        )
    )  # fmt: skip


def signals(manifest: AgentManifest, tree: AgentTree, library: SourceLibrary, c: Colours) -> str:
    """The words by which the router knows this expert, column by column."""
    parts: list[str] = []
    for name, title, about in _columns():
        words: tuple[str, ...] = getattr(manifest.routing, name)
        if words:
            parts.append(_head(f"{title} ({len(words)})"))
            parts += [_note(about, c), _words(words)]
    return "".join(parts) or _note(
        tr("This expert has no signals: it is never chosen by words."), c
    )


def sources(manifest: AgentManifest, tree: AgentTree, library: SourceLibrary, c: Colours) -> str:
    """Where this expert looks: its own places, those of the experts above, its namespaces."""
    ladder = tree.ladder(manifest.id)
    own = [s for s in library.web() if manifest.id in s.experts]
    above = [s for s in library.web() if s not in own and any(a in s.experts for a in ladder[1:])]
    spaces = [tree[agent].namespace for agent in tree.subtree(manifest.id)]
    vendors = ", ".join(manifest.vendors) or tr("none")
    return "".join(
        (
            _head(tr("Preferred sites, best first")), _text(vendors),
            _head(tr("Its own places ({})").format(len(own))), _places(own, c),
            _head(tr("Places of the experts above ({})").format(len(above))), _places(above, c),
            _head(tr("Knowledge base")), _text(", ".join(dict.fromkeys(spaces))),
        )
    )  # fmt: skip


def examples(manifest: AgentManifest, tree: AgentTree, library: SourceLibrary, c: Colours) -> str:
    """The questions from which its word weights are learnt."""
    found = tree.examples[manifest.id]
    if not found:
        return _note(tr("No example questions: it is known by its signals alone."), c)
    items = "".join(f"<li>{escape(text)}</li>" for text in found)
    return f"{_head(tr('{} example questions').format(len(found)))}<ul>{items}</ul>"


def _columns() -> tuple[tuple[str, str, str], ...]:
    return (
        ("aliases", tr("Names"), tr("Other names of the expert")),
        ("intents", tr("Intents"), tr("What is to be done")),
        ("use_when", tr("Use when"), tr("Situations, met by half of their words")),
        ("objects", tr("Objects"), tr("Things that are named")),
        ("actions", tr("Actions"), tr("Verbs")),
        ("domain", tr("Field"), tr("Words of the field")),
        ("capabilities", tr("Capabilities"), tr("What the expert can do")),
        ("keywords", tr("Keywords"), tr("Weak signs")),
        ("triggers", tr("Triggers"), tr("Error texts and patterns")),
        ("not_when", tr("Not when"), tr("Signs that it is somebody else's")),
        ("conflicts_with", tr("Rivals"), tr("Experts that may fit better")),
    )


def _places(found: Sequence[Source], c: Colours) -> str:
    if not found:
        return _note(tr("none"), c)
    rows = "".join(
        f"<tr><td>{escape(s.name)}&nbsp;&nbsp;</td>"
        f'<td style="color:{c.muted}">{escape(", ".join(s.hosts))}</td></tr>'
        for s in sorted(found, key=lambda s: s.name.lower())
    )
    return f'<table cellspacing="0" cellpadding="3">{rows}</table>'


def _words(words: Iterable[str]) -> str:
    joined = " \u00b7 ".join(escape(word).replace(" ", "&nbsp;") for word in words)
    return f'<p style="margin:0 0 4px 0; line-height:140%">{joined}</p>'


def _head(text: str) -> str:
    return f'<p style="margin:14px 0 2px 0; font-weight:600">{escape(text)}</p>'


def _text(text: str) -> str:
    return f'<p style="margin:0 0 4px 0; white-space:pre-wrap">{escape(text.strip())}</p>'


def _note(text: str, c: Colours) -> str:
    return f'<p style="margin:0 0 4px 0; color:{c.muted}">{escape(text)}</p>'
