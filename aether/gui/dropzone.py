"""The place that says: drop files here. Drops are taken by the whole window; this one invites."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
)

from aether.gui.theme import Theme
from aether.gui.widgets import label, restyle
from aether.links import is_link


class DropZone(QFrame):
    """Takes files, folders and links; `given` are their paths and addresses."""

    given = Signal(list)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "drop")
        self.setAcceptDrops(True)
        self._theme = theme
        self._icon = QLabel()
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(label(self.tr("Drop files, folders or links here"), "heading"))
        kinds = self.tr("PDF, Word, PowerPoint, Excel, Markdown, HTML, text, CSV")
        words.addWidget(label(kinds, "muted"))
        self.files = QPushButton(self.tr("Files\u2026"))
        self.folder = QPushButton(self.tr("Folder\u2026"))
        self.link = QPushButton(self.tr("Link\u2026"))
        self.files.setToolTip(self.tr("Choose files to add"))
        self.folder.setToolTip(self.tr("Choose a folder to add, with everything below it"))
        self.link.setToolTip(self.tr("Add a page of a documentation site"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 14, 16, 14)
        row.setSpacing(12)
        row.addWidget(self._icon)
        row.addLayout(words, 1)
        for button, choose in (
            (self.files, self._choose_files),
            (self.folder, self._choose_folder),
            (self.link, self._ask_link),
        ):
            button.setAutoDefault(False)
            button.clicked.connect(choose)
            row.addWidget(button)
        theme.changed.connect(self._draw)
        self._draw()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Light up while something is held over it."""
        if event.mimeData().hasUrls() or is_link(event.mimeData().text()):
            event.acceptProposedAction()
            restyle(self, "drop-over")

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """It went away again."""
        restyle(self, "drop")

    def dropEvent(self, event: QDropEvent) -> None:
        """Hand on what was dropped."""
        restyle(self, "drop")
        urls = [url.toLocalFile() or url.toString() for url in event.mimeData().urls()]
        text = event.mimeData().text().strip()
        if dropped := urls or ([text] if is_link(text) else []):
            event.acceptProposedAction()
            self.given.emit(dropped)

    def _choose_files(self) -> None:
        paths, _ = QFileDialog.getOpenFileNames(self, self.tr("Add files"), str(Path.home()))
        if paths:
            self.given.emit(paths)

    def _choose_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, self.tr("Add a folder"), str(Path.home()))
        if path:
            self.given.emit([path])

    def _ask_link(self) -> None:
        text, ok = QInputDialog.getText(
            self,
            self.tr("Add a page"),
            self.tr("Address of a page on one of the listed documentation sites:"),
            QLineEdit.EchoMode.Normal,
            "https://",
        )
        if ok and is_link(text):
            self.given.emit([text.strip()])

    def _draw(self) -> None:
        icon = self._theme.icon("plus", self._theme.colours.muted)
        self._icon.setPixmap(icon.pixmap(22, 22))
