"""The file of one expert: read-only as it ships, or one's own copy that is checked while typed.

Saving loads the experts again at once; a copy with problems is kept, and the shipped one stays in
force. What is typed and not saved is kept when another expert is looked at, and over a restart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from aether.cancel import Cancel
from aether.errors import Problem
from aether.gui.codeedit import CodeEdit
from aether.gui.context import Context
from aether.gui.dialogs import complain, confirm, counted
from aether.gui.tasks import Job
from aether.gui.widgets import lines_label, restyle
from aether.workshop import (
    ManifestFile,
    check_manifest,
    drop_copy,
    manifest_of,
    own_copy,
    save_manifest,
)

PAUSE_MS = 500
DRAFTS = "experts/drafts"
ROW = Qt.ItemDataRole.UserRole


class ManifestEditor(QWidget):
    """The last tab of an expert."""

    changed = Signal()  # the experts were loaded again

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._agent = ""
        self._own = False
        self._saved = ""
        self._line = 0
        self._checking: Job | None = None
        self._again = False
        self._drafts = _read_drafts(context.state.value(DRAFTS))
        self.place = lines_label("", "muted")
        self.edit = CodeEdit(context.theme)
        self.edit.setAccessibleName(self.tr("Manifest"))
        self.state = lines_label("")
        self.problems = QListWidget()
        self.problems.setAccessibleName(self.tr("Problems of this file"))
        self.problems.setMaximumHeight(120)
        self.copy = QPushButton(self.tr("Edit a copy"))
        self.copy.setToolTip(self.tr("Copy it into the user folder, and change it there"))
        self.save = QPushButton(self.tr("Save and load"))
        self.save.setProperty("role", "primary")
        self.save.setToolTip(self.tr("Save, and have the experts loaded again (Ctrl+S)"))
        self.back = QPushButton(self.tr("Back to the shipped one\u2026"))
        self.back.setProperty("role", "danger")
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._check)
        self.edit.textChanged.connect(self._typed)
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self._save)
        self.back.clicked.connect(self._ask_back)
        self.problems.itemActivated.connect(lambda item: self.edit.go_to(item.data(ROW)))
        self.problems.itemClicked.connect(lambda item: self.edit.go_to(item.data(ROW)))
        QShortcut(QKeySequence.StandardKey.Save, self, self._save,
                  context=Qt.ShortcutContext.WidgetWithChildrenShortcut)  # fmt: skip

    @property
    def dirty(self) -> bool:
        """Whether something typed is not saved yet."""
        return self._own and self.edit.toPlainText() != self._saved

    def show_agent(self, agent: str, line: int = 0) -> None:
        """Show the file of an expert, at a line (counted from 1, 0 for none)."""
        if agent == self._agent and self.dirty:
            if line:
                self.edit.go_to(line)
            return
        self._keep_draft()
        self._agent, self._line, self._own = agent, line, False
        home = self._context.home
        self._context.tasks.quick(lambda _: manifest_of(agent, home), self._show, self._failed)

    def leave(self) -> None:
        """The window closes: keep what is not saved."""
        self._keep_draft()
        self._context.state.setValue(DRAFTS, json.dumps(self._drafts))

    # --- shown ------------------------------------------------------------------------------

    def _keep_draft(self) -> None:
        if self.dirty:
            self._drafts[self._agent] = self.edit.toPlainText()

    def _show(self, file: ManifestFile) -> None:
        if file.path.stem != self._agent:
            return
        self._own, self._saved = file.own, file.text
        self.edit.setReadOnly(not file.own)
        text = self._drafts.pop(self._agent, file.text) if file.own else file.text
        if self.edit.toPlainText() != text:
            self.edit.setPlainText(text)
        whose = self.tr("Your copy") if file.own else self.tr("Comes with Aether, read-only")
        self.place.setText(f"{whose}: {file.path}")
        self.copy.setVisible(not file.own)
        self.save.setVisible(file.own)
        self.back.setVisible(file.own and file.shipped)
        if self._line:
            self.edit.go_to(self._line)
            self._line = 0
        self._typed()
        self._check()

    def _typed(self) -> None:
        self.save.setEnabled(self.dirty)
        if self.dirty:
            self._pause.start()

    def _check(self) -> None:
        """Look for problems of what is typed, one look at a time."""
        self._pause.stop()
        if self._checking is not None:
            self._again = True
            return
        agent, home, text = self._agent, self._context.home, self.edit.toPlainText()
        self._checking = self._context.tasks.aside(
            lambda _: (check_manifest(agent, home, text),), self._show_problems, self._checked
        )

    def _checked(self, error: Exception | None) -> None:
        self._checking = None
        self._failed(error)
        if self._again:
            self._again = False
            self._check()

    def _show_problems(self, problems: tuple[Problem, ...]) -> None:
        self.problems.clear()
        for problem in problems:
            place = self.tr("Line {}").format(problem.line) if problem.line else self.tr("File")
            key = f" [{problem.key}]" if problem.key else ""
            advice = f" \u2013 {problem.advice}" if problem.advice else ""
            item = QListWidgetItem(f"{place}{key}: {problem.message}{advice}")
            item.setData(ROW, problem.line)
            self.problems.addItem(item)
        self.problems.setVisible(bool(problems))
        self.edit.show_marks({p.line: p.message for p in problems if p.line})
        if problems:
            words = counted(len(problems), self.tr("1 problem"), self.tr("{} problems"))
            if self._own:
                words += self.tr(". Until they are mended, the shipped expert stays in force.")
            self.state.setText(words)
        else:
            self.state.setText(self.tr("No problems"))
        restyle(self.state, "bad" if problems else "good")

    # --- wanted -----------------------------------------------------------------------------

    def _copy(self) -> None:
        agent, home = self._agent, self._context.home
        self._context.tasks.quick(lambda _: own_copy(agent, home), self._copied, self._failed)

    def _copied(self, file: ManifestFile) -> None:
        self._show(file)
        self.edit.setFocus()

    def _save(self) -> None:
        if not self.dirty:
            return
        agent, home, text = self._agent, self._context.home, self.edit.toPlainText()
        engine = self._context.engine

        def work(_: Cancel) -> Iterator[ManifestFile]:
            save_manifest(agent, home, text)
            engine.reload()
            yield manifest_of(agent, home)

        self._context.tasks.aside(work, self._saved_now, self._failed)

    def _saved_now(self, file: ManifestFile) -> None:
        if file.path.stem == self._agent:
            self._saved = file.text
            self._typed()
            self._check()
        self.changed.emit()
        self._context.wishes.say.emit(self.tr("Saved; the experts are loaded again"))

    def _ask_back(self) -> None:
        confirm(
            self,
            self.tr("Back to the shipped expert"),
            self.tr("Delete your copy of this manifest?"),
            self.tr("{}\n\nThe expert that comes with Aether is in force again.").format(
                self.place.text()
            ),
            self.tr("Delete my copy"),
            self._back,
        )

    def _back(self) -> None:
        agent, home, engine = self._agent, self._context.home, self._context.engine

        def work(_: Cancel) -> Iterator[ManifestFile]:
            drop_copy(agent, home)
            engine.reload()
            yield manifest_of(agent, home)

        self._context.tasks.aside(work, self._gone_back, self._failed)

    def _gone_back(self, file: ManifestFile) -> None:
        self._show(file)
        self.changed.emit()

    def _failed(self, error: Exception | None) -> None:
        complain(self.window(), error)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.place, 1)
        for button in (self.copy, self.back, self.save):
            button.setAutoDefault(False)
            head.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.edit, 1)
        column.addWidget(self.state)
        column.addWidget(self.problems)
        self.problems.hide()


def _read_drafts(value: Any) -> dict[str, str]:
    try:
        data = json.loads(str(value or "{}"))
    except ValueError:
        return {}
    return {str(k): str(v) for k, v in data.items()} if isinstance(data, dict) else {}
