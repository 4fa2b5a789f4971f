"""One run with everything that is recorded of it, in tabs; only the tab that is seen is filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from aether.gui import runtext
from aether.gui.lazytabs import LazyTabs
from aether.gui.passages import Passages
from aether.gui.scoretable_view import ScoreTable
from aether.gui.theme import Colours, Theme
from aether.gui.widgets import lines_label
from aether.replay import Difference, candidates_of, hits_of

Record = Mapping[str, Any]
Naming = runtext.Naming


class RoutePage(QWidget):
    """The decision in a sentence, and its table."""

    def __init__(self, theme: Theme, head: str) -> None:
        super().__init__()
        self.words = lines_label("")
        self.table = ScoreTable(theme, head)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addWidget(self.table, 1)

    def show_route(self, record: Record, name: Naming) -> None:
        """The recorded route."""
        route: Any = record.get("route") or {}
        self.words.setText(str(route.get("reason") or self.tr("No expert was chosen.")))
        chosen = [*(route.get("agents") or []), str(route.get("agent", ""))]
        self.table.show_rows(candidates_of(route.get("candidates")), name, chosen)


class RunDetail(LazyTabs):
    """The tabs of one run."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._name: Naming = str
        self._record: Record = {}
        self._differences: tuple[Difference, ...] | None = None
        self.tabBar().setProperty("role", "dense")
        self.route = RoutePage(theme, self.tr("Expert"))
        self.passages = Passages(theme)
        self.add_text(self.tr("Run"), lambda: self._text(runtext.summary))
        self.add(self.tr("Route"), self.route, self._fill_route)
        self.add_text(self.tr("Places"), lambda: self._text(runtext.places))
        self.add(self.tr("Passages"), self.passages, self._fill_passages)
        self.add_text(self.tr("Prompt"), lambda: self._text(runtext.prompts))
        self.add_text(self.tr("Confidence"), lambda: self._text(runtext.confidence))
        self.replay = self.add_text(self.tr("Replay"), lambda: self._text(self._replay_text))
        self.add_text(self.tr("Record"), lambda: self._text(runtext.raw))
        theme.changed.connect(self.redraw)

    def set_names(self, name: Naming) -> None:
        """How an expert's id becomes a name."""
        self._name = name
        self.redraw()

    def show_record(self, record: Record) -> None:
        """Show a run; the tab stays the one that was looked at."""
        self._record, self._differences = record, None
        self.redraw()

    def show_replay(self, differences: tuple[Difference, ...]) -> None:
        """Show what a replay found."""
        self._differences = differences
        self.setCurrentWidget(self.replay)
        self.redraw_one(self.replay)

    def _text(self, make: Callable[[Record, Colours, Naming], str]) -> str:
        return make(self._record, self._theme.colours, self._name) if self._record else ""

    def _fill_route(self) -> None:
        self.route.show_route(self._record, self._name)

    def _fill_passages(self) -> None:
        self.passages.show_hits(hits_of(self._record.get("hits")))

    def _replay_text(self, record: Record, c: Colours, name: Naming) -> str:
        if self._differences is None:
            return runtext.note(
                self.tr(
                    "Replay decides this run again with today's experts, places and rules. "
                    "Nothing is looked up and no model is called."
                ),
                c,
            )
        return runtext.replayed([_named(d, name) for d in self._differences], c)


def _named(one: Difference, name: Naming) -> Difference:
    """Points and confidence with the expert's name, for people."""
    kind, of, agent = one.what.partition(" of ")
    who = name(agent) if of else ""
    return Difference(f"{kind.capitalize()}{of}{who}", one.then, one.now)
