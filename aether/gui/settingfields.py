"""Controls that hold one setting each: shown as it is, checked and kept as soon as it is changed.

A wrong value is refused by the same check as `settings.toml`; its words stand under the control.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from aether.cancel import Cancel
from aether.gui.context import Context
from aether.gui.controls import Choice, NumberEdit, Switch
from aether.gui.formlayout import Card, side_by_side
from aether.gui.phrases import fault_words
from aether.gui.widgets import lines_label
from aether.settings import Settings, save_settings, set_elsewhere, with_keys

Told = Callable[[str], None]  # is given the words of the fault, "" where all is well


class Saver(QObject):
    """Writes settings one after the other, and has the engine go on with them."""

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._waiting: list[tuple[dict[str, str | None], Told]] = []
        self._busy = False

    def save(self, changes: dict[str, str | None], told: Told) -> None:
        """Keep dotted keys (None: the default); `told` hears how it went."""
        self._waiting.append((changes, told))
        self._next()

    def _next(self) -> None:
        if self._busy or not self._waiting:
            return
        self._busy = True
        changes, told = self._waiting.pop(0)
        home = self._context.home
        self._context.tasks.quick(
            lambda _: save_settings(home, changes),
            lambda saved: self._saved(saved, changes, told),
            lambda error: self._failed(error, told),
        )

    def _saved(self, saved: Settings, changes: dict[str, str | None], told: Told) -> None:
        """The engine changes on its own thread: an answer under way is finished first."""
        engine = self._context.engine
        told("")

        def adopt(_: Cancel) -> None:
            engine.adopt(with_keys(engine.settings, saved, changes))

        self._context.tasks.call(adopt, lambda _: self._adopted(), lambda e: told(str(e)))
        self._over()

    def _adopted(self) -> None:
        self._context.wishes.settings_changed.emit()
        self._context.wishes.say.emit(self.tr("Settings saved"))

    def _failed(self, error: Exception, told: Told) -> None:
        what, _, _ = fault_words(error)
        told(what)
        self._over()

    def _over(self) -> None:
        self._busy = False
        self._next()


class Fields:
    """Makes the controls of one panel, row by row."""

    def __init__(self, context: Context, saver: Saver) -> None:
        self.context, self.saver = context, saver
        self.controls: dict[str, QWidget] = {}
        self.faults: dict[str, QLabel] = {}

    def text(
        self, card: Card, key: str, name: str, hint: str = "", placeholder: str = "",
        secret: bool = False, browse: str = "",
    ) -> QLineEdit:  # fmt: skip
        """A line of text; `browse` is the filter of a file dialog beside it."""
        line = QLineEdit(str(self._now(key)))
        line.setPlaceholderText(placeholder)
        if secret:
            line.setEchoMode(QLineEdit.EchoMode.Password)
        line.editingFinished.connect(lambda: self.keep(key, line.text().strip()))
        self._place(card, key, name, line, hint, self._browser(line, key, browse) if browse else ())
        return line

    def check(self, card: Card, key: str, name: str, words: str, hint: str = "") -> Switch:
        """A switch."""
        box = Switch(words)
        box.setChecked(bool(self._now(key)))
        box.setAccessibleName(words)
        box.toggled.connect(lambda on: self.keep(key, "true" if on else "false"))
        self._place(card, key, name, box, hint)
        return box

    def number(
        self,
        card: Card,
        key: str,
        name: str,
        span: tuple[float, float, float],
        hint: str = "",
        unit: str = "",
        decimals: int = 0,
        zero: str = "",
    ) -> NumberEdit:
        """A number; `span` is least, most and step, `zero` are the words for 0."""
        line = NumberEdit(*span, decimals, 0.0 if zero else None)
        line.setPlaceholderText(zero)
        line.setMaximumWidth(180 if zero else 120)
        line.set_value(float(self._now(key)))
        line.changed.connect(lambda value: self.keep(key, f"{value:.{decimals}f}"))
        rest = QLabel(unit)
        rest.setProperty("role", "muted")
        rest.setMinimumWidth(1)
        self._place(card, key, name, line, hint, (rest,), wide=False)
        return line

    def choice(
        self, card: Card, key: str, name: str, choices: Sequence[str], hint: str = ""
    ) -> Choice:
        """One of several words."""
        box = Choice()
        box.addItems(list(choices))
        now = str(self._now(key))
        if now not in choices:
            box.addItem(now)
        box.setCurrentText(now)
        box.setMaximumWidth(260)
        box.activated.connect(lambda _: self.keep(key, box.currentText()))
        self._place(card, key, name, box, hint, (QLabel(),), wide=False)
        return box

    def keep(self, key: str, value: str) -> None:
        """Write a changed value; its fault, if any, appears under the control."""
        now = self._now(key)
        shown = str(now).lower() if isinstance(now, bool) else str(now)
        same = float(value) == now if isinstance(now, float) and value else value == shown
        if same:
            self._told(key, "")
        else:
            self.saver.save({key: value}, lambda fault: self._told(key, fault))

    def refresh(self) -> None:
        """Show what the settings are now, where they were changed elsewhere."""
        for key, control in self.controls.items():
            if control.hasFocus() and isinstance(control, QLineEdit):
                continue
            now = self._now(key)
            control.blockSignals(True)
            if isinstance(control, NumberEdit):
                control.set_value(float(now))
            elif isinstance(control, QLineEdit):
                control.setText(str(now))
            elif isinstance(control, Switch):
                control.setChecked(bool(now))
            elif isinstance(control, Choice):
                control.setCurrentText(str(now))
            control.blockSignals(False)

    def _told(self, key: str, fault: str) -> None:
        shown = self.faults[key]
        shown.setText(fault)
        shown.setVisible(bool(fault))

    def _now(self, key: str) -> Any:
        section, _, name = key.partition(".")
        return getattr(getattr(self.context.engine.settings, section), name)

    def _browser(self, line: QLineEdit, key: str, filters: str) -> tuple[QWidget, ...]:
        button = QPushButton(self.saver.tr("Choose\u2026"))
        button.setAutoDefault(False)

        def browse() -> None:
            start = line.text() or str(Path.home())
            path, _ = QFileDialog.getOpenFileName(button, button.text(), start, filters)
            if path:
                line.setText(path)
                self.keep(key, path)

        button.clicked.connect(lambda _=False: browse())
        return (button,)

    def _place(
        self,
        card: Card,
        key: str,
        name: str,
        control: QWidget,
        hint: str,
        beside: Sequence[QWidget] = (),
        wide: bool = True,
    ) -> None:
        control.setObjectName(key)
        self.controls[key] = control
        fault = self.faults[key] = lines_label("", "bad")
        fault.hide()
        if variable := set_elsewhere(key):
            control.setEnabled(False)
            words = self.saver.tr("Set by the environment variable {}.").format(variable)
            hint = f"{hint}\n{words}" if hint else words
        if not control.accessibleName():
            control.setAccessibleName(name)
        row = side_by_side(control, *beside, stretch=False)
        row.setStretch(0 if wide else len(beside), 1)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(fault)
        card.row(name, column, hint).setBuddy(control)
