"""The runs page: every question that was asked, its record, two compared, one decided again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QItemSelectionModel, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from aether.cancel import Cancel
from aether.gui import runtext
from aether.gui.context import Context
from aether.gui.controls import Choice
from aether.gui.dialogs import complain, counted
from aether.gui.lazytabs import Page
from aether.gui.rundetail import RunDetail
from aether.gui.runtable import OUTCOMES, QUESTION, ROW, RunFilter, RunTable
from aether.gui.shortcuts import bind
from aether.gui.tables import PlainTable
from aether.gui.tasks import Job
from aether.gui.widgets import label, lines_label
from aether.replay import Replay
from aether.runlog import RunLine, record_at, run_lines

PAUSE_MS = 150
SPLIT = "runs/split"
Record = Mapping[str, Any]


def build(context: Context) -> QWidget:
    """The page."""
    return RunsPage(context)


class RunsPage(QWidget):
    """The list to the left, what is marked in it to the right."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._log = context.engine.audit_path
        self._loading: Job | None = None
        self._reading: Job | None = None
        self._again = False
        self._wanted = ""
        self._shown: tuple[Record, ...] = ()
        self._name: runtext.Naming = str
        self.model = RunTable(context.theme, self)
        self.found = RunFilter(self)
        self.found.setSourceModel(self.model)
        self._make_controls()
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._connect()
        self._load_names()
        self.refresh()

    def refresh(self) -> None:
        """Read what is new in the log."""
        if self._loading is not None:
            self._again = True
            return
        path, start = self._log, self.model.end

        def work(cancel: Cancel) -> Iterator[tuple[RunLine, ...] | None]:
            fresh = not path.exists() or path.stat().st_size < start
            if fresh and start:
                yield None
            for batch in run_lines(path, 0 if fresh else start):
                cancel.check()
                yield batch

        self._loading = self.context.tasks.aside(work, self._loaded, self._load_over)

    def open_run(self, run: str) -> None:
        """Bring one run into view, as soon as it is read."""
        self._wanted = run
        self.filter.clear()
        self.expert.setCurrentIndex(0)
        self.outcome.setCurrentIndex(0)
        self._narrow()
        self._select_wanted()
        self.refresh()

    def take_focus(self) -> None:
        """The page came to the front."""
        self.table.setFocus()

    def leave(self) -> None:
        """The window closes."""
        self.context.state.setValue(SPLIT, self.split.saveState())

    def marked(self) -> list[RunLine]:
        """The marked runs, older first."""
        rows = [index.data(ROW) for index in self.table.selectionModel().selectedRows()]
        return sorted(rows, key=lambda line: line.offset)

    # --- the list ---------------------------------------------------------------------------

    def _loaded(self, batch: tuple[RunLine, ...] | None) -> None:
        if batch is None:
            self.model.clear()
        else:
            self.model.add(batch)
        self._select_wanted()

    def _load_over(self, error: Exception | None) -> None:
        self._loading = None
        complain(self.window(), error)
        self._count()
        if self._again:
            self._again = False
            self.refresh()

    def _select_wanted(self) -> None:
        if not self._wanted:
            return
        for row, line in enumerate(self.model.lines):
            if line.run == self._wanted:
                index = self.found.mapFromSource(self.model.index(row, 0))
                self._wanted = ""
                flags = QItemSelectionModel.SelectionFlag
                self.table.selectionModel().setCurrentIndex(
                    index, flags.ClearAndSelect | flags.Rows
                )
                self.table.scrollTo(index)
                return

    def _narrow(self) -> None:
        self._pause.stop()
        expert, outcome = self.expert.currentData(), self.outcome.currentData()
        self.found.narrow(self.filter.text(), str(expert or ""), str(outcome or ""))
        self._count()

    def _count(self) -> None:
        shown, all_ = self.found.rowCount(), len(self.model.lines)
        words = counted(all_, self.tr("1 run"), self.tr("{} runs"))
        if shown != all_:
            words = self.tr("{} of {}").format(f"{shown:,}", words)
        self.state.setText(words)
        self.left.setCurrentIndex(1 if all_ else 0)

    def _load_names(self) -> None:
        engine = self.context.engine
        self.context.tasks.quick(
            lambda _: {a: m.name for a, m in engine.tree.agents.items()},
            self._know_names,
            self._failed,
        )

    def _know_names(self, names: dict[str, str]) -> None:
        def name(agent: str) -> str:
            return names.get(agent, agent)

        self._name = name
        self.model.set_names(name)
        self.detail.set_names(name)
        while self.expert.count() > 1:
            self.expert.removeItem(1)
        for agent, text in sorted(names.items(), key=lambda item: item[1]):
            self.expert.addItem(text, agent)

    # --- what is marked ---------------------------------------------------------------------

    def _marked_changed(self) -> None:
        lines = self.marked()
        if self._reading is not None:
            self._reading.stop()
            self._reading = None
        for button in (self.replay, self.ask, self.copy):
            button.setEnabled(len(lines) == 1)
        if not 1 <= len(lines) <= 2:
            self._shown = ()
            self.right.setCurrentIndex(0)
            return
        path = self._log
        job: Job

        def show(records: tuple[Record, ...]) -> None:
            if self._reading is job:
                self._show(records)

        job = self.context.tasks.quick(
            lambda _: tuple(record_at(path, line) for line in lines), show, self._failed
        )
        self._reading = job

    def _show(self, records: tuple[Record, ...]) -> None:
        self._shown = records
        if len(records) == 1:
            self.detail.show_record(records[0])
            self.right.setCurrentIndex(1)
        else:
            self._compare()
            self.right.setCurrentIndex(2)

    def _compare(self) -> None:
        if len(self._shown) == 2:
            colours = self.context.theme.colours
            self.comparison.setHtml(runtext.compared(*self._shown, colours, self._name))

    def _replay(self) -> None:
        if len(self._shown) != 1:
            return
        engine, record = self.context.engine, self._shown[0]

        def show(done: Replay) -> None:
            if self._shown == (record,):
                self.detail.show_replay(done.differences)

        self.context.tasks.aside(lambda _: (engine.replay(record),), show, self._failed)

    def _ask(self) -> None:
        for line in self.marked()[:1]:
            record = self._shown[0] if self._shown else {}
            question = str(record.get("question") or line.question)
            self.context.wishes.ask_question.emit(question, "")

    def _copy(self) -> None:
        for line in self.marked()[:1]:
            QGuiApplication.clipboard().setText(line.run)
            self.context.wishes.say.emit(self.tr("Copied: {}").format(line.run))

    def _failed(self, error: Exception | None) -> None:
        complain(self.window(), error)

    def _purged(self, kind: str) -> None:
        if kind == "runs":
            self.table.clearSelection()
            self.model.clear()
            self.refresh()

    # --- made -------------------------------------------------------------------------------

    def _make_controls(self) -> None:
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Filter by words of the question"))
        self.filter.setAccessibleName(self.tr("Filter the runs"))
        self.filter.setClearButtonEnabled(True)
        self.expert = Choice()
        self.expert.setAccessibleName(self.tr("Expert"))
        self.expert.addItem(self.tr("Every expert"), "")
        self.expert.setMaximumWidth(190)
        self.outcome = Choice()
        self.outcome.setAccessibleName(self.tr("Outcome"))
        self.outcome.addItem(self.tr("Every outcome"), "")
        for outcome in OUTCOMES:
            self.outcome.addItem(self.model.outcome_words(outcome), outcome)
        self.state = label("", "muted")
        self.table = self._make_table()
        self.detail = RunDetail(self.context.theme)
        self.comparison = Page(self.tr("Two runs compared"))
        self.replay = QPushButton(self.tr("Replay"))
        self.replay.setToolTip(self.tr("Decide this run again with today's files"))
        self.ask = QPushButton(self.tr("Ask again"))
        self.ask.setToolTip(self.tr("Put this question on the page Ask"))
        self.copy = QPushButton(self.tr("Copy the id"))

    def _make_table(self) -> PlainTable:
        widths = {0: 118, 2: 136, 3: 58, 4: 106}
        table = PlainTable(self.found, self.tr("Runs"), widths, stretch=QUESTION)
        table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        table.setSortingEnabled(True)
        return table

    def _lay_out(self) -> None:
        nothing = lines_label(
            self.tr("No run yet. Ask a question, and its whole record is kept here."), "muted"
        )
        hint = lines_label(
            self.tr("Mark a run to see its record, or two runs to compare them."), "muted"
        )
        for words in (nothing, hint):
            words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.left, self.right = QStackedWidget(), QStackedWidget()
        self.left.addWidget(nothing)
        self.left.addWidget(self.table)
        for widget in (hint, self.detail, self.comparison):
            self.right.addWidget(widget)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        choices = _row(self.expert, self.outcome)
        choices.addStretch(1)
        self.split.addWidget(_column((_row(self.filter), choices), self.left))
        buttons = _row(self.replay, self.ask, self.copy)
        buttons.addStretch(1)
        self.split.addWidget(_column((buttons,), self.right, left=16))
        self.split.setSizes([620, 460])
        self.split.setChildrenCollapsible(False)
        if (kept := self.context.state.value(SPLIT)) is not None:
            self.split.restoreState(kept)
        head = QHBoxLayout()
        head.addWidget(label(self.tr("Runs"), "title"))
        head.addSpacing(12)
        head.addWidget(self.state, 1, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        column.addLayout(head)
        column.addWidget(self.split, 1)

    def _connect(self) -> None:
        wishes = self.context.wishes
        self._pause.timeout.connect(self._narrow)
        self.filter.textChanged.connect(lambda _: self._pause.start())
        self.expert.currentIndexChanged.connect(lambda _: self._narrow())
        self.outcome.currentIndexChanged.connect(lambda _: self._narrow())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._marked_changed())
        self.replay.clicked.connect(self._replay)
        self.ask.clicked.connect(self._ask)
        self.copy.clicked.connect(self._copy)
        self.context.theme.changed.connect(self._compare)
        wishes.run_finished.connect(lambda _: self.refresh())
        wishes.open_run.connect(self.open_run)
        wishes.purged.connect(self._purged)
        wishes.experts_changed.connect(self._load_names)
        bind(self, "runs-filter", self.filter.setFocus)
        bind(self, "runs-replay", self.replay.click)
        self._marked_changed()


def _row(*widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    for i, widget in enumerate(widgets):
        row.addWidget(widget, int(i == 0 and isinstance(widget, QLineEdit)))
    return row


def _column(heads: Sequence[QHBoxLayout], body: QWidget, left: int = 0) -> QWidget:
    made = QWidget()
    column = QVBoxLayout(made)
    column.setContentsMargins(left, 0, 0 if left else 16, 0)
    column.setSpacing(8)
    for head in heads:
        column.addLayout(head)
    column.addWidget(body, 1)
    return made
