"""What every page is handed: the engine to ask, the tasks to ask it on, the theme to look like.

Pages never build any of these, and never touch the engine outside `tasks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, Signal

if TYPE_CHECKING:
    from pathlib import Path

    from aether.engine import Engine
    from aether.gui.tasks import Tasks
    from aether.gui.theme import Theme


class Wishes(QObject):
    """What pages ask of the window and of each other."""

    show_page = Signal(str)
    say = Signal(str)  # a passing line in the status bar
    waiting = Signal(str)  # what the engine waits for: a server that starts, notes that are read
    done = Signal(str)  # a long job has ended: told also where the window is hidden
    prompt_built = Signal(object)  # events.Built: the context meter
    retrieved = Signal(object)  # events.Retrieved: how web and knowledge base did
    run_finished = Signal(object)  # records.Run
    files_dropped = Signal(list)  # paths and links, dropped anywhere
    ask_question = Signal(str, str)  # text, expert id: put a question to the ask page
    open_run = Signal(str)  # a run id, shown on the runs page
    experts_changed = Signal()  # manifests were edited and loaded again
    knowledge_changed = Signal()
    knowledge_counted = Signal(object)  # what the store says of itself, or an AetherError
    look_for_server = Signal()
    settings_changed = Signal()
    purged = Signal(str)  # conversations, runs, feedback or cache: that history was deleted
    server_changed = Signal(object)  # records.ModelInfo, or an AetherError


@dataclass(frozen=True, slots=True)
class Context:
    """The shared things of one window."""

    engine: Engine
    tasks: Tasks
    theme: Theme
    state: QSettings  # window state and drafts, an INI file in the user folder
    wishes: Wishes

    @property
    def home(self) -> Path:
        """The user folder."""
        return self.engine.settings.home
