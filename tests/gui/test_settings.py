"""The settings page: what is typed there is checked, kept and in force at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QPushButton

from aether.conversations import Exchange, add_exchange
from aether.errors import ModelUnavailable
from aether.gui.controls import NumberEdit, Switch
from aether.gui.formlayout import Panel
from aether.gui.pages.settings import SettingsPage
from aether.gui.panels import PANELS
from aether.gui.panels.appearance import AppearancePanel
from aether.gui.panels.knowledge import KnowledgePanel
from aether.gui.panels.model import ModelPanel
from aether.gui.panels.privacy import PrivacyPanel
from aether.gui.shortcuts import SHORTCUTS, keys
from aether.gui.widgets import label
from aether.records import Run, Timings, Usage
from aether.steps.audit import audit
from aether.trial import Seen, look_around
from tests.fakes.model_server import ModelServer, Reply
from tests.gui.conftest import Opener
from tests.gui.desk import Desk


@pytest.fixture(autouse=True)
def _no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


def settings_of(desk: Desk) -> SettingsPage:
    desk.window.show_page("settings")
    page = desk.window.pages["settings"]
    assert isinstance(page, SettingsPage)
    return page


def panel(desk: Desk, name: str) -> Panel:
    page = settings_of(desk)
    page.show_panel(name)
    desk.idle()
    return page.panels[name]


def kept(home: Path) -> dict[str, dict[str, object]]:
    path = home / "settings.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def type_into(desk: Desk, line: QLineEdit, text: str) -> None:
    line.setFocus()
    line.selectAll()
    QTest.keyClick(line, Qt.Key.Key_Delete)
    QTest.keyClicks(line, text)
    QTest.keyClick(line, Qt.Key.Key_Return)
    desk.idle()


def test_every_panel_opens_and_every_control_has_a_name(desk: Desk) -> None:
    for name in PANELS:
        shown = panel(desk, name)
        assert shown.accessibleName()
        for kind in (QLineEdit, Switch, QPushButton):
            for control in shown.findChildren(kind):
                text = "" if isinstance(control, QLineEdit) else control.text()
                assert control.accessibleName() or text, (name, control.objectName())


def test_a_number_is_kept_and_in_force(desk: Desk, home: Path) -> None:
    shown = panel(desk, "web")
    line = shown.findChild(NumberEdit, "web.budget_s")
    assert line is not None
    type_into(desk, line, "5")
    assert kept(home) == {"web": {"budget_s": 5.0}}
    assert desk.engine.settings.web.budget_s == 5
    assert desk.said == "Settings saved"
    QTest.keyClick(line, Qt.Key.Key_Up)
    desk.idle()
    assert desk.engine.settings.web.budget_s == 6
    assert desk.engine.settings.web.enabled is False, "a flag of the command line stays"


def test_a_switch_is_kept(desk: Desk, home: Path) -> None:
    switch = panel(desk, "answers").findChild(Switch, "answers.cache")
    assert switch is not None
    assert switch.isChecked()
    QTest.keyClick(switch, Qt.Key.Key_Space)
    desk.idle()
    assert kept(home) == {"answers": {"cache": False}}
    assert desk.engine.settings.answers.cache is False


def test_a_wrong_value_is_told_below_its_control(desk: Desk, home: Path) -> None:
    (home / "settings.toml").write_text("[web]\nbudget_s = 'soon'\n", encoding="utf-8")
    shown = panel(desk, "model")
    assert isinstance(shown, ModelPanel)
    line = shown.findChild(QLineEdit, "llm.model")
    assert line is not None
    type_into(desk, line, "gemma")
    fault = shown.fields.faults["llm.model"]
    assert fault.isVisible()
    assert "web.budget_s" in fault.text()
    (home / "settings.toml").unlink()
    type_into(desk, line, "gemma-3")
    assert fault.isHidden()
    assert desk.engine.settings.llm.model == "gemma-3"


def test_what_the_environment_sets_cannot_be_changed_here(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AETHER_LLM__MODEL", "gemma")
    line = panel(desk, "model").findChild(QLineEdit, "llm.model")
    assert line is not None
    assert not line.isEnabled()


def test_the_key_is_hidden_and_kept(desk: Desk, home: Path) -> None:
    line = panel(desk, "model").findChild(QLineEdit, "llm.api_key")
    assert line is not None
    type_into(desk, line, "sk-secret")
    assert "sk-secret" not in line.displayText()
    assert kept(home)["llm"]["api_key"] == "sk-secret"
    assert desk.engine.settings.llm.api_key == "sk-secret"


def test_who_answers_and_the_test_button(desk: Desk, model: ModelServer) -> None:
    model.replies = ["ready"]
    shown = panel(desk, "model")
    assert isinstance(shown, ModelPanel)
    assert desk.engine.model().info().id in shown.now.text()
    desk.click(shown.test)
    desk.idle()
    assert "\u201cready\u201d" in shown.result.text()
    assert shown.test.text() == "Test"


def test_the_test_can_be_stopped(desk: Desk, model: ModelServer) -> None:
    model.replies = [Reply("one two three", hold_after=1)]
    shown = panel(desk, "model")
    assert isinstance(shown, ModelPanel)
    desk.click(shown.test)
    desk.until(lambda: bool(model.requests), "the question")
    assert shown.test.text() == "Stop the test"
    desk.click(shown.test)
    desk.idle()
    assert shown.test.text() == "Test"
    assert "Stopped" in shown.result.text()


def test_no_server_is_told_with_advice(open_desk: Opener) -> None:
    desk = open_desk(None)
    shown = panel(desk, "model")
    assert isinstance(shown, ModelPanel)
    assert shown.now.text() == "The model server does not answer"
    assert "llm.base_url" in shown.advice.text()


def test_found_servers_can_be_used(desk: Desk, model: ModelServer) -> None:
    shown = panel(desk, "model")
    assert isinstance(shown, ModelPanel)
    for seen in (
        Seen("lmstudio", "http://127.0.0.1:4321/v1", "gemma-3-4b", 8192),
        Seen("ollama", "http://127.0.0.1:4322/v1"),
        Seen("vllm", "http://127.0.0.1:4323/v1", error=ModelUnavailable("it wants another key")),
    ):
        shown._show_server(seen)
    desk.settle()
    labels = [w.text() for w in shown.findChildren(type(label("")))]
    assert "gemma-3-4b, 8,192 tokens" in labels
    assert "it wants another key" in labels
    (use,) = [b for b in shown.findChildren(QPushButton) if b.accessibleName().endswith(":4321/v1")]
    desk.click(use)
    desk.idle()
    assert desk.engine.settings.llm.base_url == "http://127.0.0.1:4321/v1"


def test_looking_around_tells_who_answers(desk: Desk, model: ModelServer) -> None:
    here, nobody = look_around(
        desk.engine.settings.llm, (("lmstudio", model.url), ("ollama", "http://127.0.0.1:9/v1"))
    )
    assert here.answers
    assert here.kind == "lmstudio"
    assert not nobody.answers
    assert nobody.error is None


def test_models_are_offered_for_download(desk: Desk) -> None:
    shown = panel(desk, "model")
    assert isinstance(shown, ModelPanel)
    rows = shown.downloads.rows
    assert len(rows) >= 3
    row = next(iter(rows.values()))
    assert row.button.text() == "Download"
    assert "GB of memory" in row.about.text()


def test_a_downloaded_model_is_used_with_one_click(desk: Desk, home: Path) -> None:
    from aether.models import load_catalogue

    entry = load_catalogue()[0][0]
    path = home / "models" / entry.file
    path.parent.mkdir()
    path.write_bytes(b"GGUF....")
    shown = panel(desk, "model")
    assert isinstance(shown, ModelPanel)
    row = shown.downloads.rows[entry.id]
    assert row.button.text() == "Use"
    shown.ensureWidgetVisible(row)
    desk.click(row.button)
    desk.idle()
    assert desk.engine.settings.llm.model_path == str(path)
    desk.until(lambda: row.button.text() == "In use", "the new word on the button")


def test_a_download_that_fails_says_why(open_desk: Opener) -> None:
    desk = open_desk(None, web__proxy="http://127.0.0.1:9")
    shown = panel(desk, "model")
    assert isinstance(shown, ModelPanel)
    row = next(iter(shown.downloads.rows.values()))
    shown.ensureWidgetVisible(row)
    desk.click(row.button)
    desk.idle()
    assert row.state.isVisible()
    assert "web.proxy" in row.state.text()
    assert row.button.text() == "Download"
    assert row.bar.isHidden()


def test_dark_and_large_at_once(desk: Desk) -> None:
    shown = panel(desk, "appearance")
    assert isinstance(shown, AppearancePanel)
    theme = desk.window.context.theme  # type: ignore[union-attr]
    before = QApplication.font().pointSizeF()
    desk.click(shown.modes["dark"])
    assert theme.dark
    desk.click(shown.modes["light"])
    assert not theme.dark
    QTest.keyClick(shown.text_size, Qt.Key.Key_End)
    shown.text_size.activated.emit(shown.text_size.currentIndex())
    assert QApplication.font().pointSizeF() == pytest.approx(before * 1.6)
    theme.choose(mode="system", scale=1.0)


def test_history_is_counted_and_deleted_after_a_question(desk: Desk, home: Path) -> None:
    run = Run("r1", "2026-11-01T10:00:00+00:00", "Why?", "aws_specialist", "So.", 0.8, 0.7,
              "answered", (), (), Timings(), Usage())  # fmt: skip
    add_exchange(home, "c1", Exchange("Why?", run=run))
    audit(home / "audit" / "runs.jsonl", {"run": "r1"})
    audit(home / "audit" / "runs.jsonl", {"run": "r2"})
    shown = panel(desk, "privacy")
    assert isinstance(shown, PrivacyPanel)
    assert shown.amounts["conversations"].text().startswith("1 conversation, ")
    assert shown.amounts["runs"].text().startswith("2 runs, ")
    assert shown.amounts["feedback"].text() == "nothing"
    assert not shown.buttons["feedback"].isEnabled()
    gone: list[str] = []
    desk.window.context.wishes.purged.connect(gone.append)  # type: ignore[union-attr]
    answer_box(desk, shown.buttons["runs"], "Cancel")
    assert (home / "audit" / "runs.jsonl").exists()
    answer_box(desk, shown.buttons["runs"], "Delete runs")
    desk.idle()
    assert not (home / "audit" / "runs.jsonl").exists()
    assert shown.amounts["runs"].text() == "nothing"
    assert gone == ["runs"]
    assert list((home / "conversations").glob("*.jsonl"))


def answer_box(desk: Desk, button: QPushButton, word: str) -> None:
    """Click a button that asks first, and answer with one of the words."""
    desk.click(button)
    (box,) = [b for b in desk.window.findChildren(QMessageBox) if b.isVisible()]
    (choice,) = [b for b in box.buttons() if b.text().replace("&", "") == word]
    QTest.mouseClick(choice, Qt.MouseButton.LeftButton)
    desk.settle()


def test_the_knowledge_base_is_counted_and_tidied(desk: Desk) -> None:
    shown = panel(desk, "knowledge")
    assert isinstance(shown, KnowledgePanel)
    assert "files with" in shown.stats.text()
    assert "words/64" in shown.more.text()
    desk.click(shown.tidy)
    desk.idle()
    assert shown.tidy.isEnabled()
    answer_box(desk, shown.reindex, "Re-index")
    desk.idle()
    assert "files with" in shown.stats.text()


def test_the_keys_are_listed(desk: Desk) -> None:
    words = [w.text() for w in panel(desk, "shortcuts").findChildren(type(label("")))]
    for shortcut in SHORTCUTS:
        assert keys(shortcut.name) in words
        assert shortcut.what in words


def test_the_page_comes_back_to_its_panel(desk: Desk, open_desk: Opener) -> None:
    panel(desk, "privacy")
    desk.close()
    again = open_desk(None)
    assert isinstance(settings_of(again).stack.currentWidget(), PrivacyPanel)
