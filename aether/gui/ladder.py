"""The tree of experts, small, with the path of one question lit.

Shows who was asked, who passed the question on and who answered, while it happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QSize
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from aether.agents import AgentTree
from aether.conversations import Exchange
from aether.gui.theme import Theme

State = Literal["active", "tried", "answered", "stopped"]
STEP, ROWS, MARGIN, RADIUS = 15, 18, 7, 3.6  # pixels


@dataclass(frozen=True, slots=True)
class Expert:
    """What the window knows of one expert."""

    id: str
    name: str
    parent: str | None
    tier: int
    description: str


def experts_of(tree: AgentTree) -> tuple[Expert, ...]:
    """All experts in the order of the tree: each behind its parent."""
    children: dict[str | None, list[str]] = {}
    for agent, manifest in tree.agents.items():
        children.setdefault(manifest.parent, []).append(agent)
    out: list[Expert] = []

    def walk(agent: str) -> None:
        m = tree[agent]
        out.append(Expert(agent, m.name, m.parent, m.tier, m.description))
        for child in children.get(agent, ()):
            walk(child)

    walk(tree.root)
    return tuple(out)


def states(exchange: Exchange) -> dict[str, State]:
    """What each expert on the path of a question is doing or did."""
    found: dict[str, State] = {}
    if exchange.run is None:
        for look in exchange.looks:
            found[look.agent] = "tried"
        if exchange.looks:
            found[exchange.looks[-1].agent] = "active"
        elif exchange.route:
            found[exchange.route.agent] = "active"
        return found
    for attempt in exchange.run.attempts:
        found[attempt.agent] = "tried"
    if exchange.run.agent:
        passed = exchange.run.outcome in ("answered", "refused")
        found[exchange.run.agent] = "answered" if passed else "stopped"
    return found


class Ladder(QWidget):
    """Paints the tree; a tip names the expert under the pointer."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._experts: tuple[Expert, ...] = ()
        self._places: dict[str, QPointF] = {}
        self._states: Mapping[str, State] = {}
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    @property
    def lit(self) -> Mapping[str, State]:
        """The experts on the path, with what each did."""
        return self._states

    def set_experts(self, experts: Sequence[Expert]) -> None:
        """The tree to paint."""
        self._experts = tuple(experts)
        self._places = _places(self._experts)
        self.setFixedSize(self.sizeHint())
        self.light(self._states)

    def light(self, path: Mapping[str, State]) -> None:
        """Light these experts."""
        self._states = dict(path)
        said = "; ".join(f"{self._name(a)}: {self._words(s)}" for a, s in path.items())
        self.setAccessibleName(self.tr("Path through the experts"))
        self.setAccessibleDescription(said)
        self.update()

    def sizeHint(self) -> QSize:
        """As large as the tree."""
        if not self._places:
            return QSize(0, 0)
        wide = max(p.x() for p in self._places.values())
        high = max(p.y() for p in self._places.values())
        return QSize(round(wide) + MARGIN, round(high) + MARGIN)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Lines first, then dots."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lit = set(self._states)
        for expert in sorted(self._experts, key=lambda e: e.id in lit):
            if expert.parent in self._places:
                both = expert.id in lit and expert.parent in lit
                self._line(painter, self._places[expert.id], self._places[expert.parent], both)
        for expert in self._experts:
            self._dot(painter, expert.id)

    def event(self, event: QEvent) -> bool:
        """The tip names the expert under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            agent = self._at(event.pos().toPointF())
            if agent:
                words = self._words(self._states[agent]) if agent in self._states else ""
                name = self._name(agent) + (f"\n{words}" if words else "")
                QToolTip.showText(event.globalPos(), name, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def _line(self, painter: QPainter, child: QPointF, parent: QPointF, lit: bool) -> None:
        c = self._theme.colours
        painter.setPen(QPen(QColor(c.accent if lit else c.border), 2.0 if lit else 1.2))
        middle = (child.y() + parent.y()) / 2
        painter.drawLine(child, QPointF(child.x(), middle))
        painter.drawLine(QPointF(child.x(), middle), QPointF(parent.x(), middle))
        painter.drawLine(QPointF(parent.x(), middle), parent)

    def _dot(self, painter: QPainter, agent: str) -> None:
        c = self._theme.colours
        state = self._states.get(agent)
        colour = QColor({"active": c.accent, "tried": c.warn, "answered": c.good,
                         "stopped": c.warn}.get(state or "", c.border))  # fmt: skip
        filled = state != "tried"
        painter.setPen(QPen(colour, 1.8))
        painter.setBrush(colour if filled else QColor(c.window))
        radius = RADIUS + (1.4 if state else 0.0)
        painter.drawEllipse(self._places[agent], radius, radius)

    def _at(self, place: QPointF) -> str:
        near = {a: (p - place).manhattanLength() for a, p in self._places.items()}
        agent = min(near, key=lambda a: near[a], default="")
        return agent if agent and near[agent] <= STEP * 0.7 else ""

    def _name(self, agent: str) -> str:
        return next((e.name for e in self._experts if e.id == agent), agent)

    def _words(self, state: State) -> str:
        return {
            "active": self.tr("is asked now"),
            "tried": self.tr("passed the question on"),
            "answered": self.tr("answered"),
            "stopped": self.tr("had the best answer, below the threshold"),
        }[state]


def _places(experts: Sequence[Expert]) -> dict[str, QPointF]:
    """Leaves side by side, everybody else above the middle of its children."""
    tiers = sorted({e.tier for e in experts})
    children: dict[str, list[str]] = {}
    for expert in experts:
        if expert.parent:
            children.setdefault(expert.parent, []).append(expert.id)
    across: dict[str, float] = {}
    column = 0
    for expert in reversed(experts):  # children stand behind their parent
        below = children.get(expert.id)
        if below:
            across[expert.id] = sum(across[b] for b in below) / len(below)
        else:
            across[expert.id] = column
            column += 1
    return {
        e.id: QPointF(
            MARGIN + (column - 1 - across[e.id]) * STEP, MARGIN + tiers.index(e.tier) * ROWS
        )
        for e in experts
    }
