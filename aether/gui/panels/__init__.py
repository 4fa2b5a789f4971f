"""The panels of the settings page: a dict and one module a panel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aether.gui.context import Context
    from aether.gui.formlayout import Panel
    from aether.gui.settingfields import Saver


@dataclass(frozen=True, slots=True)
class PanelKind:
    """One entry of the list beside the panels; the module is imported when it is first seen."""

    title: str
    module: str

    def build(self, context: Context, saver: Saver) -> Panel:
        """Make the panel: `build(context, saver)` of its module."""
        make: Callable[[Context, Saver], Panel] = import_module(self.module).build
        return make(context, saver)


PANELS = {
    "model": PanelKind("Model server", "aether.gui.panels.model"),
    "web": PanelKind("Web", "aether.gui.panels.web"),
    "knowledge": PanelKind("Knowledge base", "aether.gui.panels.knowledge"),
    "answers": PanelKind("Answers", "aether.gui.panels.answers"),
    "appearance": PanelKind("Appearance", "aether.gui.panels.appearance"),
    "privacy": PanelKind("Privacy", "aether.gui.panels.privacy"),
    "shortcuts": PanelKind("Keyboard", "aether.gui.panels.shortcuts"),
}
