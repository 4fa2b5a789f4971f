"""What an empty conversation shows: who answers, what works now, three questions to begin with."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from aether.errors import AetherError
from aether.gui.context import Context
from aether.gui.widgets import label, lines_label, restyle
from aether.records import ModelInfo


class Welcome(QFrame):
    """Shown until the first question."""

    asked = Signal(str)
    look_again = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.server = lines_label(self.tr("Looking for a model server \u2026"), "heading")
        self.advice = lines_label("", "muted")
        self.again = QPushButton(self.tr("Look again"))
        self.again.clicked.connect(self.look_again)
        self.settings = QPushButton(self.tr("Settings"))
        self.settings.clicked.connect(lambda: context.wishes.show_page.emit("settings"))
        self.offline = lines_label(self._offline(), "muted")
        self._dot = QLabel()
        self.examples = [QPushButton(text) for text in self._examples()]
        self._lay_out()
        self._state = ""
        context.theme.changed.connect(self._draw)
        self._draw()

    def show_server(self, found: object) -> None:
        """A ModelInfo, or the error that says why there is none."""
        if isinstance(found, ModelInfo):
            self._state = "good"
            self.server.setText(self.tr("{} answers, by {}").format(found.id, server_name(found)))
            note = found.note[:1].upper() + found.note[1:] if found.note else ""
            self.advice.setText(note or self.tr("Everything runs on your own server."))
        elif isinstance(found, AetherError):
            self._state = "warn"
            self.server.setText(found.what[:1].upper() + found.what[1:])
            self.advice.setText("\n".join(part for part in (found.where, found.advice) if part))
        missing = self._state == "warn"
        self.again.setVisible(missing)
        self.settings.setVisible(missing)
        restyle(self.server, "warn" if missing else "heading")
        self._draw()

    def _examples(self) -> tuple[str, ...]:
        return (
            self.tr("How do I size subnets for a hub and three spokes in Azure?"),
            self.tr("Why does an OSPF neighbour stay in EXSTART?"),
            self.tr("Which licences does Intune need for shared devices?"),
        )

    def show_settings(self) -> None:
        """Say again what works without the web."""
        self.offline.setText(self._offline())

    def _offline(self) -> str:
        web = self._context.engine.settings.web.enabled
        words = self.tr(
            "Without the network the starter notes and your own files still answer: "
            "drop files anywhere in this window to add them."
        )
        return words if web else self.tr("The web is switched off. ") + words

    def _draw(self) -> None:
        c = self._context.theme.colours
        colour = {"good": c.good, "warn": c.warn}.get(self._state, c.muted)
        icon = "check" if self._state == "good" else "warning" if self._state else "search"
        self._dot.setPixmap(self._context.theme.icon(icon, colour).pixmap(20, 20))

    def _lay_out(self) -> None:
        self.again.hide()
        self.settings.hide()
        card = QFrame()
        card.setProperty("role", "card")
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self.server)
        words.addWidget(self.advice)
        row = QHBoxLayout(card)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(12)
        row.addWidget(self._dot, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self.again)
        row.addWidget(self.settings)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 32, 0, 16)
        column.setSpacing(12)
        column.addWidget(label(self.tr("What do you want to know?"), "title"))
        column.addWidget(
            lines_label(
                self.tr(
                    "Thirteen infrastructure experts share one local model. Each answer names its "
                    "sources and says how sure it is."
                ),
                "muted",
            )
        )
        column.addWidget(card)
        column.addSpacing(8)
        column.addWidget(label(self.tr("To begin with"), "heading"))
        for button in self.examples:
            button.setProperty("role", "example")
            button.clicked.connect(lambda _=False, b=button: self.asked.emit(b.text()))
            column.addWidget(button)
        column.addSpacing(8)
        column.addWidget(self.offline)
        column.addStretch(1)


def server_name(found: ModelInfo) -> str:
    """A server as people call it."""
    names = {"lmstudio": "LM Studio", "ollama": "Ollama", "llama.cpp": "llama.cpp", "vllm": "vLLM",
             "embedded": "the embedded server", "openai": found.base_url}  # fmt: skip
    return names.get(found.server, found.server)
