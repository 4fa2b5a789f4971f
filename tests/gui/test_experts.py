"""The experts page: the tree, what an expert is made of, a question on trial, a copy edited."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from aether.gui.manifest import ManifestEditor
from aether.gui.pages.experts import ROW, ExpertsPage
from aether.workshop import check_manifest, drop_copy, manifest_of, own_copy, save_manifest
from tests.fakes.model_server import ModelServer
from tests.gui.conftest import Opener
from tests.gui.desk import Desk

WIFI = "wireless_specialist"


def experts(desk: Desk, agent: str = "") -> ExpertsPage:
    desk.window.show_page("experts")
    page = desk.window.pages["experts"]
    assert isinstance(page, ExpertsPage)
    desk.idle()
    if agent:
        (item,) = [i for i in page._items() if i.data(0, ROW) == agent]
        page.tree.setCurrentItem(item)
        desk.idle()
    return page


def editor(desk: Desk, page: ExpertsPage) -> ManifestEditor:
    page.tabs.setCurrentWidget(page.editor)
    desk.idle()
    return page.editor


def replace(made: ManifestEditor, old: str, new: str) -> None:
    """Change words in the editor, as typing over them does."""
    cursor = made.edit.document().find(old)
    assert not cursor.isNull(), old
    cursor.insertText(new)


def checked(desk: Desk, made: ManifestEditor) -> list[str]:
    """The problems below the editor, once typing has paused."""
    desk.until(lambda: not made._pause.isActive(), "the pause")
    desk.idle()
    return [made.problems.item(i).text() for i in range(made.problems.count())]


def answer(desk: Desk, button: QPushButton, word: str) -> None:
    desk.click(button)
    (box,) = [b for b in desk.window.findChildren(QMessageBox) if b.isVisible()]
    (choice,) = [b for b in box.buttons() if b.text().replace("&", "") == word]
    QTest.mouseClick(choice, Qt.MouseButton.LeftButton)
    desk.idle()


def test_the_tree_shows_all_experts(desk: Desk) -> None:
    page = experts(desk)
    tree = desk.engine.tree
    assert {i.data(0, ROW) for i in page._items()} == set(tree.agents)
    for item in page._items():
        above = item.parent().data(0, ROW) if item.parent() else None
        assert tree.parent(item.data(0, ROW)) == above
    assert page.title.text() == tree[tree.root].name


def test_an_expert_is_shown_in_words(desk: Desk) -> None:
    page = experts(desk, WIFI)
    manifest = desk.engine.tree[WIFI]
    assert page.title.text() == manifest.name
    texts = []
    for i in range(4):
        page.tabs.setCurrentIndex(i)
        desk.settle()
        texts.append(page.tabs.widget(i).toPlainText())  # type: ignore[attr-defined]
    prompt, signals, sources, examples = texts
    assert manifest.prompt.strip().splitlines()[0] in prompt
    assert desk.engine.tree.mandates.splitlines()[0] in prompt
    for word in manifest.routing.objects[:3]:
        assert word in signals.replace("\u00a0", " ")
    assert manifest.namespace in sources
    assert desk.engine.tree.examples[WIFI][0] in examples


def test_a_question_on_trial_is_routed_while_typing(desk: Desk) -> None:
    page = experts(desk)
    QTest.keyClicks(page.tryout.query, "Why does an OSPF neighbour stay in EXSTART?")
    desk.until(page.tryout.table.isVisible, "the table")
    desk.idle()
    assert page.tryout.table.scores.index(0, 0).data() == "Routing and switching specialist"
    assert "points" in page.tryout.words.text()
    bold = {i.data(0, ROW) for i in page._items() if i.font(0).bold()}
    assert bold == set(desk.engine.tree.ladder("routing_switching_specialist"))
    page.tryout.query.clear()
    desk.until(lambda: not page.tryout.table.isVisible(), "nothing")
    assert not [i for i in page._items() if i.font(0).bold()]


def test_what_is_outside_the_field_lights_nobody(desk: Desk) -> None:
    page = experts(desk)
    QTest.keyClicks(page.tryout.query, "What is a good recipe for apple pie?")
    desk.until(page.tryout.table.isVisible, "the table")
    desk.idle()
    assert "outside the field" in page.tryout.words.text()
    assert not [i for i in page._items() if i.font(0).bold()]


def test_an_unknown_pin_is_told(desk: Desk) -> None:
    page = experts(desk)
    page.tryout.query.setText("@nobody_at_all what?")
    desk.until(page.tryout.words.isVisible, "words")
    desk.idle()
    assert page.tryout.words.text()


def test_the_shipped_file_is_read_only(desk: Desk) -> None:
    page = experts(desk, WIFI)
    made = editor(desk, page)
    assert made.edit.toPlainText().startswith("id: wireless_specialist")
    assert made.edit.isReadOnly()
    assert made.save.isHidden()
    assert "Comes with Aether" in made.place.text()
    assert made.state.text() == "No problems"


def test_a_copy_is_edited_saved_and_in_force(desk: Desk, home: Path) -> None:
    page = experts(desk, WIFI)
    made = editor(desk, page)
    desk.click(made.copy)
    desk.idle()
    assert not made.edit.isReadOnly()
    assert not made.save.isEnabled()
    replace(made, "name: Wireless specialist", "name: Radio wizard")
    assert made.save.isEnabled()
    changed: list[bool] = []
    desk.window.context.wishes.experts_changed.connect(lambda: changed.append(True))  # type: ignore[union-attr]
    desk.key(Qt.Key.Key_S, made.edit, Qt.KeyboardModifier.ControlModifier)
    desk.idle()
    assert changed == [True]
    assert desk.engine.tree[WIFI].name == "Radio wizard"
    assert page.title.text() == "Radio wizard"
    assert "Radio wizard" in {i.text(0) for i in page._items()}
    assert "Radio wizard" in (home / "agents" / f"{WIFI}.yaml").read_text(encoding="utf-8")
    answer(desk, made.back, "Delete my copy")
    assert desk.engine.tree[WIFI].name == "Wireless specialist"
    assert page.title.text() == "Wireless specialist"
    assert list((home / "agents").iterdir()) == []


def test_routing_follows_an_edited_copy(desk: Desk) -> None:
    page = experts(desk, WIFI)
    made = editor(desk, page)
    desk.click(made.copy)
    desk.idle()
    replace(made, "name: Wireless specialist", "name: Zorgblat specialist")
    desk.click(made.save)
    desk.idle()
    page.tryout.query.setText("zorgblat specialist")
    desk.until(page.tryout.table.isVisible, "the table")
    desk.idle()
    assert page.tryout.table.scores.index(0, 0).data() == "Zorgblat specialist"


def test_problems_are_told_with_their_line_while_typing(desk: Desk) -> None:
    page = experts(desk, WIFI)
    made = editor(desk, page)
    desk.click(made.copy)
    desk.idle()
    replace(made, "tier: 3", "tier: three")
    found = checked(desk, made)
    line = made.edit.toPlainText().splitlines().index("tier: three") + 1
    assert any(text.startswith(f"Line {line} [tier]") for text in found)
    assert made.state.text().startswith("1 problem")
    assert line in made.edit._marks
    desk.click(made.save)
    desk.idle()
    assert desk.engine.tree[WIFI].tier == 3, "the shipped one stays in force"
    assert page.health.text() == "1 problem"
    page.tabs.setCurrentIndex(0)
    page._open_problem(page.problems.item(0))
    desk.idle()
    assert page.tabs.currentWidget() is made
    assert made.edit.textCursor().blockNumber() == line - 1
    replace(made, "tier: three", "tier: 3")
    assert checked(desk, made) == []
    desk.click(made.save)
    desk.idle()
    assert page.health.text() == "All files are sound"


def test_what_is_typed_survives_a_look_elsewhere_and_a_restart(
    desk: Desk, open_desk: Opener, model: ModelServer
) -> None:
    page = experts(desk, WIFI)
    made = editor(desk, page)
    desk.click(made.copy)
    desk.idle()
    replace(made, "name: Wireless specialist", "name: Radio wizard")
    experts(desk, "aws_specialist")
    assert "aws_specialist" in made.edit.toPlainText()
    experts(desk, WIFI)
    assert "Radio wizard" in made.edit.toPlainText()
    assert made.save.isEnabled()
    desk.close()
    again = open_desk(model)
    page = experts(again, WIFI)
    made = editor(again, page)
    assert "Radio wizard" in made.edit.toPlainText()
    assert made.save.isEnabled()


def test_tab_indents_and_return_keeps_the_indentation(desk: Desk) -> None:
    page = experts(desk, WIFI)
    made = editor(desk, page)
    desk.click(made.copy)
    desk.idle()
    made.edit.clear()
    QTest.keyClicks(made.edit, "routing:")
    QTest.keyClick(made.edit, Qt.Key.Key_Return)
    QTest.keyClick(made.edit, Qt.Key.Key_Tab)
    QTest.keyClicks(made.edit, "a: 1")
    QTest.keyClick(made.edit, Qt.Key.Key_Return)
    QTest.keyClicks(made.edit, "b: 2")
    assert made.edit.toPlainText() == "routing:\n  a: 1\n  b: 2"
    checked(desk, made)


def test_ask_it_puts_the_question(desk: Desk, model: ModelServer) -> None:
    model.replies = ["Fine [1]."]
    page = experts(desk)
    page.tryout.query.setText("How do I connect AWS VPCs?")
    desk.click(page.tryout.ask)
    assert desk.window.stack.currentWidget() is desk.page
    desk.answered()
    assert desk.turn.exchange.question == "How do I connect AWS VPCs?"


# --- the workshop, without a window -----------------------------------------------------------


def test_a_copy_comes_and_goes(home: Path) -> None:
    shipped = manifest_of(WIFI, home)
    assert not shipped.own
    assert shipped.shipped
    own = own_copy(WIFI, home)
    assert own.own
    assert own.text == shipped.text
    save_manifest(WIFI, home, own.text + "# mine\n")
    assert own_copy(WIFI, home).text.endswith("# mine\n"), "a copy is not copied over"
    drop_copy(WIFI, home)
    drop_copy(WIFI, home)
    assert manifest_of(WIFI, home) == shipped


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("parent: network_architect", "parent: network_architct", "does not exist"),
        ("tier: 3", "tier: 3\ntier: 3", "given twice"),
        ("id: wireless_specialist", "id: wifi", "is"),
        ("namespace: kb_wireless", "namespace: kb_aws", "already the namespace"),
        ("tier: 3", "\ttier: 3", "tab"),
    ],
)
def test_a_text_is_checked_before_it_is_saved(home: Path, old: str, new: str, word: str) -> None:
    text = manifest_of(WIFI, home).text
    assert check_manifest(WIFI, home, text) == ()
    found = check_manifest(WIFI, home, text.replace(old, new, 1))
    assert found
    assert any(word in f"{p.message} {p.advice}" for p in found)
    assert {p.path for p in found} == {str(home / "agents" / f"{WIFI}.yaml")}
    assert not (home / "agents").exists()
