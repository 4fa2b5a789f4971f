"""The settings page: a list of panels to the left, the chosen one beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QStackedWidget, QWidget

from aether.gui.context import Context
from aether.gui.formlayout import Panel
from aether.gui.panels import PANELS
from aether.gui.settingfields import Saver

LAST = "settings/panel"
LIST_WIDTH = 168


def build(context: Context) -> QWidget:
    """The page."""
    return SettingsPage(context)


class SettingsPage(QWidget):
    """Builds a panel when it is first seen."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.saver = Saver(context, self)
        self.panels: dict[str, Panel] = {}
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Settings: sections"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setProperty("role", "side")
        for name, kind in PANELS.items():
            item = QListWidgetItem(self.tr(kind.title))
            item.setData(Qt.ItemDataRole.UserRole, name)
            self.list.addItem(item)
        self.stack = QStackedWidget()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 16, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.list)
        row.addWidget(self.stack, 1)
        self.list.currentRowChanged.connect(self._show_row)
        context.theme.changed.connect(self._fit)
        self._fit()
        self.show_panel(str(context.state.value(LAST, "model")))

    def take_focus(self) -> None:
        """The page came to the front."""
        self.list.setFocus()

    def show_panel(self, name: str) -> None:
        """Bring one panel to the front: a name in `PANELS`."""
        names = list(PANELS)
        self.list.setCurrentRow(names.index(name) if name in names else 0)

    def _fit(self) -> None:
        """Wide enough for its words, whatever their size."""
        self.list.setFixedWidth(max(LIST_WIDTH, self.list.sizeHintForColumn(0) + 16))

    def _show_row(self, row: int) -> None:
        name = list(PANELS)[row]
        if name not in self.panels:
            self.panels[name] = PANELS[name].build(self.context, self.saver)
            self.stack.addWidget(self.panels[name])
        self.stack.setCurrentWidget(self.panels[name])
        self.context.state.setValue(LAST, name)
