"""How a form looks: a scrolling panel of cards, and rows of label, control and hint in a card.

One place, so that every form of the window has the same widths and the same grid.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from aether.gui.widgets import label, lines_label

READING_WIDTH = 780
LABEL_WIDTH = 172
ROW_HEIGHT = 30
Content = QWidget | QLayout


class Panel(QScrollArea):
    """A column of cards that scrolls; never wider than a person reads."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        inner.setMaximumWidth(READING_WIDTH)
        self.column = QVBoxLayout(inner)
        self.column.setContentsMargins(24, 16, 24, 24)
        self.column.setSpacing(12)
        self.column.addStretch(1)
        around = QWidget()
        row = QHBoxLayout(around)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(inner, 1)
        row.addStretch(0)
        inner.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setWidget(around)

    def head(self, title: str, about: str = "") -> None:
        """The title of the panel, and a sentence below it."""
        self.setAccessibleName(title)
        self.add(label(title, "title"))
        if about:
            self.add(lines_label(about, "muted"))

    def add(self, widget: QWidget) -> None:
        """Put a widget below what is there."""
        self.column.insertWidget(self.column.count() - 1, widget)

    def card(self, title: str, about: str = "") -> Card:
        """A new card below what is there."""
        made = Card(title, about)
        self.add(made)
        return made


class Card(QFrame):
    """A titled frame with rows of label and control."""

    def __init__(self, title: str = "", about: str = "") -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(16, 12, 16, 14)
        self.column.setSpacing(8)
        if title:
            self.column.addWidget(label(title, "heading"))
        if about:
            self.column.addWidget(lines_label(about, "muted"))
        self._grid: QGridLayout | None = None

    def row(self, name: str, control: Content, hint: str = "") -> QLabel:
        """Label to the left, control to the right, hint below it; the label of the row."""
        grid = self._rows()
        at = grid.rowCount()
        head = label(name)
        head.setMinimumWidth(LABEL_WIDTH)
        head.setWordWrap(True)
        head.setMinimumHeight(ROW_HEIGHT)
        grid.addWidget(head, at, 0)
        if isinstance(control, QWidget):
            head.setBuddy(control)
            if not control.accessibleName():
                control.setAccessibleName(name)
            grid.addWidget(control, at, 1)
        else:
            grid.addLayout(control, at, 1)
        if hint:
            grid.addWidget(lines_label(hint, "muted"), at + 1, 1)
        return head

    def add(self, content: Content) -> None:
        """Something over the whole width, below what is there."""
        self._grid = None
        if isinstance(content, QWidget):
            self.column.addWidget(content)
        else:
            self.column.addLayout(content)

    def _rows(self) -> QGridLayout:
        if self._grid is None:
            self._grid = QGridLayout()
            self._grid.setContentsMargins(0, 0, 0, 0)
            self._grid.setHorizontalSpacing(16)
            self._grid.setVerticalSpacing(6)
            self._grid.setColumnStretch(1, 1)
            self._grid.setColumnMinimumWidth(0, LABEL_WIDTH)
            self.column.addLayout(self._grid)
        return self._grid


def side_by_side(*widgets: QWidget, stretch: bool = True) -> QHBoxLayout:
    """Widgets in a row, to the left."""
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    for widget in widgets:
        row.addWidget(widget)
    if stretch:
        row.addStretch(1)
    return row
