"""The models that Aether can run by itself: what is on this disk, download with progress, choose.

A download goes on where it stopped, also after a restart.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout

from aether.cancel import Cancel
from aether.errors import Cancelled
from aether.gui.context import Context
from aether.gui.dialogs import size_words
from aether.gui.formlayout import Card
from aether.gui.phrases import fault_words
from aether.gui.settingfields import Fields, Saver
from aether.gui.tasks import Job
from aether.gui.widgets import label, lines_label, restyle
from aether.models import ListedModel, get_model, list_models

TELL_S = 0.1  # between two reports of a download


class ModelRow(QFrame):
    """One model of the catalogue, with its button and, while it comes, its bar."""

    def __init__(self) -> None:
        super().__init__()
        self.name = label("", "heading")
        self.about = lines_label("", "muted")
        self.state = lines_label("", "muted")
        self.state.hide()
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.button = QPushButton()
        self.button.setAutoDefault(False)
        words = QVBoxLayout()
        words.setSpacing(2)
        for widget in (self.name, self.about, self.bar, self.state):
            words.addWidget(widget)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(12)
        row.addLayout(words, 1)
        row.addWidget(self.button)


class Downloads(Card):
    """The embedded model: catalogue, download, a file of one's own."""

    def __init__(self, context: Context, saver: Saver) -> None:
        super().__init__()
        self.column.addWidget(label(self.tr("Without a server: the embedded model"), "heading"))
        self.column.addWidget(
            lines_label(
                self.tr(
                    "Aether can run a model file itself. The small one that comes with it is for "
                    "trying Aether out; a larger one answers well."
                ),
                "muted",
            )
        )
        self._context, self._saver = context, saver
        self.rows: dict[str, ModelRow] = {}
        self._jobs: dict[str, Job] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(4)
        self.add(self._list)
        self.fields = Fields(context, saver)
        self.fields.text(
            self,
            "llm.model_path",
            self.tr("Model file"),
            browse=self.tr("GGUF models (*.gguf)"),
            placeholder=self.tr("the newest download, else the packaged one"),
        )
        context.wishes.settings_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Look at the disk again."""
        self.fields.refresh()
        home = self._context.home
        self._context.tasks.quick(lambda _: list_models(home), self._show, self._no_list)

    def _show(self, models: Iterable[ListedModel]) -> None:
        chosen = self._context.engine.settings.llm.model_path
        for model in models:
            row = self.rows.get(model.id)
            if row is None:
                row = self.rows[model.id] = ModelRow()
                self._list.addWidget(row)
                row.button.clicked.connect(partial(self._press, model.id))
            row.name.setText(model.name)
            facts = self.tr("{} to download, {} GB of memory, {}").format(
                size_words(model.size), model.ram_gb, model.licence
            )
            row.about.setText(f"{model.about}\n{facts}" if model.about else facts)
            row.setProperty("path", model.path)
            self._label(model.id, model.installed, bool(chosen) and chosen == model.path)

    def _label(self, model: str, installed: bool, chosen: bool) -> None:
        row = self.rows[model]
        if model in self._jobs:
            words = self.tr("Stop")
        elif chosen:
            words = self.tr("In use")
        else:
            words = self.tr("Use") if installed else self.tr("Download")
        row.button.setText(words)
        row.button.setEnabled(model in self._jobs or not chosen)
        row.button.setAccessibleName(f"{words}: {row.name.text()}")

    def _press(self, model: str, _: bool = False) -> None:
        row = self.rows[model]
        if model in self._jobs:
            self._jobs[model].stop()
        elif path := row.property("path"):
            self._saver.save({"llm.model_path": str(path)}, lambda fault: self._say(model, fault))
        else:
            self._download(model)

    def _download(self, model: str) -> None:
        settings, bridge = self._context.engine.settings, self._context.tasks.bridge
        told = 0.0

        def tell(done: int, total: int) -> None:
            nonlocal told
            if time.monotonic() - told > TELL_S or done >= total:
                told = time.monotonic()
                bridge.post(lambda: self._progress(model, done, total))

        def work(cancel: Cancel) -> Iterable[Path]:
            return (get_model(model, settings, progress=tell, cancel=cancel),)

        self._say(model, "")
        self._jobs[model] = self._context.tasks.aside(
            work, lambda path: self._got(model, path), lambda error: self._over(model, error)
        )
        self.rows[model].bar.show()
        self._label(model, False, False)

    def _progress(self, model: str, done: int, total: int) -> None:
        if model not in self._jobs:
            return
        row = self.rows[model]
        row.bar.setValue(round(1000 * done / total) if total else 0)
        words = self.tr("{} of {}").format(size_words(done), size_words(total))
        restyle(row.state, "muted")
        row.state.setText(words)
        row.state.show()

    def _got(self, model: str, path: Path) -> None:
        self._context.wishes.done.emit(self.tr("{} is downloaded").format(path.name))
        self._saver.save({"llm.model_path": str(path)}, lambda fault: self._say(model, fault))

    def _over(self, model: str, error: Exception | None) -> None:
        self._jobs.pop(model, None)
        self.rows[model].bar.hide()
        self._say(model, "")
        if isinstance(error, Cancelled):
            self._say(model, self.tr("Stopped. Download goes on where it stopped."), "muted")
        elif error is not None:
            self._say(model, "\n".join(part for part in fault_words(error) if part))
        self.refresh()

    def _say(self, model: str, text: str, role: str = "bad") -> None:
        state = self.rows[model].state
        restyle(state, role)
        state.setText(text)
        state.setVisible(bool(text))

    def _no_list(self, error: Exception) -> None:
        self.column.addWidget(lines_label(str(error), "bad"))
