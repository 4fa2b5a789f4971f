"""The ask page: conversations, the chat in the middle, the inspector beside it."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QWidget

from aether.conversations import Exchange
from aether.gui.chat import Chat
from aether.gui.context import Context
from aether.gui.conversation_list import ConversationList
from aether.gui.export import export_dialog
from aether.gui.inspector import CONFIDENCE, Inspector
from aether.gui.ladder import Expert, experts_of
from aether.gui.shortcuts import bind, keys
from aether.gui.turn import Turn
from aether.gui.widgets import label, tool
from aether.records import Claim
from aether.shelf import TITLE

SPLIT, LAST, HIDDEN = "ask/split", "ask/conversation", "ask/hidden"


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
        theme = context.theme
        self.list = ConversationList(context)
        self.chat = Chat(context)
        self.inspector = Inspector(theme)
        self.title = label("", "heading")
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
        state.setValue(HIDDEN, [n for n, w in self._sides().items() if w.isHidden()])
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
        self.title.setText(str(row.data()) if row.isValid() else " ".join(asked.split())[:TITLE])

    def _load_experts(self) -> None:
        engine = self.context.engine
        self.context.tasks.call(lambda _: experts_of(engine.tree), self._know, self.chat.complain)

    def _name(self, agent: str) -> str:
        return self._names.get(agent, agent)

    def _know(self, experts: tuple[Expert, ...]) -> None:
        self._names = {e.id: e.name for e in experts}
        self.chat.set_experts(experts)
        self.inspector.set_experts(experts)

    def _export(self) -> None:
        exchanges = self.chat.transcript.exchanges
        if exchanges:
            export_dialog(self, self.context, self.title.text(), exchanges, self._name)

    def _find(self) -> None:
        self._set_shown("list", True)
        self.list.search.setFocus()
        self.list.search.selectAll()

    def _sides(self) -> dict[str, QWidget]:
        return {"list": self.list, "inspector": self.inspector}

    def _set_shown(self, name: str, shown: bool) -> None:
        self._sides()[name].setVisible(shown)
        button = self.show_list if name == "list" else self.show_inspector
        button.setChecked(shown)

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
        self.chat.setMinimumWidth(380)
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
        for name in self._sides():
            self._set_shown(name, name not in hidden)

    def _connect(self) -> None:
        chat, wishes = self.chat, self.context.wishes
        self.list.chosen.connect(chat.open)
        self.list.gone.connect(chat.forget)
        self.list.model.modelReset.connect(self._show_title)
        chat.chosen.connect(self._choose)
        chat.cited.connect(self._cite)
        chat.explained.connect(self._explain)
        chat.switched.connect(self._switched)
        chat.kept.connect(self.list.refresh)
        chat.session.moved.connect(self._moved)
        self.inspector.pointed.connect(self._light_up)
        self.export.clicked.connect(self._export)
        self.show_list.toggled.connect(lambda on: self._set_shown("list", on))
        self.show_inspector.toggled.connect(lambda on: self._set_shown("inspector", on))
        wishes.ask_question.connect(chat.ask_anew)
        wishes.experts_changed.connect(self._load_experts)
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
        bind(self, "list", self.show_list.toggle)
        bind(self, "inspector", self.show_inspector.toggle)
        bind(self, "earlier", lambda: self.list.step(-1))
        bind(self, "later", lambda: self.list.step(1))
