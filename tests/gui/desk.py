"""What a person does at the window, and what a person sees there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QEventLoop, QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QToolTip, QWidget

from aether.engine import Engine
from aether.gui.app import open_window
from aether.gui.chat import Chat
from aether.gui.conversation_list import ConversationList
from aether.gui.inspector import Inspector
from aether.gui.pages.ask import AskPage
from aether.gui.prose import Prose
from aether.gui.turn import Turn


class Desk:
    """One open window; the names are the parts that a person would point at."""

    def __init__(self, application: QApplication, engine: Engine) -> None:
        self.application = application
        self.engine = engine
        home = engine.settings.home
        home.mkdir(parents=True, exist_ok=True)
        self.window, self.server = open_window(
            application, home, f"aether-test-{id(self)}", lambda: engine
        )
        self._open = True
        self.window.activateWindow()
        self.until(self.window.isActiveWindow, "the window in front")

    # --- parts --------------------------------------------------------------------------

    @property
    def page(self) -> AskPage:
        page = self.window.pages["ask"]
        assert isinstance(page, AskPage)
        return page

    @property
    def chat(self) -> Chat:
        return self.page.chat

    @property
    def list(self) -> ConversationList:
        return self.page.list

    @property
    def inspector(self) -> Inspector:
        return self.page.inspector

    @property
    def turn(self) -> Turn:
        """The newest exchange."""
        turn = self.chat.transcript.last
        assert turn is not None
        return turn

    @property
    def titles(self) -> list[str]:
        """The conversations as listed, with their headings."""
        rows = self.list.model.rows
        return [r.conversation.title if r.conversation else f"-- {r.heading}" for r in rows]

    # --- doing --------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Type into the composer."""
        self.chat.composer.editor.setFocus()
        QTest.keyClicks(self.chat.composer.editor, text)

    def ask(self, text: str, wait: bool = True) -> None:
        """Type a question and press Return; wait for the end of the answer unless told not to."""
        self.write(text)
        self.key(Qt.Key.Key_Return, self.chat.composer.editor)
        if wait:
            self.answered()

    def key(
        self,
        key: Qt.Key,
        widget: QWidget | None = None,
        modifiers: Any = Qt.KeyboardModifier.NoModifier,
    ) -> None:
        """Press a key where the focus is, or in `widget`."""
        QTest.keyClick(widget or self.application.focusWidget() or self.window, key, modifiers)
        self.settle()

    def ctrl(self, key: Qt.Key, more: Any = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key with Ctrl."""
        self.key(key, None, Qt.KeyboardModifier.ControlModifier | more)

    def click(self, button: QAbstractButton) -> None:
        """Click a button that can be seen."""
        assert button.isVisible(), button.accessibleName() or button.text()
        assert button.isEnabled(), button.accessibleName() or button.text()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        self.settle()

    def click_link(self, prose: Prose, words: str) -> None:
        """Click a link by its words."""
        place = link_place(prose, words)
        QTest.mouseClick(prose.viewport(), Qt.MouseButton.LeftButton, pos=place)
        self.settle()

    def point_at(self, prose: Prose, words: str) -> None:
        """Move the pointer over a link."""
        QTest.mouseMove(prose.viewport(), QPoint(1, 1))
        QTest.mouseMove(prose.viewport(), link_place(prose, words))
        self.settle()

    def drop(self, widget: QWidget, paths: list[str]) -> None:
        """Drop files or links on a widget."""
        mime = QMimeData()
        mime.setUrls([QUrl(p) if "://" in p else QUrl.fromLocalFile(p) for p in paths])
        none = Qt.KeyboardModifier.NoModifier
        left, copy = Qt.MouseButton.LeftButton, Qt.DropAction.CopyAction
        enter = QDragEnterEvent(QPoint(5, 5), copy, mime, left, none)
        QApplication.sendEvent(widget, enter)
        assert enter.isAccepted(), "files are not welcome here"
        drop = QDropEvent(QPointF(5, 5), copy, mime, left, none, QEvent.Type.Drop)
        QApplication.sendEvent(widget, drop)
        self.settle()

    # --- waiting and seeing ---------------------------------------------------------------

    def until(self, condition: Callable[[], Any], what: str = "", seconds: float = 60.0) -> None:
        """Let the window live until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"never came: {what or condition}"
            loop = QEventLoop()
            QTimer.singleShot(5, loop, loop.quit)
            loop.exec()

    def answered(self) -> None:
        """Wait for the end of the newest answer."""
        self.until(lambda: self.chat.transcript.last is not None, "an exchange")
        self.until(lambda: not self.turn.running, "the end of the answer")
        self.settle()

    def idle(self) -> None:
        """Wait until nothing is under way."""
        assert self.window.context is not None
        tasks = self.window.context.tasks
        self.until(lambda: not tasks.busy, "idleness")
        self.settle()

    def settle(self) -> None:
        """Let what was asked for happen."""
        for _ in range(3):
            self.application.processEvents()

    @property
    def clipboard(self) -> str:
        return QGuiApplication.clipboard().text()

    @property
    def tip(self) -> str:
        return QToolTip.text() if QToolTip.isVisible() else ""

    @property
    def said(self) -> str:
        """The passing line of the status bar."""
        return self.window.statusBar().currentMessage()

    def close(self) -> None:
        """Close the window, as its frame's button does."""
        if self._open:
            self._open = False
            QToolTip.hideText()
            self.window.close()
            self.server.close()
            self.window.deleteLater()


def shown_text(turn: Turn) -> str:
    """Everything that the answer shows, as plain text."""
    words: list[str] = []
    for part in turn.answer.parts:
        words.append(part.toPlainText() if isinstance(part, Prose) else getattr(part, "text", ""))
    return "\n".join(str(w) for w in words)


def link_place(prose: Prose, words: str) -> QPoint:
    """Where the words of a link stand."""
    cursor = prose.document().find(words)
    assert not cursor.isNull(), f"{words!r} is not in {prose.toPlainText()!r}"
    cursor.setPosition(cursor.selectionStart() + 1)
    place = prose.cursorRect(cursor).center() + QPoint(2, 4)  # the line has room above its words
    assert prose.anchorAt(place), f"{words!r} is no link"
    return place
