"""The Stop button as a value that is handed down a question.

Apart because every door needs it and none owns it: a door registers how to break its own
wait (close a socket, leave a loop), and whoever holds the token may call `cancel` from any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from aether.errors import Cancelled


class Cancel:
    """A one-way switch; `cancel` runs every registered hook once."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._hooks: dict[int, Callable[[], None]] = {}
        self._lock = threading.RLock()  # Ctrl-C may come while the lock is held

    @property
    def is_set(self) -> bool:
        """Whether somebody asked to stop."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Ask to stop, and break the waits that are under way."""
        self._event.set()
        with self._lock:
            hooks, self._hooks = tuple(self._hooks.values()), {}
        for hook in hooks:
            hook()

    def check(self) -> None:
        """Raise Cancelled if somebody asked to stop."""
        if self._event.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> bool:
        """Sleep for at most `seconds`; True as soon as somebody asked to stop."""
        return self._event.wait(seconds)

    @contextmanager
    def on_cancel(self, hook: Callable[[], None]) -> Generator[None]:
        """Run `hook` if Stop is pressed inside the block; at once if it already was."""
        key = id(hook)
        with self._lock:
            self._hooks[key] = hook
        if self._event.is_set():
            hook()
        try:
            yield
        finally:
            with self._lock:
                self._hooks.pop(key, None)
