"""Form controls that look the same in light and dark, and that the wheel does not change.

The style sheet alone cannot draw a tick or an arrow in the theme's colours; these draw their own.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDoubleValidator,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
)


class Choice(QComboBox):
    """One of several words; the wheel scrolls the page, not the choice."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "calm")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box of the style sheet, with an arrow in the colour of muted text."""
        super().paintEvent(event)
        painter = QPainter(self)
        x, y = self.width() - 17.0, self.height() / 2
        arrow = [QPointF(x - 4, y - 2), QPointF(x, y + 2), QPointF(x + 4, y - 2)]
        _draw_line(painter, arrow, self.palette().color(QPalette.ColorRole.PlaceholderText))
        painter.end()


class Switch(QCheckBox):
    """A check box whose frame is seen on dark ground as well."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw frame and tick, then the label as the style does."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        style, palette = self.style(), self.palette()
        painter = QStylePainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        place = style.subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
        box = QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5)
        accent = palette.color(QPalette.ColorRole.Link)
        quiet = palette.color(QPalette.ColorRole.PlaceholderText)
        on = self.isChecked() and self.isEnabled()
        painter.setPen(QPen(accent if on or self.hasFocus() else quiet, 1))
        painter.setBrush(accent if on else palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(box, 3, 3)
        if self.isChecked():
            size = box.width()
            tick = [QPointF(box.x() + dx * size, box.y() + dy * size)
                    for dx, dy in ((0.24, 0.52), (0.43, 0.72), (0.77, 0.29))]  # fmt: skip
            _draw_line(painter, tick, palette.color(QPalette.ColorRole.Base) if on else quiet)
        option.rect = style.subElementRect(QStyle.SubElement.SE_CheckBoxContents, option, self)
        painter.drawControl(QStyle.ControlElement.CE_CheckBoxLabel, option)
        painter.end()


class NumberEdit(QLineEdit):
    """A number as text, told when it is whole; the arrow keys step it.

    Empty stands for `empty`, where one is given.
    """

    changed = Signal(float)

    def __init__(
        self, least: float, most: float, step: float, decimals: int, empty: float | None = None
    ) -> None:
        super().__init__()
        self._step, self._decimals, self._empty = step, decimals, empty
        self._least, self._most = least, most
        checker = QDoubleValidator(least, most, decimals, self)
        checker.setNotation(QDoubleValidator.Notation.StandardNotation)
        checker.setLocale(self.locale().c())
        self.setValidator(checker)
        self.setMaximumWidth(120)
        self.editingFinished.connect(lambda: self.changed.emit(self.value()))

    def value(self) -> float:
        """The number as it stands; the least one while the text is none."""
        text = self.text().strip()
        if not text and self._empty is not None:
            return self._empty
        try:
            return float(text)
        except ValueError:
            return self._least

    def set_value(self, value: float) -> None:
        """Show a number."""
        self.setText("" if value == self._empty else f"{value:.{self._decimals}f}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down step the number."""
        step = {Qt.Key.Key_Up: self._step, Qt.Key.Key_Down: -self._step}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        self.set_value(min(self._most, max(self._least, self.value() + step)))
        self.changed.emit(self.value())


def _draw_line(painter: QPainter, points: list[QPointF], colour: QColor) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(colour, 1.6)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(points))
