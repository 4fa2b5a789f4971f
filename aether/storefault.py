"""What LanceDB and Arrow say when something goes wrong, in words with advice.

Apart from `store.py` because it is knowledge of messages, not of tables.
"""

from __future__ import annotations

from aether.errors import StoreError


def told(what: str, where: str, error: BaseException) -> StoreError:
    """A fault of the database as a StoreError: `what` was wished, and why it failed."""
    return StoreError(f"{what}: {_first_line(error)}", where=where, advice=_advice(str(error)))


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0][:300] if text else type(error).__name__


def _advice(message: str) -> str:
    low = message.lower()
    if "no space" in low or "os error 28" in low or "file too large" in low:
        return "the disk is full: free some space and try again; what was there is untouched"
    if "permission" in low or "denied" in low or "read-only" in low:
        return "check that you may read and write this folder, or set kb.uri to another one"
    if "not a directory" in low or "file exists" in low:
        return "kb.uri must name a folder: set it to another place"
    return "run `aether doctor`; if the folder is damaged, move it away and add your files again"
