"""The window: a rail of pages, the pages, a status bar; drops, shortcuts and a clean end.

It is on the screen before anything heavy is imported, and furnished then. It connects wishes and
holds no knowledge; what a page knows it was told by the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, QSize, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QStatusBar,
    QSystemTrayIcon,
    QVBoxLayout,
    QWidget,
)

from aether.gui.pages import PAGES
from aether.gui.shortcuts import bind, show_shortcuts

if TYPE_CHECKING:
    from aether.gui.context import Context
    from aether.gui.theme import Theme

RAIL_WIDTH = 148
RESTORED = ("window/geometry", "window/state")
RESUME_MS = 1500  # after the window is there; what is seen goes first


class MainWindow(QMainWindow):
    """One window over one engine."""

    def __init__(self, theme: Theme, state: QSettings) -> None:
        super().__init__()
        self.context: Context | None = None
        self._theme, self._state = theme, state
        self.setWindowTitle("Aether")
        self.setAcceptDrops(True)
        self.setMinimumSize(QSize(860, 560))
        self.resize(QSize(1280, 820))
        self.stack = QStackedWidget()
        self.pages: dict[str, QWidget] = {}
        self._buttons: dict[str, QPushButton] = {}
        self._tray: QSystemTrayIcon | None = None
        self._resume = QTimer(self)
        self._resume.setSingleShot(True)
        self._resume.setInterval(RESUME_MS)
        self._resume.timeout.connect(self._resume_library)
        self._resume = QTimer(self, singleShot=True, interval=RESUME_MS)
        self._resume.timeout.connect(self._resume_library)
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._rail())
        row.addWidget(self.stack, 1)
        self.setCentralWidget(body)
        self.setStatusBar(QStatusBar())
        self._shortcuts()
        self._restore()

    def furnish(self, context: Context) -> None:
        """Bring the status bar and the first page in, and get ready what lies behind them."""
        from aether.gui.statusbar import StatusBar
        from aether.gui.warmup import warm

        self.context = context
        self.setStatusBar(StatusBar(context))
        self._wishes(context)
        self.show_page("ask")
        QTimer.singleShot(0, self, lambda: warm(context))
        self._resume.start()

    def show_page(self, name: str) -> None:
        """Bring a page to the front; it is built when it is first seen."""
        if name not in PAGES or self.context is None:
            return
        self._build(name)
        self.stack.setCurrentWidget(self.pages[name])
        self._buttons[name].setChecked(True)
        # no focus proxies on pages: Tab would go round in them
        getattr(self.pages[name], "take_focus", self.pages[name].setFocus)()

    def _build(self, name: str) -> None:
        if name not in self.pages and self.context is not None:
            self.pages[name] = PAGES[name].build(self.context)
            self.stack.addWidget(self.pages[name])

    def _resume_library(self) -> None:
        """Files that still wait and watched folders need the library, though nobody looks at it."""
        if self.context is not None and "library" in PAGES and not self.context.tasks.closing:
            kept = self.context.home / "ingest"
            if any((kept / name).exists() for name in ("queue.jsonl", "watched.jsonl")):
                self._build("library")

    def come_forward(self) -> None:
        """Show the window in front of the others."""
        self.showNormal()
        self.raise_()
        self.activateWindow()

    # --- what Qt tells ------------------------------------------------------------------

    def closeEvent(self, event: QCloseEvent) -> None:
        """Keep the state, stop what is under way, wait for the threads."""
        self._state.setValue(RESTORED[0], self.saveGeometry())
        self._state.setValue(RESTORED[1], self.saveState())
        for page in self.pages.values():
            leave = getattr(page, "leave", None)
            if leave:
                leave()
        self._resume.stop()
        self.hide()
        if self.context is not None:
            from aether.gui.diagram import close_draughtsman

            close_draughtsman()
            self.context.tasks.close()
            self.context.engine.close()
        self._state.sync()
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files and links are welcome anywhere."""
        if event.mimeData().hasUrls() or event.mimeData().hasText():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Hand what was dropped to the library."""
        urls = [url.toLocalFile() or url.toString() for url in event.mimeData().urls()]
        text = event.mimeData().text().strip()
        dropped = urls or ([text] if text.startswith("https://") else [])
        if dropped and self.context is not None:
            event.acceptProposedAction()
            self.context.wishes.files_dropped.emit(dropped)

    # --- wishes -------------------------------------------------------------------------

    def _wishes(self, context: Context) -> None:
        from aether.gui.warmup import count_knowledge, look_for_server

        wishes = context.wishes
        wishes.show_page.connect(self.show_page)
        wishes.ask_question.connect(lambda *_: self.show_page("ask"))
        wishes.open_run.connect(self._run_wanted)
        wishes.files_dropped.connect(self._dropped)
        wishes.look_for_server.connect(lambda: look_for_server(context))
        wishes.settings_changed.connect(lambda: look_for_server(context))
        wishes.knowledge_changed.connect(lambda: count_knowledge(context))
        wishes.done.connect(self._tell)

    def _dropped(self, places: list[str]) -> None:
        """The library takes files; a page that is made by this hears of them now."""
        if "library" not in PAGES or self.context is None:
            return
        first = "library" not in self.pages
        self.show_page("library")
        if first:
            self.context.wishes.files_dropped.emit(places)

    def _run_wanted(self, run: str) -> None:
        """The runs page shows a run; a page that is made by this hears of it now."""
        first = "runs" not in self.pages
        self.show_page("runs")
        if first and "runs" in self.pages and self.context is not None:
            self.context.wishes.open_run.emit(run)

    def _tell(self, text: str) -> None:
        """A long job ended: say so where the window cannot be seen."""
        if self.isActiveWindow():
            return
        QApplication.alert(self)
        if QSystemTrayIcon.isSystemTrayAvailable():
            if self._tray is None:
                self._tray = QSystemTrayIcon(self.windowIcon(), self)
                self._tray.activated.connect(lambda _: self.come_forward())
                self._tray.messageClicked.connect(self.come_forward)
            self._tray.show()
            self._tray.showMessage(self.windowTitle(), text)

    # --- inside -------------------------------------------------------------------------

    def _rail(self) -> QFrame:
        rail = QFrame()
        rail.setProperty("role", "bar")
        rail.setFixedWidth(RAIL_WIDTH)
        column = QVBoxLayout(rail)
        column.setContentsMargins(10, 14, 10, 12)
        column.setSpacing(4)
        group = QButtonGroup(self)
        for name, page in PAGES.items():
            if name == "settings":
                column.addStretch(1)
            button = QPushButton(self.tr(page.title))
            button.setProperty("role", "nav")
            button.setCheckable(True)
            button.setIconSize(QSize(18, 18))
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.setAccessibleName(self.tr("Page: {}").format(page.title))
            button.setToolTip(f"{page.title} ({page.shortcut})")
            button.clicked.connect(lambda _=False, name=name: self.show_page(name))
            group.addButton(button)
            column.addWidget(button)
            self._buttons[name] = button
        if "settings" not in PAGES:
            column.addStretch(1)
        self._theme.changed.connect(self._icons)
        self._icons()
        return rail

    def _icons(self) -> None:
        for name, button in self._buttons.items():
            button.setIcon(self._theme.icon(PAGES[name].icon))

    def _shortcuts(self) -> None:
        theme = self._theme
        for name in PAGES:
            bind(self, f"page-{name}", lambda name=name: self.show_page(name))
        bind(self, "help", lambda: show_shortcuts(self))
        bind(self, "quit", self.close)
        bind(self, "larger", lambda: theme.choose(scale=theme.scale + 0.1))
        bind(self, "smaller", lambda: theme.choose(scale=theme.scale - 0.1))
        bind(self, "normal-size", lambda: theme.choose(scale=1.0))

    def _restore(self) -> None:
        if (geometry := self._state.value(RESTORED[0])) is not None:
            self.restoreGeometry(geometry)
        if (layout := self._state.value(RESTORED[1])) is not None:
            self.restoreState(layout)
