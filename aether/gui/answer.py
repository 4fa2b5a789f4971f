"""An answer on the screen: stretches of prose, code and diagrams, one below the other.

While it streams, finished blocks are left alone and only the live rest is laid out again, at a pace
that follows what it costs.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from aether.gui.code import Code
from aether.gui.diagram import Diagram
from aether.gui.markdown import Block
from aether.gui.prose import Prose
from aether.gui.stream import Stream
from aether.gui.theme import Theme

SLICE_S = 0.012  # seconds of showing in one go
PORTION = 1200  # characters that are parsed in one go
PACE_MS = 40  # at most 25 renderings a second
SHARE = 4  # and at most a quarter of the time
TUCK, TRIM = 3, 2  # pixels that the two parts of a table leave out where they meet

Part = Prose | Code | Diagram


class Answer(QWidget):
    """Shows Markdown, whole or as it comes."""

    cited = Signal(int)  # a click on [n]
    pointed = Signal(int, QPoint)  # the pointer on [n], 0 where it left; a place on the screen
    opened = Signal(str)  # a click on an http or https link
    grown = Signal()  # the height may have changed

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text: list[str] = []
        self._stream = Stream()
        self._parts: list[Part] = []
        self._fixed = 0  # parts that hold something final
        self._cost = 0.0
        self._backlog = ""  # text of a long answer that is not shown yet
        self._whole = True  # nothing more will be written
        self._pace = QTimer(self, singleShot=True)
        self._pace.timeout.connect(self.refresh)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        theme.changed.connect(self._restyle)

    @property
    def text(self) -> str:
        """The Markdown so far."""
        return "".join(self._text)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The stretches, in order."""
        return tuple(self._parts)

    def set_text(self, text: str) -> None:
        """Show a whole answer; the end of a long one comes a moment later."""
        self._pace.stop()
        self._text, self._stream, self._fixed = [text], Stream(), 0
        self._backlog = text
        self._whole = True
        self._show([], [])
        self._work_off()

    def feed(self, piece: str) -> None:
        """More of an answer that is being written."""
        self._text.append(piece)
        self._whole = False
        if self._backlog:
            self._backlog += piece
            return
        self._stream.feed(piece)
        if not self._pace.isActive():
            self._pace.start(max(PACE_MS, round(self._cost * SHARE)))

    def finish(self) -> None:
        """Nothing more will come."""
        self._pace.stop()
        self._whole = True
        self._work_off()

    def refresh(self) -> None:
        """Bring what came since the last time on the screen."""
        if self._backlog:
            self._work_off()
            return
        start = time.perf_counter()
        self._show(*self._stream.advance())
        self._cost = (time.perf_counter() - start) * 1000

    def _work_off(self) -> None:
        """Show what waits, for at most one slice; the rest after the window had its turn."""
        end = time.perf_counter() + SLICE_S
        while self._backlog and time.perf_counter() < end:
            cut = self._backlog.find("\n", PORTION) + 1 or len(self._backlog)
            portion, self._backlog = self._backlog[:cut], self._backlog[cut:]
            self._stream.feed(portion)
            self._show(*self._stream.advance())
        if self._backlog:
            self._pace.start(0)
        elif self._whole:
            self._show(self._stream.finish(), [])

    def light_up(self, claim: str) -> bool:
        """Put a colour behind a claim wherever it stands; "" takes it away. True where found."""
        pattern = _pattern(claim)
        found = False
        for part in self._parts:
            if isinstance(part, Prose):
                text = part.document().toRawText() if pattern else ""
                spans = [m.span() for m in pattern.finditer(text)] if pattern else []
                part.light_up(spans, self._theme.colours.selection)
                found = found or bool(spans)
        return found

    def _show(self, done: list[Block], live: list[Block]) -> None:
        if self._fixed and isinstance(last := self._parts[self._fixed - 1], Prose):
            last.truncate()
        for block in done:
            self._fixed = self._place(block, self._fixed, final=True)
        used = self._fixed
        for run in _runs(live):
            used = self._place(run, used, final=False)
        while len(self._parts) > used:
            self._drop(self._parts.pop())
        first = max(0, self._fixed - 1 - len(done))
        for i, part in enumerate(self._parts[first:], first + 1):
            below = self._parts[i] if i < len(self._parts) else None
            if isinstance(part, Prose):
                part.trimmed = TRIM * (isinstance(below, Prose) and bool(below.tucked))
            part.fit()
        self.grown.emit()

    def _place(self, block: Block, at: int, final: bool) -> int:
        """Put a block into part `at - 1` where it continues that, else into the next one."""
        part = self._parts[at - 1] if at else None
        if not (part and self._continues(part, block)):
            part, at = self._part(block, at), at + 1
        if isinstance(part, Prose):
            part.tucked = part.tucked or TUCK * block.joins
            part.add(block) if final else part.show_live(block)
        else:
            part.add(block.source) if final else part.show_live(block.source)
        return at

    def _continues(self, part: Part, block: Block) -> bool:
        if isinstance(part, Prose):
            return block.kind in ("text", "table") and not part.full and not block.joins
        return isinstance(part, Code) and block.kind == "code" and block.joins

    def _part(self, block: Block, at: int) -> Part:
        """A fresh part at this place; one of the same kind that was only live is used again."""
        kind = _WIDGETS.get(block.kind, Prose)
        old = self._parts[at] if at < len(self._parts) else None
        if isinstance(old, kind) and not isinstance(old, Diagram):
            if isinstance(old, Prose):
                old.empty()
                return old
            if old.language == block.language:
                old.empty()
                return old
        part = self._make(block)
        self._parts.insert(at, part)
        self._column.insertWidget(at, part)
        return part

    def _make(self, block: Block) -> Part:
        if block.kind == "code":
            return Code(self._theme, block.language)
        if block.kind == "diagram":
            diagram = Diagram(self._theme)
            diagram.grown.connect(self.grown)
            return diagram
        prose = Prose(self._theme.colours)
        prose.setAccessibleName(self.tr("Answer"))
        prose.link.connect(self._follow)
        prose.pointed.connect(self._point)
        return prose

    def _drop(self, part: Part) -> None:
        self._column.removeWidget(part)
        part.hide()
        part.deleteLater()

    def _follow(self, url: str) -> None:
        if number := _citation(url):
            self.cited.emit(number)
        elif url.lower().startswith(("http://", "https://")):
            self.opened.emit(url)

    def _point(self, url: str) -> None:
        self.setToolTip("")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.pointed.emit(_citation(url), QCursor.pos())

    def _restyle(self) -> None:
        for part in self._parts:
            if isinstance(part, Prose):
                part.restyle(self._theme.colours)
        whole = self._whole
        self.set_text(self.text)
        self._whole = whole


_WIDGETS: dict[str, type[Prose] | type[Code] | type[Diagram]] = {"code": Code, "diagram": Diagram}


def _runs(live: list[Block]) -> list[Block]:
    """Live blocks with neighbouring prose made one, because a stretch has one live part."""
    out: list[Block] = []
    for block in live:
        if out and {out[-1].kind, block.kind} <= {"text", "table"}:
            joined = out[-1].tokens + block.tokens
            source = out[-1].source + block.source
            out[-1] = replace(out[-1], tokens=joined, source=source)
        else:
            out.append(block)
    return out


def _citation(url: str) -> int:
    match = re.fullmatch(r"cite:(\d{1,3})", url)
    return int(match.group(1)) if match else 0


def _pattern(claim: str) -> re.Pattern[str] | None:
    """Finds a claim again in rendered text: the same words, whatever marks stand between them."""
    words = re.findall(r"\w+", re.sub(r"\[\d+\]", " ", claim))
    if not words:
        return None
    return re.compile(r"[\W_]*(?:\[\d+\])*[\W_]*".join(map(re.escape, words)))
