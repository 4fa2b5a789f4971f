"""The model server: who answers now, who else is there, a test, and how to reach it."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.downloads import Downloads
from aether.gui.formlayout import Panel, side_by_side
from aether.gui.phrases import fault_words, seconds
from aether.gui.settingfields import Fields, Saver
from aether.gui.tasks import CHAT, Job
from aether.gui.widgets import label, lines_label, restyle
from aether.records import ModelInfo
from aether.trial import Seen, Trial

KINDS = {"lmstudio": "LM Studio", "ollama": "Ollama", "llama.cpp": "llama.cpp", "vllm": "vLLM",
         "embedded": "Aether", "openai": "OpenAI"}  # fmt: skip


def build(context: Context, saver: Saver) -> Panel:
    """The panel."""
    return ModelPanel(context, saver)


class ModelPanel(Panel):
    """The settings below `llm`, with what is really there."""

    def __init__(self, context: Context, saver: Saver) -> None:
        super().__init__()
        self._context, self._saver = context, saver
        self._test: Job | None = None
        self.head(
            self.tr("Model server"),
            self.tr("One local Gemma writes all answers. Aether finds a server by itself."),
        )
        self._add_now()
        self._add_found()
        self.fields = Fields(context, saver)
        self._add_connection()
        self.downloads = Downloads(context, saver)
        self.add(self.downloads)
        self._add_limits()
        context.wishes.settings_changed.connect(self.fields.refresh)
        context.wishes.server_changed.connect(self._show_server_now)
        self.ask_now()
        self.look()

    # --- now ------------------------------------------------------------------------------

    def _add_now(self) -> None:
        card = self.card(self.tr("In use"))
        self.now = lines_label(self.tr("Looking for a model server \u2026"))
        self.advice = lines_label("", "muted")
        self.advice.hide()
        self.result = lines_label("", "good")
        self.result.hide()
        self.test = QPushButton(self.tr("Test"))
        self.test.setToolTip(self.tr("Ask the model one short question"))
        self.test.clicked.connect(self.try_it)
        for widget in (self.now, self.advice, self.result):
            card.add(widget)
        card.add(side_by_side(self.test))

    def ask_now(self) -> None:
        """Find out who answers now."""
        engine = self._context.engine

        def ask(_: Cancel) -> ModelInfo:
            return engine.model().info()

        self._context.tasks.call(ask, self._show_now, self._show_fault)

    def _show_server_now(self, found: object) -> None:
        if isinstance(found, ModelInfo):
            self._show_now(found)
        elif isinstance(found, Exception):
            self._show_fault(found)

    def _show_now(self, info: ModelInfo) -> None:
        words = self.tr("{} by {}, window of {} tokens").format(
            info.id, KINDS.get(info.server, info.server), f"{info.context:,}"
        )
        self.now.setText(words)
        restyle(self.now, "")
        self.advice.setText("\n".join(p for p in (info.base_url, info.note) if p))
        self.advice.show()

    def _show_fault(self, error: Exception) -> None:
        what, where, advice = fault_words(error)
        self.now.setText(what[:1].upper() + what[1:])
        restyle(self.now, "warn")
        self.advice.setText("\n".join(p for p in (where, advice) if p))
        self.advice.show()

    def try_it(self) -> None:
        """Ask one short question; the button stops it again."""
        if self._test is not None:
            self._test.stop()
            return
        self.test.setText(self.tr("Stop the test"))
        self._say_result(self.tr("Asking \u2026"), "muted")
        engine = self._context.engine
        self._test = self._context.tasks.submit(
            lambda cancel: (engine.try_model(cancel),), self._tried, self._test_over, CHAT
        )

    def _tried(self, trial: Trial) -> None:
        said = " ".join(trial.said.split())[:60]
        words = self.tr("It answered \u201c{}\u201d: first word after {}, whole answer after {}.")
        told = words.format(said, seconds(trial.first_token_ms), seconds(trial.total_ms))
        self._say_result(told, "good")
        self._show_now(trial.info)

    def _test_over(self, error: Exception | None) -> None:
        self._test = None
        self.test.setText(self.tr("Test"))
        if error is not None:
            what, where, advice = fault_words(error)
            self._say_result("\n".join(p for p in (what, where, advice) if p), "bad")

    def _say_result(self, text: str, role: str) -> None:
        self.result.setText(text)
        restyle(self.result, role)
        self.result.show()

    # --- what is there ----------------------------------------------------------------------

    def _add_found(self) -> None:
        card = self.card(self.tr("On this machine"))
        self._found = QGridLayout()
        self._found.setHorizontalSpacing(16)
        self._found.setVerticalSpacing(4)
        self._found.setColumnStretch(2, 1)
        card.add(self._found)
        self.again = QPushButton(self.tr("Look again"))
        self.again.clicked.connect(self.look)
        card.add(side_by_side(self.again))

    def look(self) -> None:
        """Ask every usual place."""
        self.again.setEnabled(False)
        while (item := self._found.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        engine = self._context.engine
        self._context.tasks.aside(lambda _: engine.servers(), self._show_server, self._looked)

    def _show_server(self, seen: Seen) -> None:
        row, name = self._found.rowCount(), KINDS.get(seen.kind, seen.kind)
        self._found.addWidget(label(name), row, 0)
        self._found.addWidget(label(seen.base_url, "muted"), row, 1)
        self._found.addWidget(self._state_of(seen), row, 2)
        if seen.answers:
            use = QPushButton(self.tr("Use"))
            use.setAutoDefault(False)
            use.setAccessibleName(self.tr("Use {} at {}").format(name, seen.base_url))
            use.clicked.connect(partial(self._use, seen.base_url))
            self._found.addWidget(use, row, 3)

    def _state_of(self, seen: Seen) -> QFrame:
        if seen.error is not None:
            return lines_label(seen.error.what, "warn")
        if seen.answers:
            words = self.tr("{}, {} tokens").format(seen.model, f"{seen.context:,}")
            return lines_label(words, "good")
        return lines_label(self.tr("nobody answers"), "muted")

    def _use(self, base_url: str, _: bool = False) -> None:
        self._saver.save({"llm.base_url": base_url, "llm.model": None}, lambda _: None)

    def _looked(self, error: Exception | None) -> None:
        self.again.setEnabled(True)

    # --- settings ---------------------------------------------------------------------------

    def _add_connection(self) -> None:
        card = self.card(self.tr("Connection"))
        fields = self.fields
        fields.text(
            card,
            "llm.base_url",
            self.tr("Address"),
            placeholder="http://127.0.0.1:1234/v1",
            hint=self.tr("Any server that speaks the OpenAI protocol. Empty: look for one."),
        )
        fields.text(card, "llm.model", self.tr("Model"), placeholder=self.tr("the loaded one"))
        fields.text(
            card,
            "llm.api_key",
            self.tr("Key"),
            secret=True,
            placeholder=self.tr("none"),
            hint=self.tr(
                "Kept in the system keyring where there is one, else in settings.toml, readable "
                "by you alone."
            ),
        )
        fields.number(
            card,
            "llm.context",
            self.tr("Window"),
            (0, 10_000_000, 1024),
            self.tr("Only where the server does not tell its own."),
            self.tr("tokens"),
            zero=self.tr("ask the server"),
        )
        fields.check(
            card,
            "llm.trust_env",
            self.tr("Proxy"),
            self.tr("Use the proxy of the environment for a remote model server"),
        )

    def _add_limits(self) -> None:
        card = self.card(self.tr("Patience"), self.tr("After these times an answer is given up."))
        unit = self.tr("seconds")
        for key, name in (
            ("llm.first_token_s", self.tr("First word")),
            ("llm.idle_s", self.tr("Silence between words")),
            ("llm.total_s", self.tr("Whole answer")),
        ):
            self.fields.number(card, key, name, (1, 7200, 10), unit=unit)
