"""The runs page: every question with its record, narrowed, compared, decided again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest

from aether.gui import runtext
from aether.gui.pages.runs import RunsPage
from aether.gui.runtable import EXPERT, OUTCOME, QUESTION, ROW, SURE
from aether.gui.theme import LIGHT
from aether.replay import Difference
from tests.fakes.model_server import ModelServer
from tests.gui.desk import Desk

FIRST = "How do I connect AWS VPCs with a transit gateway?"
SECOND = "Why does an OSPF neighbour stay in EXSTART?"


def runs(desk: Desk) -> RunsPage:
    desk.window.show_page("runs")
    page = desk.window.pages["runs"]
    assert isinstance(page, RunsPage)
    desk.idle()
    return page


@pytest.fixture
def asked(desk: Desk, model: ModelServer) -> Desk:
    """Two questions were asked."""
    model.replies = ["Attach each VPC to the transit gateway [1].", "The MTU differs [1]."]
    desk.ask(FIRST)
    desk.ask(SECOND)
    desk.idle()
    return desk


def questions(page: RunsPage) -> list[str]:
    rows = range(page.found.rowCount())
    return [str(page.found.index(row, QUESTION).data()) for row in rows]


def mark(desk: Desk, page: RunsPage, *rows: int) -> None:
    page.table.clearSelection()
    flags = QItemSelectionModel.SelectionFlag
    for row in rows:
        index = page.found.index(row, 0)
        page.table.selectionModel().select(index, flags.Select | flags.Rows)
    desk.idle()


def tab(desk: Desk, page: RunsPage, name: str) -> str:
    """Open a tab of the marked run, and read it."""
    names = [page.detail.tabText(i) for i in range(page.detail.count())]
    page.detail.setCurrentIndex(names.index(name))
    desk.settle()
    return page.detail.currentWidget().toPlainText()  # type: ignore[attr-defined]


def test_an_empty_page_says_what_to_do(desk: Desk) -> None:
    page = runs(desk)
    assert page.left.currentIndex() == 0
    assert page.state.text() == "0 runs"
    assert not page.replay.isEnabled()


def test_runs_are_listed_newest_first(asked: Desk) -> None:
    page = runs(asked)
    assert questions(page) == [SECOND, FIRST]
    assert page.found.index(1, EXPERT).data() == "AWS specialist"
    assert page.found.index(1, OUTCOME).data() in ("answered", "low confidence")
    assert 0 <= float(page.found.index(1, SURE).data()) <= 1
    assert page.state.text() == "2 runs"


def test_a_new_run_comes_in_by_itself(asked: Desk) -> None:
    page = runs(asked)
    asked.window.show_page("ask")
    asked.ask("How do I peer two VPCs in AWS?")
    asked.idle()
    assert questions(page)[0] == "How do I peer two VPCs in AWS?"
    assert len(questions(page)) == 3


def test_the_list_is_narrowed(asked: Desk) -> None:
    page = runs(asked)
    QTest.keyClicks(page.filter, "ospf exstart")
    asked.until(lambda: questions(page) == [SECOND], "the filter")
    assert page.state.text() == "1 of 2 runs"
    page.filter.clear()
    page.expert.setCurrentIndex(page.expert.findData("aws_specialist"))
    assert questions(page) == [FIRST]
    page.expert.setCurrentIndex(0)
    page.outcome.setCurrentIndex(page.outcome.findData("failed"))
    assert questions(page) == []
    page.outcome.setCurrentIndex(0)
    assert len(questions(page)) == 2


def test_a_record_is_readable_in_every_tab(asked: Desk) -> None:
    page = runs(asked)
    mark(asked, page, 1)
    text = tab(asked, page, "Run")
    assert FIRST in text
    assert "Attach each VPC to the transit gateway [1]" in text
    assert "first word" in text
    page.detail.setCurrentWidget(page.detail.route)
    assert page.detail.route.table.scores.index(0, 0).data() == "AWS specialist"
    assert page.detail.route.words.text()
    assert "AWS specialist" in tab(asked, page, "Places")
    page.detail.setCurrentWidget(page.detail.passages)
    asked.settle()
    assert page.detail.passages.cards
    assert FIRST in tab(asked, page, "Prompt")
    assert "What was found" in tab(asked, page, "Confidence")
    assert json.loads(tab(asked, page, "Record"))["question"] == FIRST


def test_replay_tells_what_differs(asked: Desk) -> None:
    page = runs(asked)
    mark(asked, page, 1)
    assert "Replay decides this run again" in tab(asked, page, "Replay")
    asked.click(page.replay)
    asked.idle()
    assert tab(asked, page, "Replay") == "Nothing differs: today the same would be decided."
    asked.engine.settings = asked.engine.settings.model_copy(
        update={"confidence": asked.engine.settings.confidence.model_copy(
            update={"threshold": 0.9})}
    )  # fmt: skip
    asked.click(page.replay)
    asked.idle()
    assert "Threshold" in tab(asked, page, "Replay")
    assert "0.9" in tab(asked, page, "Replay")


def test_two_runs_are_compared(asked: Desk) -> None:
    page = runs(asked)
    mark(asked, page, 0, 1)
    assert page.right.currentWidget() is page.comparison
    text = page.comparison.toPlainText()
    assert FIRST in text
    assert SECOND in text
    assert not page.replay.isEnabled()
    mark(asked, page, 0)
    assert page.right.currentWidget() is page.detail


def test_a_run_is_opened_from_elsewhere(asked: Desk) -> None:
    lines = (asked.engine.audit_path).read_text(encoding="utf-8").splitlines()
    run = json.loads(lines[0])["run"]
    asked.window.context.wishes.open_run.emit(run)  # type: ignore[union-attr]
    asked.idle()
    page = asked.window.pages["runs"]
    assert isinstance(page, RunsPage)
    assert [line.run for line in page.marked()] == [run]
    assert FIRST in tab(asked, page, "Run")
    page.filter.setText("nothing like this")
    asked.window.context.wishes.open_run.emit(json.loads(lines[1])["run"])  # type: ignore[union-attr]
    asked.idle()
    assert SECOND in tab(asked, page, "Run")


def test_ask_again_and_copy_the_id(asked: Desk) -> None:
    page = runs(asked)
    mark(asked, page, 1)
    asked.click(page.copy)
    assert asked.clipboard == page.marked()[0].run
    asked.click(page.ask)
    assert asked.window.stack.currentWidget() is asked.page
    asked.answered()
    assert asked.turn.exchange.question == FIRST


def test_a_purged_log_empties_the_list(asked: Desk) -> None:
    from aether.privacy import purge

    page = runs(asked)
    mark(asked, page, 0)
    purge(asked.engine.settings.home, "runs")
    asked.window.context.wishes.purged.emit("runs")  # type: ignore[union-attr]
    asked.idle()
    assert page.found.rowCount() == 0
    assert page.left.currentIndex() == 0
    assert page.right.currentIndex() == 0


def test_a_log_that_was_replaced_is_read_anew(asked: Desk) -> None:
    page = runs(asked)
    record = json.loads(asked.engine.audit_path.read_text(encoding="utf-8").splitlines()[0])
    asked.engine.audit_path.write_text(json.dumps({**record, "run": "new"}) + "\n", "utf-8")
    page.refresh()
    asked.idle()
    assert [line.run for line in page.model.lines] == ["new"]


def test_two_thousand_runs_are_listed_and_narrowed(asked: Desk) -> None:
    record = json.loads(asked.engine.audit_path.read_text(encoding="utf-8").splitlines()[0])
    slim: dict[str, Any] = {k: record[k] for k in ("at", "agent", "outcome", "confidence")}
    with asked.engine.audit_path.open("a", encoding="utf-8") as log:
        for i in range(2000):
            log.write(json.dumps({**slim, "run": f"r{i}", "question": f"Number {i}"}) + "\n")
    page = runs(asked)
    assert len(page.model.lines) == 2002
    assert page.found.index(0, 0).data(ROW).run == "r1999"
    page.filter.setText("number 1999")
    asked.until(lambda: questions(page) == ["Number 1999"], "the filter")
    mark(asked, page, 0)
    assert "No answer was written." in tab(asked, page, "Run")
    assert tab(asked, page, "Prompt") == "No prompt was built."
    assert tab(asked, page, "Confidence") == "No answer was scored in this run."


def test_what_models_and_pages_wrote_is_inert() -> None:
    evil = '<img src="https://evil.example/x.png"><a href="file:///etc/passwd">click</a><b>'
    record = {
        "run": evil, "question": evil, "answer": evil, "error": evil, "notes": [evil],
        "attempts": [{"agent": evil}], "plans": [{"agent": evil, "query": evil}],
        "prompts": [{"messages": [{"role": evil, "content": evil}]}],
        "scores": [{"agent": evil, "cap": evil, "claims": [{"text": evil, "verdict": evil}]}],
    }  # fmt: skip
    texts = [
        make(record, LIGHT, str)
        for make in (
            runtext.summary,
            runtext.places,
            runtext.prompts,
            runtext.confidence,
            runtext.raw,
        )
    ]
    texts += [
        runtext.compared(record, {**record, "answer": f"other {evil}"}, LIGHT, str),
        runtext.replayed([Difference(evil, evil, evil)], LIGHT),
    ]  # fmt: skip
    for text in texts:
        assert "<img" not in text
        assert "<a " not in text
        assert "<b>" not in text


def test_a_link_in_a_record_opens_nothing(asked: Desk, home: Path) -> None:
    page = runs(asked)
    mark(asked, page, 0)
    browser = page.detail.widget(0)
    assert browser.openLinks() is False  # type: ignore[attr-defined]
    assert not browser.textInteractionFlags() & Qt.TextInteractionFlag.TextEditable  # type: ignore[attr-defined]


def test_keys_filter_and_replay(asked: Desk) -> None:
    page = runs(asked)
    mark(asked, page, 0)
    page.table.setFocus()
    asked.ctrl(Qt.Key.Key_R)
    asked.idle()
    assert page.detail.currentWidget() is page.detail.replay
    asked.ctrl(Qt.Key.Key_F)
    assert page.filter.hasFocus()
