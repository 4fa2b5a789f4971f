"""The window as a whole: shortcuts, names, state, drops, themes, one instance, faults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from aether.gui.app import instance_name, listen, raise_running, report_crash
from aether.gui.pages import PAGES
from aether.gui.shortcuts import SHORTCUTS, keys
from tests.fakes.model_server import ModelServer, Reply
from tests.gui.conftest import Opener
from tests.gui.desk import Desk, shown_text


def test_the_table_of_shortcuts_is_true(desk: Desk) -> None:
    for name in PAGES:
        desk.window.show_page(name)
    desk.idle()
    bound = {
        action.objectName().removeprefix("shortcut-"): action.shortcut()
        for action in desk.window.findChildren(QAction)
        if action.objectName().startswith("shortcut-")
    }
    told = {s.name: QKeySequence(s.keys) for s in SHORTCUTS if s.bound}
    assert bound == told
    strays = [
        a.text()
        for a in desk.window.findChildren(QAction)
        if not a.shortcut().isEmpty()
        and not a.objectName().startswith("shortcut-")
        and not isinstance(a.parent(), QLineEdit | QTextEdit | QPlainTextEdit)
        and a.shortcutContext() != Qt.ShortcutContext.WidgetShortcut
    ]
    assert not strays


def test_no_two_shortcuts_share_a_key() -> None:
    """On one page; what holds in the whole window is on every page."""
    names = {page.title for page in PAGES.values()}
    for title in names:
        seen = [s.keys for s in SHORTCUTS if s.bound and s.area not in names - {title}]
        assert len(seen) == len(set(seen)), title


def test_f1_lists_them(desk: Desk) -> None:
    desk.key(Qt.Key.Key_F1)
    dialog = desk.window.findChild(QDialog)
    assert dialog is not None
    words = [label.text() for label in dialog.findChildren(QLabel)]
    for shortcut in SHORTCUTS:
        assert shortcut.what in words
        assert keys(shortcut.name) in words
    dialog.close()


def test_every_control_has_a_name(desk: Desk, model: ModelServer) -> None:
    model.replies = ["```python\nx = 1\n```\n\nWords [1]."]
    desk.ask("How do I connect AWS VPCs?")
    kinds = QAbstractButton | QLineEdit | QPlainTextEdit | QTextEdit | QAbstractItemView
    nameless = [
        f"{type(w).__name__} in {type(w.parentWidget()).__name__}"
        for w in desk.window.findChildren(QWidget)
        if isinstance(w, kinds) and w.isVisible() and w.focusPolicy() != Qt.FocusPolicy.NoFocus
        and not (w.accessibleName() or (isinstance(w, QAbstractButton) and w.text()))
    ]  # fmt: skip
    assert not nameless
    tipless = [
        w.accessibleName()
        for w in desk.window.findChildren(QAbstractButton)
        if w.isVisible() and not w.text() and not w.toolTip()
    ]
    assert not tipless


def test_tab_goes_through_the_whole_page(desk: Desk) -> None:
    desk.ask("How do I connect AWS VPCs?")
    desk.chat.composer.editor.setFocus()
    seen: list[QWidget] = []
    for _ in range(60):
        widget = desk.application.focusWidget()
        assert widget is not None
        if not seen or widget is not seen[-1]:
            seen.append(widget)
        desk.key(Qt.Key.Key_Tab)
    row = desk.turn.actions_row
    wanted = [
        desk.list.search, desk.list.new, desk.list.rows, desk.page.show_list,
        desk.page.show_inspector, desk.turn.question.edit, desk.turn.sources.lines, row.copy,
        row.up, row.explain, desk.chat.composer.editor, desk.inspector.tabBar(),
    ]  # fmt: skip
    start = seen.index(desk.list.search)
    places = [seen.index(w, start) for w in wanted]
    assert places == sorted(places)


def test_drafts_and_places_are_kept(open_desk: Opener, model: ModelServer) -> None:
    desk = open_desk(model)
    desk.window.resize(QSize(860, 650))
    desk.ask("How do I connect AWS VPCs?")
    desk.write("half a question")
    desk.ctrl(Qt.Key.Key_I)
    desk.close()
    again = open_desk(model)
    again.until(lambda: again.chat.transcript.turns, "the conversation")
    assert again.chat.composer.text == "half a question"
    assert again.window.size() == QSize(860, 650)
    assert again.inspector.isHidden()
    assert "A short answer" in shown_text(again.turn)


def test_each_conversation_has_its_own_draft(desk: Desk) -> None:
    desk.ask("How do I connect AWS VPCs?")
    first = desk.chat.conversation
    desk.write("draft one")
    desk.ctrl(Qt.Key.Key_N)
    assert desk.chat.composer.text == ""
    desk.write("draft two")
    desk.chat.open(first)
    assert desk.chat.composer.text == "draft one"
    desk.ctrl(Qt.Key.Key_N)
    assert desk.chat.composer.text == "draft two"


def test_the_first_start_shows_a_way_in(desk: Desk, model: ModelServer) -> None:
    desk.idle()
    welcome = desk.chat.welcome
    assert welcome.isVisible()
    assert "gemma" in welcome.server.text()
    assert len(welcome.examples) == 3
    desk.click(welcome.examples[0])
    desk.answered()
    assert desk.turn.question.text.text() == welcome.examples[0].text()
    assert not welcome.isVisible()


def test_light_dark_and_size(desk: Desk) -> None:
    assert desk.window.context is not None
    theme = desk.window.context.theme
    theme.choose("light")
    light = desk.window.grab().toImage().pixelColor(160, 400)
    theme.choose("dark")
    dark = desk.window.grab().toImage().pixelColor(160, 400)
    assert light.lightness() > 200
    assert dark.lightness() < 60
    size = QApplication.font().pointSizeF()
    desk.ctrl(Qt.Key.Key_Plus)
    assert QApplication.font().pointSizeF() == pytest.approx(size * 1.1, rel=0.02)
    desk.ctrl(Qt.Key.Key_0)
    assert QApplication.font().pointSizeF() == pytest.approx(size, rel=0.02)
    theme.choose("system")


def test_a_second_start_brings_the_first_forward(desk: Desk, tmp_path: Path) -> None:
    name = instance_name(tmp_path)
    assert not raise_running(name)
    server = listen(name, desk.window)
    desk.window.showMinimized()
    socket = QLocalSocket()
    socket.connectToServer(name)
    desk.until(lambda: not desk.window.isMinimized(), "the window in front")
    socket.disconnectFromServer()
    server.close()
    assert instance_name(tmp_path) != instance_name(tmp_path / "other")


def test_a_fault_of_ours_is_shown_with_its_log(
    qapp: QApplication, tmp_path: Path, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    from PySide6.QtCore import QTimer

    seen: list[str] = []

    def close_box() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        seen.append(box.informativeText())
        box.accept()

    try:
        raise ZeroDivisionError("by zero")
    except ZeroDivisionError:
        kind, error, trace = sys.exc_info()
        QTimer.singleShot(50, close_box)
        assert kind is not None
        assert error is not None
        report_crash(tmp_path, kind, error, trace)
    assert str(tmp_path / "logs" / "crash.log") in seen[0]
    assert "ZeroDivisionError" in (tmp_path / "logs" / "crash.log").read_text(encoding="utf-8")
    assert "by zero" in capsys.readouterr().err


def test_dropped_files_go_to_the_library(desk: Desk, tmp_path: Path) -> None:
    heard: list[list[str]] = []
    assert desk.window.context is not None
    desk.window.context.wishes.files_dropped.connect(heard.append)
    file = tmp_path / "note.md"
    file.write_text("# A note\n\nAbout routers.\n", encoding="utf-8")
    desk.drop(desk.window, [str(file)])
    desk.window.show_page("ask")
    desk.drop(desk.chat.composer.editor.viewport(), [str(file)])
    assert heard
    assert all(places == [str(file)] for places in heard)
    assert desk.chat.composer.text == ""
    desk.idle()


def test_pages_are_in_reach_by_key(desk: Desk) -> None:
    for name, page in PAGES.items():
        action = desk.window.findChild(QAction, f"shortcut-page-{name}")
        assert isinstance(action, QAction)
        assert action.shortcut() == QKeySequence(page.shortcut)
        action.trigger()
        desk.settle()
        assert desk.window.stack.currentWidget() is desk.window.pages[name]
    desk.idle()


def test_a_page_may_put_a_question(desk: Desk) -> None:
    assert desk.window.context is not None
    desk.window.context.wishes.ask_question.emit("What is a VLAN?", "network_architect")
    desk.answered()
    assert desk.turn.exchange.agent == "network_architect"
    assert desk.window.stack.currentWidget() is desk.page


def test_an_answer_that_ends_behind_is_told(desk: Desk, model: ModelServer) -> None:
    heard: list[str] = []
    assert desk.window.context is not None
    desk.window.context.wishes.done.connect(heard.append)
    model.replies = [Reply("one two", hold_after=1)]
    desk.ask("How do I connect AWS VPCs?", wait=False)
    desk.until(lambda: "one" in shown_text(desk.turn), "a word")
    desk.window.hide()
    model.release()
    desk.until(lambda: bool(heard), "the notice")
    desk.window.show()


def test_closing_at_once_is_clean(open_desk: Opener, model: ModelServer) -> None:
    for _ in range(3):
        open_desk(model).close()


def test_closing_while_a_server_is_silent_is_clean(open_desk: Opener, model: ModelServer) -> None:
    model.replies = [Reply("late", delay_s=30)]
    desk = open_desk(model)
    desk.ask("How do I connect AWS VPCs?", wait=False)
    desk.until(lambda: bool(model.requests), "the request")
    desk.close()
    assert model.requests[0].closed.wait(10)


def test_a_narrow_window_gives_way(desk: Desk) -> None:
    desk.window.resize(QSize(860, 650))
    desk.settle()
    assert desk.list.isVisible()
    assert desk.inspector.isHidden()
    desk.ask("How do I connect AWS VPCs?")
    desk.click_link(desk.turn.sources.lines, "[1]")
    assert desk.inspector.isVisible()
    assert desk.list.isHidden()
    desk.ctrl(Qt.Key.Key_B)
    assert desk.list.isVisible()
    assert desk.inspector.isHidden()
    desk.window.resize(QSize(1300, 700))
    desk.settle()
    assert desk.list.isVisible()
    assert desk.inspector.isVisible()
