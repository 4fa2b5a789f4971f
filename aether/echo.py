"""Lines in which a small model repeats the frame of its prompt instead of answering.

`<<<SOURCES 8eafb5dd`, or a frame of its own making such as `<<<ANSWER`. Behind such a line comes
the prompt once more, never an answer, so the answer ends there; at the very start the line goes.
"""

from __future__ import annotations

import regex

_FRAME = regex.compile(
    r"[^\w<]{0,4}(?:<<<[^\S\n]?\p{L}|sources[^\S\n][0-9a-f]{8})", regex.IGNORECASE
)


class EchoFilter:
    """Takes text in pieces of any size and gives it back up to the first repeated frame.

    The start of a line is held back for as long as it may become a frame: a few characters.
    """

    def __init__(self) -> None:
        self.ended = False
        self._begun = False  # a word of the answer has been let through
        self._held = ""  # the start of a line that may become a frame
        self._settled = False  # the line under way is none
        self._dropped = False  # the line under way is one, before the first word

    def feed(self, piece: str) -> str:
        """The part of the text that is no frame."""
        return "".join(self._take(char) for char in piece)

    def flush(self) -> str:
        """What was held back when the stream ended."""
        held, self._held = self._held, ""
        return held

    def _take(self, char: str) -> str:
        if self.ended:
            return ""
        if self._dropped:
            self._dropped = char != "\n"
            return ""
        if self._settled:
            self._settled = char != "\n"
            return char
        self._held += char
        if _FRAME.fullmatch(self._held):
            self._held, self.ended, self._dropped = "", self._begun, not self._begun
            return ""
        if char != "\n" and _FRAME.fullmatch(self._held, partial=True):
            return ""
        self._settled = char != "\n"
        line, self._held = self._held, ""
        self._begun = self._begun or not line.isspace()
        return line
