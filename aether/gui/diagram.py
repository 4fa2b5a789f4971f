"""A Mermaid diagram in an answer: drawn where it parses, else its source with the reason.

Drawn by a hidden browser page that reaches nothing but the library beside it; what it gives back is
a picture. The page is made when the first diagram comes.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QFontInfo, QGuiApplication, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from aether.gui.code import CodeLines
from aether.gui.mermaid import repaired
from aether.gui.theme import Theme
from aether.gui.widgets import label, lines_label, tool
from aether.lint import RESOURCES

LIBRARY = RESOURCES / "assets" / "mermaid.min.js"
LIMIT_MS = 15_000
SHARP = 2  # pixels drawn for each pixel shown
_PAGE = """<!doctype html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src file:
 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<body><script src="mermaid.min.js"></script><script>
const say = (what) => console.info("aether:" + JSON.stringify(what));
async function picture(svg) {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const box = (root.getAttribute("viewBox") || "0 0 800 600").split(/[ ,]+/).map(Number);
  const w = Math.min(3000, Math.ceil(box[2])), h = Math.min(3000, Math.ceil(box[3]));
  root.setAttribute("width", w); root.setAttribute("height", h); root.removeAttribute("style");
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8,"
    + encodeURIComponent(new XMLSerializer().serializeToString(root));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = w * SHARP; canvas.height = h * SHARP;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}
async function draw(id, sources, theme, font) {
  mermaid.initialize({startOnLoad: false, securityLevel: "strict", theme: theme, htmlLabels: false,
    flowchart: {htmlLabels: false}, fontFamily: font, maxTextSize: 50000});
  let fault = "";
  for (const [i, source] of sources.entries()) {
    try {
      await mermaid.parse(source);
      const made = await mermaid.render("d" + id + "_" + i, source);
      say({id: id, png: await picture(made.svg), mended: i > 0});
      return;
    } catch (error) { fault = fault || String(error.message || error); }
  }
  say({id: id, error: fault});
}
say({ready: true});
</script>""".replace("SHARP", str(SHARP))


@dataclass(frozen=True, slots=True)
class Drawing:
    """What came of one diagram: a picture, or the reason why there is none."""

    png: bytes = b""
    error: str = ""
    mended: bool = False


class Draughtsman(QObject):
    """Draws one diagram after the other in a hidden page."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: dict[int, Callable[[Drawing], None]] = {}
        self._queue: list[str] = []
        self._number = 0
        self._page: Any = None
        self._profile: Any = None
        self._ready = False
        self.limit = QTimer(self, singleShot=True, interval=LIMIT_MS)
        self.limit.timeout.connect(self._give_up)

    def draw(self, source: str, dark: bool, font: str, then: Callable[[Drawing], None]) -> int:
        """Draw; `then` hears of it later, unless `forget` is called with the number returned."""
        self._number += 1
        self._waiting[self._number] = then
        sources = list(dict.fromkeys((source, repaired(source))))
        arguments = (self._number, sources, "dark" if dark else "neutral", font)
        call = f"draw({', '.join(json.dumps(a) for a in arguments)})"
        self._queue.append(call)
        fault = "" if self._page is not None else self._open()
        if fault:
            QTimer.singleShot(0, self, lambda n=self._number: self._end(n, Drawing(error=fault)))
        self._send()
        self.limit.start()
        return self._number

    def forget(self, number: int) -> None:
        """Nobody waits for this diagram any more."""
        self._waiting.pop(number, None)

    def close(self) -> None:
        """Let the browser page go, at once: first the page, then what it stands on."""
        self.limit.stop()
        self._waiting, self._queue, self._ready = {}, [], False
        for held in (self._page, self._profile):
            if held is not None:
                held.deleteLater()
                QCoreApplication.sendPostedEvents(held, QEvent.Type.DeferredDelete.value)
        self._page = self._profile = None

    def _open(self) -> str:
        """Make the page; the words of the fault where this machine cannot."""
        if hasattr(os, "geteuid") and os.geteuid() == 0:  # Chromium has no sandbox for root
            os.environ["QTWEBENGINE_DISABLE_SANDBOX"] = "1"
        os.environ.setdefault("QTWEBENGINE_CHROMIUM_FLAGS", "--disable-gpu")  # a canvas is enough
        try:
            from aether.gui.browser import hidden_page
        except ImportError as error:
            return self.tr("Diagrams cannot be drawn on this machine: {}").format(error)
        self._profile, self._page = hidden_page(self._heard)
        self._page.setHtml(_PAGE, QUrl.fromLocalFile(str(LIBRARY.parent) + "/"))
        return ""

    def _send(self) -> None:
        while self._ready and self._queue:
            self._page.runJavaScript(self._queue.pop(0))

    def _heard(self, message: str) -> None:
        if not message.startswith("aether:"):
            return
        told = json.loads(message.removeprefix("aether:"))
        if told.get("ready"):
            self._ready = True
            self._send()
            return
        png = base64.b64decode(told.get("png", "").partition(",")[2])
        self._end(told["id"], Drawing(png, told.get("error", ""), bool(told.get("mended"))))

    def _end(self, number: int, drawing: Drawing) -> None:
        then = self._waiting.pop(number, None)
        if not self._waiting:
            self.limit.stop()
        if then:
            then(drawing)

    def _give_up(self) -> None:
        waiting = self._waiting
        self.close()
        for then in waiting.values():
            then(Drawing(error=self.tr("The drawing took too long.")))


_SHARED: list[Draughtsman] = []


def draughtsman() -> Draughtsman:
    """The one that all answers share, made when it is first asked for."""
    if not _SHARED:
        _SHARED.append(Draughtsman())
    return _SHARED[0]


def close_draughtsman() -> None:
    """Let it go, with its hidden page."""
    while _SHARED:
        _SHARED.pop().close()


class Diagram(QFrame):
    """The drawing, with its source a click away."""

    grown = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "code")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._number = 0
        self._pixmap = QPixmap()
        self.source = ""
        self.state = "empty"  # empty, drawing, drawn, failed
        self.picture = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.picture.setAccessibleName(self.tr("Diagram"))
        self.picture.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.note = lines_label("", "muted")
        self.lines = CodeLines()
        self.toggle = tool(theme, "code", self.tr("Show the source"), checkable=True)
        self.copy = tool(theme, "copy", self.tr("Copy the source"))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.source))
        self.toggle.toggled.connect(self._show_parts)
        head = QHBoxLayout()
        head.addWidget(label(self.tr("Diagram"), "muted"), 1)
        head.addWidget(self.toggle)
        head.addWidget(self.copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 4, 4, 8)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.picture)
        column.addWidget(self.note)
        column.addWidget(self.lines)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What Tab goes through."""
        return self.toggle, self.copy, self.lines

    def add(self, source: str) -> None:
        """Draw this."""
        self.source = source
        self.lines.setPlainText(source)
        self.lines.fit(source.count("\n") + 1)
        self.note.setText(self.tr("Drawing \u2026"))
        self.state = "drawing"
        self._show_parts()
        font = f"{QFontInfo(self.font()).family()}, sans-serif"
        self._number = draughtsman().draw(source, self._theme.dark, font, self._drawn)

    show_live = add

    def fit(self) -> None:
        """The layout keeps the height."""

    def hideEvent(self, event: Any) -> None:
        """Nobody waits for the drawing of an answer that was taken away."""
        super().hideEvent(event)
        if self.parent() is None:
            draughtsman().forget(self._number)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The picture is never wider than the answer."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._scale()

    def _drawn(self, drawing: Drawing) -> None:
        if drawing.png and self._pixmap.loadFromData(drawing.png):
            self.state = "drawn"
            mended = self.tr("Drawn after a small repair of its source.")
            self.note.setText(mended if drawing.mended else "")
            self._scale()
        else:
            self.state = "failed"
            reason = drawing.error or self.tr("the picture is empty")
            self.note.setText(self.tr("This diagram does not parse: {}").format(reason))
        self._show_parts()
        self.grown.emit()

    def _scale(self) -> None:
        if self._pixmap.isNull():
            return
        ratio = self.devicePixelRatioF()
        natural = self._pixmap.width() / SHARP
        wide = min(natural, max(80, self.width() - 24))
        shown = self._pixmap.scaledToWidth(
            round(wide * ratio), Qt.TransformationMode.SmoothTransformation
        )
        shown.setDevicePixelRatio(ratio)
        self.picture.setPixmap(shown)
        self.picture.setFixedHeight(round(shown.height() / ratio))

    def _show_parts(self) -> None:
        drawn = self.state == "drawn"
        self.picture.setVisible(drawn and not self.toggle.isChecked())
        self.lines.setVisible(not drawn or self.toggle.isChecked())
        self.toggle.setVisible(drawn)
        self.note.setVisible(bool(self.note.text()))
        self.grown.emit()
