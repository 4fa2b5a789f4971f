"""The journey of a question through the window."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt

from aether.gui.phrases import tr
from tests.fakes.model_server import ModelServer, Reply
from tests.gui.conftest import Opener
from tests.gui.desk import Desk, shown_text

ANSWER = "Attach each VPC to the transit gateway [1]. Share it with AWS RAM [2]."


def test_a_question_is_answered_with_its_sources(desk: Desk, model: ModelServer) -> None:
    model.replies = [ANSWER]
    desk.ask("How do I connect AWS VPCs with a transit gateway?")
    assert "Attach each VPC to the transit gateway [1]" in shown_text(desk.turn)
    assert desk.turn.name.text() == "AWS specialist"
    assert desk.turn.phase.text().startswith("Answered in")
    assert desk.turn.sources.lines.toPlainText().startswith("[1] ")
    assert desk.turn.ladder.lit == {"aws_specialist": "answered"}
    assert desk.turn.actions_row.explain.text().startswith("Confidence 0.")
    assert desk.turn.notice.isHidden()
    assert desk.chat.composer.text == ""


def test_the_answer_streams_and_stop_keeps_what_came(desk: Desk, model: ModelServer) -> None:
    model.replies = [Reply("one two three four five six", hold_after=3)]
    desk.ask("How do I connect AWS VPCs?", wait=False)
    desk.until(lambda: "three" in shown_text(desk.turn), "three words")
    assert desk.turn.running
    assert desk.chat.composer.send.isHidden()
    desk.click(desk.chat.composer.halt)
    desk.answered()
    assert shown_text(desk.turn) == "one two three"
    assert desk.turn.notice.what.text() == "Stopped"
    assert "kept" in desk.turn.notice.advice.text()
    assert desk.chat.composer.send.isVisible()
    assert model.requests[0].closed.wait(10), "the server goes on writing"


def test_escape_stops_too(desk: Desk, model: ModelServer) -> None:
    model.replies = [Reply("one two three four", hold_after=2)]
    desk.ask("How do I connect AWS VPCs?", wait=False)
    desk.until(lambda: "two" in shown_text(desk.turn), "two words")
    desk.key(Qt.Key.Key_Escape)
    desk.answered()
    assert desk.turn.exchange.run is not None
    assert desk.turn.exchange.run.outcome == "cancelled"


def test_closing_in_mid_stream_keeps_the_text(
    open_desk: Opener, model: ModelServer, home: Path
) -> None:
    model.replies = [Reply("one two three four", hold_after=2)]
    desk = open_desk(model)
    desk.ask("How do I connect AWS VPCs?", wait=False)
    desk.until(lambda: "two" in shown_text(desk.turn), "two words")
    desk.close()  # the leak check sees to the threads
    again = open_desk(model)
    again.until(lambda: again.chat.transcript.turns, "the conversation")
    again.settle()
    assert shown_text(again.turn) == "one two"
    assert again.turn.notice.what.text() == "Stopped"
    assert again.turn.notice.retry.isVisible()


def test_a_server_killed_in_mid_answer_leaves_the_text_and_a_retry(
    desk: Desk, model: ModelServer
) -> None:
    model.replies = [Reply("one two three four", cut_after=2), "A whole answer [1]."]
    desk.ask("How do I connect AWS VPCs?")
    assert "one two" in shown_text(desk.turn)
    assert "broke in the middle" in desk.turn.notice.what.text()
    assert "kept" in desk.turn.notice.advice.text()
    desk.click(desk.turn.notice.retry)
    desk.answered()
    assert len(desk.chat.transcript.turns) == 1
    assert "A whole answer [1]." in shown_text(desk.turn)
    assert desk.turn.notice.isHidden()


def test_no_model_at_all_is_said_with_advice(open_desk: Opener) -> None:
    desk = open_desk(None)
    desk.idle()
    assert desk.window.statusBar().model.text() == "No model"
    assert desk.chat.welcome.again.isVisible()
    desk.ask("How do I connect AWS VPCs?")
    assert desk.turn.notice.isVisible()
    assert desk.turn.notice.retry.isVisible()
    assert desk.turn.notice.what.text()
    assert "What the sources say" in shown_text(desk.turn)


def test_a_server_that_starts_late_is_found_again(open_desk: Opener, model: ModelServer) -> None:
    model.stop()
    desk = open_desk(model)
    desk.idle()
    assert desk.chat.welcome.again.isVisible()
    model.start()
    desk.click(desk.chat.welcome.again)
    desk.idle()
    assert desk.chat.welcome.again.isHidden()
    assert "gemma-3-4b-it" in desk.chat.welcome.server.text()


def test_the_climb_is_seen(open_desk: Opener, model: ModelServer) -> None:
    model.replies = ["Nothing is cited here, 10.0.0.0/8 is large."]
    desk = open_desk(model, threshold=0.95)
    desk.ask("How do I connect AWS VPCs with a transit gateway?")
    lit = desk.turn.ladder.lit
    assert list(lit)[:3] == ["aws_specialist", "cloud_architect", "enterprise_architect"]
    assert "tried" in lit.values()
    assert "stopped" in lit.values()
    assert desk.turn.notice.what.text() == "Low confidence"
    assert desk.inspector.why.climb.isVisible()
    assert len(desk.inspector.why.climb.text().splitlines()) == 3
    assert "AWS specialist" in desk.turn.ladder.accessibleDescription()


def test_a_question_outside_the_field_is_refused(desk: Desk, model: ModelServer) -> None:
    desk.ask("Which wine goes with roast lamb?")
    assert "outside my field" in shown_text(desk.turn)
    assert desk.turn.phase.text() == tr("Outside the field")
    assert not model.requests


def test_regenerate_replaces_the_last_answer(desk: Desk, model: ModelServer, home: Path) -> None:
    model.replies = ["The first answer [1].", "The second answer [1]."]
    desk.ask("How do I connect AWS VPCs?")
    desk.click(desk.turn.actions_row.again)
    desk.answered()
    assert len(desk.chat.transcript.turns) == 1
    assert "The second answer" in shown_text(desk.turn)
    desk.idle()
    assert desk.list.model.rows[1].conversation is not None
    assert desk.list.model.rows[1].conversation.exchanges == 1


def test_edit_and_resend(desk: Desk, model: ModelServer) -> None:
    model.replies = ["The first answer [1].", "Another answer [1]."]
    desk.ask("How do I connect AWS VPCs?")
    desk.click(desk.turn.question.edit)
    assert desk.chat.composer.text == "How do I connect AWS VPCs?"
    assert desk.chat.composer.hint.isVisible()
    desk.ask(" And with peering?")
    assert len(desk.chat.transcript.turns) == 1
    assert desk.turn.question.text.text() == "How do I connect AWS VPCs? And with peering?"
    assert "Another answer" in shown_text(desk.turn)
    assert desk.chat.composer.hint.isHidden()


def test_escape_gives_the_edit_up(desk: Desk) -> None:
    desk.ask("How do I connect AWS VPCs?")
    desk.click(desk.turn.question.edit)
    desk.key(Qt.Key.Key_Escape)
    assert desk.chat.composer.text == ""
    assert desk.chat.composer.hint.isHidden()
    assert len(desk.chat.transcript.turns) == 1


def test_another_expert_answers_beside_the_first(desk: Desk, model: ModelServer) -> None:
    desk.ask("How do I connect AWS VPCs?")
    menu = desk.turn.actions_row.expert.menu()
    action = next(a for a in menu.actions() if a.text().strip() == "Cloud architect")
    action.trigger()
    desk.answered()
    assert len(desk.chat.transcript.turns) == 2
    assert desk.turn.exchange.agent == "cloud_architect"
    assert desk.turn.name.text() == "Cloud architect"
    assert desk.inspector.why.reason.text().startswith("You chose this expert.")


def test_copy_as_markdown(desk: Desk, model: ModelServer) -> None:
    model.replies = ["## Steps\n\n- **one** [1]\n"]
    desk.ask("How do I connect AWS VPCs?")
    desk.click(desk.turn.actions_row.copy)
    assert desk.clipboard.startswith("## Steps\n\n- **one** [1]")


def test_a_thumb_with_because_is_kept(open_desk: Opener, model: ModelServer, home: Path) -> None:
    desk = open_desk(model)
    desk.ask("How do I connect AWS VPCs?")
    desk.click(desk.turn.actions_row.down)
    assert desk.turn.actions_row.because.isVisible()
    desk.turn.actions_row.because.setText("it left the firewall out")
    desk.key(Qt.Key.Key_Return, desk.turn.actions_row.because)
    desk.idle()
    lines = (home / "feedback.jsonl").read_text(encoding="utf-8").splitlines()
    last = json.loads(lines[-1])
    assert desk.turn.exchange.run is not None
    assert (last["run"], last["verdict"]) == (desk.turn.exchange.run.run, "down")
    assert last["because"] == "it left the firewall out"
    desk.close()
    again = open_desk(model)
    again.until(lambda: again.chat.transcript.turns, "the conversation")
    assert again.turn.actions_row.down.isChecked()


def test_a_follow_up_carries_the_last_turn(desk: Desk, model: ModelServer) -> None:
    model.replies = ["Use a transit gateway [1].", "Yes [1]."]
    desk.ask("How do I connect AWS VPCs?")
    desk.ask("And across accounts in AWS?")
    assert "Use a transit gateway" in model.requests[1].prompt


def test_an_answer_goes_on_while_another_conversation_is_open(
    desk: Desk, model: ModelServer
) -> None:
    model.replies = [Reply("one two three four", hold_after=2)]
    desk.ask("How do I connect AWS VPCs?", wait=False)
    desk.until(lambda: "two" in shown_text(desk.turn), "two words")
    first = desk.chat.conversation
    desk.chat.open("")
    assert desk.chat.composer.send.isVisible()
    desk.chat.open(first)
    desk.until(lambda: desk.chat.transcript.turns, "the answer under way")
    assert "one two" in shown_text(desk.turn)
    model.release()
    desk.answered()
    assert "one two three four" in shown_text(desk.turn)


def test_what_the_engine_waits_for_is_said_at_the_answer(desk: Desk, model: ModelServer) -> None:
    model.replies = [Reply("late words", delay_s=30)]
    desk.ask("How do I connect AWS VPCs?", wait=False)
    desk.until(lambda: bool(model.requests), "the request")
    desk.engine.notify("the model server is still loading")
    desk.until(lambda: "still loading" in desk.turn.phase.text(), "the reason")
    assert desk.said == "The model server is still loading"
    desk.key(Qt.Key.Key_Escape)
    desk.answered()
