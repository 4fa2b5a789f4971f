"""Thoughts kept out of answers: models that think aloud inside their text.

Apart because it is pure text: tags of several families (Gemma, DeepSeek, Qwen, Mistral, gpt-oss),
whole or split over any number of pieces of a stream.
"""

from __future__ import annotations

import re

_HARMONY_END = "<|channel|>final<|message|>"
_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "[think]": "[/think]",
    "<|channel>thought": "<channel|>",  # Gemma 4
    "<|channel|>analysis": _HARMONY_END,  # gpt-oss
    "<|channel|>commentary": _HARMONY_END,
}
_MARKS = (  # left over where a server's template and its model disagree
    *_THOUGHTS.values(),
    "<|start|>assistant",
    "<|end|>",
    "<|return|>",
    "<|message|>",
    "<start_of_turn>model",
    "<end_of_turn>",
    "<turn|>",
    "<|im_end|>",
)
_OUTSIDE = tuple(dict.fromkeys((*_THOUGHTS, *_MARKS)))


def _either(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(re.escape(w) for w in longest_first), re.IGNORECASE)


_FIND_OUTSIDE = _either(_OUTSIDE)


class ThoughtFilter:
    """Takes pieces of text, gives back what is answer; holds back what may become a tag."""

    def __init__(self) -> None:
        self._held = ""
        self._until = ""  # the closing tag that is awaited inside a thought
        self._blank = True  # nothing but white space given back so far
        self.thought = False  # a thought was met

    def feed(self, piece: str) -> str:
        """The answer's share of one more piece, possibly empty."""
        self._held += piece
        return self._lead(self._take())

    def finish(self) -> str:
        """What was held back and turned out to be no tag."""
        rest, self._held = self._held, ""
        return "" if self._until else self._lead(rest)

    def _take(self) -> str:
        out: list[str] = []
        while True:
            pattern = _either((self._until,)) if self._until else _FIND_OUTSIDE
            found = pattern.search(self._held)
            if found is None:
                break
            if not self._until:
                out.append(self._held[: found.start()])
                self._until = _THOUGHTS.get(found.group().lower(), "")
                self.thought = self.thought or bool(self._until)
            else:
                self._until = ""
            self._held = self._held[found.end() :]
        words = (self._until,) if self._until else _OUTSIDE
        keep = _open_end(self._held, words)
        if not self._until:
            out.append(self._held[:keep])
        self._held = self._held[keep:]
        return "".join(out)

    def _lead(self, text: str) -> str:
        """Drop white space before the first word of the answer."""
        if self._blank:
            text = text.lstrip()
            self._blank = not text
        return text


def _open_end(text: str, words: tuple[str, ...]) -> int:
    """Where the longest ending of `text` starts that is the beginning of one of `words`."""
    low = text.lower()
    start = max(0, len(low) - max(map(len, words)) + 1)
    for i in range(start, len(low)):
        if low[i] in "<[" and any(word.startswith(low[i:]) for word in words):
            return i
    return len(text)
