"""Colours, spacing and icons: one table for light and dark, one style sheet made from it.

Apart from the widgets so that none of them names a colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

ICONS = Path(__file__).resolve().parents[2] / "assets" / "icons"
MODES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class Colours:
    """Every colour of one appearance, as #rrggbb."""

    window: str
    surface: str
    raised: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    selection: str
    good: str
    warn: str
    bad: str
    code: str


LIGHT = Colours(
    window="#f6f7f9", surface="#ffffff", raised="#eef1f5", border="#d9dee6", text="#1b222c",
    muted="#5b6675", accent="#1f5fbf", on_accent="#ffffff", selection="#d6e4fa",
    good="#1c7c4a", warn="#9a6200", bad="#b3261e", code="#f1f3f7",
)  # fmt: skip
DARK = Colours(
    window="#15181d", surface="#1c2027", raised="#262b34", border="#343b46", text="#e6e9ee",
    muted="#9aa5b4", accent="#74a7f5", on_accent="#0e1420", selection="#2b4368",
    good="#63c78f", warn="#e0b05c", bad="#f2857d", code="#20252d",
)  # fmt: skip


class Theme(QObject):
    """The appearance in force; `changed` tells widgets that paint or render HTML themselves."""

    changed = Signal()

    def __init__(self, application: QApplication, store: QSettings) -> None:
        super().__init__(application)
        self._application, self._store = application, store
        self._base = application.font().pointSizeF() or 10.0
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._system_changed)
        self.apply()

    @property
    def mode(self) -> str:
        """What the person chose: system, light or dark."""
        mode = str(self._store.value("appearance/mode", "system"))
        return mode if mode in MODES else "system"

    @property
    def scale(self) -> float:
        """Font size against the system's, 0.8-1.6."""
        value = str(self._store.value("appearance/scale", "1.0"))
        try:
            return min(1.6, max(0.8, float(value)))
        except ValueError:
            return 1.0

    @property
    def dark(self) -> bool:
        """Whether the dark colours are in force."""
        if self.mode == "system":
            return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return self.mode == "dark"

    @property
    def colours(self) -> Colours:
        """The colours in force."""
        return DARK if self.dark else LIGHT

    def choose(self, mode: str | None = None, scale: float | None = None) -> None:
        """Keep a choice and apply it at once."""
        if mode is not None:
            self._store.setValue("appearance/mode", mode)
        if scale is not None:
            self._store.setValue("appearance/scale", f"{scale:.2f}")
        self.apply()

    def apply(self) -> None:
        """Put palette, font and style sheet in force."""
        font = self._application.font()
        font.setPointSizeF(self._base * self.scale)
        self._application.setFont(font)
        self._application.setPalette(_palette(self.colours))
        self._application.setStyleSheet(style_sheet(self.colours))
        self.changed.emit()

    def icon(self, name: str, colour: str = "") -> QIcon:
        """An icon of `assets/icons` in the text colour, or in `colour`."""
        return draw_icon(ICONS / f"{name}.svg", colour or self.colours.text)

    def _system_changed(self, *_: object) -> None:
        if self.mode == "system":
            self.apply()


def draw_icon(path: Path, colour: str) -> QIcon:
    """An SVG drawn in one colour, sharp at 1x to 3x; `currentColor` in the file is replaced."""
    text = path.read_text(encoding="utf-8").replace("currentColor", colour)
    renderer = QSvgRenderer(QByteArray(text.encode()))
    icon = QIcon()
    for size in (16, 20, 24, 32, 48, 64, 96):
        pixmap = QPixmap(QSize(size, size))
        pixmap.fill(QColor(0, 0, 0, 0))
        painter = QPainter(pixmap)
        renderer.render(painter)
        painter.end()
        icon.addPixmap(pixmap)
    return icon


def _palette(c: Colours) -> QPalette:
    roles = QPalette.ColorRole
    palette = QPalette()
    for role, colour in {
        roles.Window: c.window, roles.WindowText: c.text, roles.Base: c.surface,
        roles.AlternateBase: c.raised, roles.Text: c.text, roles.Button: c.raised,
        roles.ButtonText: c.text, roles.Highlight: c.selection, roles.HighlightedText: c.text,
        roles.Link: c.accent, roles.LinkVisited: c.accent, roles.ToolTipBase: c.raised,
        roles.ToolTipText: c.text, roles.PlaceholderText: c.muted, roles.Mid: c.border,
    }.items():  # fmt: skip
        palette.setColor(role, QColor(colour))
    disabled = QPalette.ColorGroup.Disabled
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(disabled, role, QColor(c.muted))
    return palette


def style_sheet(c: Colours) -> str:
    """The style sheet of the whole window; widgets choose a look by objectName or `role`."""
    return f"""
    QToolTip {{ background: {c.raised}; color: {c.text}; border: 1px solid {c.border};
        padding: 6px; }}
    QLineEdit, QPlainTextEdit, QTextEdit, QComboBox, QSpinBox, QDoubleSpinBox {{
        background: {c.surface}; border: 1px solid {c.border}; border-radius: 6px; padding: 6px 8px;
        selection-background-color: {c.selection}; selection-color: {c.text}; }}
    QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QComboBox:focus, QSpinBox:focus {{
        border-color: {c.accent}; }}
    QComboBox[role="calm"]::drop-down {{ border: 0; width: 26px; }}
    QComboBox QAbstractItemView {{ background: {c.surface}; border: 1px solid {c.border};
        selection-background-color: {c.selection}; selection-color: {c.text}; outline: 0; }}
    QRadioButton::indicator {{ width: 12px; height: 12px; border-radius: 7px;
        border: 1px solid {c.muted}; background: {c.surface}; }}
    QRadioButton::indicator:checked {{ width: 6px; height: 6px; border: 4px solid {c.accent}; }}
    QRadioButton::indicator:focus {{ border-color: {c.accent}; }}
    QListView[role="side"] {{ background: transparent; border: 0; }}
    QListView[role="side"]::item {{ padding: 8px 10px; }}
    QPushButton {{ background: {c.surface}; border: 1px solid {c.border}; border-radius: 6px;
        padding: 6px 14px; }}
    QPushButton:hover {{ background: {c.raised}; }}
    QPushButton:focus {{ border-color: {c.accent}; }}
    QPushButton:disabled {{ color: {c.muted}; }}
    QPushButton[role="primary"] {{ background: {c.accent}; color: {c.on_accent};
        border-color: {c.accent}; font-weight: 600; }}
    QPushButton[role="primary"]:disabled {{ background: {c.raised}; color: {c.muted};
        border-color: {c.border}; }}
    QPushButton[role="danger"] {{ color: {c.bad}; }}
    QPushButton[role="danger"]:disabled {{ color: {c.muted}; }}
    QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 6px;
        padding: 5px; }}
    QToolButton:hover {{ background: {c.raised}; }}
    QToolButton:focus {{ border-color: {c.accent}; }}
    QToolButton:checked {{ background: {c.selection}; }}
    QListView, QTreeView, QTableView {{ background: {c.surface}; border: 1px solid {c.border};
        border-radius: 6px; outline: 0; alternate-background-color: {c.window}; }}
    QListView::item, QTreeView::item {{ padding: 5px 6px; border-radius: 4px; }}
    QTableView::item {{ padding: 0 6px; }}
    QListView::item:selected, QTreeView::item:selected, QTableView::item:selected {{
        background: {c.selection}; color: {c.text}; }}
    QHeaderView::section {{ background: {c.window}; color: {c.muted}; border: 0;
        border-bottom: 1px solid {c.border}; padding: 6px 8px; font-weight: 600; }}
    QTabWidget::pane {{ border: 0; border-top: 1px solid {c.border}; }}
    QTabBar::tab {{ padding: 8px 14px; color: {c.muted}; border: 0;
        border-bottom: 2px solid transparent; }}
    QTabBar[role="dense"]::tab {{ padding: 8px 9px; }}
    QTabBar::tab:selected {{ color: {c.text}; border-bottom-color: {c.accent}; }}
    QTabBar::tab:focus {{ color: {c.accent}; }}
    QScrollArea, QStackedWidget {{ border: 0; background: transparent; }}
    QAbstractScrollArea::corner {{ background: transparent; border: 0; }}
    QScrollBar:vertical {{ background: transparent; width: 11px; margin: 0; }}
    QScrollBar:horizontal {{ background: transparent; height: 11px; margin: 0; }}
    QScrollBar::handle {{ background: {c.border}; border-radius: 5px; min-height: 28px;
        min-width: 28px; }}
    QScrollBar::handle:hover {{ background: {c.muted}; }}
    QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
        background: transparent; width: 0; height: 0; }}
    QProgressBar {{ background: {c.raised}; border: 0; border-radius: 4px; max-height: 8px; }}
    QProgressBar[role="thin"] {{ max-height: 3px; border-radius: 1px; }}
    QProgressBar::chunk {{ background: {c.accent}; border-radius: 4px; }}
    QSplitter::handle {{ background: {c.border}; }}
    QSplitter::handle:horizontal {{ width: 1px; }}
    QSplitter::handle:vertical {{ height: 1px; }}
    QStatusBar {{ background: {c.window}; border-top: 1px solid {c.border}; color: {c.muted}; }}
    QStatusBar::item {{ border: 0; }}
    QMenu {{ background: {c.surface}; border: 1px solid {c.border}; padding: 4px; }}
    QMenu::item {{ padding: 6px 18px; border-radius: 4px; }}
    QMenu::item:selected {{ background: {c.selection}; }}
    QFrame[role="card"] {{ background: {c.surface}; border: 1px solid {c.border};
        border-radius: 8px; }}
    QFrame[role="question"] {{ background: {c.raised}; border: 0; border-radius: 8px; }}
    QTextBrowser[role="prose"], QPlainTextEdit[role="lines"] {{ background: transparent; border: 0;
        border-radius: 0; padding: 0; }}
    QFrame[role="code"] {{ background: {c.code}; border: 1px solid {c.border};
        border-radius: 6px; margin: 4px 0; }}
    QLabel[role="key"] {{ background: {c.raised}; border: 1px solid {c.border};
        border-radius: 4px; padding: 1px 6px; }}
    QToolButton[role="chip"], QToolButton[role="chip-warn"] {{ color: {c.muted};
        padding: 4px 8px; }}
    QToolButton[role="chip-warn"] {{ color: {c.warn}; font-weight: 600; }}
    QFrame[role="card-chosen"] {{ background: {c.surface}; border: 1px solid {c.accent};
        border-radius: 8px; }}
    QFrame[role="side"] {{ background: {c.window}; border: 0; }}
    QListView[role="plain"] {{ background: transparent; border: 0; }}
    QListView[role="plain"]::item {{ padding: 0; }}
    QPushButton[role="example"] {{ text-align: left; padding: 9px 14px; }}
    QFrame[role="composer"] {{ background: {c.surface}; border: 1px solid {c.border};
        border-radius: 10px; }}
    QPlainTextEdit[role="editor"] {{ background: transparent; border: 0; padding: 2px; }}
    QFrame[role="notice"] {{ background: {c.raised}; border: 0; border-radius: 8px; }}
    QPushButton[role="pill-good"], QPushButton[role="pill-warn"], QPushButton[role="pill"] {{
        border-radius: 11px; padding: 2px 12px; background: transparent; font-weight: 600; }}
    QPushButton[role="pill-good"] {{ color: {c.good}; border-color: {c.good}; }}
    QPushButton[role="pill-warn"] {{ color: {c.warn}; border-color: {c.warn}; }}
    QPushButton[role="pill-good"]:hover, QPushButton[role="pill-warn"]:hover {{
        background: {c.raised}; }}
    QFrame[role="drop"], QFrame[role="drop-over"] {{ background: {c.surface};
        border: 1px dashed {c.muted}; border-radius: 8px; }}
    QFrame[role="drop-over"] {{ background: {c.selection}; border-color: {c.accent}; }}
    QFrame[role="bar"] {{ background: {c.window}; border: 0; border-right: 1px solid {c.border}; }}
    QLabel[role="title"] {{ font-size: 18pt; font-weight: 600; }}
    QLabel[role="heading"] {{ font-weight: 600; }}
    QLabel[role="muted"] {{ color: {c.muted}; }}
    QLabel[role="good"] {{ color: {c.good}; }}
    QLabel[role="warn"] {{ color: {c.warn}; }}
    QLabel[role="bad"] {{ color: {c.bad}; }}
    QPushButton[role="nav"] {{ text-align: left; border: 0; background: transparent;
        padding: 9px 12px; border-radius: 6px; }}
    QPushButton[role="nav"]:hover {{ background: {c.raised}; }}
    QPushButton[role="nav"]:checked {{ background: {c.selection}; font-weight: 600; }}
    """
