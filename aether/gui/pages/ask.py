"""The ask page: conversations, the chat in the middle, the inspector beside it."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QToolButton, QWidget

from aether.conversations import Exchange
from aether.gui.chat import Chat
from aether.gui.context import Context
from aether.gui.conversation_list import ConversationList
from aether.gui.export import export_dialog
from aether.gui.inspector import CONFIDENCE, Inspector
from aether.gui.ladder import Expert, experts_of
from aether.gui.shortcuts import bind, keys
from aether.gui.turn import Turn
from aether.gui.widgets import Elided, tool
from aether.records import Claim
from aether.shelf import TITLE

SPLIT, LAST, HIDDEN = "ask/split", "ask/conversation", "ask/hidden"
CHAT_WIDTH = 380  # pixels, at least


def build(context: Context) -> QWidget:
    """The page."""
    return AskPage(context)


class AskPage(QWidget):
    """Connects the three parts; knows nothing itself."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._chosen: Turn | None = None
        self._names: dict[str, str] = {}
        self._doomed: set[str] = set()  # conversations to delete once their answer has ended
        self._wanted = ["inspector", "list"]  # sides to show, the one wanted last at the end
        theme = context.theme
        self.list = ConversationList(context)
        self.chat = Chat(context)
        self.inspector = Inspector(theme)
        self.title = Elided("heading")
        tips = {n: f"{self._words(n)} ({keys(n)})" for n in ("list", "inspector", "export")}
        self.show_list = tool(theme, "sidebar", tips["list"], checkable=True)
        self.show_inspector = tool(theme, "panel", tips["inspector"], checkable=True)
        self.export = tool(theme, "export", tips["export"])
        self._lay_out()
        self._order()
        self._restore()
        self._connect()
        self._shortcuts()
        self._load_experts()
        self.list.refresh()
        self.chat.open(str(context.state.value(LAST, "") or ""))

    def take_focus(self) -> None:
        """The page came to the front: the person goes on writing."""
        self.chat.composer.editor.setFocus()

    def leave(self) -> None:
        """The window closes: keep what is typed and where things stand."""
        state = self.context.state
        self.chat.keep_draft()
        state.setValue(LAST, self.chat.conversation)
        state.setValue(SPLIT, self.split.saveState())
        state.setValue(HIDDEN, [name for name in self._sides() if name not in self._wanted])
        self.list.leave()

    # --- the inspector ------------------------------------------------------------------

    def _choose(self, turn: Turn | None) -> None:
        self._chosen = turn
        self.inspector.show_exchange(turn.exchange if turn else Exchange(""))
        self._show_title()
        self.export.setEnabled(turn is not None)

    def _moved(self, turn: Turn) -> None:
        if turn is self._chosen:
            self.inspector.show_exchange(turn.exchange)

    def _cite(self, turn: Turn, number: int) -> None:
        self._choose(turn)
        self._set_shown("inspector", True)
        self.inspector.open_source(number)

    def _explain(self, turn: Turn) -> None:
        self._choose(turn)
        self._set_shown("inspector", True)
        self.inspector.setCurrentIndex(CONFIDENCE)

    def _light_up(self, claim: Claim | None) -> None:
        if self._chosen:
            self._chosen.answer.light_up(claim.text if claim else "")

    # --- inside -------------------------------------------------------------------------

    def _switched(self, conversation: str) -> None:
        self.list.select(conversation)
        self._show_title()

    def _show_title(self) -> None:
        row = self.list.model.index_of(self.chat.conversation)
        last = self.chat.transcript.last
        asked = last.exchange.question if last else ""
        self.title.say(str(row.data()) if row.isValid() else " ".join(asked.split())[:TITLE])

    def _load_experts(self) -> None:
        engine = self.context.engine
        self.context.tasks.call(lambda _: experts_of(engine.tree), self._know, self.chat.complain)

    def _name(self, agent: str) -> str:
        return self._names.get(agent, agent)

    def _know(self, experts: tuple[Expert, ...]) -> None:
        self._names = {e.id: e.name for e in experts}
        self.chat.set_experts(experts)
        self.inspector.set_experts(experts)

    def _delete(self, conversation: str) -> None:
        """Delete it; an answer under way is stopped first, because its end is still written."""
        if self.chat.session.turn(conversation):
            self._doomed.add(conversation)
            self.chat.session.stop(conversation)
        else:
            self.list.delete(conversation)

    def _ended(self, conversation: str) -> None:
        if conversation in self._doomed:
            self._doomed.discard(conversation)
            self.list.delete(conversation)

    def _export(self) -> None:
        exchanges = self.chat.transcript.exchanges
        if exchanges:
            export_dialog(self, self.context, self.title.whole, exchanges, self._name)

    def _find(self) -> None:
        self._set_shown("list", True)
        self.list.search.setFocus()
        self.list.search.selectAll()

    def _sides(self) -> dict[str, tuple[QWidget, QToolButton]]:
        return {
            "list": (self.list, self.show_list),
            "inspector": (self.inspector, self.show_inspector),
        }

    def _set_shown(self, name: str, shown: bool) -> None:
        """Show or hide a side; the one that was wanted last stays where the window is narrow."""
        self._wanted = [side for side in self._wanted if side != name] + [name] * shown
        self._fit_sides()

    def _fit_sides(self) -> None:
        room = self.width() - CHAT_WIDTH
        for name in [n for n in self._sides() if n not in self._wanted] + self._wanted[::-1]:
            side, button = self._sides()[name]
            fits = name in self._wanted and room >= side.minimumWidth()
            room -= side.minimumWidth() * fits
            side.setVisible(fits)
            button.setChecked(fits)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A side comes and goes with the room there is."""
        super().resizeEvent(event)
        self._fit_sides()

    def _words(self, name: str) -> str:
        return {
            "list": self.tr("Show or hide the conversations"),
            "inspector": self.tr("Show or hide the inspector"),
            "export": self.tr("Export the conversation"),
        }[name]

    def _lay_out(self) -> None:
        head = self.chat.head
        head.setSpacing(8)
        head.addWidget(self.show_list)
        head.addWidget(self.title, 1)
        head.addWidget(self.export)
        head.addWidget(self.show_inspector)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        for i, widget in enumerate((self.list, self.chat, self.inspector)):
            self.split.addWidget(widget)
            self.split.setStretchFactor(i, int(widget is self.chat))
            self.split.setCollapsible(i, False)
        self.list.setMinimumWidth(170)
        self.chat.setMinimumWidth(CHAT_WIDTH)
        self.split.setHandleWidth(1)
        self.split.setSizes([230, 640, 350])
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.split)

    def _order(self) -> None:
        """Tab goes from left to right: the head of the chat lies before what it heads."""
        stops = (
            self.list.search, self.list.new, self.list.rows, self.list.undo, self.show_list,
            self.export, self.show_inspector,
        )  # fmt: skip
        for one, other in pairwise(stops):
            QWidget.setTabOrder(one, other)

    def _restore(self) -> None:
        if (state := self.context.state.value(SPLIT)) is not None:
            self.split.restoreState(state)
        hidden = self.context.state.value(HIDDEN) or []
        self._wanted = [name for name in self._wanted if name not in hidden]
        self._fit_sides()

    def _connect(self) -> None:
        chat, wishes = self.chat, self.context.wishes
        self.list.chosen.connect(chat.open)
        self.list.unwanted.connect(self._delete)
        self.list.gone.connect(chat.forget)
        chat.session.ended.connect(self._ended)
        self.list.model.modelReset.connect(self._show_title)
        chat.chosen.connect(self._choose)
        chat.cited.connect(self._cite)
        chat.explained.connect(self._explain)
        chat.switched.connect(self._switched)
        chat.kept.connect(self.list.refresh)
        chat.session.moved.connect(self._moved)
        self.inspector.pointed.connect(self._light_up)
        self.export.clicked.connect(self._export)
        self.show_list.clicked.connect(lambda on: self._set_shown("list", on))
        self.show_inspector.clicked.connect(lambda on: self._set_shown("inspector", on))
        wishes.ask_question.connect(chat.ask_anew)
        wishes.experts_changed.connect(self._load_experts)
        wishes.settings_changed.connect(self.list.refresh)
        wishes.server_changed.connect(chat.welcome.show_server)
        chat.welcome.look_again.connect(wishes.look_for_server)

    def _shortcuts(self) -> None:
        chat = self.chat
        bind(self, "new", lambda: chat.open(""))
        bind(self, "find", self._find)
        bind(self, "write", self.take_focus)
        bind(self, "stop", chat.stop)
        bind(self, "regenerate", chat.regenerate)
        bind(self, "copy-answer", chat.copy_last)
        bind(self, "export", self._export)
        bind(self, "list", self.show_list.click)
        bind(self, "inspector", self.show_inspector.click)
        bind(self, "earlier", lambda: self.list.step(-1))
        bind(self, "later", lambda: self.list.step(1))
