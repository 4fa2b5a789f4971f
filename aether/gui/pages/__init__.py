"""The pages of the window: a dict and one module a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from aether.gui.context import Context


@dataclass(frozen=True, slots=True)
class PageKind:
    """One entry of the rail; the module is imported when the page is first seen."""

    title: str
    icon: str
    shortcut: str
    module: str

    def build(self, context: Context) -> QWidget:
        """Make the page: `build(context)` of its module."""
        make: Callable[[Context], QWidget] = import_module(self.module).build
        return make(context)


_KINDS = {
    "ask": PageKind("Ask", "ask", "Ctrl+1", "aether.gui.pages.ask"),
    "library": PageKind("Library", "library", "Ctrl+2", "aether.gui.pages.library"),
    "experts": PageKind("Experts", "experts", "Ctrl+3", "aether.gui.pages.experts"),
    "runs": PageKind("Runs", "runs", "Ctrl+4", "aether.gui.pages.runs"),
    "settings": PageKind("Settings", "settings", "Ctrl+,", "aether.gui.pages.settings"),
}
PAGES = {name: kind for name, kind in _KINDS.items() if find_spec(kind.module)}
