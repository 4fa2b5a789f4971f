"""The table of files that were given, with the bar, the rate and the buttons over all of them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from aether.gui.controls import Choice
from aether.gui.dialogs import counted, time_words
from aether.gui.filetable import DONE, PROBLEMS, REMARK, ROW, FileFilter, FileRow
from aether.gui.ingestion import Ingestion
from aether.gui.tables import PlainTable
from aether.gui.widgets import label, lines_label

WIDTHS = (300, 150, 96, 86)


class Adding(QWidget):
    """The first tab of the library."""

    def __init__(self, ingestion: Ingestion) -> None:
        super().__init__()
        self._ingestion = ingestion
        self.rows = FileFilter(self)
        self.rows.setSourceModel(ingestion.table)
        self.table = self._make_table()
        self.summary = label("")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of all files"))
        self.show_ = Choice()
        self.show_.setAccessibleName(self.tr("Which files are shown"))
        for group, name in (
            ("all", self.tr("All")), ("open", self.tr("Not finished")), ("done", self.tr("Done")),
            ("problems", self.tr("Not taken in")),
        ):  # fmt: skip
            self.show_.addItem(name, group)
        self.show_.currentIndexChanged.connect(self._regroup)
        self.stop = QPushButton(self.tr("Stop"))
        self.go_on = QPushButton(self.tr("Go on"))
        self.retry = QPushButton(self.tr("Try again"))
        self.retry.setToolTip(self.tr("Try once more what failed or was stopped"))
        self.clear = QPushButton(self.tr("Clear the list"))
        self.clear.setToolTip(self.tr("Nothing is removed from the knowledge base"))
        self.empty = lines_label(
            self.tr(
                "Nothing is being added. Drop files anywhere in this window, and each file shows "
                "here how it gets on."
            ),
            "muted",
        )
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        for button, run in (
            (self.stop, ingestion.stop), (self.go_on, ingestion.go_on),
            (self.retry, ingestion.retry), (self.clear, ingestion.forget),
        ):  # fmt: skip
            button.setAutoDefault(False)
            button.clicked.connect(run)
        ingestion.moved.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Bar, words and buttons as things stand."""
        counts, running = self._ingestion.table.counts, self._ingestion.running
        rows = len(self._ingestion.table.rows)
        self.stack.setCurrentIndex(1 if rows else 0)
        progress = self._ingestion.progress()
        self.bar.setVisible(running)
        self.bar.setRange(0, max(1, progress.total))
        self.bar.setValue(progress.done)
        self.stop.setVisible(running)
        self.go_on.setVisible(not running and counts["stopped"] > 0)
        self.retry.setVisible(not running and counts["failed"] > 0)
        self.clear.setVisible(not running and rows > 0)
        self.summary.setText(self._words())

    def _words(self) -> str:
        counts = self._ingestion.table.counts
        if self._ingestion.running:
            progress = self._ingestion.progress()
            words = self.tr("{} of {} files").format(progress.done, progress.total)
            if progress.rate:
                rate = self.tr("{} files a second").format(f"{progress.rate:.1f}")
                left = self.tr("about {} left").format(time_words(progress.left_s))
                words = " \u00b7 ".join((words, rate, left))
            return words
        done = sum(counts[state] for state in DONE)
        problems = sum(counts[state] for state in PROBLEMS)
        parts = [counted(done, self.tr("1 file done"), self.tr("{} files done"))]
        if problems:
            parts.append(counted(problems, self.tr("1 not taken in"), self.tr("{} not taken in")))
        if counts["stopped"]:
            parts.append(counted(counts["stopped"], self.tr("1 stopped"), self.tr("{} stopped")))
        return " \u00b7 ".join(parts)

    def _regroup(self) -> None:
        self.rows.show_group(str(self.show_.currentData()))

    def _copy(self) -> None:
        """The marked rows as text, for a mail to whoever wrote the files."""
        from PySide6.QtWidgets import QApplication

        marked = [index.data(ROW) for index in self.table.selectionModel().selectedRows()]
        lines = ["\t".join((r.path, r.state, r.remark)) for r in marked if isinstance(r, FileRow)]
        QApplication.clipboard().setText("\n".join(lines))

    def _make_table(self) -> PlainTable:
        table = PlainTable(self.rows, self.tr("Files"), dict(enumerate(WIDTHS)), stretch=REMARK)
        QShortcut(
            QKeySequence.StandardKey.Copy, table, self._copy,
            context=Qt.ShortcutContext.WidgetShortcut,
        )  # fmt: skip
        return table

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.summary, 1)
        head.addWidget(self.show_)
        for button in (self.go_on, self.retry, self.clear, self.stop):
            head.addWidget(button)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.bar)
        column.addWidget(self.table, 1)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(full)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 12, 0, 0)
        outer.addWidget(self.stack)
