"""The list of keyboard shortcuts, from the same table as the keys themselves."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import QCoreApplication

from aether.gui.context import Context
from aether.gui.formlayout import Panel
from aether.gui.settingfields import Saver
from aether.gui.shortcuts import SHORTCUTS, keys
from aether.gui.widgets import label


def build(context: Context, saver: Saver) -> Panel:
    """The panel."""
    return ShortcutsPanel()


class ShortcutsPanel(Panel):
    """One card an area of the window."""

    def __init__(self) -> None:
        super().__init__()
        self.head(self.tr("Keyboard"), self.tr("F1 shows this list anywhere."))
        for area, shortcuts in groupby(SHORTCUTS, key=lambda s: s.area):
            card = self.card(QCoreApplication.translate("Shortcuts", area))
            for shortcut in shortcuts:
                words = label(QCoreApplication.translate("Shortcuts", shortcut.what))
                card.row(keys(shortcut.name), words)
