"""Shared fixtures of the window: a real window over a real engine, and a check for leaks.

Fakes stand at the doors only: a scripted model server over HTTP, and an embedder without torch.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, QtMsgType
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from aether.engine import Engine
from aether.gui.app import make_application
from aether.settings import load_settings
from tests.fakes.embedder import WordEmbedder
from tests.fakes.model_server import ModelServer
from tests.gui.desk import Desk

# what the headless platform says of itself, and what Chromium says without a graphics card
QUIET = re.compile(
    r"This plugin does not support|QRhiGles2|Failed to create RHI|GPUInfo|Vulkan|GBM is not"
    r"|Sandboxing disabled"
)
NOBODY = "http://127.0.0.1:9/v1"  # nothing listens there

Opener = Callable[..., Desk]


@pytest.fixture(scope="session")
def qapp() -> QApplication:
    """The application as the program makes it."""
    return make_application()


@pytest.fixture(autouse=True)
def _no_warnings(qtlog: object) -> Iterator[None]:
    """Qt has nothing to complain about."""
    yield
    loud = [
        record.message
        for record in qtlog.records  # type: ignore[attr-defined]
        if record.type in (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg)
        and not QUIET.search(record.message)
    ]
    assert not loud, loud


@pytest.fixture(autouse=True)
def _no_leaks(qapp: QApplication) -> Iterator[None]:
    """A test leaves no thread, no running timer and no window behind."""
    threads = set(threading.enumerate())
    gc.freeze()  # what is older is not looked at again: torch alone brings a million objects
    yield
    settle()
    extra = [t.name for t in threading.enumerate() if t not in threads]
    assert not extra, f"threads left: {extra}"
    left = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
    assert not left, f"windows left: {left}"
    late = running_timers()
    assert not late, f"timers left: {late}"


class Watch(QObject):
    """Notes every window that comes up, save those that a test names `stage`."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            kind = watched.windowType()
            calm = (Qt.WindowType.Popup, Qt.WindowType.ToolTip, Qt.WindowType.Dialog)
            on_purpose = isinstance(watched, QMainWindow) or watched.objectName() == "stage"
            if kind not in calm and not on_purpose:
                self.seen.append(f"{type(watched).__name__} {watched.accessibleName()}")
        return False


@pytest.fixture(autouse=True)
def _no_flashes(qapp: QApplication) -> Iterator[None]:
    """No part of the window comes up as a window of its own."""
    watch = Watch()
    qapp.installEventFilter(watch)
    yield
    qapp.removeEventFilter(watch)
    assert not watch.seen, watch.seen


def settle() -> None:
    """Let everything that is to be deleted go."""
    for _ in range(3):
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()


def running_timers() -> set[str]:
    """Timers made since the last `gc.freeze` that still run, by what they belong to.

    By `type`, not `isinstance`: the latter asks an object for its class, and some warn at that.
    """
    return {
        f"{type(timer.parent()).__name__} every {timer.interval()} ms"
        for timer in gc.get_objects()
        if issubclass(type(timer), QTimer) and shiboken6.isValid(timer) and timer.isActive()
    }


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user folder with the starter notes and the fitted examples, made once."""
    home = tmp_path_factory.mktemp("seeded")
    engine = Engine(load_settings({"home": str(home), "web.enabled": "false"}))
    vars(engine)["embedder"] = WordEmbedder()
    engine.seed()
    assert engine.lexicon
    engine.close()
    return home


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model server; give it `replies`."""
    with ModelServer(["A short answer [1]."], flavour="lmstudio") as server:
        yield server


@pytest.fixture
def open_desk(qapp: QApplication, home: Path, seeded: Path) -> Iterator[Opener]:
    """Open the window, as often as a test wants to; each is closed at the end.

    `server` answers; `threshold` is low, so that the first expert's answer passes.
    """
    desks: list[Desk] = []

    def opened(server: ModelServer | None = None, threshold: float = 0.05, **settings: str) -> Desk:
        if not (home / "kb").exists():
            shutil.copytree(seeded, home, dirs_exist_ok=True)
        flags = {
            "llm.base_url": server.url if server else NOBODY,
            "web.enabled": "false",
            "confidence.threshold": str(threshold),
            **{key.replace("__", "."): value for key, value in settings.items()},
        }
        engine = Engine(load_settings(flags))
        vars(engine)["embedder"] = WordEmbedder()
        desk = Desk(qapp, engine)
        desks.append(desk)
        return desk

    yield opened
    for desk in desks:
        desk.close()


@pytest.fixture
def desk(open_desk: Opener, model: ModelServer) -> Desk:
    """A window over the scripted model."""
    return open_desk(model)
