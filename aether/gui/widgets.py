"""Small widgets that every page uses, made in one way: icon buttons, labels, cards."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
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


class Lines(QLabel):
    """Plain text that wraps: exactly as tall as it is at its width, whatever holds it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(False)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        """The height that the words need at the width there is."""
        return QSize(160, self.heightForWidth(max(40, self.width())))

    def minimumSizeHint(self) -> QSize:
        """The same height, at any width."""
        return QSize(40, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width wants another height."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.updateGeometry()


class Elided(QLabel):
    """One line that ends in an ellipsis where it does not fit; the tip has the whole."""

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.whole = ""

    def say(self, text: str) -> None:
        """Show this."""
        self.whole = text
        self.setToolTip(text)
        self._cut()

    def minimumSizeHint(self) -> QSize:
        """As narrow as one likes."""
        return QSize(24, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or less of it fits."""
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        metrics = QFontMetrics(self.font())
        self.setText(metrics.elidedText(self.whole, Qt.TextElideMode.ElideRight, self.width()))


def lines_label(text: str, role: str = "") -> Lines:
    """A label of plain text that wraps and can be selected, whoever wrote it."""
    made = Lines(text)
    if role:
        made.setProperty("role", role)
    return made


def restyle(widget: QWidget, role: str) -> None:
    """Give a widget that is on the screen another role."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
