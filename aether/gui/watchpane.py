"""Watched folders: what comes or changes in them is taken into the knowledge base by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, Qt, QTimer
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.controls import Choice
from aether.gui.dialogs import complain
from aether.gui.ingestion import Ingestion
from aether.gui.tasks import Job
from aether.gui.widgets import label, lines_label
from aether.ingest import listed
from aether.library import Watched, load_watched, save_watched, suggest_namespace
from aether.watching import Stamp, changed, load_stamps, save_stamps, stamps

SETTLE_MS = 1500  # after the last change, so that a copy under way is not read half
MOST_FOLDERS = 2000  # that the system is asked to watch
SAMPLE = 200  # names that tell what a folder is about
ROW = Qt.ItemDataRole.UserRole
Seen = tuple[Watched, dict[str, Stamp], tuple[str, ...]]  # folder, stamps now, what is new


class WatchPane(QWidget):
    """The fourth tab of the library; watches as long as the window is open."""

    def __init__(self, context: Context, ingestion: Ingestion) -> None:
        super().__init__()
        self._context, self._ingestion = context, ingestion
        self.watched: tuple[Watched, ...] = ()
        self._seen: dict[str, Stamp] = {}
        self._job: Job | None = None
        self._again = False
        self._names: dict[str, str] = {}
        self._watcher = QFileSystemWatcher(self)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Watched folders"))
        self.add = QPushButton(self.tr("Watch a folder\u2026"))
        self.remove = QPushButton(self.tr("Stop watching"))
        self.look = QPushButton(self.tr("Look now"))
        self.namespace = Choice()
        self.namespace.setMinimumWidth(320)
        self.namespace.setAccessibleName(self.tr("Namespace of the marked folder"))
        self.state = lines_label("", "muted")
        self._lay_out()
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.scan)
        self._watcher.directoryChanged.connect(lambda _: self._settle.start())
        self._watcher.fileChanged.connect(lambda _: self._settle.start())
        self.add.clicked.connect(self._choose)
        self.remove.clicked.connect(self._unwatch)
        self.look.clicked.connect(self.scan)
        self.list.currentRowChanged.connect(self._marked)
        self.namespace.activated.connect(lambda _: self._rename())
        home = context.home
        context.tasks.quick(
            lambda _: (load_watched(home), load_stamps(home)), self._loaded, self._failed
        )

    def watch(self, folder: str) -> None:
        """Watch one more folder, for the namespace that its name suggests."""
        engine = self._context.engine

        def work(_: Cancel) -> Iterator[Watched]:
            names = [f"{folder}/x", *(path for path, _ in islice(listed([Path(folder)]), SAMPLE))]
            found = suggest_namespace(names, engine.tree, engine.lexicon)
            yield Watched(Path(folder).resolve().as_posix(), found.namespace)

        self._context.tasks.aside(work, self._watch, self._failed)

    def scan(self) -> None:
        """Look for what is new, and hand it on."""
        if self._job is not None:
            self._again = True
            return
        if not self.watched:
            return
        watched, seen = self.watched, dict(self._seen)
        self._job = self._context.tasks.aside(
            lambda cancel: _look(watched, seen, cancel), self._looked, self._over
        )

    def set_names(self, names: Iterable[tuple[str, str]]) -> None:
        """The namespaces with the names of their experts."""
        self._names = dict(names)
        self.namespace.clear()
        for space, name in sorted(self._names.items(), key=lambda n: n[1]):
            self.namespace.addItem(f"{name} ({space})", space)
        self._show()

    # --- inside -----------------------------------------------------------------------------

    def _loaded(self, kept: tuple[tuple[Watched, ...], dict[str, Stamp]]) -> None:
        self.watched, self._seen = kept
        self._show()
        self.scan()

    def _watch(self, new: Watched) -> None:
        if all(new.folder != one.folder for one in self.watched):
            self._change((*self.watched, new))
            self.list.setCurrentRow(self.list.count() - 1)
            self.scan()

    def _unwatch(self) -> None:
        """What was taken in stays in the knowledge base."""
        row = self.list.currentRow()
        if row >= 0:
            gone = self.watched[row].folder
            self._seen = {p: s for p, s in self._seen.items() if not p.startswith(gone + "/")}
            self._change((*self.watched[:row], *self.watched[row + 1 :]))

    def _rename(self) -> None:
        row, space = self.list.currentRow(), str(self.namespace.currentData())
        if row >= 0 and space != self.watched[row].namespace:
            folder = self.watched[row].folder
            self._seen = {p: s for p, s in self._seen.items() if not p.startswith(folder + "/")}
            changed_one = Watched(folder, space)
            self._change((*self.watched[:row], changed_one, *self.watched[row + 1 :]))
            self.list.setCurrentRow(row)
            self.scan()

    def _change(self, watched: tuple[Watched, ...]) -> None:
        self.watched = watched
        self._keep()
        self._show()

    def _keep(self) -> None:
        home, watched, seen = self._context.home, self.watched, dict(self._seen)

        def work(_: Cancel) -> None:
            save_watched(home, watched)
            save_stamps(home, seen)

        self._context.tasks.quick(work, lambda _: None, self._failed)

    def _looked(self, found: Seen) -> None:
        watched, now, new = found
        if watched not in self.watched:  # no longer watched
            return
        self._seen |= now
        folders = {str(Path(path).parent) for path in now} | {watched.folder}
        self._follow(sorted(folders), list(now))
        if new:
            self._ingestion.add(new, watched.namespace)

    def _follow(self, folders: Sequence[str], files: Sequence[str]) -> None:
        """Ask the system to tell of changes; folders first, they tell of new files."""
        known = {*self._watcher.directories(), *self._watcher.files()}
        room = max(0, MOST_FOLDERS - len(known))
        fresh = [path for path in (*folders, *files) if path not in known][:room]
        if fresh:
            self._watcher.addPaths(fresh)

    def _over(self, error: Exception | None) -> None:
        self._job = None
        self._failed(error)
        self._keep()
        if self._again:
            self._again = False
            self._settle.start()

    def _show(self) -> None:
        row = self.list.currentRow()
        self.list.clear()
        for one in self.watched:
            name = self._names.get(one.namespace, one.namespace)
            item = QListWidgetItem(f"{one.folder}\n{name} ({one.namespace})")
            self.list.addItem(item)
        self.list.setCurrentRow(min(row, self.list.count() - 1))
        kept = {one.folder for one in self.watched}
        gone = [p for p in (*self._watcher.directories(), *self._watcher.files())
                if not any(p == f or p.startswith(f + "/") for f in kept)]  # fmt: skip
        if gone:
            self._watcher.removePaths(gone)
        self.state.setText(
            "" if self.watched else self.tr(
                "No folder is watched. Files that come or change in a watched folder are taken "
                "in by themselves while Aether is open."
            )
        )  # fmt: skip
        self._marked(self.list.currentRow())

    def _marked(self, row: int) -> None:
        chosen = 0 <= row < len(self.watched)
        self.remove.setEnabled(chosen)
        self.namespace.setEnabled(chosen)
        self.look.setEnabled(bool(self.watched))
        if chosen and (at := self.namespace.findData(self.watched[row].namespace)) >= 0:
            self.namespace.setCurrentIndex(at)

    def _choose(self) -> None:
        path = QFileDialog.getExistingDirectory(self, self.tr("Watch a folder"), str(Path.home()))
        if path:
            self.watch(path)

    def _failed(self, error: Exception | None) -> None:
        complain(self.window(), error)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        for button in (self.add, self.look, self.remove):
            button.setAutoDefault(False)
            head.addWidget(button)
        head.addStretch(1)
        head.addWidget(label(self.tr("Goes to")))
        head.addWidget(self.namespace)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.state)
        column.addWidget(self.list, 1)


def _look(watched: Sequence[Watched], seen: dict[str, Stamp], cancel: Cancel) -> Iterator[Seen]:
    for one in watched:
        cancel.check()
        now = stamps(Path(one.folder))
        yield one, now, changed(now, seen)
