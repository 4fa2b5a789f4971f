"""The experts page: the tree, what one expert is made of, its file, and a question on trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from aether.agents import AgentManifest, AgentTree
from aether.cancel import Cancel
from aether.errors import Problem
from aether.gui import experttext
from aether.gui.context import Context
from aether.gui.dialogs import complain, counted
from aether.gui.lazytabs import LazyTabs
from aether.gui.manifest import ManifestEditor
from aether.gui.shortcuts import bind
from aether.gui.theme import Colours
from aether.gui.tryout import TryOut
from aether.gui.widgets import label, lines_label, restyle
from aether.lint import lint
from aether.records import Route
from aether.sources import SourceLibrary

ROW = Qt.ItemDataRole.UserRole
SPLIT, LAST = "experts/split", "experts/last"
Make = Callable[[AgentManifest, AgentTree, SourceLibrary, Colours], str]
Known = tuple[AgentTree, SourceLibrary, tuple[Problem, ...]]


def build(context: Context) -> QWidget:
    """The page."""
    return ExpertsPage(context)


class ExpertsPage(QWidget):
    """Shows the experts that are in force; loads them again when their files change."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._tree: AgentTree | None = None
        self._library: SourceLibrary | None = None
        self._route: Route | None = None
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setAccessibleName(self.tr("Tree of experts"))
        self.tree.setIndentation(16)
        self.problems = QListWidget()
        self.problems.setAccessibleName(self.tr("Problems of all files"))
        self.problems.setWordWrap(True)
        self.health = lines_label("")
        self.tryout = TryOut(context)
        self.title = label("", "heading")
        self.about = lines_label("", "muted")
        self.editor = ManifestEditor(context)
        self.tabs = LazyTabs()
        self._add_tabs()
        self._lay_out()
        self.tree.currentItemChanged.connect(lambda *_: self._show_agent())
        self.problems.itemActivated.connect(self._open_problem)
        self.problems.itemClicked.connect(self._open_problem)
        self.tryout.routed.connect(self._light_up)
        self.editor.changed.connect(context.wishes.experts_changed)
        context.wishes.experts_changed.connect(self.refresh)
        context.theme.changed.connect(self._recolour)
        bind(self, "experts-try", self.tryout.query.setFocus)
        self.refresh()

    @property
    def agent(self) -> str:
        """The expert that is shown."""
        item = self.tree.currentItem()
        return str(item.data(0, ROW)) if item else ""

    def refresh(self) -> None:
        """Read experts and problems as they are now."""
        engine, home = self.context.engine, self.context.home

        def work(_: Cancel) -> Iterator[Known]:
            yield engine.tree, engine.library, lint(home)

        self.context.tasks.aside(work, self._know, self._failed)

    def take_focus(self) -> None:
        """The page came to the front."""
        self.tree.setFocus()

    def leave(self) -> None:
        """The window closes."""
        self.context.state.setValue(SPLIT, self.split.saveState())
        self.context.state.setValue(LAST, self.agent)
        self.editor.leave()

    # --- shown ------------------------------------------------------------------------------

    def _know(self, known: Known) -> None:
        chosen = self.agent or str(self.context.state.value(LAST, "") or "")
        self._tree, self._library, problems = known
        tree = self._tree
        self.tree.blockSignals(True)
        self.tree.clear()
        items: dict[str, QTreeWidgetItem] = {}
        for agent in sorted(tree.agents, key=lambda a: len(tree.ladder(a))):
            above = items.get(tree.parent(agent) or "")
            item = QTreeWidgetItem([tree[agent].name])
            item.setData(0, ROW, agent)
            item.setToolTip(0, tree[agent].description)
            above.addChild(item) if above else self.tree.addTopLevelItem(item)
            items[agent] = item
        self.tree.expandAll()
        self.tree.setCurrentItem(items.get(chosen, items[tree.root]))
        self.tree.blockSignals(False)
        self._show_problems(problems)
        self._show_agent()
        self.tryout.set_names(self._name)

    def _show_problems(self, problems: tuple[Problem, ...]) -> None:
        self.problems.clear()
        for problem in problems:
            item = QListWidgetItem(str(problem))
            item.setData(ROW, problem)
            item.setToolTip(str(problem))
            self.problems.addItem(item)
        self.problems.setVisible(bool(problems))
        words = counted(len(problems), self.tr("1 problem"), self.tr("{} problems"))
        self.health.setText(words if problems else self.tr("All files are sound"))
        restyle(self.health, "warn" if problems else "good")

    def _show_agent(self) -> None:
        if self._tree is None or not self.agent:
            return
        manifest = self._tree[self.agent]
        self.title.setText(manifest.name)
        self.about.setText(manifest.description)
        self._recolour()

    def _text(self, make: Make) -> str:
        """One tab's text for the expert that is shown."""
        if self._tree is None or self._library is None or self.agent not in self._tree:
            return ""
        return make(self._tree[self.agent], self._tree, self._library, self.context.theme.colours)

    def _recolour(self) -> None:
        self.tabs.redraw()
        self._light_up(self._route)

    def _light_up(self, route: Route | None) -> None:
        """The path from the chosen expert to the root is bold, as a question climbs it."""
        self._route = route
        lit: set[str] = set()
        if route is not None and not route.out_of_domain and self._tree is not None:
            for agent in {route.agent, *route.agents} & set(self._tree.agents):
                lit.update(self._tree.ladder(agent))
        accent = QColor(self.context.theme.colours.accent)
        plain = QColor(self.context.theme.colours.text)
        for item in self._items():
            agent = str(item.data(0, ROW))
            font = item.font(0)
            font.setBold(agent in lit)
            item.setFont(0, font)
            won = route is not None and agent in lit and agent in (route.agent, *route.agents)
            item.setForeground(0, accent if won else plain)

    def _items(self) -> list[QTreeWidgetItem]:
        flags = Qt.MatchFlag.MatchWildcard | Qt.MatchFlag.MatchRecursive
        return self.tree.findItems("*", flags)

    # --- wanted -----------------------------------------------------------------------------

    def _open_problem(self, item: QListWidgetItem) -> None:
        """The file at the line, where it is the file of an expert."""
        problem: Problem = item.data(ROW)
        agent = problem.path.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".yaml")
        for entry in self._items():
            if entry.data(0, ROW) == agent:
                self.tree.setCurrentItem(entry)
                self.tabs.setCurrentWidget(self.editor)
                self.editor.show_agent(agent, problem.line)

    def _name(self, agent: str) -> str:
        tree = self._tree
        return tree[agent].name if tree is not None and agent in tree else agent

    def _failed(self, error: Exception | None) -> None:
        complain(self.window(), error)

    # --- made -------------------------------------------------------------------------------

    def _add_tabs(self) -> None:
        for name, make in (
            (self.tr("Prompt"), experttext.prompt), (self.tr("Signals"), experttext.signals),
            (self.tr("Sources"), experttext.sources), (self.tr("Examples"), experttext.examples),
        ):  # fmt: skip
            self.tabs.add_text(name, partial(self._text, make))
        self.tabs.add(self.tr("File"), self.editor, lambda: self.editor.show_agent(self.agent))

    def _lay_out(self) -> None:
        left, right = QWidget(), QWidget()
        side = QVBoxLayout(left)
        side.setContentsMargins(0, 0, 16, 0)
        side.setSpacing(8)
        side.addWidget(self.tree, 3)
        side.addWidget(self.health)
        side.addWidget(self.problems, 1)
        body = QVBoxLayout(right)
        body.setContentsMargins(16, 0, 0, 0)
        body.setSpacing(4)
        body.addWidget(self.title)
        body.addWidget(self.about)
        body.addWidget(self.tabs, 1)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.addWidget(left)
        self.split.addWidget(right)
        self.split.setSizes([310, 760])
        self.split.setChildrenCollapsible(False)
        if (kept := self.context.state.value(SPLIT)) is not None:
            self.split.restoreState(kept)
        head = QHBoxLayout()
        head.addWidget(label(self.tr("Experts"), "title"))
        head.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(12)
        column.addLayout(head)
        column.addWidget(self.tryout)
        column.addWidget(self.split, 1)
