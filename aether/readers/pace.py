"""What the readers of long files share: a look at the Stop button, and what a parser may throw.

The token travels in a context variable, so that a reader stays a plain function of a path.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from aether.cancel import Cancel

# What parsers raise on a file that is cut off or made up. ImportError and MemoryError are not
# among them: a broken installation must not pass for a broken file.
MALFORMED = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    ArithmeticError,
    EOFError,
    RecursionError,
    AssertionError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)
_cancel: ContextVar[Cancel | None] = ContextVar("aether_reader_cancel", default=None)


@contextmanager
def watched(cancel: Cancel | None) -> Generator[None]:
    """Let `breathe` heed this token inside the block."""
    token = _cancel.set(cancel)
    try:
        yield
    finally:
        _cancel.reset(token)


def breathe() -> None:
    """Raise Cancelled if somebody pressed Stop; called between pages and rows."""
    cancel = _cancel.get()
    if cancel is not None:
        cancel.check()
