"""How sure an answer must be, and what is remembered."""

from __future__ import annotations

from aether.gui.context import Context
from aether.gui.formlayout import Panel
from aether.gui.settingfields import Fields, Saver


def build(context: Context, saver: Saver) -> Panel:
    """The panel."""
    return AnswersPanel(context, saver)


class AnswersPanel(Panel):
    """The settings below `confidence`, `answers` and `routing`."""

    def __init__(self, context: Context, saver: Saver) -> None:
        super().__init__()
        self.head(self.tr("Answers"))
        fields = self.fields = Fields(context, saver)
        card = self.card(self.tr("Confidence"))
        fields.number(
            card,
            "confidence.threshold",
            self.tr("Threshold"),
            (0, 1, 0.05),
            decimals=2,
            hint=self.tr(
                "An answer below it climbs to the expert above, and is marked as low confidence "
                "where nobody reaches it."
            ),
        )
        memory = self.card(self.tr("Memory"))
        fields.check(
            memory,
            "answers.cache",
            self.tr("Repeated questions"),
            self.tr("Remember answers, and give them again at once"),
            self.tr("Only while experts, knowledge base and model are the same."),
        )
        fields.text(
            memory,
            "routing.cache_url",
            self.tr("Shared verdicts"),
            placeholder="redis://",
            hint=self.tr("A Redis server that shares routing verdicts for one hour. Empty: none."),
        )
        context.wishes.settings_changed.connect(fields.refresh)
