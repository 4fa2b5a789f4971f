"""The list of conversations: search, new, rename, pin, delete with undo."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from aether.errors import AetherError
from aether.gui.context import Context
from aether.gui.conversation_model import ROW, ConversationModel, Index, Row
from aether.gui.shortcuts import keys
from aether.gui.theme import Theme
from aether.gui.widgets import lines_label, tool
from aether.shelf import Conversation, Shelf

PAUSE_MS = 120  # after the last key of a search


class RowDelegate(QStyledItemDelegate):
    """A title, and below it the found words; headings in small letters."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line, two where a search found something."""
        row: Row = index.data(ROW)
        style: Any = option
        line = QFontMetrics(style.font).height()
        if row.heading:
            return QSize(0, line + 16)
        return QSize(0, line * (2 if row.snippet else 1) + 14)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Heading, or title with pin and snippet."""
        c, row = self._theme.colours, index.data(ROW)
        style: Any = option
        box: QRect = style.rect.adjusted(4, 1, -4, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.heading:
            font = QFont(style.font)
            font.setWeight(QFont.Weight.DemiBold)
            font.setPointSizeF(font.pointSizeF() * 0.9)
            painter.setFont(font)
            painter.setPen(QColor(c.muted))
            low = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft
            painter.drawText(box.adjusted(6, 0, 0, -3), low, row.heading)
            painter.restore()
            return
        chosen = bool(style.state & QStyle.StateFlag.State_Selected)
        if chosen or style.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(c.selection if chosen else c.raised))
            painter.drawRoundedRect(box, 6, 6)
        self._title(painter, style, box.adjusted(8, 6, -8, -6), row)
        painter.restore()

    def _title(self, painter: QPainter, style: Any, box: QRect, row: Row) -> None:
        c = self._theme.colours
        assert row.conversation is not None
        metrics = QFontMetrics(style.font)
        wide = box.width()
        if row.conversation.pinned:
            side = 14
            icon = self._theme.icon("pin", c.muted)
            icon.paint(painter, QRect(box.right() - side, box.top(), side, metrics.height()))
            wide -= side + 4
        painter.setFont(style.font)
        painter.setPen(QColor(c.text))
        title = metrics.elidedText(row.conversation.title, Qt.TextElideMode.ElideRight, wide)
        painter.drawText(box, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, title)
        if row.snippet:
            painter.setPen(QColor(c.muted))
            words = metrics.elidedText(row.snippet, Qt.TextElideMode.ElideRight, box.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, words)


class Rows(QListView):
    """Plain keys act on the current conversation."""

    deleted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete deletes; F2 renames, which Qt does itself."""
        if event.key() == Qt.Key.Key_Delete:
            self.deleted.emit()
        else:
            super().keyPressEvent(event)


class ConversationList(QFrame):
    """Chooses a conversation; `chosen` carries its id, "" for a new one."""

    chosen = Signal(str)
    unwanted = Signal(str)  # the person wants it gone; `delete` does it
    gone = Signal(str)  # this conversation was deleted

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "side")
        self._context = context
        self.shelf = Shelf(context.home)
        self._deleted = ""
        self._current = ""
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName(self.tr("Search all conversations"))
        self.search.setToolTip(self.tr("Search all conversations ({})").format(keys("find")))
        self.new = tool(context.theme, "plus", self.tr("New conversation ({})").format(keys("new")))
        self.model = ConversationModel(self)
        self.rows = Rows()
        self.rows.setModel(self.model)
        self.rows.setItemDelegate(RowDelegate(context.theme, self.rows))
        self.rows.setMouseTracking(True)
        self.rows.setLayoutMode(QListView.LayoutMode.Batched)  # thousands are laid out in turns
        self.rows.setProperty("role", "plain")
        self.rows.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.rows.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.rows.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.rows.setAccessibleName(self.tr("Conversations"))
        self.empty = lines_label("", "muted")
        self.undo_bar = QFrame()
        self.undo_bar.setProperty("role", "notice")
        self.undo_words = QLabel()
        self.undo = QPushButton(self.tr("Undo"))
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._lay_out()
        self._connect()

    @property
    def current(self) -> str:
        """The conversation that is open, "" for a new one."""
        return self._current

    def refresh(self) -> None:
        """Read the list again, or search again where words are typed."""
        text = self.search.text().strip()
        shelf = self.shelf

        def read(_: object) -> tuple[str, Any]:
            return text, shelf.search(text) if text else shelf.list()

        self._context.tasks.quick(read, self._show, self._failed)

    def select(self, conversation: str) -> None:
        """Mark the conversation that is open."""
        self._current = conversation
        self.rows.selectionModel().blockSignals(True)
        index = self.model.index_of(conversation)
        if index.isValid():
            self.rows.setCurrentIndex(index)
        else:
            self.rows.clearSelection()
            self.rows.setCurrentIndex(index)
        self.rows.selectionModel().blockSignals(False)
        self.rows.viewport().update()

    def step(self, by: int) -> None:
        """Open the conversation above (-1) or below (1)."""
        ids = [r.conversation.id for r in self.model.rows if r.conversation]
        if not ids:
            return
        at = ids.index(self._current) + by if self._current in ids else 0
        if 0 <= at < len(ids):
            self.chosen.emit(ids[at])

    def leave(self) -> None:
        """The window closes: what was deleted is gone for good."""
        self._pause.stop()
        self._context.tasks.quick(lambda _: self.shelf.empty_trash(), lambda _: None, self._failed)

    def _show(self, result: tuple[str, Any]) -> None:
        text, found = result
        if text != self.search.text().strip():
            return  # an older search
        if text:
            self.model.show_found(found)
            self.empty.setText(self.tr("Nothing holds all of these words."))
        else:
            self.model.show_all(found)
            self.empty.setText(self.tr("No conversations yet. Ask a question to begin one."))
        self.empty.setVisible(not found)
        self.rows.setVisible(bool(found))
        self.select(self._current)

    def _failed(self, error: Exception) -> None:
        words = error.what if isinstance(error, AetherError) else str(error)
        self._context.wishes.say.emit(words)

    def _change(self, work: Any, then: Any = None) -> None:
        def done(_: object) -> None:
            if then:
                then()
            self.refresh()

        self._context.tasks.quick(lambda _: work(), done, self._failed)

    def _picked(self) -> None:
        row: Row | None = self.rows.currentIndex().data(ROW)
        if row and row.conversation and row.conversation.id != self._current:
            self.chosen.emit(row.conversation.id)

    def _under(self) -> Conversation | None:
        row: Row | None = self.rows.currentIndex().data(ROW)
        return row.conversation if row else None

    def delete(self, conversation: str) -> None:
        """Put it aside, and offer to bring it back."""
        self._deleted = conversation
        self.undo_words.setText(self.tr("Deleted"))
        self.undo_words.setToolTip(str(self.model.index_of(conversation).data() or ""))
        self.undo_bar.show()
        self._change(lambda: self.shelf.delete(conversation), lambda: self.gone.emit(conversation))

    def _delete(self) -> None:
        if conversation := self._under():
            self.unwanted.emit(conversation.id)

    def _undo(self) -> None:
        ident = self._deleted
        self.undo_bar.hide()
        self._change(lambda: self.shelf.restore(ident), lambda: self.chosen.emit(ident))

    def _menu(self, place: QPoint) -> None:
        index = self.rows.indexAt(place)
        row: Row | None = index.data(ROW)
        if not row or not row.conversation:
            return
        conversation = row.conversation
        self.rows.setCurrentIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Rename"), lambda: self.rows.edit(self.rows.currentIndex()))
        words = self.tr("Unpin") if conversation.pinned else self.tr("Pin")
        menu.addAction(words, lambda: self.pin(conversation))
        menu.addSeparator()
        menu.addAction(self.tr("Delete"), self._delete)
        menu.popup(self.rows.viewport().mapToGlobal(place))

    def pin(self, conversation: Conversation) -> None:
        """Pin it, or unpin it."""
        self._change(lambda: self.shelf.pin(conversation.id, not conversation.pinned))

    def _lay_out(self) -> None:
        self.undo_bar.hide()
        self.empty.hide()
        self.empty.setContentsMargins(12, 8, 12, 8)
        undo_row = QHBoxLayout(self.undo_bar)
        undo_row.setContentsMargins(12, 4, 4, 4)
        undo_row.addWidget(self.undo_words, 1)
        undo_row.addWidget(self.undo)
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.setSpacing(4)
        top.addWidget(self.search, 1)
        top.addWidget(self.new)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 12, 8, 8)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self.empty)
        column.addWidget(self.rows, 1)
        column.addStretch(0)
        column.addWidget(self.undo_bar)

    def _connect(self) -> None:
        self.search.textChanged.connect(lambda _: self._pause.start())
        self._pause.timeout.connect(self.refresh)
        self.new.clicked.connect(lambda: self.chosen.emit(""))
        self.rows.clicked.connect(lambda _: self._picked())
        self.rows.activated.connect(lambda _: self._picked())
        self.rows.deleted.connect(self._delete)
        self.rows.customContextMenuRequested.connect(self._menu)
        self.undo.clicked.connect(self._undo)
        self.model.renamed.connect(lambda i, t: self._change(lambda: self.shelf.rename(i, t)))
