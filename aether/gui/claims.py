"""The claims of an answer as a list: the verdict, the claim, the sentence that carries it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from aether.gui.phrases import tr, verdict_words
from aether.gui.theme import Theme
from aether.records import Claim

Index = QModelIndex | QPersistentModelIndex
CLAIM = Qt.ItemDataRole.UserRole
PAD = 8
_SELECTED = QStyle.StateFlag.State_Selected
_HOVER = QStyle.StateFlag.State_MouseOver


class ClaimModel(QAbstractListModel):
    """Claims in the order of the answer."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.claims: tuple[Claim, ...] = ()

    def set_claims(self, claims: Sequence[Claim]) -> None:
        """Show these."""
        self.beginResetModel()
        self.claims = tuple(claims)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """One row a claim."""
        return 0 if parent.isValid() else len(self.claims)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The claim itself, and its words for those who do not see the list."""
        if not index.isValid():
            return None
        claim = self.claims[index.row()]
        if role == CLAIM:
            return claim
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{head(claim)}: {plain(claim.text)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return claim.evidence or tr("No passage carries this claim.")
        return None


def head(claim: Claim) -> str:
    """The verdict with its number and its sources."""
    marks = "".join(f"[{n}]" for n in claim.citations)
    words = verdict_words(claim.verdict)
    if claim.contradicted:
        words = tr("Contradicted by its source")
    return " \u00b7 ".join(
        p for p in (words, f"{claim.support:.2f}" if claim.citations else "", marks) if p
    )


def plain(text: str) -> str:
    """A claim without the marks of Markdown."""
    return re.sub(r"\*\*|__|`|^[#>\-*\s]+", "", text)


class ClaimDelegate(QStyledItemDelegate):
    """Paints three texts below each other, wrapped to the width of the list."""

    def __init__(self, theme: Theme, parent: QListView) -> None:
        super().__init__(parent)
        self._theme, self._list = theme, parent

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Verdict in its colour, claim, evidence."""
        c = self._theme.colours
        claim: Claim = index.data(CLAIM)
        style: Any = option
        painter.save()
        if style.state & (_SELECTED | _HOVER):
            painter.fillRect(
                style.rect, QColor(c.selection if style.state & _SELECTED else c.raised)
            )
        colour = {"supported": c.good, "weak": c.warn}.get(claim.verdict, c.bad)
        if claim.verdict == "uncited":
            colour = c.muted
        y = style.rect.top() + PAD
        for text, font, ink in self._lines(claim, style.font, colour):
            height = _height(text, font, self._width())
            box = QRect(style.rect.left() + PAD, y, self._width(), height)
            painter.setFont(font)
            painter.setPen(QColor(ink))
            painter.drawText(box, Qt.TextFlag.TextWordWrap.value, text)
            y += height + 3
        painter.setPen(QColor(c.border))
        painter.drawLine(style.rect.bottomLeft(), style.rect.bottomRight())
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As tall as the wrapped words."""
        style: Any = option
        lines = self._lines(index.data(CLAIM), style.font, "")
        high = sum(_height(text, font, self._width()) + 3 for text, font, _ in lines)
        return QSize(self._width(), high + 2 * PAD)

    def _width(self) -> int:
        """For the words: the same with and without a scroll bar, so that no height goes stale."""
        bar = self._list.verticalScrollBar().sizeHint().width()
        return max(80, self._list.width() - bar - 2 * PAD - 4)

    def _lines(self, claim: Claim, font: QFont, colour: str) -> list[tuple[str, QFont, str]]:
        c = self._theme.colours
        bold = QFont(font)
        bold.setWeight(QFont.Weight.DemiBold)
        out = [(head(claim), bold, colour), (plain(claim.text), font, c.text)]
        if claim.evidence:
            out.append((f"\u201c{' '.join(claim.evidence.split())}\u201d", font, c.muted))
        return out


def _height(text: str, font: QFont, wide: int) -> int:
    box = QRect(0, 0, wide, 10_000)
    return QFontMetrics(font).boundingRect(box, Qt.TextFlag.TextWordWrap.value, text).height()


class ClaimList(QListView):
    """Tells which claim the pointer or the cursor is on."""

    pointed = Signal(object)  # Claim, or None where the pointer left
    picked = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = ClaimModel(self)
        self.setModel(self._model)
        self.setItemDelegate(ClaimDelegate(theme, self))
        self.setMouseTracking(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Claims of the answer"))
        self.entered.connect(lambda index: self.pointed.emit(index.data(CLAIM)))
        self.clicked.connect(lambda index: self.picked.emit(index.data(CLAIM)))
        self.activated.connect(lambda index: self.picked.emit(index.data(CLAIM)))
        self.selectionModel().currentChanged.connect(
            lambda index, _: self.pointed.emit(index.data(CLAIM) if index.isValid() else None)
        )
        theme.changed.connect(self.viewport().update)

    def set_claims(self, claims: Sequence[Claim]) -> None:
        """Show these."""
        self._model.set_claims(claims)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer left: nothing is meant any more."""
        super().leaveEvent(event)
        self.pointed.emit(None)
