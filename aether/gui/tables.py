"""How every table of the window is set up: rows are marked, nothing is edited, Tab leaves."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView


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
        for column, width in (widths or {}).items():
            self.setColumnWidth(column, width)
        if stretch is not None:
            head.setSectionResizeMode(stretch, QHeaderView.ResizeMode.Stretch)
