"""A question typed on trial: who would answer it, and why, while it is being typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.phrases import decision_words, fault_words, route_words
from aether.gui.scoretable_view import ScoreTable
from aether.gui.tasks import Job
from aether.gui.widgets import lines_label, restyle
from aether.records import Question, Route

PAUSE_MS = 250
TABLE_HEIGHT = 190


class TryOut(QWidget):
    """A line, the decision in words, and the score table below it."""

    routed = Signal(object)  # the Route, None while nothing is typed

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._name: Callable[[str], str] = str
        self._job: Job | None = None
        self._again = False
        self.query = QLineEdit()
        self.query.setPlaceholderText(self.tr("Try a question: who would answer it?"))
        self.query.setAccessibleName(self.tr("Question on trial"))
        self.query.setClearButtonEnabled(True)
        self.ask = QPushButton(self.tr("Ask it"))
        self.ask.setToolTip(self.tr("Put this question on the page Ask"))
        self.ask.setEnabled(False)
        self.words = lines_label("")
        self.table = ScoreTable(context.theme, self.tr("Expert"))
        self.table.setFixedHeight(TABLE_HEIGHT)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.route)
        self.query.textChanged.connect(self._typed)
        self.query.returnPressed.connect(self.route)
        self.ask.clicked.connect(
            lambda: context.wishes.ask_question.emit(self.query.text().strip(), "")
        )
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.query, 1)
        row.addWidget(self.ask)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.words)
        column.addWidget(self.table)
        self._show(None)

    def set_names(self, name: Callable[[str], str]) -> None:
        """How an expert's id becomes a name; what is typed is routed anew."""
        self._name = name
        self.route()

    def route(self) -> None:
        """Route what is typed; one at a time, the newest last."""
        self._pause.stop()
        text = self.query.text().strip()
        if not text:
            self._show(None)
            return
        if self._job is not None:
            self._again = True
            return
        engine = self._context.engine

        def work(_: Cancel) -> tuple[Route]:
            return (engine.route(Question(text)),)

        self._job = self._context.tasks.aside(work, self._routed, self._over)

    def _typed(self, text: str) -> None:
        self.ask.setEnabled(bool(text.strip()))
        self._pause.start()

    def _routed(self, route: Route) -> None:
        if self.query.text().strip():
            self._show(route)

    def _over(self, error: Exception | None) -> None:
        self._job = None
        if error is not None:
            self._show(None)
            self.words.setText(" - ".join(part for part in fault_words(error) if part))
            restyle(self.words, "bad")
            self.words.show()
        if self._again:
            self._again = False
            self.route()

    def _show(self, route: Route | None) -> None:
        self.words.setVisible(route is not None)
        self.table.setVisible(route is not None)
        self.routed.emit(route)
        if route is None:
            return
        restyle(self.words, "")
        out = self.tr("It is outside the field, and would be refused.")
        decision = decision_words(route, self._name)
        parts = (route_words(route), out if route.out_of_domain else decision, route.reason)
        self.words.setText(" ".join(part for part in parts if part))
        chosen = [] if route.out_of_domain else [route.agent, *route.agents]
        self.table.show_rows(route.candidates, self._name, chosen)
