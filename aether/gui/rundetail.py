"""One run with everything that is recorded of it, in tabs; only the tab that is seen is filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtWidgets import QTabWidget, QTextBrowser, QVBoxLayout, QWidget

from aether.gui import runtext
from aether.gui.passages import Passages
from aether.gui.scoretable_view import ScoreTable
from aether.gui.theme import Colours, Theme
from aether.gui.widgets import lines_label
from aether.replay import Difference, candidates_of, hits_of

Record = Mapping[str, Any]
Naming = runtext.Naming


class Page(QTextBrowser):
    """Read-only HTML that opens nothing."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)


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


class RunDetail(QTabWidget):
    """The tabs of one run."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._name: Naming = str
        self._record: Record = {}
        self._differences: tuple[Difference, ...] | None = None
        self._stale: set[int] = set()
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.tabBar().setProperty("role", "dense")
        self.setUsesScrollButtons(True)
        self.route = RoutePage(theme, self.tr("Expert"))
        self.passages = Passages(theme)
        self._fill: list[Callable[[], None]] = []
        self._add(self.tr("Run"), runtext.summary)
        self._add_widget(self.tr("Route"), self.route, self._fill_route)
        self._add(self.tr("Places"), runtext.places)
        self._add_widget(self.tr("Passages"), self.passages, self._fill_passages)
        self._add(self.tr("Prompt"), runtext.prompts)
        self._add(self.tr("Confidence"), runtext.confidence)
        self.replay = self._add(self.tr("Replay"), self._replay_text)
        self._add(self.tr("Record"), runtext.raw)
        self.currentChanged.connect(self._fill_current)
        theme.changed.connect(self._redraw)

    def set_names(self, name: Naming) -> None:
        """How an expert's id becomes a name."""
        self._name = name
        self._redraw()

    def show_record(self, record: Record) -> None:
        """Show a run; the tab stays the one that was looked at."""
        self._record, self._differences = record, None
        self._redraw()

    def show_replay(self, differences: tuple[Difference, ...]) -> None:
        """Show what a replay found."""
        self._differences = differences
        self._stale.add(self.indexOf(self.replay))
        self.setCurrentWidget(self.replay)
        self._fill_current(self.currentIndex())

    def _add(self, name: str, text: Callable[[Record, Colours, Naming], str]) -> Page:
        page = Page(name)

        def fill() -> None:
            page.setHtml(text(self._record, self._theme.colours, self._name))

        self._add_widget(name, page, fill)
        return page

    def _add_widget(self, name: str, widget: QWidget, fill: Callable[[], None]) -> None:
        self._fill.append(fill)
        self.addTab(widget, name)

    def _redraw(self) -> None:
        self._stale = set(range(self.count()))
        self._fill_current(self.currentIndex())

    def _fill_current(self, index: int) -> None:
        if index in self._stale and self._record:
            self._stale.discard(index)
            self._fill[index]()

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
