"""The runs as a list: newest first, filtered by text, expert and outcome; thousands stay smooth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QDateTime,
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QColor

from aether.gui.theme import Theme
from aether.runlog import RunLine

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
WHEN, QUESTION, EXPERT, SURE, OUTCOME = range(5)
OUTCOMES = ("answered", "low_confidence", "refused", "clarify", "cancelled", "failed")


class RunTable(QAbstractTableModel):
    """One row a run, the newest at the top."""

    def __init__(self, theme: Theme, parent: Any = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name: Callable[[str], str] = str
        self.lines: list[RunLine] = []
        theme.changed.connect(self.repaint)

    @property
    def end(self) -> int:
        """The byte of the log from which new runs come."""
        return self.lines[0].end if self.lines else 0

    def add(self, lines: Sequence[RunLine]) -> None:
        """More runs, oldest first as they stand in the log."""
        if lines:
            self.beginInsertRows(QModelIndex(), 0, len(lines) - 1)
            self.lines[0:0] = reversed(lines)
            self.endInsertRows()

    def clear(self) -> None:
        """The log is gone, or is read anew."""
        self.beginResetModel()
        self.lines = []
        self.endResetModel()

    def set_names(self, name: Callable[[str], str]) -> None:
        """How an expert's id becomes a name."""
        self._name = name
        self.repaint()

    def repaint(self) -> None:
        """Names or colours changed."""
        if self.lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.lines) - 1, OUTCOME))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """One row a run."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """When, question, expert, confidence, outcome."""
        return 5

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The column titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == SURE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return (self.tr("When"), self.tr("Question"), self.tr("Expert"), self.tr("Sure"),
                self.tr("Outcome"))[section]  # fmt: skip

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text and colour of a cell; ROW gives the run."""
        line, column = self.lines[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(line, column)
        if role == ROW:
            return line
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.question if column == QUESTION else f"{line.run}\n{line.at}"
        if role == Qt.ItemDataRole.TextAlignmentRole and column == SURE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(line, column)
        return None

    def _text(self, line: RunLine, column: int) -> str:
        if column == WHEN:
            return local_time(line.at)
        if column == QUESTION:
            return line.question
        if column == EXPERT:
            return self._name(line.agent) if line.agent else ""
        if column == SURE:
            return f"{line.confidence:.2f}"
        return self.outcome_words(line.outcome)

    def _colour(self, line: RunLine, column: int) -> QColor | None:
        c = self._theme.colours
        if column in (WHEN, EXPERT):
            return QColor(c.muted)
        if column != OUTCOME:
            return None
        colours = {"answered": c.good, "low_confidence": c.warn, "failed": c.bad}
        return QColor(colours.get(line.outcome, c.muted))

    def outcome_words(self, outcome: str) -> str:
        """How a run ended, in one word or two."""
        return {
            "answered": self.tr("answered"), "low_confidence": self.tr("low confidence"),
            "refused": self.tr("refused"), "clarify": self.tr("asked back"),
            "cancelled": self.tr("stopped"), "failed": self.tr("failed"),
        }.get(outcome, outcome)  # fmt: skip


class RunFilter(QSortFilterProxyModel):
    """Only what is looked for; in the order of the log until a column is clicked."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self._expert, self._outcome = "", ""

    def narrow(self, text: str, expert: str, outcome: str) -> None:
        """Show runs in which all words occur, of one expert, with one outcome; "" for any."""
        self.beginFilterChange()
        self._words = tuple(text.lower().split())
        self._expert, self._outcome = expert, outcome
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        """Whether a run is shown."""
        source = self.sourceModel()
        assert isinstance(source, RunTable)
        line = source.lines[row]
        if self._expert and line.agent != self._expert:
            return False
        if self._outcome and line.outcome != self._outcome:
            return False
        text = f"{line.question} {line.run}".lower()
        return all(word in text for word in self._words)

    def lessThan(self, left: Index, right: Index) -> bool:
        """By time or number where a column holds one."""
        source = self.sourceModel()
        assert isinstance(source, RunTable)
        one, other = source.lines[left.row()], source.lines[right.row()]
        if left.column() == WHEN:
            return one.offset < other.offset
        if left.column() == SURE:
            return one.confidence < other.confidence
        return str(left.data()).lower() < str(right.data()).lower()


def local_time(at: str) -> str:
    """An ISO time as this person's clock and calendar show it."""
    moment = QDateTime.fromString(at, Qt.DateFormat.ISODateWithMs)
    if not moment.isValid():
        return at
    return QLocale().toString(moment.toLocalTime(), QLocale.FormatType.ShortFormat)
