"""The inspector: why this expert, the sources, the confidence."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from aether.gui.claims import CLAIM, ClaimList
from aether.gui.gauge import Gauge
from aether.gui.inspector import CONFIDENCE, SOURCES, WHY
from aether.gui.passages import place_of
from aether.gui.prose import Prose
from aether.gui.sureness import Sureness
from aether.gui.theme import Theme
from aether.gui.tips import source_tip
from aether.records import Claim, Confidence, Hit
from tests.fakes.model_server import ModelServer
from tests.gui.desk import Desk
from tests.gui.test_transcript import Opened, opened, theme

__all__ = ["opened", "theme"]

ANSWER = "Attach each VPC to the transit gateway [1]. A VPC has 4096 subnets. It costs less [2]."


@pytest.fixture
def answered(desk: Desk, model: ModelServer) -> Desk:
    model.replies = [ANSWER]
    desk.ask("How do I connect AWS VPCs with a transit gateway?")
    return desk


def test_a_click_on_a_citation_opens_the_passage(answered: Desk) -> None:
    prose = answered.turn.answer.parts[0]
    assert isinstance(prose, Prose)
    answered.click_link(prose, "[2]")
    assert answered.inspector.currentIndex() == SOURCES
    cards = answered.inspector.passages.cards
    assert cards[2].property("role") == "card-chosen"
    assert cards[1].property("role") == "card"
    assert not cards[2].visibleRegion().isEmpty()
    hit = answered.turn.exchange.run.hits[1]  # type: ignore[union-attr]
    assert hit.text.split()[0] in cards[2].text.toPlainText()


def test_a_hidden_inspector_comes_with_the_click(answered: Desk) -> None:
    answered.ctrl(Qt.Key.Key_I)
    assert answered.inspector.isHidden()
    answered.click_link(answered.turn.sources.lines, "[1]")
    assert answered.inspector.isVisible()
    assert answered.page.show_inspector.isChecked()


def test_hover_shows_passage_and_support(answered: Desk) -> None:
    prose = answered.turn.answer.parts[0]
    assert isinstance(prose, Prose)
    answered.point_at(prose, "[1]")
    answered.until(lambda: answered.tip, "a tip")
    hit = answered.turn.exchange.run.hits[0]  # type: ignore[union-attr]
    assert "[1]" in answered.tip
    assert " ".join(hit.text.split()[:4]) in answered.tip.replace("&#x27;", "'")
    assert "support" in answered.tip


def test_tips_hold_no_markup_from_outside() -> None:
    evil = Hit("<b>x</b><img src='https://e.example'>", "<i>t</i>", "", "s", "web", 0.5, 1)
    tip = source_tip(evil, None)
    assert "<img" not in tip
    assert "<i>t" not in tip


def test_why_shows_the_score_table(answered: Desk) -> None:
    answered.inspector.setCurrentIndex(WHY)
    why = answered.inspector.why
    model = why.experts.model()
    names = [model.index(r, 0).data() for r in range(model.rowCount())]
    assert len(names) == 13  # zero rows too
    assert names[0] == "AWS specialist"
    route = answered.turn.exchange.route
    assert route is not None
    assert model.index(0, 1).data() == f"{route.candidates[0].score:.1f}"
    children = model.rowCount(model.index(0, 0))
    assert children == sum(bool(points) for _, points in route.candidates[0].parts)
    assert why.experts.isExpanded(model.index(0, 0))
    assert "specialists" in why.reason.text()
    assert why.query.text().startswith("Searched for: ")


def test_confidence_says_every_term(answered: Desk) -> None:
    answered.click(answered.turn.actions_row.explain)
    sure = answered.inspector.sureness
    assert answered.inspector.currentIndex() == CONFIDENCE
    scored = answered.turn.exchange.scored
    assert scored is not None
    assert sure.value.text() == f"{scored.value:.2f}"
    assert sure.gauge.threshold == scored.threshold
    texts = [sure.terms.itemAt(i).widget().text() for i in range(sure.terms.count())]  # type: ignore[union-attr]
    assert texts[0] == "What was found"
    assert len(texts) == 8
    assert sure.claims.model().rowCount() == len(scored.claims)
    assert f"of {len(scored.claims)} claims" in sure.claims_head.text()


def test_pointing_at_a_claim_lights_it_up_in_the_answer(answered: Desk) -> None:
    answered.click(answered.turn.actions_row.explain)
    claims = answered.inspector.sureness.claims
    prose = answered.turn.answer.parts[0]
    assert isinstance(prose, Prose)
    place = claims.visualRect(claims.model().index(0, 0)).center()
    QTest.mouseMove(claims.viewport(), QPoint(2, claims.viewport().height() - 2))
    QTest.mouseMove(claims.viewport(), place)
    answered.settle()
    lit = [s.cursor.selectedText() for s in prose.extraSelections()]  # type: ignore[attr-defined]
    assert lit
    assert "transit gateway" in lit[0]
    claims.pointed.emit(None)
    assert not prose.extraSelections()


def test_a_click_on_a_claim_opens_its_passage(answered: Desk) -> None:
    answered.click(answered.turn.actions_row.explain)
    claims = answered.inspector.sureness.claims
    index = claims.model().index(0, 0)
    QTest.mouseClick(
        claims.viewport(), Qt.MouseButton.LeftButton, pos=claims.visualRect(index).center()
    )
    answered.settle()
    assert answered.inspector.currentIndex() == SOURCES
    number = index.data(CLAIM).citations[0]
    card = answered.inspector.passages.cards[number]
    assert card.property("role") == "card-chosen"


def test_an_older_exchange_can_be_inspected(answered: Desk, model: ModelServer) -> None:
    model.replies = ["Another thing [1]."]
    answered.ask("Why does an OSPF neighbour stay in EXSTART?")
    first = answered.chat.transcript.turns[0]
    answered.click(first.actions_row.explain)
    assert answered.inspector.sureness.value.text() == f"{first.exchange.scored.value:.2f}"  # type: ignore[union-attr]


def test_what_is_shown_survives_a_restart(answered: Desk) -> None:
    before = answered.turn.exchange
    conversation = answered.chat.conversation
    answered.chat.open("")
    answered.chat.open(conversation)
    answered.until(lambda: answered.chat.transcript.turns, "the conversation")
    after = answered.turn.exchange
    assert after.run is not None
    assert before.run is not None
    assert [h.text for h in after.run.hits] == [h.text for h in before.run.hits]
    assert after.scored is not None
    assert before.scored is not None
    assert [(c.text, c.verdict, c.evidence) for c in after.scored.claims] == [
        (c.text, c.verdict, c.evidence) for c in before.scored.claims
    ]
    assert after.route is not None
    assert before.route is not None
    assert [c.agent for c in after.route.candidates] == [c.agent for c in before.route.candidates]


def test_a_page_is_opened_at_the_place(answered: Desk, opened: Opened) -> None:
    answered.inspector.open_source(1)
    card = answered.inspector.passages.cards[1]
    answered.settle()
    assert opened.urls == []
    answered.click(card.open)
    assert len(opened.urls) == 1
    place = place_of(card.hit)
    assert place is not None
    assert opened.urls == [place.toString()]


def test_places_of_passages(tmp_path: object) -> None:
    page = Hit("Hello timers must agree on both ends of the link.", "T",
               "https://docs.example/ospf", "s", "web", 0.5, 1)  # fmt: skip
    url = place_of(page)
    assert url == QUrl(
        "https://docs.example/ospf#:~:text=Hello%20timers%20must%20agree%20on%20both"
    )
    assert place_of(Hit("x", "T", "javascript:alert(1)", "s", "web", 0.5, 1)) is None
    assert place_of(Hit("x", "T", "", "s", "kb", 0.5, 1, path="/nowhere/at/all.pdf")) is None


def test_a_file_is_opened_at_its_page(tmp_path: object) -> None:
    from pathlib import Path

    file = Path(str(tmp_path)) / "manual.pdf"
    file.write_bytes(b"%PDF-1.4")
    hit = Hit("x", "T", "", "s", "kb", 0.5, 1, path=str(file), locator="page 4")
    url = place_of(hit)
    assert url is not None
    assert url.isLocalFile()
    assert url.fragment() == "page=4"


def test_claims_wear_their_verdicts(theme: Theme, qtbot: QtBot) -> None:
    claims = ClaimList(theme)
    claims.setObjectName("stage")
    qtbot.addWidget(claims)
    claims.resize(320, 400)
    claims.show()
    claims.set_claims(
        (
            Claim("**Ten** seconds.", (1,), 0.9, "supported", (), "It is ten seconds."),
            Claim("Never.", (), 0.0, "uncited"),
            Claim("Eleven.", (2,), 0.1, "unsupported", contradicted=True),
        )
    )
    words = [claims.model().index(r, 0).data() for r in range(3)]
    assert words[0] == "Supported \u00b7 0.90 \u00b7 [1]: Ten seconds."
    assert words[1] == "No source: Never."
    assert words[2].startswith("Contradicted by its source")
    assert claims.sizeHintForRow(0) > claims.sizeHintForRow(1)


def test_without_a_score_the_tab_says_why(theme: Theme, qtbot: QtBot) -> None:
    from aether.conversations import Exchange

    sure = Sureness(theme)
    sure.setObjectName("stage")
    qtbot.addWidget(sure)
    sure.show()
    sure.show_exchange(Exchange("?"))
    assert sure.verdict.text()
    assert sure.gauge.isHidden()
    scored = Confidence(0.5, "escalate", 0.5, 0.7, (("pre", 0.5),), cap="a reason")
    from aether.conversations import Look

    sure.show_exchange(Exchange("?", looks=(Look("a", scored=scored),)))
    assert "a reason" in sure.verdict.text()
    assert sure.gauge.isVisible()


def test_the_gauge_says_its_number(theme: Theme, qtbot: QtBot) -> None:
    gauge = Gauge(theme)
    gauge.setObjectName("stage")
    qtbot.addWidget(gauge)
    gauge.show_value(0.82, 0.7)
    assert gauge.accessibleDescription() == "0.82 of 1, threshold 0.70"
    gauge.resize(200, 40)
    gauge.show()
    QApplication.processEvents()
    image = gauge.grab().toImage()
    assert image.pixelColor(20, 6).name() == theme.colours.good
    gauge.show_value(0.4, 0.7)
    assert gauge.grab().toImage().pixelColor(20, 6).name() == theme.colours.warn
