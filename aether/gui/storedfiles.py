"""The files in the knowledge base as a table, and the filter over it."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from aether.protocols import StoredFile

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole


class StoredFiles(QAbstractTableModel):
    """The files in the knowledge base."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.files: tuple[StoredFile, ...] = ()

    def show_files(self, files: tuple[StoredFile, ...]) -> None:
        """Put these in the place of the old ones."""
        self.beginResetModel()
        self.files = files
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """One row a file."""
        return 0 if parent.isValid() else len(self.files)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Title, file, namespace, passages, date."""
        return 5

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The column titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == 3:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return (self.tr("Title"), self.tr("File"), self.tr("Namespace"), self.tr("Passages"),
                self.tr("Added"))[section]  # fmt: skip

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text of a cell; ROW gives the file, and numbers sort as numbers."""
        file = self.files[index.row()]
        if role == ROW:
            return file
        if role == Qt.ItemDataRole.ToolTipRole:
            return file.path
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == 3:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            cells = (file.title, PurePath(file.path).name, file.namespace, file.passages,
                     file.added[:10])  # fmt: skip
            return cells[index.column()]
        return None


class FileSearch(QSortFilterProxyModel):
    """The files of one namespace in whose title or path all typed words occur."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._namespace, self._words = "", ()
        self.setSortRole(Qt.ItemDataRole.EditRole)
        self.setSortCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)

    def narrow(self, namespace: str, text: str) -> None:
        """Show only these."""
        self.beginFilterChange()
        self._namespace, self._words = namespace, tuple(text.lower().split())
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        """Whether a file is shown."""
        source = self.sourceModel()
        assert isinstance(source, StoredFiles)
        file = source.files[row]
        if self._namespace and file.namespace != self._namespace:
            return False
        text = f"{file.title} {file.path}".lower()
        return all(word in text for word in self._words)
