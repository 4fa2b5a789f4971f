"""Tabs of which only the one that is seen is filled, so that a long record costs nothing unseen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QTabWidget, QTextBrowser, QWidget


class Page(QTextBrowser):
    """Read-only HTML that opens nothing."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)


class LazyTabs(QTabWidget):
    """Each tab comes with the function that fills it."""

    def __init__(self) -> None:
        super().__init__()
        self._fill: list[Callable[[], object]] = []
        self._stale: set[int] = set()
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.setUsesScrollButtons(True)
        self.currentChanged.connect(self._fill_one)

    def add(self, name: str, widget: QWidget, fill: Callable[[], object]) -> None:
        """One more tab."""
        self._fill.append(fill)
        self.addTab(widget, name)

    def add_text(self, name: str, text: Callable[[], str]) -> Page:
        """One more tab, with HTML."""
        page = Page(name)
        self.add(name, page, lambda: page.setHtml(text()))
        return page

    def redraw(self) -> None:
        """Everything changed: fill what is seen now, the rest when it is seen."""
        self._stale = set(range(self.count()))
        self._fill_one(self.currentIndex())

    def redraw_one(self, widget: QWidget) -> None:
        """One tab changed."""
        self._stale.add(self.indexOf(widget))
        self._fill_one(self.currentIndex())

    def _fill_one(self, index: int) -> None:
        if index in self._stale:
            self._stale.discard(index)
            self._fill[index]()
