"""The library: files go in with a live state, and are listed, searched, read and removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from aether.gui.dropcard import DropCard
from aether.gui.filetable import REMARK, ROW, STATE
from aether.gui.pages.library import ADDING, CONTENTS, SEARCH, WATCHED, LibraryPage
from aether.library import IngestQueue
from aether.store import LanceStore
from tests.fakes.embedder import WordEmbedder
from tests.fakes.model_server import ModelServer, Reply
from tests.gui.conftest import Opener
from tests.gui.desk import Desk, shown_text

OSPF = "An OSPF neighbour stays in EXSTART when the MTU of the two interfaces differs.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten mixed files: eight that are read, two that are not."""
    made = tmp_path / "ospf-notes"
    made.mkdir()
    for i in range(6):
        (made / f"ospf-area-{i}.md").write_text(f"# OSPF area {i}\n\n{OSPF}", encoding="utf-8")
    (made / "vlan.csv").write_text("vlan,name\n10,users\n20,voice\n", encoding="utf-8")
    (made / "bgp.txt").write_text("A BGP session needs TCP port 179.\n", encoding="utf-8")
    (made / "empty.txt").write_text("", encoding="utf-8")
    (made / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return made


def library(desk: Desk) -> LibraryPage:
    desk.window.show_page("library")
    page = desk.window.pages["library"]
    assert isinstance(page, LibraryPage)
    return page


def offered(desk: Desk, places: list[str]) -> LibraryPage:
    """Drop places on the window and wait for the question where they go."""
    desk.drop(desk.window, places)
    page = library(desk)
    desk.until(lambda: page.card.isVisible() and page.card.ok.isEnabled(), "the suggestion")
    return page


def added(desk: Desk, places: list[str], namespace: str = "") -> LibraryPage:
    page = offered(desk, places)
    if namespace:
        page.card.choose(namespace)
    desk.click(page.card.ok)
    desk.until(lambda: not page.ingestion.running, "the end of the line", 60)
    desk.idle()
    return page


def states(page: LibraryPage) -> dict[str, str]:
    return {Path(row.path).name: row.state for row in page.ingestion.table.rows}


def test_an_empty_page_says_what_to_do(desk: Desk) -> None:
    page = library(desk)
    page.tabs.setCurrentIndex(ADDING)
    assert page.adding.empty.isVisible()
    assert "Drop files anywhere" in page.adding.empty.text()


def test_a_drop_anywhere_is_offered_with_a_namespace(desk: Desk, folder: Path) -> None:
    page = offered(desk, [str(folder)])
    assert desk.window.stack.currentWidget() is page
    assert page.card.what.text() == "9 files to add, and 1 that is not read"
    assert page.card.namespace.currentData() == "kb_routing_switching"
    assert "ospf" in page.card.why.text()
    assert page.card.ok.hasFocus()


def test_a_dropped_folder_gets_a_row_for_each_file(desk: Desk, folder: Path) -> None:
    page = added(desk, [str(folder)])
    assert page.tabs.currentIndex() == ADDING
    found = states(page)
    assert len(found) == 10
    assert found["photo.png"] == "skipped"
    assert found["empty.txt"] == "skipped"
    assert {s for n, s in found.items() if n not in ("photo.png", "empty.txt")} == {"added"}
    assert page.adding.summary.text() == "8 files done \u00b7 2 not taken in"
    model = page.adding.rows
    remarks = {
        Path(model.index(i, 0).data(ROW).path).name: model.index(i, REMARK).data()
        for i in range(model.rowCount())
    }
    assert "not read" in remarks["photo.png"]
    assert "empty" in remarks["empty.txt"]
    assert IngestQueue(desk.engine.settings.home).load() == ()


def test_the_same_drop_again_is_unchanged(desk: Desk, folder: Path) -> None:
    added(desk, [str(folder)])
    page = added(desk, [str(folder)])
    assert states(page)["bgp.txt"] == "unchanged"
    assert len(page.ingestion.table.rows) == 10


def test_what_was_added_answers_questions(desk: Desk, model: ModelServer, folder: Path) -> None:
    added(desk, [str(folder / "bgp.txt")], "kb_routing_switching")
    model.replies = ["A BGP session needs TCP port 179 [1]."]
    desk.window.show_page("ask")
    desk.ask("Which TCP port does a BGP session need?")
    assert "179" in shown_text(desk.turn)
    run = desk.turn.exchange.run
    assert run is not None
    assert any(hit.path.endswith("bgp.txt") for hit in run.hits)


def test_the_rows_can_be_narrowed_and_copied(desk: Desk, folder: Path) -> None:
    page = added(desk, [str(folder)])
    page.adding.show_.setCurrentIndex(page.adding.show_.findData("problems"))
    assert page.adding.rows.rowCount() == 2
    assert {page.adding.rows.index(i, STATE).data() for i in range(2)} == {"skipped"}
    page.adding.table.selectAll()
    desk.key(Qt.Key.Key_C, page.adding.table, Qt.KeyboardModifier.ControlModifier)
    assert "empty.txt\tskipped" in desk.clipboard


def test_cancel_and_escape_add_nothing(desk: Desk, folder: Path) -> None:
    page = offered(desk, [str(folder)])
    desk.key(Qt.Key.Key_Escape, page.card)
    assert page.card.isHidden()
    assert page.ingestion.table.rows == []
    page = offered(desk, [str(folder / "bgp.txt")])
    assert page.card.what.text() == "1 file to add"
    desk.click(page.card.no)
    assert page.ingestion.table.rows == []


def test_a_second_drop_joins_the_first(desk: Desk, folder: Path) -> None:
    page = offered(desk, [str(folder / "bgp.txt")])
    desk.drop(desk.window, [str(folder / "vlan.csv")])
    desk.until(lambda: page.card.ok.isEnabled(), "the suggestion")
    assert page.card.what.text() == "2 files to add"


def test_a_link_that_cannot_be_fetched_says_why(desk: Desk) -> None:
    page = added(desk, ["https://docs.aws.amazon.com/vpc/latest/peering.html"])
    (row,) = page.ingestion.table.rows
    assert row.state == "failed"
    assert "web search is switched off" in row.remark
    assert page.adding.retry.isVisible()


def test_stop_keeps_what_is_written_and_go_on_goes_on(desk: Desk, tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for i in range(400):
        text = "\n\n".join(f"Paragraph {j} of file {i}. {OSPF}" for j in range(12))
        (many / f"ospf-{i:03}.md").write_text(text, encoding="utf-8")
    page = offered(desk, [str(many)])
    desk.click(page.card.ok)
    table = page.ingestion.table
    desk.until(lambda: table.counts["added"] > 0, "a file")
    desk.click(page.adding.stop)
    desk.until(lambda: not page.ingestion.running, "the stop")
    assert table.counts["stopped"] > 0
    assert table.counts["added"] + table.counts["stopped"] == 400
    assert "stopped" in page.adding.summary.text()
    assert len(own_files(desk)) >= table.counts["added"]
    desk.click(page.adding.go_on)
    desk.until(lambda: not page.ingestion.running, "the rest", 90)
    desk.idle()
    assert table.counts["stopped"] == 0
    assert len(own_files(desk)) == 400


def own_files(desk: Desk) -> list[str]:
    """Names of the files in the knowledge base, without the starter notes."""
    files = desk.engine.store.files()
    return [Path(f.path).name for f in files if not f.path.startswith("kb/notes/")]


def test_a_restart_goes_on_with_what_waits(
    open_desk: Opener, model: ModelServer, folder: Path, home: Path
) -> None:
    IngestQueue(home).add([(folder / "bgp.txt").as_posix()], "kb_network")
    desk = open_desk(model)
    page = library(desk)
    desk.until(lambda: states(page) == {"bgp.txt": "added"}, "the file of the last session")
    desk.idle()
    assert IngestQueue(home).load() == ()
    assert own_files(desk) == ["bgp.txt"]


def test_what_waits_goes_on_though_nobody_opens_the_library(
    open_desk: Opener, model: ModelServer, folder: Path, home: Path
) -> None:
    IngestQueue(home).add([(folder / "bgp.txt").as_posix()], "kb_network")
    desk = open_desk(model)
    desk.until(lambda: "bgp.txt" in own_files(desk), "the file of the last session")
    desk.idle()
    assert desk.window.stack.currentWidget() is desk.page


def test_closing_in_the_middle_keeps_what_waits(
    open_desk: Opener, model: ModelServer, tmp_path: Path, home: Path
) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for i in range(300):
        text = "\n\n".join(f"Paragraph {j} of file {i}. {OSPF}" for j in range(12))
        (many / f"ospf-{i:03}.md").write_text(text, encoding="utf-8")
    desk = open_desk(model)
    page = offered(desk, [str(many)])
    desk.click(page.card.ok)
    desk.until(lambda: page.ingestion.table.counts["reading"] > 0, "a file being read")
    desk.close()
    waiting = IngestQueue(home).load()
    assert waiting
    again = open_desk(model)
    page = library(again)
    again.until(lambda: len(page.ingestion.table.rows) == len(waiting), "the rest")
    again.until(lambda: not page.ingestion.running, "the end", 90)
    again.idle()
    assert len(own_files(again)) == 300


def test_a_question_goes_before_the_files(desk: Desk, model: ModelServer, tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for i in range(200):
        text = "\n\n".join(f"Paragraph {j} of file {i}. {OSPF}" for j in range(12))
        (many / f"ospf-{i:03}.md").write_text(text, encoding="utf-8")
    model.replies = [Reply("A short answer [1].")]
    page = offered(desk, [str(many)])
    desk.click(page.card.ok)
    desk.until(lambda: page.ingestion.table.counts["reading"] > 0, "a file being read")
    desk.window.show_page("ask")
    desk.ask("Why does an OSPF neighbour stay in EXSTART?")
    assert page.ingestion.running, "the answer came before the last file"
    desk.until(lambda: not page.ingestion.running, "the end", 90)


# --- contents -----------------------------------------------------------------------------


def contents(desk: Desk, page: LibraryPage) -> None:
    page.tabs.setCurrentIndex(CONTENTS)
    desk.idle()


def select(page: LibraryPage, name: str) -> None:
    view = page.contents.table
    for row in range(page.contents.found.rowCount()):
        if page.contents.found.index(row, 0).data(ROW).path.endswith(name):
            view.selectRow(row)
            return
    raise AssertionError(f"{name} is not listed")


def test_contents_by_namespace_with_preview(desk: Desk, folder: Path) -> None:
    page = added(desk, [str(folder)], "kb_network")
    contents(desk, page)
    names = [page.contents.spaces.item(i).text() for i in range(page.contents.spaces.count())]
    assert names[0].startswith("All  (")
    place = next(i for i, n in enumerate(names) if n.startswith("kb_network  ("))
    page.contents.spaces.setCurrentRow(place)
    page.contents.filter.setText("bgp.txt")
    desk.until(lambda: page.contents.found.rowCount() == 1, "the filter")
    select(page, "bgp.txt")
    desk.idle()
    assert "TCP port 179" in page.contents.preview.toPlainText()
    assert page.contents.open.isEnabled()


def test_starter_notes_stay(desk: Desk) -> None:
    page = library(desk)
    contents(desk, page)
    page.contents.table.selectRow(0)
    desk.idle()
    assert page.contents.marked()[0].path.startswith("kb/notes/")
    assert not page.contents.remove.isEnabled()


def test_remove_asks_first(desk: Desk, folder: Path) -> None:
    page = added(desk, [str(folder / "bgp.txt"), str(folder / "vlan.csv")], "kb_network")
    contents(desk, page)
    select(page, "bgp.txt")
    answer(desk, page.contents.remove, "Cancel")
    desk.idle()
    select(page, "bgp.txt")
    answer(desk, page.contents.remove, "Remove")
    desk.idle()
    left = [Path(f.path).name for f in page.contents.files.files]
    assert "bgp.txt" not in left
    assert "vlan.csv" in left
    assert (folder / "bgp.txt").exists()


def test_reindex_reads_again(desk: Desk, folder: Path) -> None:
    page = added(desk, [str(folder / "bgp.txt")], "kb_network")
    contents(desk, page)
    select(page, "bgp.txt")
    desk.click(page.contents.again)
    desk.until(lambda: states(page) == {"bgp.txt": "added"}, "the file anew")
    desk.idle()
    select(page, "bgp.txt")


def answer(desk: Desk, button: QPushButton, word: str) -> None:
    desk.click(button)
    (box,) = [b for b in desk.window.findChildren(QMessageBox) if b.isVisible()]
    (choice,) = [b for b in box.buttons() if b.text().replace("&", "") == word]
    QTest.mouseClick(choice, Qt.MouseButton.LeftButton)
    desk.settle()


# --- search ---------------------------------------------------------------------------------


def test_search_shows_passages_and_scores(desk: Desk, folder: Path) -> None:
    page = added(desk, [str(folder)], "kb_network")
    page.tabs.setCurrentIndex(SEARCH)
    desk.settle()
    assert page.finding.query.hasFocus()
    QTest.keyClicks(page.finding.query, "BGP session TCP port 179")
    QTest.keyClick(page.finding.query, Qt.Key.Key_Return)
    desk.idle()
    cards = page.finding.passages.cards
    assert "TCP port 179" in cards[1].text.toPlainText()
    assert "best first" in page.finding.state.text()
    asked: list[str] = []
    desk.window.context.wishes.ask_question.connect(lambda t, _: asked.append(t))  # type: ignore[union-attr]
    desk.click(page.finding.ask)
    assert asked == ["BGP session TCP port 179"]


def test_search_in_one_namespace(desk: Desk) -> None:
    page = library(desk)
    page.tabs.setCurrentIndex(SEARCH)
    desk.idle()
    page.finding.namespace.setCurrentIndex(page.finding.namespace.findData("kb_aws"))
    QTest.keyClicks(page.finding.query, "transit gateway")
    desk.until(lambda: bool(page.finding.passages.cards), "passages by themselves")
    assert {c.hit.source for c in page.finding.passages.cards.values()} == {"kb_aws"}


# --- watched folders ------------------------------------------------------------------------


def test_a_watched_folder_takes_new_files_in(desk: Desk, folder: Path) -> None:
    page = library(desk)
    page.tabs.setCurrentIndex(WATCHED)
    page.watching.watch(str(folder))
    desk.until(lambda: states(page).get("bgp.txt") == "added", "the files that are there", 60)
    desk.idle()
    assert page.watching.watched[0].namespace == "kb_routing_switching"
    (folder / "new.md").write_text("# New\n\nEIGRP uses IP protocol 88.\n", encoding="utf-8")
    desk.until(lambda: states(page).get("new.md") == "added", "the new file", 30)
    (folder / "bgp.txt").write_text("A BGP session needs TCP port 179, always.\n", "utf-8")
    os.utime(folder / "bgp.txt", (2_000_000_000, 2_000_000_000))
    desk.until(lambda: states(page).get("bgp.txt") == "updated", "the changed file", 30)
    desk.idle()


def test_watched_folders_are_known_after_a_restart(
    open_desk: Opener, model: ModelServer, folder: Path
) -> None:
    desk = open_desk(model)
    page = library(desk)
    page.watching.watch(str(folder))
    desk.until(lambda: states(page).get("bgp.txt") == "added", "the files", 60)
    desk.idle()
    desk.close()
    (folder / "later.md").write_text("# Later\n\nEIGRP uses IP protocol 88.\n", encoding="utf-8")
    again = open_desk(model)
    page = library(again)
    again.until(lambda: states(page) == {"later.md": "added"}, "only the new file", 60)
    again.idle()
    page.tabs.setCurrentIndex(WATCHED)
    page.watching.list.setCurrentRow(0)
    again.click(page.watching.remove)
    again.idle()
    assert page.watching.watched == ()
    assert page.watching.state.text().startswith("No folder is watched")


def test_five_hundred_files_in_the_table_cost_little(desk: Desk, tmp_path: Path) -> None:
    """Each change of a row is told to the view in a batch, not one by one."""
    page = library(desk)
    page.tabs.setCurrentIndex(ADDING)
    table = page.ingestion.table
    table.add([row(tmp_path / f"f{i}.md") for i in range(500)])
    told: list[int] = []
    table.dataChanged.connect(lambda first, last: told.append(last.row() - first.row() + 1))
    for i in range(500):
        for state in ("reading", "embedding", "added"):
            table.set_state(str(tmp_path / f"f{i}.md"), "kb_aws", state, 3)
    table.flush()
    assert told == [500]
    assert table.counts["added"] == 500


def row(path: Path) -> object:
    from aether.gui.filetable import FileRow

    return FileRow(str(path), "kb_aws")


def test_return_accepts_a_drop(desk: Desk, folder: Path) -> None:
    page = offered(desk, [str(folder / "bgp.txt")])
    assert isinstance(page.card, DropCard)
    desk.key(Qt.Key.Key_Return, page.card)
    desk.until(lambda: states(page) == {"bgp.txt": "added"}, "the file")
    desk.idle()


def test_the_drop_zone_takes_files_too(desk: Desk, folder: Path) -> None:
    page = library(desk)
    desk.drop(page.zone, [str(folder / "bgp.txt")])
    desk.until(lambda: page.card.ok.isEnabled(), "the suggestion")
    assert page.card.what.text() == "1 file to add"
    desk.click(page.card.no)


def test_files_that_cannot_be_stored_fail_with_advice(desk: Desk, folder: Path) -> None:
    page = library(desk)
    desk.idle()
    other = WordEmbedder(32, "other")
    vars(desk.engine)["embedder"] = other
    vars(desk.engine)["store"] = LanceStore(desk.engine.settings.kb_uri, other)
    page = offered(desk, [str(folder / "bgp.txt")])
    desk.click(page.card.ok)
    desk.until(lambda: not page.ingestion.running, "the end")
    (box,) = [b for b in desk.window.findChildren(QMessageBox) if b.isVisible()]
    assert "was built with the embedder" in box.text()
    box.close()
    (one,) = page.ingestion.table.rows
    assert one.state == "failed"
    assert "re-index" in one.remark
    assert page.adding.retry.isVisible()
    assert IngestQueue(desk.engine.settings.home).load(), "it is tried again after a restart"
    desk.idle()


def test_ctrl_f_searches(desk: Desk) -> None:
    page = library(desk)
    page.tabs.setFocus()
    desk.ctrl(Qt.Key.Key_F)
    assert page.tabs.currentIndex() == SEARCH
    assert page.finding.query.hasFocus()
    desk.idle()
