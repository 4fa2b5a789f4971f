"""What can be done with an answer: copy, again, another expert, thumbs with because."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from aether.gui.ladder import Expert
from aether.gui.phrases import seconds
from aether.gui.theme import Theme
from aether.gui.widgets import label, restyle, tool
from aether.records import Run

ROOMY = 430  # pixels


class TurnActions(QWidget):
    """One row of buttons; a second one asks why after a thumb."""

    other = Signal(str)
    thumbed = Signal(str, str)

    def __init__(
        self, theme: Theme, experts: Sequence[Expert], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.copy = tool(theme, "copy", self.tr("Copy the answer as Markdown"))
        self.again = tool(theme, "retry", self.tr("Answer again"))
        self.expert = tool(theme, "experts", self.tr("Answer again with another expert"))
        self.expert.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.up = tool(theme, "up", self.tr("A good answer"), checkable=True)
        self.down = tool(theme, "down", self.tr("Not a good answer"), checkable=True)
        self.explain = QPushButton()
        self.explain.setProperty("role", "pill")
        self.explain.setAutoDefault(False)
        self.explain.setToolTip(self.tr("Why this confidence"))
        self.cost = label("", "muted")
        self.because = QLineEdit()
        self.because.setPlaceholderText(self.tr("Because \u2026 (optional; Return keeps it)"))
        self.because.setAccessibleName(self.tr("Why this verdict"))
        self.because.hide()
        self._lay_out()
        self.set_experts(experts)
        self.up.clicked.connect(lambda: self._thumb("up"))
        self.down.clicked.connect(lambda: self._thumb("down"))
        self.because.returnPressed.connect(self._keep)

    def minimumSizeHint(self) -> QSize:
        """The buttons; what it cost gives way."""
        whole = super().minimumSizeHint()
        return QSize(max(0, whole.width() - self.cost.sizeHint().width()), whole.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What it cost is shown where there is room."""
        super().resizeEvent(event)
        self.cost.setVisible(self.width() > ROOMY)

    def set_experts(self, experts: Sequence[Expert]) -> None:
        """Fill the menu of other experts."""
        menu = QMenu(self)
        for expert in experts:
            action = menu.addAction("    " * (expert.tier - 1) + expert.name)
            action.setToolTip(expert.description)
            action.triggered.connect(lambda _=False, a=expert.id: self.other.emit(a))
        if old := self.expert.menu():
            old.deleteLater()
        self.expert.setMenu(menu)

    def show_run(self, run: Run) -> None:
        """The confidence and the cost of this run."""
        sure = run.outcome in ("answered", "low_confidence")
        self.explain.setVisible(sure)
        if sure:
            passed = run.confidence >= run.threshold
            self.explain.setText(self.tr("Confidence {}").format(f"{run.confidence:.2f}"))
            self.explain.setAccessibleName(
                self.tr("Confidence {}, threshold {}: explain").format(
                    f"{run.confidence:.2f}", f"{run.threshold:.2f}"
                )
            )
            restyle(self.explain, "pill-good" if passed else "pill-warn")
        parts = [seconds(run.timings.total_ms)] if run.timings.total_ms else []
        if run.usage.tokens_per_s:
            parts.append(self.tr("{} tokens/s").format(round(run.usage.tokens_per_s)))
        self.cost.setText(" \u00b7 ".join(parts))
        self.cost.setToolTip(self.tr("Run {}").format(run.run))

    def show_verdict(self, verdict: str, because: str) -> None:
        """The verdict that is kept."""
        self.up.setChecked(verdict == "up")
        self.down.setChecked(verdict == "down")
        self.because.setText(because)

    @property
    def verdict(self) -> str:
        """up, down, or "" where no verdict is given."""
        return "up" if self.up.isChecked() else "down" if self.down.isChecked() else ""

    def _thumb(self, verdict: str) -> None:
        self.show_verdict(verdict, "")
        self.because.show()
        self.because.setFocus()
        self.thumbed.emit(verdict, "")

    def _keep(self) -> None:
        self.thumbed.emit(self.verdict, self.because.text())
        self.because.hide()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for button in (self.copy, self.again, self.expert, self.up, self.down):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.cost)
        row.addSpacing(8)
        row.addWidget(self.explain)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.because)
