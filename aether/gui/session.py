"""Questions that are under way: one for each conversation, run on the worker, shown on a turn.

Apart from the page, because an answer goes on while the person looks at another conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QObject, Signal

from aether.cancel import Cancel
from aether.conversations import retract
from aether.events import Built, Delta, Event, Finished, Retrieved
from aether.gui.context import Context
from aether.gui.tasks import CHAT, Job
from aether.gui.turn import Turn
from aether.records import Question


class Session(QObject):
    """Asks, stops, and tells the turn what happens."""

    moved = Signal(object)  # Turn: something but words came
    ended = Signal(str, object)  # conversation, Turn

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._live: dict[str, tuple[Turn, Job]] = {}

    def turn(self, conversation: str) -> Turn | None:
        """The exchange of this conversation that is under way."""
        live = self._live.get(conversation)
        return live[0] if live else None

    def ask(self, turn: Turn, question: Question, instead_of: Sequence[str] = ()) -> None:
        """Have a question answered, in place of earlier runs where they are named.

        Several conversations may ask; their answers come one after the other.
        """
        engine, home = self._context.engine, self._context.home
        conversation = question.conversation

        def work(cancel: Cancel) -> Iterator[Event]:
            if instead_of:
                retract(home, conversation, instead_of)
            yield from engine.ask(question, cancel)

        def take(event: Event) -> None:
            turn.take(event)
            self._pass_on(event, turn)

        def done(error: Exception | None) -> None:
            self._live.pop(conversation, None)
            if turn.exchange.run is None:
                turn.fail(error or RuntimeError("the work ended without a record"))
            self.ended.emit(conversation, turn)

        job = self._context.tasks.submit(work, take, done, CHAT)
        self._live[conversation] = (turn, job)

    def stop(self, conversation: str) -> None:
        """Stop the answer of a conversation; what is written stays."""
        if live := self._live.get(conversation):
            live[1].stop()

    def _pass_on(self, event: Event, turn: Turn) -> None:
        wishes = self._context.wishes
        if isinstance(event, Built):
            wishes.prompt_built.emit(event)
        elif isinstance(event, Retrieved):
            wishes.retrieved.emit(event)
        elif isinstance(event, Finished):
            wishes.run_finished.emit(event.run)
        if not isinstance(event, Delta):
            self.moved.emit(turn)
