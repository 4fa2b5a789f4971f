"""How every table of the window is set up: rows are marked, nothing is edited, Tab leaves.

Widths are given for text of the usual size, and grow with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QAbstractItemModel, QEvent, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

USUAL_HEIGHT = 17  # pixels of a line at 10 points and 96 dots an inch
ROW_ROOM = 13  # above and below the text of a row


class PlainTable(QTableView):
    """A table over a model; `widths` are pixels by column, `stretch` takes what is left."""

    def __init__(
        self,
        model: QAbstractItemModel,
        name: str,
        widths: Mapping[int, int] | None = None,
        stretch: int | None = None,
    ) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._widths = dict(widths or {})
        if stretch is not None:
            head.setSectionResizeMode(stretch, QHeaderView.ResizeMode.Stretch)
        self.fit()

    def scaled(self, width: int) -> int:
        """A width for the size of the text as it is now."""
        return round(width * self.fontMetrics().height() / USUAL_HEIGHT)

    def fit(self) -> None:
        """Rows and columns for the size of the text."""
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + ROW_ROOM)
        for column, width in self._widths.items():
            self.setColumnWidth(column, self.scaled(width))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the size of the text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_widths"):
            self.fit()
