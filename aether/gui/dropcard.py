"""What was dropped, and where it should go: the suggested namespace, to accept or to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.controls import Choice
from aether.gui.dialogs import complain, counted
from aether.gui.tasks import Job
from aether.gui.widgets import label, lines_label
from aether.ingest import listed
from aether.library import Suggestion, suggest_namespace
from aether.links import is_link

BATCH = 200


@dataclass(slots=True)
class Drop:
    """What lies behind dropped places: readable files and links, and what is not read, and why."""

    places: list[str] = field(default_factory=list[str])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def look_into(places: Sequence[str], cancel: Cancel) -> Iterator[Drop]:
    """Every file behind the dropped places, a batch at a time; folders are walked."""
    links = [place.strip() for place in places if is_link(place)]
    drop = Drop(links)
    for path, skip in listed([Path(p) for p in places if not is_link(p)]):
        cancel.check()
        if skip:
            drop.skipped.append((path, skip))
        else:
            drop.places.append(path)
        if len(drop.places) + len(drop.skipped) >= BATCH:
            yield drop
            drop = Drop()
    yield drop


class DropCard(QFrame):
    """Asks where a drop goes; `accepted` gives the drop and the namespace."""

    accepted = Signal(object, str)

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__()
        self._context = context
        self._job: Job | None = None
        self._todo: list[str] = []
        self.drop = Drop()
        self.setProperty("role", "card")
        self.what = lines_label("", "heading")
        self.why = lines_label("", "muted")
        self.namespace = Choice()
        self.namespace.setMinimumWidth(320)
        self.namespace.setAccessibleName(self.tr("Namespace"))
        self.ok = QPushButton(self.tr("Add"))
        self.ok.setProperty("role", "primary")
        self.ok.clicked.connect(self._accept)
        self.no = QPushButton(self.tr("Cancel"))
        self.no.clicked.connect(self.dismiss)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(label(self.tr("Goes to")))
        row.addWidget(self.namespace)
        row.addStretch(1)
        row.addWidget(self.no)
        row.addWidget(self.ok)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 14)
        column.setSpacing(8)
        column.addWidget(self.what)
        column.addWidget(self.why)
        column.addLayout(row)
        self.hide()
        context.wishes.experts_changed.connect(self._fill)
        self._fill()

    def offer(self, places: Sequence[str]) -> None:
        """Look at what was dropped, and ask where it goes; a second drop joins the first."""
        if self.isHidden():
            self.drop = Drop()
        self._todo += places
        self.ok.setEnabled(False)
        self.show()
        self._say_what()
        if self._job is None:
            self._look()

    def _look(self) -> None:
        places, self._todo = self._todo, []
        self.why.setText(self.tr("Looking into it \u2026"))
        engine, before = self._context.engine, list(self.drop.places)

        def work(cancel: Cancel) -> Iterator[Drop | Suggestion]:
            seen = before
            for drop in look_into(places, cancel):
                seen += drop.places
                yield drop
            yield suggest_namespace(seen, engine.tree, engine.lexicon)

        self._job = self._context.tasks.aside(work, self._found, self._looked)

    def dismiss(self) -> None:
        """Nothing is added."""
        self._todo.clear()
        if self._job is not None:
            self._job.stop()
        self.drop = Drop()
        self.hide()

    def choose(self, namespace: str) -> None:
        """Set the namespace that is shown."""
        if (at := self.namespace.findData(namespace)) >= 0:
            self.namespace.setCurrentIndex(at)

    def _found(self, found: Drop | Suggestion) -> None:
        if self.isHidden():  # dismissed meanwhile
            return
        if isinstance(found, Drop):
            self.drop.places += found.places
            self.drop.skipped += found.skipped
            self._say_what()
            return
        self.choose(found.namespace)
        words = ", ".join(found.words[:4])
        if found.share:
            self.why.setText(self.tr("Suggested by the names: {}").format(words))
        else:
            self.why.setText(self.tr("The names do not tell where it belongs: choose."))

    def _failed(self, error: Exception | None) -> None:
        complain(self.window(), error)

    def _looked(self, error: Exception | None) -> None:
        self._job = None
        self._failed(error)
        if self._todo:
            self._look()
            return
        if error is not None:
            self.hide()
            return
        if not self.drop.places:
            self.why.setText(self.tr("There is nothing here that can be read."))
        self.ok.setEnabled(bool(self.drop.places or self.drop.skipped))
        self.ok.setFocus()

    def _accept(self) -> None:
        drop, self.drop = self.drop, Drop()
        self.hide()
        self.accepted.emit(drop, str(self.namespace.currentData()))

    def _say_what(self) -> None:
        words = counted(len(self.drop.places), self.tr("1 file to add"), self.tr("{} files to add"))
        if skipped := len(self.drop.skipped):
            rest = counted(skipped, self.tr("1 that is not read"), self.tr("{} that are not read"))
            words = self.tr("{}, and {}").format(words, rest)
        self.what.setText(words)

    def _fill(self) -> None:
        engine = self._context.engine
        self._context.tasks.quick(
            lambda _: tuple((m.namespace, m.name) for m in engine.tree.agents.values()),
            self._show_namespaces,
            self._failed,
        )

    def _show_namespaces(self, names: Sequence[tuple[str, str]]) -> None:
        chosen = self.namespace.currentData()
        self.namespace.clear()
        for namespace, name in sorted(names, key=lambda n: n[1]):
            self.namespace.addItem(f"{name} ({namespace})", namespace)
        if chosen:
            self.choose(str(chosen))

    def keyPressEvent(self, event: object) -> None:
        """Return accepts, Escape dismisses."""
        key = getattr(event, "key", lambda: 0)()
        if key == Qt.Key.Key_Escape:
            self.dismiss()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.ok.isEnabled():
            self._accept()
