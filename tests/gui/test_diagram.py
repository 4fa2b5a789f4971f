"""Mermaid: drawn, repaired and drawn, or shown as source with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from aether.gui.answer import Answer
from aether.gui.diagram import LIBRARY, Diagram, Drawing, close_draughtsman, draughtsman
from aether.gui.theme import Theme
from tests.gui.conftest import settle
from tests.gui.test_transcript import answer, theme

__all__ = ["answer", "theme"]

GOOD = "flowchart LR\n  A[On premises] --> B{Firewall}\n  B -->|allowed| C[Hub]"
BENT = "flowchart TD\n  A[Hub (VNet)] -> B[Spoke: prod];"
BROKEN = "flowchart LR\n  A --> \n  ]]]]"


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    yield
    close_draughtsman()
    settle()


def diagram_in(answer: Answer, source: str) -> Diagram:
    answer.set_text(f"Look:\n\n```mermaid\n{source}\n```\n\nSo it is.")
    found = [p for p in answer.parts if isinstance(p, Diagram)]
    assert len(found) == 1
    return found[0]


def drawn(diagram: Diagram, qtbot: QtBot) -> Diagram:
    qtbot.waitUntil(lambda: diagram.state in ("drawn", "failed"), timeout=60_000)
    return diagram


def test_a_sound_diagram_is_drawn(answer: Answer, qtbot: QtBot) -> None:
    diagram = drawn(diagram_in(answer, GOOD), qtbot)
    assert diagram.state == "drawn"
    assert diagram.picture.isVisible()
    picture = diagram.picture.pixmap()
    assert picture.width() > 100
    assert len({picture.toImage().pixel(x, picture.height() // 2) for x in range(100)}) > 1
    assert diagram.lines.isHidden()
    QTest.mouseClick(diagram.toggle, Qt.MouseButton.LeftButton)
    assert diagram.lines.isVisible()
    assert diagram.lines.toPlainText() == GOOD
    QTest.mouseClick(diagram.copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == GOOD


def test_a_bent_one_is_repaired_and_says_so(answer: Answer, qtbot: QtBot) -> None:
    diagram = drawn(diagram_in(answer, BENT), qtbot)
    assert diagram.state == "drawn"
    assert "repair" in diagram.note.text()
    assert diagram.source == BENT


def test_a_broken_one_shows_its_source_and_the_reason(answer: Answer, qtbot: QtBot) -> None:
    diagram = drawn(diagram_in(answer, BROKEN), qtbot)
    assert diagram.state == "failed"
    assert diagram.lines.isVisible()
    assert diagram.lines.toPlainText() == BROKEN
    assert "does not parse" in diagram.note.text()
    assert "line 3" in diagram.note.text()


def test_a_diagram_cannot_reach_out(answer: Answer, qtbot: QtBot) -> None:
    evil = (
        "flowchart LR\n  A[\"<img src='https://evil.example/x.png' onerror='alert(1)'>\"] --> B\n"
        '  click A href "javascript:alert(1)"'
    )
    diagram = drawn(diagram_in(answer, evil), qtbot)
    assert diagram.state in ("drawn", "failed")
    text = LIBRARY.parent / "NOTICE.md"
    assert "mermaid.min.js" in text.read_text(encoding="utf-8")


def test_it_is_drawn_once_it_is_whole(answer: Answer, qtbot: QtBot) -> None:
    for char in f"```mermaid\n{GOOD}\n":
        answer.feed(char)
        answer.refresh()
    assert not [p for p in answer.parts if isinstance(p, Diagram)]
    answer.feed("```\n\nDone.\n")
    answer.refresh()
    answer.finish()
    diagram = next(p for p in answer.parts if isinstance(p, Diagram))
    assert drawn(diagram, qtbot).state == "drawn"


def test_a_page_that_never_answers_is_given_up(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Drawing] = []
    artist = draughtsman()
    artist.limit.setInterval(30)
    artist.draw("flowchart LR\nA --> B", False, "sans-serif", heard.append)
    qtbot.waitUntil(lambda: bool(heard), timeout=30_000)
    assert heard[0].error
    assert not heard[0].png


def test_the_library_is_there() -> None:
    assert Path(LIBRARY).stat().st_size > 1_000_000
