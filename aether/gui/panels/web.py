"""Whether the web is searched, by whom, through which proxy, and for how long."""

from __future__ import annotations

from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QTreeView

from aether.gui.context import Context
from aether.gui.formlayout import Panel
from aether.gui.settingfields import Fields, Saver
from aether.gui.widgets import lines_label
from aether.sources import Source


def build(context: Context, saver: Saver) -> Panel:
    """The panel."""
    return WebPanel(context, saver)


class WebPanel(Panel):
    """The settings below `web`, and the sites that may be read."""

    def __init__(self, context: Context, saver: Saver) -> None:
        super().__init__()
        self.head(
            self.tr("Web"),
            self.tr(
                "Aether searches only the documentation sites on its list, over https, and reads "
                "pages as text. Nothing but your question's words leaves this machine."
            ),
        )
        self._context = context
        self.fields = Fields(context, saver)
        self._add_search(self.fields)
        self._add_network(self.fields)
        self._sites = QStandardItemModel(0, 2, self)
        self._add_sites()
        context.wishes.settings_changed.connect(self.fields.refresh)

    def _add_search(self, fields: Fields) -> None:
        card = self.card(self.tr("Search"))
        fields.check(
            card, "web.enabled", self.tr("Web search"), self.tr("Search the web for each question")
        )
        fields.choice(
            card, "web.provider", self.tr("Search service"), self._context.engine.search_services()
        )
        fields.number(
            card,
            "web.budget_s",
            self.tr("Time for the web"),
            (1, 60, 1),
            unit=self.tr("seconds"),
            hint=self.tr("Search and pages together, for each expert that is asked."),
        )
        fields.number(
            card,
            "web.min_chars",
            self.tr("Enough text"),
            (0, 100_000, 100),
            self.tr("Below this many useful characters your knowledge base joins in."),
            self.tr("characters"),
        )

    def _add_network(self, fields: Fields) -> None:
        net = self.card(self.tr("Network"))
        fields.text(
            net,
            "web.proxy",
            self.tr("Proxy"),
            placeholder="http://proxy.example:8080",
            hint=self.tr("For search and pages alike. Empty: none."),
        )
        fields.text(
            net,
            "web.ca_file",
            self.tr("Authority"),
            browse=self.tr("Certificates (*.pem *.crt)"),
            hint=self.tr("A PEM file, where a proxy signs with its own authority."),
            placeholder=self.tr("none"),
        )

    def _add_sites(self) -> None:
        card = self.card(self.tr("Sites on the list"))
        self.count = lines_label(self.tr("Reading the list \u2026"), "muted")
        card.add(self.count)
        table = QTreeView()
        table.setModel(self._sites)
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setMinimumHeight(260)
        table.setAccessibleName(self.tr("Sites on the list"))
        card.add(table)
        self._table = table
        engine = self._context.engine
        self._context.tasks.aside(
            lambda _: (engine.library.web(),), self._show_sites, self._no_sites
        )

    def _show_sites(self, sites: tuple[Source, ...]) -> None:
        words = self.tr("{} sites. Files in kb/sources of the user folder add to them.")
        self.count.setText(words.format(len(sites)))
        self._sites.setHorizontalHeaderLabels([self.tr("Site"), self.tr("Addresses")])
        for site in sorted(sites, key=lambda s: s.name.lower()):
            self._sites.appendRow([QStandardItem(site.name), QStandardItem(", ".join(site.hosts))])
        self._table.setColumnWidth(0, 280)

    def _no_sites(self, error: Exception | None) -> None:
        if error is not None:
            self.count.setText(str(error))
