"""The status bar: model, context meter, speed, cached share, web, knowledge; a click explains."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QPushButton, QStatusBar, QToolButton, QVBoxLayout, QWidget

from aether.errors import AetherError
from aether.events import Built, Retrieved
from aether.gui.context import Context
from aether.gui.pages import PAGES
from aether.gui.phrases import seconds, web_words
from aether.gui.theme import Theme
from aether.gui.welcome import server_name
from aether.gui.widgets import label, lines_label, restyle
from aether.records import ModelInfo, Run

SAID_MS = 10_000  # how long a passing line stays


class Chip(QToolButton):
    """A short state; a click opens its explanation. `share` paints a meter under the words."""

    def __init__(self, theme: Theme, title: str, explanation: str) -> None:
        super().__init__()
        self.setProperty("role", "chip")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._theme = theme
        self.title, self.explanation = title, explanation
        self.share: float | None = None
        self.setToolTip(title)
        theme.changed.connect(self.update)
        self.tell(title)

    def tell(
        self, words: str, explanation: str = "", role: str = "chip", share: float | None = None
    ) -> None:
        """Show this state."""
        self.setText(words)
        self.explanation = explanation or self.explanation
        self.share = share
        self.setAccessibleName(f"{self.title}: {words}")
        restyle(self, role)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The words, and the meter."""
        super().paintEvent(event)
        if self.share is None:
            return
        c = self._theme.colours
        painter = QPainter(self)
        track = QRect(6, self.height() - 4, self.width() - 12, 2)
        painter.fillRect(track, QColor(c.border))
        filled = QRect(track)
        filled.setWidth(round(track.width() * min(1.0, max(0.0, self.share))))
        painter.fillRect(filled, QColor(c.warn if self.share > 0.9 else c.accent))


class StatusBar(QStatusBar):
    """Hears through the wishes what happens."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.popup: QFrame | None = None
        self.model = self._chip(
            self.tr("Model"), self.tr("Aether is still looking for a model server.")
        )
        self.context_meter = self._chip(
            self.tr("Context"),
            self.tr("How much of the loaded window the last prompt took. Ask a question first."),
        )
        self.speed = self._chip(
            self.tr("Speed"), self.tr("Tokens per second of the last answer. Ask a question first.")
        )
        self.cached = self._chip(
            self.tr("Cached"),
            self.tr(
                "The share of the last prompt that the server still knew. Ask a question first."
            ),
        )
        self.web = self._chip(self.tr("Web"), "")
        self.knowledge = self._chip(
            self.tr("Knowledge"), self.tr("The knowledge base is still being opened.")
        )
        self._show_web_setting()
        wishes = context.wishes
        wishes.say.connect(self.say)
        wishes.server_changed.connect(self.show_server)
        wishes.prompt_built.connect(self.show_prompt)
        wishes.retrieved.connect(self.show_retrieval)
        wishes.run_finished.connect(self.show_run)
        wishes.knowledge_counted.connect(self.show_knowledge)
        wishes.settings_changed.connect(self._show_web_setting)

    def say(self, text: str) -> None:
        """A passing line."""
        self.showMessage(text[:1].upper() + text[1:], SAID_MS)

    # --- what is told -------------------------------------------------------------------

    def show_server(self, found: object) -> None:
        """A ModelInfo, or the error that says why there is none."""
        if isinstance(found, ModelInfo):
            words = self.tr("{} answers, served by {}{}. Its loaded window holds {} tokens.")
            place = f" ({found.base_url})" if found.base_url else ""
            text = words.format(found.id, server_name(found), place, f"{found.context:,}")
            note = f" {found.note[:1].upper()}{found.note[1:]}." if found.note else ""
            self.model.tell(f"{found.id} \u00b7 {server_name(found)}", text + note)
        elif isinstance(found, AetherError):
            text = "\n".join(p for p in (found.what, found.where, found.advice) if p)
            self.model.tell(self.tr("No model"), text, "chip-warn")

    def show_prompt(self, built: Built) -> None:
        """The context meter."""
        share = built.tokens / built.window if built.window else 0.0
        text = self.tr(
            "The last prompt took {} of {} loaded tokens ({} %). It may take {}, so that the "
            "answer has room; {} passages went in and {} did not fit."
        ).format(
            f"{built.tokens:,}", f"{built.window:,}", round(100 * share), f"{built.budget:,}",
            built.passages, built.dropped,
        )  # fmt: skip
        words = self.tr("{} of {}").format(_short(built.tokens), _short(built.window))
        self.context_meter.tell(words, text, share=share)

    def show_run(self, run: Run) -> None:
        """Speed and cached share of an answer that ended."""
        usage, times = run.usage, run.timings
        if usage.tokens_per_s:
            text = self.tr(
                "{} tokens were written at {} a second; the first word came after {}."
            ).format(
                usage.completion_tokens, round(usage.tokens_per_s), seconds(times.first_token_ms)
            )
            self.speed.tell(self.tr("{} tokens/s").format(round(usage.tokens_per_s)), text)
        if usage.prompt_tokens:
            share = usage.cached_tokens / usage.prompt_tokens
            text = self.tr(
                "The server still knew {} of the {} tokens of the last prompt, so it read only the "
                "rest. Experts come first in every prompt for that reason."
            ).format(f"{usage.cached_tokens:,}", f"{usage.prompt_tokens:,}")
            self.cached.tell(self.tr("{} % cached").format(round(100 * share)), text)

    def show_retrieval(self, event: Retrieved) -> None:
        """How web and knowledge base did in the last question."""
        found = event.retrieval
        if found.web == "ok":
            count = sum(h.origin == "web" for h in found.hits)
            words = self.tr("The last question brought {} passages from the web.").format(count)
            self.web.tell(self.tr("Web"), words)
        elif words := web_words(found):
            self.web.tell(self.tr("Web: none"), words[:1].upper() + words[1:], "chip-warn")
        elif found.web_detail:
            detail = found.web_detail
            self.web.tell(self.tr("Web: not used"), detail[:1].upper() + detail[1:] + ".")
        if found.kb == "kb_error":
            self.knowledge.tell(self.tr("Knowledge: fault"), found.kb_detail, "chip-warn")

    def show_knowledge(self, stats: Any) -> None:
        """What is in the knowledge base."""
        if isinstance(stats, AetherError):
            text = "\n".join(p for p in (stats.what, stats.where, stats.advice) if p)
            self.knowledge.tell(self.tr("Knowledge: fault"), text, "chip-warn")
        elif isinstance(stats, dict):
            count = stats.get("passages", 0)
            text = self.tr("The knowledge base holds {} passages from {} files, in {}.").format(
                f"{count:,}", stats.get("files", 0), stats.get("uri", "")
            )
            self.knowledge.tell(self.tr("{} passages").format(f"{count:,}"), text)

    # --- inside -------------------------------------------------------------------------

    def _show_web_setting(self) -> None:
        if self._context.engine.settings.web.enabled:
            self.web.tell(self.tr("Web"), self.tr("Questions look on the web first."))
        else:
            self.web.tell(
                self.tr("Web: off"),
                self.tr("The web is switched off in the settings; the knowledge base answers."),
            )

    def _chip(self, title: str, explanation: str) -> Chip:
        chip = Chip(self._context.theme, title, explanation)
        chip.clicked.connect(lambda _=False: self._explain(chip))
        self.addPermanentWidget(chip)
        return chip

    def _explain(self, chip: Chip) -> None:
        popup = QFrame(self, Qt.WindowType.Popup)
        popup.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        popup.setProperty("role", "card")
        column = QVBoxLayout(popup)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addWidget(label(chip.title, "heading"))
        words = lines_label(chip.explanation)
        words.setMinimumWidth(320)
        words.setMaximumWidth(320)
        column.addWidget(words)
        if chip is self.model:
            again = QPushButton(self.tr("Look again"))
            again.clicked.connect(self._context.wishes.look_for_server)
            again.clicked.connect(popup.close)
            column.addWidget(again, 0, Qt.AlignmentFlag.AlignLeft)
        if "settings" in PAGES:
            settings = QPushButton(self.tr("Settings"))
            settings.clicked.connect(lambda: self._context.wishes.show_page.emit("settings"))
            settings.clicked.connect(popup.close)
            column.addWidget(settings, 0, Qt.AlignmentFlag.AlignLeft)
        popup.adjustSize()
        corner = chip.mapToGlobal(QPoint(chip.width() - popup.width(), -popup.height() - 4))
        popup.move(corner)
        popup.show()
        self.popup = popup
        popup.destroyed.connect(self._closed)

    def _closed(self) -> None:
        self.popup = None


def _short(tokens: int) -> str:
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else str(tokens)
