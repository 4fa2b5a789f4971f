"""What is kept on this machine, where it lies, and deleting it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPushButton

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.dialogs import complain, confirm, counted, size_words
from aether.gui.formlayout import Panel, side_by_side
from aether.gui.settingfields import Saver
from aether.gui.widgets import label, lines_label
from aether.privacy import PLACES, Kept, Kind, measure, purge


def build(context: Context, saver: Saver) -> Panel:
    """The panel."""
    return PrivacyPanel(context)


class PrivacyPanel(Panel):
    """One row a kind of history, each with a button that deletes it after a question."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.head(
            self.tr("Privacy"),
            self.tr(
                "Questions, answers and files stay on this machine. Search words go to the search "
                "service, and only while web search is on."
            ),
        )
        self.amounts: dict[Kind, QLabel] = {}
        self.buttons: dict[Kind, QPushButton] = {}
        self._kept: dict[Kind, Kept] = {}
        card = self.card(self.tr("What is kept"))
        for kind in PLACES:
            name, about = self._words(kind)
            self.amounts[kind] = label("\u2026", "muted")
            button = self.buttons[kind] = QPushButton(self.tr("Delete\u2026"))
            button.setProperty("role", "danger")
            button.setAutoDefault(False)
            button.setAccessibleName(self.tr("Delete: {}").format(name))
            button.clicked.connect(partial(self._pressed, kind))
            row = side_by_side(self.amounts[kind], button, stretch=False)
            row.setStretch(0, 1)
            card.row(name, row, about)
        place = self.card(self.tr("Where it lies"))
        place.add(lines_label(str(context.home)))
        opened = QPushButton(self.tr("Open the folder"))
        opened.clicked.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(context.home)))
        )
        place.add(side_by_side(opened))
        context.wishes.run_finished.connect(lambda _: self.refresh())
        context.wishes.purged.connect(lambda _: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Count again."""
        home = self._context.home
        self._context.tasks.aside(lambda _: (measure(home),), self._show, self._failed)

    def _pressed(self, kind: Kind, _: bool = False) -> None:
        self.delete(kind)

    def delete(self, kind: Kind) -> None:
        """Ask first, then delete for good."""
        name, about = self._words(kind)
        confirm(
            self,
            self.tr("Delete for good"),
            self.tr("Delete {} for good?").format(self._amount(kind)),
            self.tr("{} This cannot be undone.").format(about),
            self.tr("Delete {}").format(name.lower()),
            lambda: self._purge(kind),
        )

    def _purge(self, kind: Kind) -> None:
        """On the worker: no answer can be half written at that moment."""
        home = self._context.home

        def work(_: Cancel) -> None:
            purge(home, kind)

        self._context.tasks.call(work, lambda _: self._purged(kind), self._failed)

    def _purged(self, kind: Kind) -> None:
        self._context.wishes.purged.emit(kind)
        self._context.wishes.say.emit(self.tr("Deleted: {}").format(self._words(kind)[0]))

    def _show(self, kept: tuple[Kept, ...]) -> None:
        for one in kept:
            self._kept[one.kind] = one
            self.amounts[one.kind].setText(self._amount(one.kind))
            self.buttons[one.kind].setEnabled(one.size > 0)

    def _failed(self, error: Exception | None) -> None:
        complain(self, error)

    def _amount(self, kind: Kind) -> str:
        one = self._kept.get(kind, Kept(kind, 0, 0))
        if not one.size:
            return self.tr("nothing")
        one_word, many = {
            "conversations": (self.tr("1 conversation"), self.tr("{} conversations")),
            "runs": (self.tr("1 run"), self.tr("{} runs")),
            "feedback": (self.tr("1 verdict"), self.tr("{} verdicts")),
            "cache": (self.tr("1 file"), self.tr("{} files")),
        }[kind]
        return f"{counted(one.count, one_word, many)}, {size_words(one.size)}"

    def _words(self, kind: Kind) -> tuple[str, str]:
        return {
            "conversations": (
                self.tr("Conversations"),
                self.tr("What the ask page lists, with deleted ones that could still come back."),
            ),
            "runs": (
                self.tr("Runs"),
                self.tr("The record of every question, with prompts and passages."),
            ),
            "feedback": (self.tr("Feedback"), self.tr("Your thumbs up and down, with reasons.")),
            "cache": (self.tr("Cache"), self.tr("Remembered answers; it fills again by itself.")),
        }[kind]
