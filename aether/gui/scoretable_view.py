"""A score table: one row a candidate, one column a kind of points, the sum in front.

Columns that are zero throughout are left out; zero rows are shown, because they explain too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from aether.gui.phrases import column_words
from aether.gui.tables import PlainTable
from aether.gui.theme import Theme
from aether.records import Candidate

Index = QModelIndex | QPersistentModelIndex
NAME_WIDTH, POINTS_WIDTH = 230, 74


class ScoreModel(QAbstractTableModel):
    """The rows of a score table as they were counted."""

    def __init__(self, theme: Theme, head: str, parent: Any = None) -> None:
        super().__init__(parent)
        self._theme, self._head = theme, head
        self._rows: tuple[Candidate, ...] = ()
        self._parts: tuple[str, ...] = ()
        self._name: Callable[[str], str] = str
        self._chosen: frozenset[str] = frozenset()
        theme.changed.connect(self._recolour)

    def show_rows(
        self, rows: Sequence[Candidate], name: Callable[[str], str], chosen: Sequence[str]
    ) -> None:
        """Show these rows; the chosen ones are bold."""
        self.beginResetModel()
        self._rows, self._name, self._chosen = tuple(rows), name, frozenset(chosen)
        parts = dict.fromkeys(part for row in rows for part, points in row.parts if points)
        order = dict.fromkeys(part for row in rows for part, _ in row.parts)
        self._parts = tuple(part for part in order if part in parts)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """One row a candidate."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Name, sum, and the kinds of points that occur."""
        return 2 + len(self._parts)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Short names; the tooltip says what a column counts."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.DisplayRole:
            if section < 2:
                return self._head if section == 0 else self.tr("Points")
            return self._parts[section - 2].replace("_", " ")
        if role == Qt.ItemDataRole.ToolTipRole and section >= 2:
            return column_words(self._parts[section - 2])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, colour and weight of a cell."""
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(row, column)
        if role == Qt.ItemDataRole.FontRole and row.agent in self._chosen and column < 2:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, column)
        return None

    def _text(self, row: Candidate, column: int) -> str:
        if column == 0:
            return self._name(row.agent)
        if column == 1:
            return f"{row.score:.1f}"
        points = dict(row.parts).get(self._parts[column - 2], 0.0)
        return f"{points:.1f}" if points else "\u00b7"

    def _colour(self, row: Candidate, column: int) -> QColor | None:
        c = self._theme.colours
        if column < 2:
            return QColor(c.text if row.score > 0 else c.muted)
        points = dict(row.parts).get(self._parts[column - 2], 0.0)
        return QColor(c.bad if points < 0 else c.text if points else c.muted)

    def _tip(self, row: Candidate, column: int) -> str:
        if column < 2:
            return row.note or row.agent
        return column_words(self._parts[column - 2])

    def _recolour(self) -> None:
        if self._rows:
            last = self.index(len(self._rows) - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.ForegroundRole])


class ScoreTable(PlainTable):
    """The view of a score table; `head` is the title of its first column."""

    def __init__(self, theme: Theme, head: str) -> None:
        self.scores = ScoreModel(theme, head)
        super().__init__(self.scores, head)
        self.scores.setParent(self)
        self.setSelectionMode(PlainTable.SelectionMode.SingleSelection)

    def show_rows(
        self,
        rows: Sequence[Candidate],
        name: Callable[[str], str] = str,
        chosen: Sequence[str] = (),
    ) -> None:
        """Show these rows, best first as they come; `name` turns an id into words."""
        self.scores.show_rows(rows, name, chosen)
        self.setColumnWidth(0, self.scaled(NAME_WIDTH))
        metrics = self.horizontalHeader().fontMetrics()
        for column in range(1, self.scores.columnCount()):
            head = str(self.scores.headerData(column, Qt.Orientation.Horizontal))
            width = max(self.scaled(POINTS_WIDTH), metrics.horizontalAdvance(head) + 30)
            self.setColumnWidth(column, width)
