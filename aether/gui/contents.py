"""What is in the knowledge base: namespaces, their files, and the passages of one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.dialogs import complain, confirm, counted
from aether.gui.ingestion import Ingestion
from aether.gui.passagetext import PassageText
from aether.gui.storedfiles import ROW, FileSearch, StoredFiles
from aether.gui.tables import PlainTable
from aether.gui.tasks import CHAT, Job
from aether.gui.widgets import lines_label
from aether.ingest import NOTES_PREFIX
from aether.protocols import StoredFile
from aether.records import Hit

PAUSE_MS = 150


class Contents(QWidget):
    """The second tab of the library."""

    def __init__(self, context: Context, ingestion: Ingestion) -> None:
        super().__init__()
        self._context, self._ingestion = context, ingestion
        self._reading: Job | None = None
        self.files = StoredFiles(self)
        self.found = FileSearch(self)
        self.found.setSourceModel(self.files)
        self.spaces = QListWidget()
        self.spaces.setAccessibleName(self.tr("Namespaces"))
        self.spaces.setProperty("role", "side")
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Filter by title or path"))
        self.filter.setAccessibleName(self.tr("Filter by title or path"))
        self.filter.setClearButtonEnabled(True)
        self.table = self._make_table()
        self.preview = PassageText(context.theme)
        self.state = lines_label(self.tr("Reading the list \u2026"), "muted")
        self.open = QPushButton(self.tr("Open the file"))
        self.again = QPushButton(self.tr("Re-index"))
        self.again.setToolTip(self.tr("Read the marked files anew"))
        self.remove = QPushButton(self.tr("Remove\u2026"))
        self.remove.setProperty("role", "danger")
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._narrow)
        self.filter.textChanged.connect(lambda _: self._pause.start())
        self.spaces.currentRowChanged.connect(lambda _: self._narrow())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._marked_changed())
        self.open.clicked.connect(self._open)
        self.again.clicked.connect(self._reindex)
        self.remove.clicked.connect(self._ask_remove)
        QShortcut(QKeySequence.StandardKey.Delete, self.table, self._ask_remove,
                  context=Qt.ShortcutContext.WidgetShortcut)  # fmt: skip
        context.wishes.knowledge_changed.connect(self.refresh)
        context.wishes.knowledge_counted.connect(self._counted)
        self._marked_changed()

    def refresh(self) -> None:
        """Read the list again."""
        engine = self._context.engine

        def read(_: Cancel) -> tuple[StoredFile, ...]:
            return engine.store.files()

        self._context.tasks.call(read, self._show, self._failed)

    def _counted(self, found: object) -> None:
        """Starter notes may come in after the list was read."""
        if isinstance(found, dict) and found.get("files") != len(self.files.files):
            self.refresh()

    def marked(self) -> list[StoredFile]:
        """The files that are marked."""
        return [index.data(ROW) for index in self.table.selectionModel().selectedRows()]

    # --- shown ------------------------------------------------------------------------------

    def _show(self, files: tuple[StoredFile, ...]) -> None:
        chosen = self.spaces.currentItem().data(ROW) if self.spaces.currentItem() else ""
        self.files.show_files(files)
        counts = Counter(file.namespace for file in files)
        self.spaces.blockSignals(True)
        self.spaces.clear()
        for space, count in (("", len(files)), *sorted(counts.items())):
            item = QListWidgetItem(f"{space or self.tr('All')}  ({count})")
            item.setData(ROW, space)
            self.spaces.addItem(item)
            if space == chosen:
                self.spaces.setCurrentItem(item)
        self.spaces.blockSignals(False)
        self._narrow()

    def _narrow(self) -> None:
        item = self.spaces.currentItem()
        self.found.narrow(str(item.data(ROW)) if item else "", self.filter.text())
        shown, all_ = self.found.rowCount(), len(self.files.files)
        words = counted(shown, self.tr("1 file"), self.tr("{} files"))
        if not all_:
            words = self.tr("The knowledge base is empty. Drop files anywhere in this window.")
        self.state.setText(words)

    def _marked_changed(self) -> None:
        marked = self.marked()
        own = [file for file in marked if not _starter(file)]
        here = len(marked) == 1 and Path(marked[0].path).is_file()
        self.open.setEnabled(here)
        self.again.setEnabled(bool(own))
        self.remove.setEnabled(bool(own))
        starter = self.tr("Starter notes come with Aether and stay")
        self.remove.setToolTip(starter if marked and not own else "")
        if len(marked) == 1:
            self._read(marked[0])
        else:
            self.preview.say(self.tr("Mark a file to see its passages."))

    def _read(self, file: StoredFile) -> None:
        if self._reading is not None:
            self._reading.stop()
        engine = self._context.engine

        def read(_: Cancel) -> tuple[Hit, ...]:
            return engine.store.passages(file.path, file.namespace)

        self._reading = self._context.tasks.call(
            read, self.preview.show_passages, lambda error: None, CHAT
        )

    # --- wanted -----------------------------------------------------------------------------

    def _open(self) -> None:
        for file in self.marked()[:1]:
            QDesktopServices.openUrl(QUrl.fromLocalFile(file.path))

    def _reindex(self) -> None:
        """Forget the marked files and take them in again."""
        self._drop([file for file in self.marked() if not _starter(file)], again=True)

    def _ask_remove(self) -> None:
        files = [file for file in self.marked() if not _starter(file)]
        if not files:
            return
        names = "\n".join(PurePath(file.path).name for file in files[:8])
        more = self.tr("\n\u2026 and {} more").format(len(files) - 8) if len(files) > 8 else ""
        confirm(
            self,
            self.tr("Remove from the knowledge base"),
            counted(len(files), self.tr("Remove 1 file?"), self.tr("Remove {} files?")),
            self.tr("{}\n\nThe files themselves stay where they are.").format(names + more),
            self.tr("Remove"),
            lambda: self._drop(files),
        )

    def _drop(self, files: Sequence[StoredFile], again: bool = False) -> None:
        engine = self._context.engine

        def work(_: Cancel) -> Iterator[int]:
            gone = 0
            for space in sorted({file.namespace for file in files}):
                paths = [file.path for file in files if file.namespace == space]
                gone += engine.kb_remove(paths, space)
            yield gone

        def over(error: Exception | None) -> None:
            complain(self, error)
            self._context.wishes.knowledge_changed.emit()
            if again and error is None:
                for space in sorted({file.namespace for file in files}):
                    self._ingestion.add([f.path for f in files if f.namespace == space], space)

        self._context.tasks.submit(work, self._dropped, over)

    def _dropped(self, passages: int) -> None:
        self._context.wishes.say.emit(self.tr("Passages removed: {}").format(passages))

    def _failed(self, error: Exception) -> None:
        self.state.setText(str(error))

    # --- made -------------------------------------------------------------------------------

    def _make_table(self) -> PlainTable:
        name = self.tr("Files in the knowledge base")
        table = PlainTable(self.found, name, {1: 210, 2: 150, 3: 90, 4: 92}, stretch=0)
        table.setSortingEnabled(True)
        table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        return table

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.state, 1)
        for button in (self.open, self.again, self.remove):
            button.setAutoDefault(False)
            foot.addWidget(button)
        right = QSplitter(Qt.Orientation.Vertical)
        upper = QWidget()
        column = QVBoxLayout(upper)
        column.setContentsMargins(0, 0, 0, 8)
        column.setSpacing(8)
        column.addWidget(self.filter)
        column.addWidget(self.table, 1)
        column.addLayout(foot)
        right.addWidget(upper)
        right.addWidget(self.preview)
        right.setSizes([340, 220])
        right.setChildrenCollapsible(False)
        self.spaces.setFixedWidth(210)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 12, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.spaces)
        row.addWidget(right, 1)


def _starter(file: StoredFile) -> bool:
    """Whether it is one of the notes that come with Aether."""
    return file.path.startswith(f"{NOTES_PREFIX}/")
