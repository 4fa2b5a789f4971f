"""Where the knowledge base lies, what is in it, and keeping it in order."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QPushButton

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.dialogs import complain, confirm, counted
from aether.gui.formlayout import Panel, side_by_side
from aether.gui.phrases import fault_words
from aether.gui.settingfields import Fields, Saver
from aether.gui.widgets import lines_label, restyle


def build(context: Context, saver: Saver) -> Panel:
    """The panel."""
    return KnowledgePanel(context, saver)


class KnowledgePanel(Panel):
    """The settings below `kb`, and the jobs that concern all passages."""

    def __init__(self, context: Context, saver: Saver) -> None:
        super().__init__()
        self._context = context
        self.head(
            self.tr("Knowledge base"),
            self.tr("Your files and the starter notes. Add files on the page Library."),
        )
        card = self.card(self.tr("What is in it"))
        self.stats = lines_label(self.tr("Counting \u2026"))
        self.more = lines_label("", "muted")
        self.tidy = QPushButton(self.tr("Tidy up"))
        self.tidy.setToolTip(
            self.tr("Join small pieces and index what is new; searches get faster")
        )
        self.tidy.clicked.connect(lambda: self._run(self.tidy, "optimize"))
        self.reindex = QPushButton(self.tr("Re-index all\u2026"))
        self.reindex.setToolTip(self.tr("Make all vectors anew with the present embedder"))
        self.reindex.clicked.connect(self._ask_reindex)
        self.library = QPushButton(self.tr("Open the library"))
        self.library.clicked.connect(lambda: context.wishes.show_page.emit("library"))
        card.add(self.stats)
        card.add(self.more)
        card.add(side_by_side(self.library, self.tidy, self.reindex))
        fields = self.fields = Fields(context, saver)
        place = self.card(self.tr("Where it lies"))
        fields.text(
            place, "kb.uri", self.tr("Place"), placeholder=str(context.home / "kb"),
            hint=self.tr("A folder, or s3://, gs://, az://, db://. Empty: in the user folder."),
        )  # fmt: skip
        fields.text(
            place, "kb.embedder", self.tr("Embedding model"),
            hint=self.tr(
                "A sentence-transformers id or folder. Another one needs all passages re-indexed."
            ),
        )  # fmt: skip
        context.wishes.settings_changed.connect(self._changed)
        context.wishes.knowledge_counted.connect(self._counted)
        self.count()

    def count(self) -> None:
        """Count again."""
        engine = self._context.engine

        def stats(_: Cancel) -> dict[str, Any]:
            return engine.store.stats()

        self._context.tasks.call(stats, self._show, self._no_stats)

    def _counted(self, found: object) -> None:
        if isinstance(found, dict):
            self._show(found)
        elif isinstance(found, Exception):
            self._no_stats(found)

    def _changed(self) -> None:
        self.fields.refresh()
        self.count()

    def _show(self, stats: dict[str, Any]) -> None:
        files = counted(stats["files"], self.tr("1 file"), self.tr("{} files"))
        passages = counted(stats["passages"], self.tr("1 passage"), self.tr("{} passages"))
        spaces = counted(len(stats["namespaces"]), self.tr("1 namespace"), self.tr("{} namespaces"))
        self.stats.setText(self.tr("{} with {}, in {}").format(files, passages, spaces))
        restyle(self.stats, "")
        fresh = stats.get("unindexed", 0)
        words = [self.tr("Embedder: {}").format(stats["embedder"])]
        if fresh:
            words.append(self.tr("{} passages are not indexed yet").format(f"{fresh:,}"))
        self.more.setText("\n".join(words))

    def _no_stats(self, error: Exception) -> None:
        what, where, advice = fault_words(error)
        self.stats.setText(what[:1].upper() + what[1:])
        restyle(self.stats, "warn")
        self.more.setText("\n".join(p for p in (where, advice) if p))

    def _ask_reindex(self) -> None:
        confirm(
            self,
            self.tr("Re-index"),
            self.tr("Make the vectors of all passages anew?"),
            self.tr("This takes a while; the old ones stay in force until it is done."),
            self.tr("Re-index"),
            lambda: self._run(self.reindex, "reindex"),
        )

    def _run(self, button: QPushButton, name: str) -> None:
        button.setEnabled(False)
        engine = self._context.engine

        def work(_: Cancel) -> None:
            getattr(engine.store, name)()

        self._context.tasks.call(
            work, lambda _: self._ran(button), lambda error: self._ran(button, error)
        )

    def _ran(self, button: QPushButton, error: Exception | None = None) -> None:
        button.setEnabled(True)
        complain(self, error)
        if error is None:
            self._context.wishes.done.emit(self.tr("The knowledge base is in order"))
        self.count()
