"""Small widgets that every page uses, made in one way: icon buttons, labels, cards."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolButton, QWidget

from aether.gui.theme import Theme


class IconButton(QToolButton):
    """A button that shows an icon and has a name for those who do not see it."""

    def __init__(self, theme: Theme, icon: str, tip: str, checkable: bool = False) -> None:
        super().__init__()
        self._theme, self._name = theme, icon
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self.setCheckable(checkable)
        self.setIconSize(QSize(16, 16))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.changed.connect(self.draw)
        self.draw()

    def draw(self) -> None:
        """Follow the theme."""
        self.setIcon(self._theme.icon(self._name))


def tool(theme: Theme, icon: str, tip: str, *, checkable: bool = False) -> IconButton:
    """An icon button; `tip` is its tooltip and its accessible name."""
    return IconButton(theme, icon, tip, checkable)


def label(text: str, role: str = "") -> QLabel:
    """A label in one of the roles of the style sheet."""
    made = QLabel(text)
    if role:
        made.setProperty("role", role)
    return made


def lines_label(text: str, role: str = "") -> QLabel:
    """A label of plain text that wraps and can be selected, whoever wrote it."""
    made = label(text, role)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(True)
    made.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
    return made


def restyle(widget: QWidget, role: str) -> None:
    """Give a widget that is on the screen another role."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def elided(text: str, widget: QWidget, width: int) -> str:
    """`text` cut in the middle so that it fits `width` pixels of this widget."""
    return QFontMetrics(widget.font()).elidedText(text, Qt.TextElideMode.ElideMiddle, width)
