"""The rows of files on their way into the knowledge base, each with its live state.

Changes are gathered and told to the view a few times a second, so that 500 files stay smooth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor

from aether.gui.theme import Theme
from aether.links import is_link
from aether.records import FileReport

Index = QModelIndex | QPersistentModelIndex
FLUSH_MS = 80
ROW = Qt.ItemDataRole.UserRole
FILE, NAMESPACE, STATE, PASSAGES, REMARK = range(5)
WAITING, WORKING = frozenset({"waiting"}), frozenset({"fetching", "reading", "embedding"})
DONE = frozenset({"added", "updated", "unchanged"})
PROBLEMS = frozenset({"skipped", "failed"})
GROUPS = {"all": None, "open": WAITING | WORKING | {"stopped"}, "done": DONE, "problems": PROBLEMS}


@dataclass(slots=True)
class FileRow:
    """One file: where it goes, what happens to it, what came of it."""

    path: str
    namespace: str
    state: str = "waiting"
    passages: int = 0
    remark: str = ""


class FileTable(QAbstractTableModel):
    """All files of this session, in the order in which they came."""

    counted = Signal()  # the counts by state changed

    def __init__(self, theme: Theme, parent: Any = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.rows: list[FileRow] = []
        self.counts: Counter[str] = Counter()
        self._at: dict[tuple[str, str], int] = {}
        self._dirty: set[int] = set()
        self._flush = QTimer(self)
        self._flush.setSingleShot(True)
        self._flush.setInterval(FLUSH_MS)
        self._flush.timeout.connect(self.flush)
        theme.changed.connect(self._recolour)

    # --- changes ----------------------------------------------------------------------------

    def add(self, rows: Sequence[FileRow]) -> None:
        """New files at the end; a file that is there already starts anew in its place."""
        fresh: list[FileRow] = []
        for row in rows:
            at = self._at.get((row.path, row.namespace))
            if at is None:
                self._at[row.path, row.namespace] = len(self.rows) + len(fresh)
                fresh.append(row)
                self.counts[row.state] += 1
            elif at < len(self.rows):
                self.set_state(row.path, row.namespace, row.state, row.passages, row.remark)
        if fresh:
            self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows) + len(fresh) - 1)
            self.rows += fresh
            self.endInsertRows()
        self.counted.emit()

    def set_state(
        self, path: str, namespace: str, state: str, passages: int = 0, remark: str = ""
    ) -> None:
        """What happens to a file now; a file that is not in the table is left alone."""
        at = self._at.get((path, namespace))
        if at is None:
            return
        row = self.rows[at]
        self.counts[row.state] -= 1
        self.counts[state] += 1
        row.state, row.passages, row.remark = state, passages, remark
        self._dirty.add(at)
        if not self._flush.isActive():
            self._flush.start()

    def report(self, report: FileReport, namespace: str) -> None:
        """What came of a file."""
        self.set_state(report.path, namespace, report.status, report.passages, report.reason)

    def rename(self, path: str, namespace: str, new: str) -> None:
        """A link has become a file; where that file is listed already, its row serves both."""
        if (new, namespace) in self._at:
            self.set_state(path, namespace, "unchanged", remark=self.tr("listed already"))
        elif (at := self._at.pop((path, namespace), None)) is not None:
            self._at[new, namespace] = at
            self.rows[at].path = new
            self.set_state(new, namespace, "waiting")

    def clear(self, states: Iterable[str]) -> list[FileRow]:
        """Take the rows in these states out; returns them."""
        wanted = frozenset(states)
        gone = [row for row in self.rows if row.state in wanted]
        self.beginResetModel()
        self.rows = [row for row in self.rows if row.state not in wanted]
        self._at = {(row.path, row.namespace): i for i, row in enumerate(self.rows)}
        self.counts = Counter(row.state for row in self.rows)
        self._dirty.clear()
        self.endResetModel()
        self.counted.emit()
        return gone

    def in_state(self, states: Iterable[str]) -> list[FileRow]:
        """The rows in these states, in order."""
        wanted = frozenset(states)
        return [row for row in self.rows if row.state in wanted]

    def flush(self) -> None:
        """Tell the view what changed since the last time."""
        self._flush.stop()
        if self._dirty:
            first, last = min(self._dirty), max(self._dirty)
            self._dirty.clear()
            self.dataChanged.emit(self.index(first, 0), self.index(last, REMARK))
            self.counted.emit()

    def _recolour(self) -> None:
        if self.rows:
            last = self.index(len(self.rows) - 1, REMARK)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.ForegroundRole])

    # --- what the view asks -----------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """One row a file."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """File, namespace, state, passages, remark."""
        return 5

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The column titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == PASSAGES:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return (self.tr("File"), self.tr("Goes to"), self.tr("State"), self.tr("Passages"),
                self.tr("Remark"))[section]  # fmt: skip

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, colour and tooltip of a cell; ROW gives the row itself."""
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, index.column())
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.remark if index.column() == REMARK and row.remark else row.path
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(row, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == PASSAGES:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _text(self, row: FileRow, column: int) -> str:
        if column == FILE:
            return row.path if is_link(row.path) else PurePath(row.path).name
        if column == NAMESPACE:
            return row.namespace
        if column == STATE:
            return self.state_words(row.state)
        if column == PASSAGES:
            return f"{row.passages:,}" if row.passages else ""
        return row.remark

    def _colour(self, row: FileRow, column: int) -> QColor | None:
        c = self._theme.colours
        if column in (NAMESPACE, REMARK):
            return QColor(c.muted)
        if column != STATE:
            return None
        colours = {"added": c.good, "updated": c.good, "skipped": c.warn, "failed": c.bad}
        busy = c.accent if row.state in WORKING else c.muted
        return QColor(colours.get(row.state, busy))

    def state_words(self, state: str) -> str:
        """A state in the person's language."""
        return {
            "waiting": self.tr("waiting"), "fetching": self.tr("fetching"),
            "reading": self.tr("reading"), "embedding": self.tr("embedding"),
            "added": self.tr("added"), "updated": self.tr("updated"),
            "unchanged": self.tr("unchanged"), "skipped": self.tr("skipped"),
            "failed": self.tr("failed"), "stopped": self.tr("stopped"),
        }.get(state, state)  # fmt: skip


class FileFilter(QSortFilterProxyModel):
    """The rows of one group: a key of GROUPS."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._states: frozenset[str] | None = None

    def show_group(self, group: str) -> None:
        """Show only rows of this group."""
        self.beginFilterChange()
        self._states = GROUPS[group]
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        """Whether a row is shown."""
        source = self.sourceModel()
        assert isinstance(source, FileTable)
        return self._states is None or source.rows[row].state in self._states
