"""Light, dark or as the system; the size of the text."""

from __future__ import annotations

from PySide6.QtWidgets import QButtonGroup, QRadioButton

from aether.gui.context import Context
from aether.gui.controls import Choice
from aether.gui.formlayout import Panel, side_by_side
from aether.gui.settingfields import Saver
from aether.gui.theme import MODES
from aether.gui.widgets import lines_label

SCALES = (80, 90, 100, 110, 125, 140, 160)  # per cent of the system's size


def build(context: Context, saver: Saver) -> Panel:
    """The panel; the appearance is kept with the window, not in settings.toml."""
    return AppearancePanel(context)


class AppearancePanel(Panel):
    """Every choice is in force at once."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.head(self.tr("Appearance"))
        self._theme = theme = context.theme
        card = self.card(self.tr("Colours and text"))
        names = {
            "system": self.tr("As the system"),
            "light": self.tr("Light"),
            "dark": self.tr("Dark"),
        }
        self.modes = {mode: QRadioButton(names[mode]) for mode in MODES}
        group = QButtonGroup(self)
        for button in self.modes.values():
            group.addButton(button)
        card.row(self.tr("Colours"), side_by_side(*self.modes.values()))
        self.text_size = Choice()
        self.text_size.setMaximumWidth(190)
        for scale in SCALES:
            self.text_size.addItem(f"{scale} %", scale / 100)
        card.row(self.tr("Text size"), self.text_size, self.tr("Ctrl + and Ctrl - change it."))
        card.row(
            self.tr("Sample"),
            lines_label(
                self.tr("An OSPF neighbour in EXSTART waits for the MTU of both sides to agree.")
            ),
        )
        self._show()
        for mode, button in self.modes.items():
            button.clicked.connect(lambda _=False, mode=mode: theme.choose(mode=mode))
        self.text_size.activated.connect(lambda _: theme.choose(scale=self.text_size.currentData()))
        theme.changed.connect(self._show)

    def _show(self) -> None:
        self.modes[self._theme.mode].setChecked(True)
        near = min(range(len(SCALES)), key=lambda i: abs(SCALES[i] / 100 - self._theme.scale))
        self.text_size.setCurrentIndex(near)
