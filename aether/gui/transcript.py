"""The exchanges of one conversation, one below the other, following the words as they come."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from aether.conversations import Exchange
from aether.gui.ladder import Expert
from aether.gui.theme import Theme
from aether.gui.turn import Turn

WIDTH = 860  # pixels; longer lines are hard to read
SHOWN = 8  # exchanges shown when a conversation is opened; more on request
NEAR = 24  # pixels from the end that still count as the end


class Column(QWidget):
    """Keeps what it holds in the middle, at most `WIDTH` wide."""

    def __init__(self, inner: QWidget) -> None:
        super().__init__()
        inner.setMaximumWidth(WIDTH)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.addWidget(inner)


class Transcript(QScrollArea):
    """Turns from old to new."""

    cited = Signal(object, int)  # Turn, source number
    pointed = Signal(object, int, QPoint)
    opened = Signal(str)
    again = Signal(object)
    other = Signal(object, str)
    edit = Signal(object)
    thumbed = Signal(object, str, str)
    chosen = Signal(object)
    shown = Signal(object)  # a Turn whose exchange was read from disk

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._experts: tuple[Expert, ...] = ()
        self._earlier: list[Exchange] = []
        self._late: list[Exchange] = []
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._show_late)
        self._follow = True
        self.turns: list[Turn] = []
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Conversation"))
        self._inner = QWidget()
        self._column = QVBoxLayout(self._inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(24)
        self.more = QPushButton(self.tr("Show earlier exchanges"))
        self.more.clicked.connect(self._show_earlier)
        self.more.hide()
        self._column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addStretch(1)
        self.setWidget(Column(self._inner))
        self.verticalScrollBar().rangeChanged.connect(self._grown)
        self.verticalScrollBar().valueChanged.connect(self._moved)

    @property
    def last(self) -> Turn | None:
        """The newest exchange."""
        return self.turns[-1] if self.turns else None

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All exchanges of the conversation, also those that are not shown yet."""
        return (*self._earlier, *self._late, *(turn.exchange for turn in self.turns))

    def set_experts(self, experts: Sequence[Expert]) -> None:
        """The experts became known, or were edited."""
        self._experts = tuple(experts)
        for turn in self.turns:
            turn.set_experts(experts)

    def show_exchanges(self, exchanges: Sequence[Exchange]) -> None:
        """Show a conversation that was read; the newest exchanges first, more on request."""
        self.clear()
        self._earlier = list(exchanges[:-SHOWN])
        self._late = list(exchanges[-SHOWN:])
        self.more.setVisible(bool(self._earlier))
        self._show_late()

    def _show_late(self) -> None:
        """Put the next older exchange on top; one each time, so that the window stays alive."""
        if not self._late:
            return
        self._show(self._late.pop(), 0)
        if self._follow:
            self.to_end()
        if self._late:
            self._turn.start()

    def begin(self, exchange: Exchange) -> Turn:
        """A new exchange whose answer is about to come."""
        turn = self._make(exchange)
        self._place(turn, len(self.turns))
        self.to_end()
        return turn

    def adopt(self, turn: Turn) -> None:
        """Show an exchange again that went on while another conversation was open."""
        self._place(turn, len(self.turns))
        turn.show()
        self.to_end()

    def remove_from(self, turn: Turn) -> list[Turn]:
        """Take this exchange and all behind it away; returns them."""
        at = self.turns.index(turn)
        gone, self.turns = self.turns[at:], self.turns[:at]
        for old in gone:
            self._drop(old)
        return gone

    def clear(self) -> None:
        """Empty the transcript."""
        for turn in self.turns:
            self._drop(turn)
        self.turns, self._earlier, self._late = [], [], []
        self._turn.stop()
        self.more.hide()

    def to_end(self) -> None:
        """Show the end, and follow it."""
        self._follow = True
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Home and End go to the ends of the conversation."""
        bar = self.verticalScrollBar()
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            bar.setValue(bar.minimum() if event.key() == Qt.Key.Key_Home else bar.maximum())
        else:
            super().keyPressEvent(event)

    def _show(self, exchange: Exchange, at: int) -> None:
        turn = self._make(exchange)
        self._place(turn, at)
        turn.show_exchange(exchange)
        self.shown.emit(turn)

    def _place(self, turn: Turn, at: int) -> None:
        self.turns.insert(at, turn)
        self._column.insertWidget(at + 1, turn)

    def _make(self, exchange: Exchange) -> Turn:
        turn = Turn(self._theme, self._experts, exchange)
        turn.cited.connect(lambda n, t=turn: self.cited.emit(t, n))
        turn.pointed.connect(lambda n, p, t=turn: self.pointed.emit(t, n, p))
        turn.opened.connect(self.opened)
        turn.again.connect(lambda t=turn: self.again.emit(t))
        turn.other.connect(lambda agent, t=turn: self.other.emit(t, agent))
        turn.edit.connect(lambda t=turn: self.edit.emit(t))
        turn.thumbed.connect(lambda v, b, t=turn: self.thumbed.emit(t, v, b))
        turn.chosen.connect(lambda t=turn: self.chosen.emit(t))
        return turn

    def _drop(self, turn: Turn) -> None:
        self._column.removeWidget(turn)
        turn.hide()
        if turn.running:
            turn.setParent(None)  # it goes on, and is shown again or let go when it has ended
        else:
            turn.deleteLater()

    def _show_earlier(self) -> None:
        self._follow = False
        batch, self._earlier = self._earlier[-SHOWN:], self._earlier[:-SHOWN]
        for i, exchange in enumerate(batch):
            self._show(exchange, i)
        self.more.setVisible(bool(self._earlier))

    def _grown(self, _: int, most: int) -> None:
        if self._follow:
            self.verticalScrollBar().setValue(most)

    def _moved(self, value: int) -> None:
        self._follow = value >= self.verticalScrollBar().maximum() - NEAR
