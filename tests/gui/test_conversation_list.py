"""The list of conversations: grouped, searched, renamed, pinned, deleted, brought back."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from aether.gui.conversation_model import ROW, group
from aether.shelf import Conversation
from tests.fakes.model_server import ModelServer, Reply
from tests.gui.conftest import Opener
from tests.gui.desk import Desk, shown_text


def keep(home: Path, name: str, question: str, days: int = 0, answer: str = "Yes.") -> None:
    """A conversation as it lies on the disk."""
    at = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
    line = {"question": question, "agent": "aws_specialist", "answer": answer, "run": name,
            "at": at, "outcome": "answered"}  # fmt: skip
    path = home / "conversations" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")


def pick(desk: Desk, title: str) -> None:
    """Click a conversation."""
    rows = desk.list.rows
    index = next(
        desk.list.model.index(i)
        for i, row in enumerate(desk.list.model.rows)
        if row.conversation and row.conversation.title == title
    )
    rows.scrollTo(index)
    QTest.mouseClick(
        rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualRect(index).center()
    )
    desk.settle()


def test_grouped_by_day_newest_first(open_desk: Opener, model: ModelServer, home: Path) -> None:
    keep(home, "old", "Long ago", 400)
    keep(home, "y", "Some days ago", 3)
    keep(home, "t", "Just now", 0)
    desk = open_desk(model)
    desk.until(lambda: len(desk.titles) == 6, "the list")
    assert desk.titles[0] == "-- Today"
    assert desk.titles[1] == "Just now"
    assert desk.titles[2:4] == ["-- Last seven days", "Some days ago"]
    assert desk.titles[5] == "Long ago"
    assert not desk.list.model.flags(desk.list.model.index(0)) & Qt.ItemFlag.ItemIsSelectable


def test_groups() -> None:
    today = date(2026, 5, 20)

    def on(day: int, month: int = 5, year: int = 2026) -> str:
        at = datetime(year, month, day, 12).astimezone().isoformat()
        return group(Conversation("x", "t", at), today)

    assert on(20) == "Today"
    assert on(19) == "Yesterday"
    assert on(14) == "Last seven days"
    assert on(3) == "May"
    assert on(3, 5, 2024) == "May 2024"
    assert group(Conversation("x", "t", "?"), today) == "Earlier"
    assert group(Conversation("x", "t", "?", pinned=True), today) == "Pinned"


def test_a_click_opens_a_conversation(open_desk: Opener, model: ModelServer, home: Path) -> None:
    keep(home, "a", "First question", answer="The first answer.")
    keep(home, "b", "Second question", 1, answer="The second answer.")
    desk = open_desk(model)
    desk.until(lambda: "Second question" in desk.titles, "the list")
    pick(desk, "Second question")
    desk.until(lambda: desk.chat.transcript.turns, "the conversation")
    assert shown_text(desk.turn) == "The second answer."
    assert desk.page.title.whole == "Second question"
    desk.ctrl(Qt.Key.Key_PageUp)
    desk.until(lambda: desk.page.title.whole == "First question", "the one above")


def test_search_goes_over_all_text(open_desk: Opener, model: ModelServer, home: Path) -> None:
    keep(home, "a", "About routers", answer="The unusual word is frobnicate, you see.")
    keep(home, "b", "About switches", 1)
    desk = open_desk(model)
    desk.until(lambda: len(desk.titles) == 4, "the list")
    desk.ctrl(Qt.Key.Key_F)
    assert desk.list.search.hasFocus()
    QTest.keyClicks(desk.list.search, "FROBNICATE word")
    desk.until(lambda: desk.titles == ["About routers"], "what was found")
    row = desk.list.model.index(0).data(ROW)
    assert "frobnicate" in row.snippet
    QTest.keyClicks(desk.list.search, "zzz")
    desk.until(lambda: desk.list.empty.isVisible(), "nothing")
    assert "Nothing" in desk.list.empty.text()
    desk.list.search.clear()
    desk.until(lambda: len(desk.titles) == 4, "the list")


def test_rename_in_place(open_desk: Opener, model: ModelServer, home: Path) -> None:
    keep(home, "a", "About routers")
    desk = open_desk(model)
    desk.until(lambda: "About routers" in desk.titles, "the list")
    pick(desk, "About routers")
    desk.list.rows.setFocus()
    desk.key(Qt.Key.Key_F2, desk.list.rows)
    editor = desk.application.focusWidget()
    assert editor is not None
    QTest.keyClicks(editor, "My routers")
    desk.key(Qt.Key.Key_Return, editor)
    desk.until(lambda: "My routers" in desk.titles, "the new title")
    desk.close()
    again = open_desk(model)
    again.until(lambda: "My routers" in again.titles, "the new title")


def test_pin(open_desk: Opener, model: ModelServer, home: Path) -> None:
    keep(home, "a", "Newest")
    keep(home, "b", "Oldest", 30)
    desk = open_desk(model)
    desk.until(lambda: "Oldest" in desk.titles, "the list")
    row = next(r for r in desk.list.model.rows if r.conversation and r.conversation.id == "b")
    assert row.conversation is not None
    desk.list.pin(row.conversation)
    desk.until(lambda: desk.titles[:2] == ["-- Pinned", "Oldest"], "the pin")


def test_delete_and_undo(open_desk: Opener, model: ModelServer, home: Path) -> None:
    keep(home, "a", "Keep me")
    keep(home, "b", "Delete me", 1)
    desk = open_desk(model)
    desk.until(lambda: "Delete me" in desk.titles, "the list")
    pick(desk, "Delete me")
    desk.until(lambda: desk.chat.transcript.turns, "the conversation")
    desk.key(Qt.Key.Key_Delete, desk.list.rows)
    desk.until(lambda: "Delete me" not in desk.titles, "its end")
    assert desk.chat.conversation == ""
    assert desk.list.undo_bar.isVisible()
    desk.click(desk.list.undo)
    desk.until(lambda: "Delete me" in desk.titles, "its return")
    desk.until(lambda: desk.chat.transcript.turns, "the conversation")
    assert desk.list.undo_bar.isHidden()
    pick(desk, "Delete me")
    desk.key(Qt.Key.Key_Delete, desk.list.rows)
    desk.until(lambda: "Delete me" not in desk.titles, "its end")
    desk.close()
    assert not list((home / "conversations").rglob("b.jsonl*")), "deleted means gone"


def test_a_new_conversation_is_listed_under_its_question(desk: Desk) -> None:
    desk.ask("How do I connect AWS VPCs?")
    desk.until(lambda: "How do I connect AWS VPCs?" in desk.titles, "its title")
    assert desk.list.rows.currentIndex().data() == "How do I connect AWS VPCs?"


def test_two_thousand_are_listed(open_desk: Opener, model: ModelServer, home: Path) -> None:
    for i in range(2000):
        keep(home, f"c{i:04d}", f"Question {i}", i % 60)
    desk = open_desk(model)
    desk.until(lambda: len(desk.titles) > 2000, "the list")
    QTest.keyClicks(desk.list.search, "1999")
    desk.until(lambda: desk.titles == ["Question 1999"], "the one")


def test_delete_while_the_answer_is_written(desk: Desk, model: ModelServer, home: Path) -> None:
    model.replies = ["A first answer [1].", Reply("one two three", hold_after=1)]
    desk.ask("How do I connect AWS VPCs?")
    desk.until(lambda: len(desk.titles) == 2, "the list")
    desk.ask("And across accounts in AWS?", wait=False)
    desk.until(lambda: "one" in shown_text(desk.turn), "a word")
    desk.key(Qt.Key.Key_Delete, desk.list.rows)
    desk.until(lambda: not desk.titles, "its end")
    desk.idle()
    assert desk.chat.conversation == ""
    assert not desk.titles
