"""What holds on every page but the first: all controls have names, words fit, no dead end."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from aether.gui.pages import PAGES
from tests.gui.conftest import Opener
from tests.gui.desk import Desk

KINDS = (QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit)
OTHERS = [name for name in PAGES if name != "ask"]


def page(desk: Desk, name: str) -> QWidget:
    desk.window.show_page(name)
    desk.idle()
    return desk.window.pages[name]


def inner(widget: QWidget) -> bool:
    """Whether it is a part that Qt puts into a control, such as the popup of a choice."""
    above = widget.parentWidget()
    while above is not None and not above.isWindow():
        if isinstance(above, QLineEdit | QComboBox | QTabBar | QAbstractItemView):
            return True
        above = above.parentWidget()
    return isinstance(widget, QHeaderView) or (above is not None and bool(above.parentWidget()))


@pytest.mark.parametrize("name", OTHERS)
def test_every_control_has_a_name(desk: Desk, name: str) -> None:
    nameless = [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for kind in KINDS
        for widget in page(desk, name).findChildren(kind)
        if not inner(widget) and not (widget.accessibleName() or getattr(widget, "text", str)())
    ]
    assert not nameless


@pytest.mark.parametrize("name", OTHERS)
def test_no_button_is_cut_off(desk: Desk, name: str) -> None:
    shown = page(desk, name)
    desk.window.resize(desk.window.minimumSize())
    desk.settle()
    cut = [
        f"{button.text()}: {button.width()} of {button.sizeHint().width()}"
        for button in shown.findChildren(QAbstractButton)
        if button.isVisible() and button.text() and button.width() < button.sizeHint().width() - 1
    ]
    assert not cut


@pytest.mark.parametrize("name", OTHERS)
def test_every_page_works_without_model_and_knowledge(open_desk: Opener, name: str) -> None:
    desk = open_desk(None, kb__uri="/dev/null/nowhere")
    shown = page(desk, name)
    assert shown.isVisible()
    box = desk.application.activeModalWidget()
    if box is not None:
        box.close()
    desk.idle()
