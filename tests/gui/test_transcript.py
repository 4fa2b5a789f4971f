"""Answers on the screen: streamed, frozen, coloured, copied, followed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QSettings, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QTextTable
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from aether.conversations import Exchange
from aether.gui.answer import Answer
from aether.gui.code import Code
from aether.gui.prose import Prose
from aether.gui.theme import DARK, LIGHT, Theme
from aether.gui.transcript import Transcript
from tests.fakes.model_server import ModelServer, Reply
from tests.gui.desk import Desk, link_place, shown_text

MIXED = """Intro [1] with https://docs.example/page.

```python
x = 1  # note
```

| a | b |
|---|---|
| 1 | 2 |

The last words."""


@pytest.fixture
def theme(qapp: QApplication, tmp_path: Path) -> Theme:
    return Theme(qapp, QSettings(str(tmp_path / "t.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def answer(theme: Theme, qtbot: QtBot) -> Answer:
    made = Answer(theme)
    made.setObjectName("stage")
    qtbot.addWidget(made)
    made.resize(640, 400)
    made.show()
    return made


class Opened(QObject):
    """Catches what would be opened in a browser."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.urls.append(url.toString())


@pytest.fixture
def opened() -> Iterator[Opened]:
    catcher = Opened()
    for scheme in ("http", "https", "file"):
        QDesktopServices.setUrlHandler(scheme, catcher, "take")
    yield catcher
    for scheme in ("http", "https", "file"):
        QDesktopServices.unsetUrlHandler(scheme)


def test_kinds_of_blocks_have_their_widgets(answer: Answer) -> None:
    answer.set_text(MIXED)
    assert [type(p).__name__ for p in answer.parts] == ["Prose", "Code", "Prose"]
    table = answer.parts[2]
    assert isinstance(table, Prose)
    frames = table.document().rootFrame().childFrames()
    assert any(isinstance(f, QTextTable) and f.columns() == 2 for f in frames)


def test_streaming_ends_as_the_whole_would(answer: Answer, theme: Theme, qtbot: QtBot) -> None:
    for char in MIXED:
        answer.feed(char)
        answer.refresh()
    answer.finish()
    whole = Answer(theme)
    qtbot.addWidget(whole)
    whole.set_text(MIXED)
    assert _words(answer) == _words(whole)
    assert answer.text == MIXED


def test_finished_parts_are_left_alone(answer: Answer) -> None:
    answer.feed("First paragraph.\n\n```\ncode\n```\n\n")
    answer.feed("Second paragraph.\n\nThird")
    answer.refresh()
    first = answer.parts[0]
    assert isinstance(first, Prose)
    before = first.document().revision()
    for i in range(50):
        answer.feed(f" word{i}")
        answer.refresh()
    assert answer.parts[0] is first
    assert first.document().revision() == before


def test_a_long_answer_appears_in_slices(answer: Answer, qtbot: QtBot) -> None:
    text = "".join(f"Paragraph {i} with some words to fill a line.\n\n" for i in range(900))
    answer.set_text(text)
    qtbot.waitUntil(lambda: "Paragraph 899" in _words(answer), timeout=20_000)
    assert answer.text == text


def test_code_has_colours_and_a_copy_button(answer: Answer) -> None:
    answer.set_text("```python\ndef f():\n    return 'x'  # why\n```")
    code = answer.parts[0]
    assert isinstance(code, Code)
    formats = code.lines.document().firstBlock().layout().formats()
    assert formats, "no colours"
    QTest.mouseClick(code.copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "def f():\n    return 'x'  # why"


def test_a_height_fits_its_words(answer: Answer, qtbot: QtBot) -> None:
    answer.set_text("A line of words that will have to wrap. " * 20)
    prose = answer.parts[0]
    assert isinstance(prose, Prose)
    qtbot.waitUntil(lambda: prose.height() == round(prose.document().size().height()))
    wide = prose.height()
    answer.resize(320, 400)
    qtbot.waitUntil(lambda: prose.height() > wide)
    assert prose.height() == round(prose.document().size().height())


def test_claims_are_found_again(answer: Answer) -> None:
    answer.set_text("The **hello timer** is `10` seconds [1]. Something else.")
    assert answer.light_up("The hello timer is 10 seconds [1].")
    prose = answer.parts[0]
    assert isinstance(prose, Prose)
    assert len(prose.extraSelections()) == 1
    assert not answer.light_up("This was never said.")
    answer.light_up("")
    assert not prose.extraSelections()


def test_the_theme_colours_what_is_there(answer: Answer, theme: Theme) -> None:
    theme.choose("light")
    answer.set_text("See [1].")
    assert _link_colour(answer) == LIGHT.accent
    theme.choose("dark")
    assert _link_colour(answer) == DARK.accent
    assert "See [1]." in _words(answer)


def test_links_open_only_after_a_click(desk: Desk, model: ModelServer, opened: Opened) -> None:
    model.replies = ["See https://docs.example/page and [files](file:///etc/passwd) and [1]."]
    desk.ask("How do I connect AWS VPCs?")
    prose = desk.turn.answer.parts[0]
    assert isinstance(prose, Prose)
    assert opened.urls == []
    desk.click_link(prose, "https://docs.example/page")
    assert opened.urls == ["https://docs.example/page"]
    text = shown_text(desk.turn)
    assert "[files](file:///etc/passwd)" in text  # words, no link
    desk.click_link(prose, "[1]")
    assert opened.urls == ["https://docs.example/page"]
    assert shown_text(desk.turn) == text, "a click blanked the page"


def test_no_image_is_ever_loaded(answer: Answer) -> None:
    answer.set_text("![x](https://evil.example/x.png) ![y](/etc/hostname)")
    prose = answer.parts[0]
    assert isinstance(prose, Prose)
    assert prose.loadResource(2, QUrl("https://evil.example/x.png")) is None
    assert "\ufffc" not in prose.document().toRawText()


def test_the_end_is_followed_until_the_person_scrolls_up(desk: Desk, model: ModelServer) -> None:
    lines = "\n\n".join(f"Paragraph {i} of words." for i in range(80))
    model.replies = [Reply(lines, hold_after=200)]
    desk.ask("How do I connect AWS VPCs?", wait=False)
    bar = desk.chat.transcript.verticalScrollBar()
    desk.until(lambda: bar.maximum() > 200, "a long answer")
    desk.until(lambda: bar.value() == bar.maximum(), "the end")
    bar.setValue(0)
    model.release()
    desk.answered()
    assert bar.value() < bar.maximum() // 2


def test_old_exchanges_come_on_request(theme: Theme, qtbot: QtBot) -> None:
    transcript = Transcript(theme)
    transcript.setObjectName("stage")
    qtbot.addWidget(transcript)
    transcript.resize(700, 500)
    transcript.show()
    exchanges = [_told(i) for i in range(20)]
    transcript.show_exchanges(exchanges)
    qtbot.waitUntil(lambda: len(transcript.turns) == 8)
    assert [t.exchange.question for t in transcript.turns] == [f"Q{i}" for i in range(12, 20)]
    assert len(transcript.exchanges) == 20
    QTest.mouseClick(transcript.more, Qt.MouseButton.LeftButton)
    assert transcript.turns[0].exchange.question == "Q4"
    QTest.mouseClick(transcript.more, Qt.MouseButton.LeftButton)
    assert transcript.turns[0].exchange.question == "Q0"
    assert transcript.more.isHidden()


def test_links_can_be_reached_by_keyboard(answer: Answer, qtbot: QtBot) -> None:
    answer.set_text("Say [1] and [2].")
    prose = answer.parts[0]
    assert isinstance(prose, Prose)
    qtbot.waitUntil(lambda: 0 < prose.height() < 60)  # laid out
    assert prose.anchorAt(link_place(prose, "[1]")) == "cite:1"
    cited: list[int] = []
    answer.cited.connect(cited.append)
    prose.setFocus()
    QTest.keyClick(prose, Qt.Key.Key_Tab)
    QTest.keyClick(prose, Qt.Key.Key_Return)
    assert cited == [1]


def _told(number: int) -> Exchange:
    from aether.records import Run, Timings, Usage

    run = Run(f"r{number}", "", f"Q{number}", "root", f"Answer {number}.", 0.8, 0.7, "answered",
              (), (), Timings(), Usage())  # fmt: skip
    return Exchange(f"Q{number}", run=run)


def _words(answer: Answer) -> str:
    parts = (
        p.toPlainText() if isinstance(p, Prose) else getattr(p, "text", "") for p in answer.parts
    )
    return " ".join(" ".join(parts).split())


def _link_colour(answer: Answer) -> str:
    prose = answer.parts[0]
    assert isinstance(prose, Prose)
    cursor = prose.document().find("[1]")
    return cursor.charFormat().foreground().color().name()
