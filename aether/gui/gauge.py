"""The confidence as a bar against the threshold."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from aether.gui.theme import Theme

BAR, TICK = 10, 7  # pixels


class Gauge(QWidget):
    """A value from 0 to 1, and the line it has to reach."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.value, self.threshold = 0.0, 0.7
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Confidence"))
        theme.changed.connect(self.update)

    def show_value(self, value: float, threshold: float) -> None:
        """Set both."""
        self.value, self.threshold = value, threshold
        words = self.tr("{} of 1, threshold {}").format(f"{value:.2f}", f"{threshold:.2f}")
        self.setAccessibleDescription(words)
        self.setToolTip(words)
        self.update()

    def sizeHint(self) -> QSize:
        """A bar with its tick and the words under it."""
        return QSize(200, BAR + TICK + self.fontMetrics().height() + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The track, the filled part, the tick and its number."""
        c = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wide = self.width() - 2.0
        track = QRectF(1, 1, wide, BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(c.raised))
        painter.drawRoundedRect(track, BAR / 2, BAR / 2)
        if self.value > 0:
            painter.setBrush(QColor(c.good if self.value >= self.threshold else c.warn))
            filled = QRectF(1, 1, max(BAR, wide * min(1.0, self.value)), BAR)
            painter.drawRoundedRect(filled, BAR / 2, BAR / 2)
        x = 1 + wide * self.threshold
        painter.setPen(QPen(QColor(c.text), 2))
        painter.drawLine(QPointF(x, 0), QPointF(x, BAR + 2))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(c.text))
        y = BAR + 3.0
        painter.drawPolygon(
            QPolygonF([QPointF(x, y), QPointF(x - 4, y + 5), QPointF(x + 4, y + 5)])
        )
        self._words(painter, x)

    def _words(self, painter: QPainter, x: float) -> None:
        words = self.tr("threshold {}").format(f"{self.threshold:.2f}")
        wide = self.fontMetrics().horizontalAdvance(words)
        left = min(self.width() - wide - 1.0, max(0.0, x - wide / 2))
        painter.setPen(QColor(self._theme.colours.muted))
        painter.drawText(QPointF(left, self.height() - 4.0), words)
