"""The composer: experts on @, earlier questions, lines."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.fakes.model_server import ModelServer, Reply
from tests.gui.desk import Desk, shown_text


def test_at_offers_experts(desk: Desk) -> None:
    desk.idle()
    editor = desk.chat.composer.editor
    desk.write("@sdw")
    assert editor.offers.isVisible()
    first = editor.offers.model().index(0, 0).data()
    assert first.startswith("sdwan_wan_specialist")
    desk.key(Qt.Key.Key_Return, editor.offers)
    assert desk.chat.composer.text == "@sdwan_wan_specialist "
    assert not editor.offers.isVisible()
    desk.ask("What is a hub?")
    assert desk.turn.exchange.route is not None
    assert desk.turn.exchange.route.pass_ == "pinned"
    assert desk.turn.exchange.route.agent == "sdwan_wan_specialist"


def test_an_at_inside_the_question_offers_nothing(desk: Desk) -> None:
    desk.idle()
    desk.write("mail me @home")
    assert not desk.chat.composer.editor.offers.isVisible()


def test_arrow_up_brings_questions_back(desk: Desk) -> None:
    desk.ask("How do I connect AWS VPCs?")
    desk.ask("And across AWS accounts?")
    desk.write("half")
    editor = desk.chat.composer.editor
    desk.key(Qt.Key.Key_Up, editor)
    assert desk.chat.composer.text == "And across AWS accounts?"
    desk.key(Qt.Key.Key_Up, editor)
    assert desk.chat.composer.text == "How do I connect AWS VPCs?"
    desk.key(Qt.Key.Key_Up, editor)
    assert desk.chat.composer.text == "How do I connect AWS VPCs?"
    desk.key(Qt.Key.Key_Down, editor)
    desk.key(Qt.Key.Key_Down, editor)
    assert desk.chat.composer.text == "half"


def test_arrows_move_inside_a_long_question(desk: Desk) -> None:
    desk.ask("How do I connect AWS VPCs?")
    desk.write("one")
    editor = desk.chat.composer.editor
    desk.key(Qt.Key.Key_Return, editor, Qt.KeyboardModifier.ShiftModifier)
    desk.write("two")
    desk.key(Qt.Key.Key_Up, editor)
    assert desk.chat.composer.text == "one\ntwo"
    desk.key(Qt.Key.Key_Up, editor)
    assert desk.chat.composer.text == "How do I connect AWS VPCs?"


def test_it_grows_with_the_question(desk: Desk) -> None:
    editor = desk.chat.composer.editor
    one = editor.height()
    for _ in range(4):
        desk.key(Qt.Key.Key_Return, editor, Qt.KeyboardModifier.ShiftModifier)
    assert editor.height() > one * 2
    for _ in range(30):
        desk.key(Qt.Key.Key_Return, editor, Qt.KeyboardModifier.ShiftModifier)
    assert editor.height() < one * 12


def test_nothing_is_sent_while_nothing_is_written(desk: Desk, model: ModelServer) -> None:
    assert not desk.chat.composer.send.isEnabled()
    desk.write("   ")
    desk.key(Qt.Key.Key_Return, desk.chat.composer.editor)
    assert not desk.chat.transcript.turns
    assert not model.requests


def test_return_does_not_send_while_an_answer_is_written(desk: Desk, model: ModelServer) -> None:
    model.replies = [Reply("one two", hold_after=1)]
    desk.ask("How do I connect AWS VPCs?", wait=False)
    desk.until(lambda: "one" in shown_text(desk.turn), "a word")
    desk.write("the next question")
    desk.key(Qt.Key.Key_Return, desk.chat.composer.editor)
    assert len(desk.chat.transcript.turns) == 1
    assert desk.chat.composer.text == "the next question"
    model.release()
    desk.answered()


def test_pasted_words_are_plain(desk: Desk) -> None:
    from PySide6.QtCore import QMimeData

    mime = QMimeData()
    mime.setHtml("<h1>Big</h1>")
    mime.setText("Big")
    desk.chat.composer.editor.insertFromMimeData(mime)
    assert desk.chat.composer.text == "Big"
    QTest.keyClick(desk.chat.composer.editor, Qt.Key.Key_Backspace)
    assert desk.chat.composer.text == "Bi"


def test_the_web_switch_follows_the_settings(desk: Desk) -> None:
    from aether.settings import WebSettings

    assert desk.window.context is not None
    web = desk.chat.composer.web
    assert not web.isEnabled()
    assert "switched off" in web.toolTip()
    assert "switched off" in desk.chat.welcome.offline.text()
    settings = desk.engine.settings.model_copy(update={"web": WebSettings(enabled=True)})
    desk.engine.settings = settings
    desk.window.context.wishes.settings_changed.emit()
    assert web.isEnabled()
    assert web.isChecked()
    assert "switched off" not in desk.chat.welcome.offline.text()
    desk.click(web)
    assert desk.chat.composer.offline
    desk.idle()
