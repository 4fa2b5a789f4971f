"""One exchange on the screen: question, expert, answer, sources, and what to do with them.

It is told events while the answer is written, or a whole exchange when an old one is opened.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from aether.conversations import Exchange, after
from aether.events import Delta, Escalated, Event, Finished, Notice
from aether.gui.answer import Answer
from aether.gui.ladder import Expert, Ladder, states
from aether.gui.notice import NoticeBar
from aether.gui.phrases import fault_words, phase, speaker
from aether.gui.sourcelist import SourceList
from aether.gui.theme import Theme
from aether.gui.turnactions import TurnActions
from aether.gui.widgets import lines_label, tool


class Turn(QFrame):
    """A question and its answer."""

    cited = Signal(int)
    pointed = Signal(int, QPoint)
    opened = Signal(str)
    grown = Signal()
    again = Signal()
    other = Signal(str)  # answer again with this expert
    edit = Signal()
    thumbed = Signal(str, str)  # up or down, because
    chosen = Signal()  # the person turned to this exchange

    def __init__(
        self,
        theme: Theme,
        experts: Sequence[Expert],
        exchange: Exchange,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._experts = {e.id: e for e in experts}
        self.exchange = exchange
        self.notes: list[str] = []
        self._running = True
        self.question = QuestionCard(theme, exchange.question)
        self.ladder = Ladder(theme)
        self.ladder.set_experts(experts)
        self.name = lines_label("", "heading")
        self.phase = lines_label("", "muted")
        self.busy = QProgressBar()
        self.busy.setRange(0, 0)
        self.busy.setTextVisible(False)
        self.busy.setProperty("role", "thin")
        self.busy.setAccessibleName(self.tr("The answer is under way"))
        self.answer = Answer(theme)
        self.notice = NoticeBar(theme)
        self.sources = SourceList(theme)
        self.actions_row = TurnActions(theme, experts)
        self._lay_out()
        self._connect()
        self._show_state()

    # --- what is told -------------------------------------------------------------------

    def take(self, event: Event) -> None:
        """One event of the answer that is being written."""
        self.exchange = after(self.exchange, event)
        if isinstance(event, Delta):
            self.answer.feed(event.text)
            if self.phase.text() != self.tr("Writing"):
                self.phase.setText(self.tr("Writing"))
            return
        if isinstance(event, Escalated):
            self.answer.set_text("")
        if isinstance(event, Notice):
            self.notes.append(event.text)
        words = phase(event, self._name)
        if words:
            self.phase.setText(words)
        if isinstance(event, Finished):
            self._finish()
        self._show_state()

    def show_exchange(self, exchange: Exchange) -> None:
        """An exchange that has ended."""
        self.exchange = exchange
        self._finish()
        self._show_state()

    def fail(self, error: Exception) -> None:
        """The work ended without a record: say why, and keep what was written."""
        self._running = False
        self.answer.finish()
        self.busy.hide()
        self.phase.setText(self.tr("Not answered"))
        self.notice.say("bad", *fault_words(error), retry=True)
        self.actions_row.setVisible(True)
        self.grown.emit()

    @property
    def running(self) -> bool:
        """Whether the answer is still being written."""
        return self._running

    @property
    def stops(self) -> list[QWidget]:
        """What Tab goes through, from top to bottom."""
        parts: list[QWidget] = []
        for part in self.answer.parts:
            parts += part.stops
        row = self.actions_row
        buttons = (row.copy, row.again, row.expert, row.up, row.down, row.explain, row.because)
        return [self.question.edit, *parts, self.notice.retry, self.sources.lines, *buttons]

    def copy(self) -> None:
        """Put the answer on the clipboard, as Markdown."""
        QGuiApplication.clipboard().setText(self.answer.text.strip())

    def set_experts(self, experts: Sequence[Expert]) -> None:
        """The experts became known, or were edited."""
        self._experts = {e.id: e for e in experts}
        self.ladder.set_experts(experts)
        self.actions_row.set_experts(experts)
        self._show_state()

    # --- inside -------------------------------------------------------------------------

    def _finish(self) -> None:
        run = self.exchange.run
        if run is None:
            return
        self._running = False
        if self.answer.text.strip() == run.answer.strip():
            self.answer.finish()
        else:
            self.answer.set_text(run.answer)
        self.busy.hide()
        self.phase.setText(phase(Finished(run), self._name))
        self.notice.tell(self.exchange, self.notes)
        self.sources.show_hits(run.hits, run.answer)
        self.actions_row.show_run(run)
        self.actions_row.setVisible(True)
        self.grown.emit()

    def _show_state(self) -> None:
        agent, title = speaker(self.exchange, self._name)
        self.name.setText(title)
        self.name.setToolTip(self._experts[agent].description if agent in self._experts else "")
        self.ladder.light(states(self.exchange))

    def _name(self, agent: str) -> str:
        return self._experts[agent].name if agent in self._experts else agent

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(12)
        told = QVBoxLayout()
        told.setSpacing(2)
        told.addWidget(self.name)
        told.addWidget(self.phase)
        head.addLayout(told, 1)
        head.addWidget(self.ladder, 0, Qt.AlignmentFlag.AlignVCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 8)
        column.setSpacing(8)
        column.addWidget(self.question)
        column.addLayout(head)
        column.addWidget(self.busy)
        column.addWidget(self.answer)
        column.addWidget(self.notice)
        column.addWidget(self.sources)
        column.addWidget(self.actions_row)
        self.notice.hide()
        self.sources.hide()
        self.actions_row.hide()

    def _connect(self) -> None:
        self.question.edit.clicked.connect(self.edit)
        self.answer.cited.connect(self.cited)
        self.answer.pointed.connect(self.pointed)
        self.answer.opened.connect(self.opened)
        self.answer.grown.connect(self.grown)
        self.sources.cited.connect(self.cited)
        self.notice.retry.clicked.connect(self.again)
        self.actions_row.copy.clicked.connect(self.copy)
        self.actions_row.again.clicked.connect(self.again)
        self.actions_row.other.connect(self.other)
        self.actions_row.thumbed.connect(self.thumbed)
        self.actions_row.explain.clicked.connect(self.chosen)


class QuestionCard(QFrame):
    """The question as it was typed, and the way to change it."""

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__()
        self.setProperty("role", "question")
        self.text = lines_label(text)
        self.text.setAccessibleName(self.tr("Question"))
        self.edit = tool(theme, "edit", self.tr("Edit and ask again"))
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 8, 8)
        row.addWidget(self.text, 1)
        row.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignTop)
