"""Citations put right while an answer streams: moved to the passage that carries the sentence.

A small model often cites the wrong number, or forgets to cite. Each sentence is compared with the
passages as soon as it ends; nothing is changed where no passage clearly carries it, so a claim
without support stays without one. Pure text arithmetic, apart from the step that streams.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aether.claims import UNSUPPORTED, is_checkable, support
from aether.records import Hit
from aether.text import content_words, idf, sentences, windows

MOVE = 0.6  # support another passage must give before a wrong marker is moved to it
ATTACH = 0.7  # support a passage must give before an uncited sentence is given its number
_MARKER = re.compile(r"\[(\d{1,3})\]\Z")
_PLAIN = re.compile(r"^\s*(#|>|\||```|~~~|    )")  # lines that are left as they are
_ENDS = ".!?"


class Attributor:
    """Takes cleaned text in pieces of any size, gives it back with its citations put right."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self.moved = 0
        self.attached = 0
        self._passages = {hit.n: hit.text for hit in hits}
        self._weights = idf(content_words(w) for t in self._passages.values() for w in windows(t))
        self._line = ""  # the line so far, which tells code and headings from prose
        self._sentence = ""
        self._before = ""  # the sentence that ended last; a marker behind the full stop means it
        self._cited: list[int] = []
        self._cited_before: tuple[int, ...] = ()
        self._held = ""  # an end of sentence or an open bracket, until it is clear what it is
        self._end = ""  # the end of sentence in front of an open bracket
        self._fenced = False

    def feed(self, piece: str) -> str:
        """The part of the text that is settled."""
        return "".join(self._take(char) for char in piece) if self._passages else piece

    def flush(self, whole: bool = True) -> str:
        """What was held back at the end; the last sentence of a `whole` text is settled."""
        if not self._passages:
            return ""
        if not whole:
            return self._end + self._held
        return self._rest()

    def _take(self, char: str) -> str:
        if char == "\n":
            return self._new_line()
        self._line += char
        if self._fenced or _PLAIN.match(self._line):
            return char
        if self._held.startswith("["):
            return self._bracket(char)
        if self._held:
            return self._after_end(char)
        return self._plain(char)

    def _new_line(self) -> str:
        plain = self._fenced or _PLAIN.match(self._line)
        if self._line.lstrip().startswith(("```", "~~~")):
            self._fenced = not self._fenced
        self._line = ""
        return "\n" if plain else self._rest() + "\n"

    def _rest(self) -> str:
        """Settle the sentence under way and give back what was held behind it."""
        held, self._held = self._held, ""
        end, self._end = self._end, ""
        if held.startswith("[") and not end:
            self._sentence, self._cited = "", []
            return held
        return self._settle() + end + held

    def _bracket(self, char: str) -> str:
        self._held += char
        if char != "]":
            return "" if char.isdigit() and len(self._held) < 5 else self._give_back()
        if not (found := _MARKER.match(self._held)):
            return self._give_back()
        end, self._end, self._held = self._end, "", ""
        mark = self._checked(int(found.group(1)))
        if end:  # it stood behind the full stop of the sentence it belongs to
            self._settle()
        return end + mark

    def _give_back(self) -> str:
        held, self._held = self._held, ""
        end, self._end = self._end, ""
        settled = self._settle() + end if end else ""
        self._sentence += held
        return settled + held

    def _after_end(self, char: str) -> str:
        """A full stop is held until what comes behind tells whether it ends the sentence."""
        if char in _ENDS and not self._held[-1].isspace():
            self._held += char
            return ""
        if char.isspace() and len(sentences(f"{self._sentence}{self._held} Next")) > 1:
            self._held += char
            return ""
        held, self._held = self._held, ""
        if not held[-1].isspace():
            self._sentence += held
            return held + self._plain(char)
        if char == "[":
            self._end, self._held = held, char
            return ""
        return self._settle() + held + self._plain(char)

    def _plain(self, char: str) -> str:
        if char == "[" or char in _ENDS:
            self._held = char
            return ""
        self._sentence += char
        return char

    def _checked(self, n: int) -> str:
        """The marker itself, or the one of the passage that carries the sentence."""
        late = not self._sentence.strip()
        text = self._before if late else self._sentence
        if n in self._passages and self._support(text, n) < UNSUPPORTED:
            other, strength = self._best(text)
            if strength >= MOVE and other != n:
                self.moved += 1
                n = other
        if n in (self._cited_before if late else self._cited):
            return ""
        self._cited.append(n)
        return f"[{n}]"

    def _settle(self) -> str:
        """End the sentence; the marker to put before its full stop, where it lacks one."""
        blank = "" if self._sentence[-1:].isspace() else " "
        sentence, cited = self._sentence.strip(" -*\u2022"), tuple(self._cited)
        self._sentence, self._cited = "", []
        if not sentence:
            return ""
        self._before, self._cited_before = sentence, cited
        if cited or not is_checkable(sentence):
            return ""
        n, strength = self._best(sentence)
        if strength < ATTACH:
            return ""
        self.attached += 1
        self._cited_before = (n,)
        return f"{blank}[{n}]"

    def _support(self, text: str, n: int) -> float:
        return support(text, [self._passages[n]], self._weights).value

    def _best(self, text: str) -> tuple[int, float]:
        """The passage that carries a sentence best, the first of equals, and how far."""
        found = [(self._support(text, n), -n) for n in self._passages]
        strength, n = max(found)
        return -n, strength
