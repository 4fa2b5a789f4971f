"""Conversations as rows: grouped by day, with headings between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from aether.gui.phrases import tr
from aether.shelf import Conversation, Found, when

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Row:
    """A heading, or a conversation with the place where a searched word stands."""

    heading: str = ""
    conversation: Conversation | None = None
    snippet: str = ""


def group(conversation: Conversation, today: date) -> str:
    """The heading under which a conversation stands."""
    if conversation.pinned:
        return tr("Pinned")
    moment = when(conversation)
    if moment is None:
        return tr("Earlier")
    days = (today - moment.date()).days
    if days <= 0:
        return tr("Today")
    if days == 1:
        return tr("Yesterday")
    if days < 7:
        return tr("Last seven days")
    month = QLocale().standaloneMonthName(moment.month)
    return month if moment.year == today.year else f"{month} {moment.year}"


def rows(conversations: Iterable[Conversation], today: date) -> list[Row]:
    """Conversations in their order, with a heading before each group."""
    out: list[Row] = []
    last = ""
    for conversation in conversations:
        heading = group(conversation, today)
        if heading != last:
            out.append(Row(heading))
            last = heading
        out.append(Row(conversation=conversation))
    return out


class ConversationModel(QAbstractListModel):
    """The rows; a title may be edited in place."""

    renamed = Signal(str, str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def show_all(self, conversations: Sequence[Conversation]) -> None:
        """Everything, by day."""
        self._replace(rows(conversations, datetime.now().astimezone().date()))

    def show_found(self, found: Sequence[Found]) -> None:
        """What a search found, with the words around the first hit."""
        self._replace([Row(conversation=f.conversation, snippet=f.snippet) for f in found])

    def index_of(self, conversation: str) -> QModelIndex:
        """Where a conversation stands; an invalid index where it is not listed."""
        for i, row in enumerate(self.rows):
            if row.conversation and row.conversation.id == conversation:
                return self.index(i)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Headings count too."""
        return 0 if parent.isValid() else len(self.rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A heading can be neither chosen nor edited."""
        if not index.isValid() or self.rows[index.row()].conversation is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The row itself, its title, and words for those who do not see the list."""
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if row.conversation is None:
            return row.heading if role == Qt.ItemDataRole.DisplayRole else None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.conversation.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(row.conversation)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            pinned = tr("pinned") if row.conversation.pinned else ""
            return ", ".join(p for p in (row.conversation.title, pinned) if p)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """A new title; whoever keeps the conversations hears of it."""
        row = self.rows[index.row()]
        if role != Qt.ItemDataRole.EditRole or row.conversation is None:
            return False
        if str(value).strip() != row.conversation.title:
            self.renamed.emit(row.conversation.id, str(value).strip())
        return True

    def _replace(self, new: list[Row]) -> None:
        if new != self.rows:
            self.beginResetModel()
            self.rows = new
            self.endResetModel()


def tooltip(conversation: Conversation) -> str:
    """The whole title, the time, and how much was said."""
    moment = when(conversation)
    at = ""
    if moment:
        stamp = QDateTime.fromSecsSinceEpoch(int(moment.timestamp()))
        at = QLocale().toString(stamp, QLocale.FormatType.ShortFormat)
    count = tr("{} exchanges").format(conversation.exchanges)
    return "\n".join(part for part in (conversation.title, at, count) if part)
