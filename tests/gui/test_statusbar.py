"""The status bar: what it hears, what it says, what a click explains."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from aether.errors import StoreError
from aether.events import Built, Retrieved
from aether.gui.statusbar import StatusBar
from aether.records import Retrieval, Run, Timings, Usage
from tests.fakes.model_server import FakeModel, ModelServer, Reply
from tests.gui.conftest import Opener
from tests.gui.desk import Desk


def bar_of(desk: Desk) -> StatusBar:
    bar = desk.window.statusBar()
    assert isinstance(bar, StatusBar)
    return bar


def explanation(desk: Desk, chip: Any) -> str:
    """What a click on a part of the bar explains."""
    desk.click(chip)
    popup = bar_of(desk).popup
    assert popup is not None
    assert popup.isVisible()
    words = " ".join(label.text() for label in popup.findChildren(QLabel))
    desk.key(Qt.Key.Key_Escape, popup)
    desk.until(lambda: bar_of(desk).popup is None, "the popup to go")
    return words


def test_the_model_and_its_server_are_named(open_desk: Opener, model: ModelServer) -> None:
    model.models = [FakeModel("gemma-3-12b-it", context=8192)]
    desk = open_desk(model)
    desk.idle()
    bar = bar_of(desk)
    assert bar.model.text() == "gemma-3-12b-it \u00b7 LM Studio"
    assert "8,192 tokens" in explanation(desk, bar.model)


def test_no_model_is_said_and_looked_for_again(open_desk: Opener, model: ModelServer) -> None:
    model.stop()
    desk = open_desk(model)
    desk.idle()
    bar = bar_of(desk)
    assert bar.model.text() == "No model"
    assert bar.model.property("role") == "chip-warn"
    model.start()
    desk.click(bar.model)
    assert bar.popup is not None
    again = next(b for b in bar.popup.findChildren(QPushButton) if b.text() == "Look again")
    desk.click(again)
    desk.idle()
    assert "gemma" in bar.model.text()


def test_the_meter_shows_the_last_prompt(desk: Desk, model: ModelServer) -> None:
    model.replies = [
        Reply("An answer [1].", usage={"prompt_tokens": 2000, "completion_tokens": 40,
                                       "prompt_tokens_details": {"cached_tokens": 1500}})
    ]  # fmt: skip
    desk.idle()
    desk.ask("How do I connect AWS VPCs?")
    bar = bar_of(desk)
    assert bar.context_meter.text().endswith("of 8.2k")
    assert bar.context_meter.share is not None
    assert 0 < bar.context_meter.share < 0.6
    assert "8,192 loaded tokens" in explanation(desk, bar.context_meter)
    assert bar.cached.text() == "75 % cached"
    assert bar.speed.text().endswith("tokens/s")


def test_a_full_window_is_seen(desk: Desk) -> None:
    assert desk.window.context is not None
    built = Built("a", 7900, 8192, 3276, 6, 2, "m")
    desk.window.context.wishes.prompt_built.emit(built)
    text = explanation(desk, bar_of(desk).context_meter)
    assert "96 %" in text
    assert "2 did not fit" in text


def test_the_web_says_why_it_gave_nothing(desk: Desk) -> None:
    bar = bar_of(desk)
    assert bar.web.text() == "Web: off"
    found = Retrieval((), "web_offline", "no DNS", "ok", "", 0.0)
    assert desk.window.context is not None
    desk.window.context.wishes.retrieved.emit(Retrieved("a", found, 0.0))
    assert bar.web.property("role") == "chip-warn"
    assert "cannot be reached (no DNS)" in explanation(desk, bar.web)


def test_the_knowledge_is_counted(desk: Desk) -> None:
    desk.idle()
    bar = bar_of(desk)
    passages = desk.engine.store.stats()["passages"]
    assert bar.knowledge.text() == f"{passages:,} passages"
    assert desk.window.context is not None
    fault = StoreError("the disk is full", where="kb", advice="free some space")
    desk.window.context.wishes.knowledge_counted.emit(fault)
    assert "free some space" in explanation(desk, bar.knowledge)


def test_speed_is_that_of_the_last_answer(desk: Desk) -> None:
    run = Run("r", "", "q", "a", "x", 0.8, 0.7, "answered", (), (), Timings(first_token_ms=420),
              Usage(1000, 0, 50, 31.4))  # fmt: skip
    assert desk.window.context is not None
    desk.window.context.wishes.run_finished.emit(run)
    bar = bar_of(desk)
    assert bar.speed.text() == "31 tokens/s"
    assert "420 ms" in explanation(desk, bar.speed)
    assert bar.cached.text() == "0 % cached"


def test_every_part_has_a_name(desk: Desk) -> None:
    bar = bar_of(desk)
    for chip in (bar.model, bar.context_meter, bar.speed, bar.cached, bar.web, bar.knowledge):
        assert chip.accessibleName().startswith(chip.title)
        assert chip.explanation
        assert chip.focusPolicy() & Qt.FocusPolicy.TabFocus
