"""The library page: files go in, and what is in it can be seen, searched and removed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from aether.gui.adding import Adding
from aether.gui.contents import Contents
from aether.gui.context import Context
from aether.gui.dialogs import complain
from aether.gui.dropcard import Drop, DropCard
from aether.gui.dropzone import DropZone
from aether.gui.filetable import FileRow
from aether.gui.findpane import FindPane
from aether.gui.ingestion import Ingestion
from aether.gui.shortcuts import bind
from aether.gui.watchpane import WatchPane
from aether.gui.widgets import label

TAB = "library/tab"
ADDING, CONTENTS, SEARCH, WATCHED = range(4)


def build(context: Context) -> QWidget:
    """The page."""
    return LibraryPage(context)


class LibraryPage(QWidget):
    """Connects the drop to the line, and the line to the tabs."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.ingestion = Ingestion(context, self)
        self.zone = DropZone(context.theme)
        self.card = DropCard(context)
        self.adding = Adding(self.ingestion)
        self.contents = Contents(context, self.ingestion)
        self.finding = FindPane(context)
        self.watching = WatchPane(context, self.ingestion)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        for page, name in (
            (self.adding, self.tr("Adding")),
            (self.contents, self.tr("Contents")),
            (self.finding, self.tr("Search")),
            (self.watching, self.tr("Watched folders")),
        ):
            self.tabs.addTab(page, name)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        column.addWidget(label(self.tr("Library"), "title"))
        column.addWidget(self.zone)
        column.addWidget(self.card)
        column.addWidget(self.tabs, 1)
        self.zone.given.connect(self.take)
        self.card.accepted.connect(self._add)
        self.tabs.currentChanged.connect(self._turned)
        self.ingestion.failed.connect(self._failed)
        context.wishes.files_dropped.connect(self.take)
        context.wishes.experts_changed.connect(self._load_names)
        self.tabs.setCurrentIndex(int(str(context.state.value(TAB, CONTENTS))))
        bind(self, "library-add", self.zone.files.click)
        bind(self, "library-search", self._search)
        self._load_names()
        self.contents.refresh()
        self.ingestion.resume()

    def take(self, places: Sequence[str]) -> None:
        """Something was dropped: ask where it goes."""
        self.card.offer(list(places))

    def take_focus(self) -> None:
        """The page came to the front."""
        self._turned(self.tabs.currentIndex())

    def leave(self) -> None:
        """The window closes: what waits is kept by the line itself."""
        self.context.state.setValue(TAB, self.tabs.currentIndex())

    def _add(self, drop: Drop, namespace: str) -> None:
        self.tabs.setCurrentIndex(ADDING)
        skipped = [FileRow(p, namespace, "skipped", remark=why) for p, why in drop.skipped]
        self.ingestion.add(drop.places, namespace, skipped)

    def _search(self) -> None:
        self.tabs.setCurrentIndex(SEARCH)
        self.finding.query.setFocus()
        self.finding.query.selectAll()

    def _turned(self, index: int) -> None:
        front = self.finding.query if index == SEARCH else self.tabs
        front.setFocus()

    def _load_names(self) -> None:
        engine = self.context.engine
        self.context.tasks.quick(
            lambda _: tuple((m.namespace, m.name) for m in engine.tree.agents.values()),
            self._know_names,
            self._failed,
        )

    def _failed(self, error: Exception | None) -> None:
        complain(self, error)

    def _know_names(self, names: Sequence[tuple[str, str]]) -> None:
        self.finding.set_namespaces(sorted(space for space, _ in names))
        self.watching.set_names(names)
