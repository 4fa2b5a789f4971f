"""The hidden browser page that draws diagrams; it loads one local file and nothing else.

Apart from the diagram because importing Qt's browser costs time and not every machine has it.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QUrl
from PySide6.QtWebEngineCore import (
    QWebEnginePage,
    QWebEngineProfile,
    QWebEngineSettings,
    QWebEngineUrlRequestInfo,
    QWebEngineUrlRequestInterceptor,
)

ALLOWED = "mermaid.min.js"


class Gate(QWebEngineUrlRequestInterceptor):
    """Lets the library through, and data that the page made itself."""

    def interceptRequest(self, info: QWebEngineUrlRequestInfo) -> None:
        """Block everything else, whatever a diagram asks for."""
        url = info.requestUrl()
        own = url.scheme() == "data" or (url.isLocalFile() and _is_library(url))
        first = info.resourceType() == QWebEngineUrlRequestInfo.ResourceType.ResourceTypeMainFrame
        info.block(not own and not (first and url.isLocalFile()))


def _is_library(url: QUrl) -> bool:
    return url.fileName() == ALLOWED


class HiddenPage(QWebEnginePage):
    """A page without a view; what its script says on the console goes to `heard`."""

    def __init__(self, profile: QWebEngineProfile, heard: Callable[[str], None]) -> None:
        super().__init__(profile)
        self._heard = heard

    def javaScriptConsoleMessage(
        self,
        level: QWebEnginePage.JavaScriptConsoleMessageLevel,
        message: str,
        line: int,
        source: str,
    ) -> None:
        """Messages of the drawing script; nothing is printed."""
        self._heard(message)

    def acceptNavigationRequest(
        self, url: QUrl | str, kind: QWebEnginePage.NavigationType, main: bool
    ) -> bool:
        """The page stays what it is."""
        return kind == QWebEnginePage.NavigationType.NavigationTypeTyped


def hidden_page(heard: Callable[[str], None]) -> tuple[QWebEngineProfile, HiddenPage]:
    """A page that remembers nothing, with the profile it stands on; let the page go first."""
    profile = QWebEngineProfile()
    gate = Gate(profile)
    profile.setUrlRequestInterceptor(gate)
    page = HiddenPage(profile, heard)
    settings = page.settings()
    flag = QWebEngineSettings.WebAttribute
    for name in (
        flag.LocalStorageEnabled, flag.PluginsEnabled, flag.JavascriptCanOpenWindows,
        flag.JavascriptCanAccessClipboard, flag.LocalContentCanAccessRemoteUrls,
    ):  # fmt: skip
        settings.setAttribute(name, False)
    return profile, page
