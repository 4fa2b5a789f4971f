"""Shared fixtures: loopback only, a fresh user folder, and the real experts loaded once."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from aether.agents import AgentTree, load_tree
from aether.examples import load_examples
from aether.lexicon import Lexicon, build_lexicon
from aether.lint import RESOURCES, folders
from aether.sources import SourceLibrary, load_sources

_connect = socket.socket.connect


def _loopback_only(self: socket.socket, address: object) -> object:
    """Tests never leave this machine: any other address is a fault of the test."""
    if self.family in (socket.AF_INET, socket.AF_INET6):
        host = str(address[0])  # type: ignore[index]
        if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
            raise AssertionError(f"a test tried to connect to {address}")
    return _connect(self, address)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user folder; no setting of the machine leaks in."""
    import os

    for name in [n for n in os.environ if n.startswith("AETHER_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("AETHER_HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _no_unexpected_warnings(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    """A log of ours at WARNING or above fails a test that did not say it expects one."""
    yield
    if request.node.get_closest_marker("logs"):
        return
    loud = [
        r for r in caplog.get_records("call")
        if r.levelno >= logging.WARNING and r.name.startswith("aether")
    ]  # fmt: skip
    assert not loud, [r.getMessage() for r in loud]


@pytest.fixture(scope="session")
def tree() -> AgentTree:
    """The thirteen experts as they ship."""
    return load_tree([RESOURCES / "agents"])


@pytest.fixture(scope="session")
def lexicon(tree: AgentTree, tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    """Their compiled signals."""
    return build_lexicon(tree, load_examples(tree, tmp_path_factory.mktemp("weights")))


@pytest.fixture(scope="session")
def library(tree: AgentTree) -> SourceLibrary:
    """The places to look as they ship."""
    return load_sources(folders("kb/sources", Path("nowhere"))[:1], tree)
