"""What would be found for a question: the passages that an expert would be given, with scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.controls import Choice
from aether.gui.dialogs import counted
from aether.gui.passages import Passages
from aether.gui.phrases import fault_words
from aether.gui.tasks import CHAT, Job
from aether.gui.widgets import lines_label, restyle
from aether.records import Hit

PAUSE_MS = 400
K = 10


class FindPane(QWidget):
    """The third tab of the library."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._job: Job | None = None
        self.query = QLineEdit()
        self.query.setPlaceholderText(self.tr("What would be found for this question?"))
        self.query.setAccessibleName(self.tr("Question to search for"))
        self.query.setClearButtonEnabled(True)
        self.namespace = Choice()
        self.namespace.setAccessibleName(self.tr("Namespace"))
        self.namespace.setMinimumWidth(190)
        self.namespace.addItem(self.tr("All namespaces"), "")
        self.ask = QPushButton(self.tr("Ask an expert"))
        self.ask.setToolTip(self.tr("Put this question on the page Ask"))
        self.ask.setEnabled(False)
        self.state = lines_label(
            self.tr("Type a question to see which passages it would bring."), "muted"
        )
        self.passages = Passages(context.theme)
        self.passages.empty.hide()
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.search)
        self.query.textChanged.connect(self._typed)
        self.query.returnPressed.connect(self.search)
        self.namespace.currentIndexChanged.connect(lambda _: self.search())
        self.ask.clicked.connect(
            lambda: context.wishes.ask_question.emit(self.query.text().strip(), "")
        )

    def set_namespaces(self, names: Sequence[str]) -> None:
        """Offer these beside all of them."""
        chosen = self.namespace.currentData()
        self.namespace.blockSignals(True)
        while self.namespace.count() > 1:
            self.namespace.removeItem(1)
        for name in names:
            self.namespace.addItem(name, name)
        self.namespace.setCurrentIndex(max(0, self.namespace.findData(chosen)))
        self.namespace.blockSignals(False)

    def search(self) -> None:
        """Look for what is typed; an older search is left behind."""
        self._pause.stop()
        if self._job is not None:
            self._job.stop()
            self._job = None
        text = self.query.text().strip()
        if not text:
            self.passages.show_hits(())
            self.passages.empty.hide()
            return
        chosen = str(self.namespace.currentData() or "")
        engine = self._context.engine

        def find(_: Cancel) -> tuple[tuple[Hit, ...], float]:
            return engine.timed_search(text, [chosen] if chosen else [], K)

        job: Job

        def found(result: tuple[tuple[Hit, ...], float]) -> None:
            if self._job is job:
                self._show(*result)

        def failed(error: Exception) -> None:
            if self._job is job:
                self._fail(error)

        job = self._context.tasks.call(find, found, failed, CHAT)
        self._job = job
        restyle(self.state, "muted")
        self.state.setText(self.tr("Searching \u2026"))

    def _typed(self, text: str) -> None:
        self.ask.setEnabled(bool(text.strip()))
        self._pause.start()

    def _show(self, hits: tuple[Hit, ...], ms: float) -> None:
        self._job = None
        numbered = tuple(replace(hit, n=i) for i, hit in enumerate(hits, 1))
        self.passages.show_hits(numbered)
        self.passages.empty.hide()
        if hits:
            words = counted(len(hits), self.tr("1 passage"), self.tr("{} passages"))
            self.state.setText(self.tr("{} in {} ms, best first").format(words, round(ms)))
        else:
            self.state.setText(
                self.tr("Nothing is found. Add files that speak of it, or use other words.")
            )

    def _fail(self, error: Exception) -> None:
        self._job = None
        self.state.setText("\n".join(part for part in fault_words(error) if part))
        restyle(self.state, "bad")

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.query, 1)
        head.addWidget(self.namespace)
        head.addWidget(self.ask)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.state)
        column.addWidget(self.passages, 1)
