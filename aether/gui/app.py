"""Starts the window: one instance, one theme, a crash dialog, and a clean end.

The window is shown before anything heavy is imported; torch, LanceDB and the model load behind it.
"""

from __future__ import annotations

import getpass
import hashlib
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QLibraryInfo, QLocale, QSettings, Qt, QTranslator
from PySide6.QtGui import QIcon
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication, QMessageBox

from aether import __version__
from aether.gui.theme import ICONS, Theme
from aether.gui.window import MainWindow

if TYPE_CHECKING:
    from aether.engine import Engine
    from aether.settings import Settings


def run(settings: Settings) -> int:
    """Open the window and stay until it is closed; returns the exit status."""
    application = make_application()
    name = instance_name(settings.home)
    if raise_running(name):
        return 0
    settings.home.mkdir(parents=True, exist_ok=True)
    sys.excepthook = lambda kind, error, trace: report_crash(settings.home, kind, error, trace)
    window, server = open_window(application, settings.home, name, lambda: _engine(settings))
    status = application.exec()
    server.close()
    window.deleteLater()
    return status


def _engine(settings: Settings) -> Engine:
    from aether.engine import Engine

    return Engine(settings)


def make_application() -> QApplication:
    """The one QApplication, named and styled the same on every platform."""
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        application = QApplication(["aether"])
    application.setApplicationName("Aether")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("aether")
    application.setStyle("Fusion")
    application.setWindowIcon(QIcon(str(ICONS / "aether.svg")))
    translator = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(QLocale(), "qtbase", "_", folder):
        application.installTranslator(translator)
    return application


def open_window(
    application: QApplication, home: Path, name: str, make_engine: Callable[[], Engine]
) -> tuple[MainWindow, QLocalServer]:
    """Show the window, then build what it needs; `make_engine` imports what is heavy."""
    state = QSettings(str(home / "window.ini"), QSettings.Format.IniFormat)
    theme = Theme(application, state)
    window = MainWindow(theme, state)
    server = listen(name, window)
    window.show()
    application.processEvents()
    engine = make_engine()
    from aether.gui.context import Context, Wishes
    from aether.gui.tasks import Tasks

    tasks, wishes = Tasks(), Wishes()
    wishes.waiting.connect(wishes.say)
    engine.notify = lambda text: tasks.bridge.post(lambda: wishes.waiting.emit(text))
    window.furnish(Context(engine, tasks, theme, state, wishes))
    return window, server


def instance_name(home: Path) -> str:
    """A name for this person and this user folder; another folder may run beside it."""
    digest = hashlib.sha256(f"{getpass.getuser()}:{home.resolve()}".encode()).hexdigest()
    return f"aether-{digest[:16]}"


def raise_running(name: str) -> bool:
    """Ask a running Aether to come to the front; True where there is one."""
    socket = QLocalSocket()
    socket.connectToServer(name)
    found = socket.waitForConnected(300)
    if found:
        socket.disconnectFromServer()
    return found


def listen(name: str, window: MainWindow) -> QLocalServer:
    """Come to the front when a second start knocks."""
    QLocalServer.removeServer(name)
    server = QLocalServer(window)
    server.newConnection.connect(lambda: _knocked(server, window))
    server.listen(name)
    return server


def _knocked(server: QLocalServer, window: MainWindow) -> None:
    if socket := server.nextPendingConnection():
        socket.disconnected.connect(socket.deleteLater)
    window.come_forward()


def report_crash(
    home: Path, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Write the traceback to the log and say where it is; the window goes on."""
    text = "".join(traceback.format_exception(kind, error, trace))
    path = home / "logs" / "crash.log"
    stamp = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as log:
            log.write(f"--- {stamp} aether {__version__}\n{text}\n")
        where = f"The log is in {path}."
    except OSError:
        where = "The log could not be written."
    sys.stderr.write(text)
    box = QMessageBox(QMessageBox.Icon.Warning, "Aether", "Something went wrong inside Aether.")
    box.setInformativeText(f"{error}\n\n{where} Your work so far is kept.")
    box.setDetailedText(text)
    box.exec()
