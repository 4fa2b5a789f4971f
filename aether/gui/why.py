"""Why this expert: the decision in words, the score table, the places planned, the climb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFrame, QHeaderView, QScrollArea, QTreeView, QVBoxLayout, QWidget

from aether.conversations import Exchange
from aether.gui.phrases import column_words, decision_words, route_words
from aether.gui.widgets import label, lines_label
from aether.records import Attempt, Candidate, Plan, Route, Run

POINTS_WIDTH = 76  # pixels


class PointsTable(QTreeView):
    """Candidates with their points; each opens into the columns that sum to them."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__()
        self._model = QStandardItemModel(0, 2, self)
        self._model.setHorizontalHeaderLabels([first, second])
        self.setModel(self._model)
        head = self.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        head.resizeSection(1, POINTS_WIDTH)
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTreeView.SelectionBehavior.SelectRows)
        self.setAccessibleName(first)
        self.setUniformRowHeights(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.expanded.connect(self._fit)
        self.collapsed.connect(self._fit)

    def show_rows(
        self, rows: Iterable[Candidate], name: Callable[[str], str], chosen: Sequence[str]
    ) -> None:
        """Fill the table; the chosen rows are bold, the first of them is open."""
        self._model.removeRows(0, self._model.rowCount())
        opened = None
        made: list[list[QStandardItem]] = []
        for row in rows:
            items = _row(name(row.agent), f"{row.score:.1f}", row.note)
            for part, points in row.parts:
                if points:
                    items[0].appendRow(_row(column_words(part), f"{points:+.1f}"))
            if row.agent in chosen:
                _bold(items)
                opened = opened or items[0]
            made.append(items)
        for items in made:
            self._model.appendRow(items)
        if opened is not None:
            self.expand(opened.index())
        self._fit()

    def _fit(self) -> None:
        """As tall as its rows: the page around it scrolls."""
        count, index = 0, self._model.index(0, 0)
        while index.isValid():
            count += 1
            index = self.indexBelow(index)
        row = self.sizeHintForRow(0) if count else 0
        self.setFixedHeight(self.header().sizeHint().height() + count * max(row, 1) + 4)


def _row(name: str, points: str, tip: str = "") -> list[QStandardItem]:
    items = [QStandardItem(name), QStandardItem(points)]
    items[0].setToolTip(tip or name)
    items[1].setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return items


def _bold(items: Iterable[QStandardItem]) -> None:
    for item in items:
        font = item.font()
        font.setBold(True)
        item.setFont(font)


def _plan_of(exchange: Exchange) -> Plan | None:
    """Where the expert looked whose answer is shown, else the newest one."""
    agent = exchange.run.agent if exchange.run else ""
    plans = [look.plan for look in exchange.looks if look.plan]
    own = [plan for plan in plans if plan.agent == agent] or plans
    return own[-1] if own else None


class Why(QScrollArea):
    """The first tab of the inspector."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._shown: tuple[Route | None, Plan | None] = (None, None)
        self.title = lines_label("", "heading")
        self.reason = lines_label("", "muted")
        self.experts = PointsTable(self.tr("Expert"), self.tr("Points"))
        self.places_head = label(self.tr("Where it looked"), "heading")
        self.query = lines_label("", "muted")
        self.places = PointsTable(self.tr("Place"), self.tr("Points"))
        self.climb_head = label(self.tr("The climb"), "heading")
        self.climb = lines_label("")
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(8)
        for widget in (
            self.title, self.reason, self.experts, self.places_head, self.query, self.places,
            self.climb_head, self.climb,
        ):  # fmt: skip
            column.addWidget(widget)
        column.addStretch(1)
        self.setWidget(inner)

    def forget(self) -> None:
        """Names have changed: fill everything anew the next time."""
        self._shown = (None, None)

    def show_exchange(self, exchange: Exchange, name: Callable[[str], str]) -> None:
        """Everything that is known so far; a table that is shown already is left alone."""
        route, plan = exchange.route, _plan_of(exchange)
        if route is None or route is not self._shown[0]:
            self._show_route(route, name)
        if plan is None or plan is not self._shown[1]:
            self._show_places(plan)
        self._shown = (route, plan)
        self._show_climb(exchange.run, name)

    def _show_route(self, route: Route | None, name: Callable[[str], str]) -> None:
        self.title.setText(name(route.agent) if route else self.tr("No expert yet"))
        if route:
            words = (route_words(route), decision_words(route, name), route.reason)
            self.reason.setText(" ".join(w for w in words if w))
            self.experts.show_rows(route.candidates, name, route.agents or (route.agent,))
        else:
            self.reason.setText(self.tr("The score table is shown once a question is asked."))
        self.experts.setVisible(bool(route and route.candidates))

    def _show_places(self, plan: Plan | None) -> None:
        for widget in (self.places_head, self.query, self.places):
            widget.setVisible(plan is not None)
        if plan:
            self.query.setText(self.tr("Searched for: {}").format(plan.query))
            chosen = (*plan.sources, *plan.namespaces)
            rows = plan.table or tuple(Candidate(place, 0.0) for place in chosen)
            self.places.show_rows(rows, str, chosen)

    def _show_climb(self, run: Run | None, name: Callable[[str], str]) -> None:
        attempts = run.attempts if run else ()
        self.climb_head.setVisible(len(attempts) > 1)
        self.climb.setVisible(len(attempts) > 1)
        self.climb.setText("\n".join(self._rung(a, name) for a in attempts))

    def _rung(self, attempt: Attempt, name: Callable[[str], str]) -> str:
        if attempt.generated:
            words = self.tr("{}: answered with confidence {}")
            return words.format(name(attempt.agent), f"{attempt.confidence:.2f}")
        words = self.tr("{}: passed on before writing, because what was found reached {} only")
        return words.format(name(attempt.agent), f"{attempt.pre:.2f}")
