"""The middle of the ask page: one conversation, and what a person does with it.

Asks, stops, edits, regenerates, keeps drafts and verdicts; the lists beside it only hear of it.
"""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QToolTip, QVBoxLayout, QWidget

from aether.conversations import Exchange, read_exchanges
from aether.feedback import read_feedback
from aether.gui.composer import Composer
from aether.gui.context import Context
from aether.gui.inspector import hits_of
from aether.gui.ladder import Expert
from aether.gui.phrases import fault_words, sentence
from aether.gui.session import Session
from aether.gui.shortcuts import keys
from aether.gui.tips import source_tip
from aether.gui.transcript import Column, Transcript
from aether.gui.turn import Turn
from aether.gui.welcome import Welcome
from aether.records import Question
from aether.shelf import new_id

Opened = tuple[str, tuple[Exchange, ...], dict[str, tuple[str, str]]]


class Chat(QWidget):
    """Transcript and composer."""

    chosen = Signal(object)  # the Turn that the inspector should show, or None
    cited = Signal(object, int)  # Turn, source
    explained = Signal(object)  # Turn
    switched = Signal(str)  # the conversation that is open now
    kept = Signal()  # a conversation was added to

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.conversation = ""
        self._replaces: Turn | None = None
        self._verdicts: dict[str, tuple[str, str]] = {}
        self.transcript = Transcript(context.theme)
        self.welcome = Welcome(context)
        self.composer = Composer(context.theme, context.engine.settings.web.enabled)
        self.session = Session(context, self)
        self.head = QHBoxLayout()
        self._lay_out()
        self._connect()

    # --- conversations ------------------------------------------------------------------

    def open(self, conversation: str) -> None:
        """Show a conversation, "" for a new one; the one that was open keeps its draft."""
        self.keep_draft()
        self._cancel_edit()
        self.conversation = conversation
        self.transcript.clear()
        self.chosen.emit(None)
        self.switched.emit(conversation)
        self.composer.set_text(str(self.context.state.value(self._draft_key(), "") or ""))
        self.composer.set_history([])
        self._show_state()
        if conversation:
            home = self.context.home
            self.context.tasks.quick(
                lambda _: (conversation, read_exchanges(home, conversation), read_feedback(home)),
                self._opened,
                self.complain,
            )
        self.composer.editor.setFocus()

    def keep_draft(self) -> None:
        """Keep what is typed for the next time this conversation is opened."""
        if self._replaces is None and self.composer.text.strip():
            self.context.state.setValue(self._draft_key(), self.composer.text)
        else:
            self.context.state.remove(self._draft_key())

    def _opened(self, result: Opened) -> None:
        conversation, exchanges, self._verdicts = result
        if conversation != self.conversation or self.transcript.turns:
            return
        self.transcript.show_exchanges(exchanges)
        if live := self.session.turn(conversation):
            self.transcript.adopt(live)
        self.composer.set_history([e.question for e in exchanges])
        self.chosen.emit(self.transcript.last)
        self._show_state()
        self.order()

    def forget(self, conversation: str) -> None:
        """A conversation was deleted."""
        if conversation == self.conversation:
            self.open("")

    def _draft_key(self) -> str:
        return f"drafts/{self.conversation or 'new'}"

    # --- questions ----------------------------------------------------------------------

    def ask(self, text: str, offline: bool = False, agent: str = "") -> None:
        """Ask in the conversation that is open; a new one begins where none is."""
        if self.session.turn(self.conversation):
            return
        replaced = self._replaces
        self.context.state.remove(self._draft_key())
        self._cancel_edit()
        self.composer.set_text("")
        if not self.conversation:
            self.conversation = new_id()
            self.switched.emit(self.conversation)
        gone = self.transcript.remove_from(replaced) if replaced else []
        runs = [t.exchange.run.run for t in gone if t.exchange.run]
        turn = self.transcript.begin(Exchange(text, agent))
        question = Question(text, agent=agent, conversation=self.conversation, offline=offline)
        self.session.ask(turn, question, runs)
        self.chosen.emit(turn)
        self._show_state()

    def ask_anew(self, text: str, agent: str = "") -> None:
        """Ask in a new conversation; other pages use this."""
        self.open("")
        self.ask(text, agent=agent)

    def regenerate(self, turn: Turn | None = None, agent: str = "") -> None:
        """Answer a question again: the last one in its place, an earlier one at the end.

        With `agent`, that expert answers, and the answer that is there stays for comparison.
        """
        turn = turn or self.transcript.last
        if turn is None or self.session.turn(self.conversation):
            return
        self._replaces = turn if turn is self.transcript.last and not agent else None
        self.ask(turn.exchange.question, self.composer.offline, agent or turn.exchange.agent)

    def edit(self, turn: Turn) -> None:
        """Bring a question back into the editor; sending it replaces what follows."""
        if self.session.turn(self.conversation):
            return
        self.keep_draft()
        self._replaces = turn
        self.composer.set_text(turn.exchange.question)
        words = self.tr("Sending replaces this question and what follows it. {} cancels.")
        self.composer.set_hint(words.format(keys("stop")))
        self.composer.editor.setFocus()

    def stop(self) -> None:
        """Stop the answer that is written, or the edit."""
        if self._replaces is not None:
            self._cancel_edit()
            self.composer.set_text(str(self.context.state.value(self._draft_key(), "") or ""))
        self.session.stop(self.conversation)

    def copy_last(self) -> None:
        """The last answer on the clipboard."""
        if self.transcript.last:
            self.transcript.last.copy()
            self.context.wishes.say.emit(self.tr("The answer is on the clipboard"))

    def _cancel_edit(self) -> None:
        self._replaces = None
        self.composer.set_hint("")

    def _ended(self, conversation: str, turn: Turn) -> None:
        self.kept.emit()
        if conversation != self.conversation:
            turn.deleteLater()
            return
        self._show_state()
        self.order()
        if not self.window().isActiveWindow():
            self.context.wishes.done.emit(self.tr("The answer is ready"))

    # --- verdicts, links, faults ----------------------------------------------------------

    def complain(self, error: Exception) -> None:
        """Say what failed in the status bar."""
        self.context.wishes.say.emit(" \u2013 ".join(p for p in fault_words(error) if p))

    def _thumbed(self, turn: Turn, verdict: str, because: str) -> None:
        run = turn.exchange.run
        if run is None:
            return
        self._verdicts[run.run] = (verdict, because)
        engine = self.context.engine
        said = self.tr("Thank you, this is kept")
        self.context.tasks.quick(
            lambda _: engine.feedback(run.run, verdict, because),  # type: ignore[arg-type]
            lambda _: self.context.wishes.say.emit(said),
            self.complain,
        )

    def _show_verdict(self, turn: Turn) -> None:
        run = turn.exchange.run
        if run and run.run in self._verdicts:
            turn.actions_row.show_verdict(*self._verdicts[run.run])
        self.order()

    def _tip(self, turn: Turn, number: int, place: QPoint) -> None:
        hit = next((h for h in hits_of(turn.exchange) if h.n == number), None)
        if hit is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(place, source_tip(hit, turn.exchange.scored), turn)

    def _open_link(self, url: str) -> None:
        QDesktopServices.openUrl(QUrl(url))

    # --- inside -------------------------------------------------------------------------

    def set_experts(self, experts: tuple[Expert, ...]) -> None:
        """The experts became known, or were edited."""
        self.transcript.set_experts(experts)
        self.composer.editor.set_experts(experts)

    def _show_state(self) -> None:
        empty = not self.transcript.turns and not self.conversation
        self._start.setVisible(empty)
        self.transcript.setVisible(not empty)
        self.composer.set_busy(self.session.turn(self.conversation) is not None)

    def order(self) -> None:
        """Tab goes from the top of the transcript down, and on to the composer."""
        stops: list[QWidget] = [self.transcript]
        for turn in self.transcript.turns:
            stops += turn.stops
        for one, other in pairwise(stops):
            QWidget.setTabOrder(one, other)

    def _lay_out(self) -> None:
        self._start = QScrollArea()
        self._start.setWidgetResizable(True)
        self._start.setWidget(Column(self.welcome))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head.setContentsMargins(8, 8, 8, 0)
        column.addLayout(self.head)
        column.addWidget(self.transcript, 1)
        column.addWidget(self._start, 1)
        column.addWidget(Column(self.composer))

    def _connect(self) -> None:
        t = self.transcript
        t.cited.connect(self.cited)
        t.pointed.connect(self._tip)
        t.opened.connect(self._open_link)
        t.again.connect(self.regenerate)
        t.other.connect(self.regenerate)
        t.edit.connect(self.edit)
        t.thumbed.connect(self._thumbed)
        t.chosen.connect(self.explained)
        t.shown.connect(self._show_verdict)
        self.session.ended.connect(self._ended)
        self.composer.asked.connect(self.ask)
        self.composer.stop.connect(self.stop)
        self.composer.files.connect(self._files)
        self.welcome.asked.connect(self.ask)
        self.context.wishes.settings_changed.connect(self._settings)
        self.context.wishes.waiting.connect(self._waits)

    def _waits(self, words: str) -> None:
        """The engine says what takes long: the person who waits for an answer should know."""
        turn = self.session.turn(self.conversation)
        if turn and not turn.answer.text:
            turn.phase.setText(sentence(words))

    def _settings(self) -> None:
        """The settings were changed."""
        self.composer.allow_web(self.context.engine.settings.web.enabled)
        self.welcome.show_settings()

    def _files(self, paths: list[str]) -> None:
        self.context.wishes.files_dropped.emit(paths)
