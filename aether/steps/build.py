"""Step four: the prompt. What is stable comes first, so that the server's cache makes it free.

`[common mandates][persona]` is the system message; `[sources][last turn][question]` the user's.
Passages are trimmed first; persona and question never.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence

from aether.agents import AgentManifest
from aether.claims import without_markers
from aether.errors import AetherError
from aether.records import Hit, Message, ModelInfo, Prompt, Question
from aether.text import sentences

SHARE = 0.4  # of the loaded window, for the whole prompt
SPARE = 48  # tokens of the chat template
LEAST_ANSWER = 128
LEAST_SOURCES = 200  # tokens kept free of the last turn
LEAST_PASSAGE = 40  # tokens; a shorter rest of a passage is not worth its header
TASK = (
    "Answer the question from the sources above, in your own order and as briefly as it allows. "
    "Keep the number in brackets at the end of every sentence, as the sources have it."
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+")
_RULE = re.compile(r"[\s|:-]+\Z")
_END = re.compile(r"[.!?;]*\Z")


def build(
    question: Question,
    text: str,
    agent: AgentManifest,
    mandates: str,
    hits: Sequence[Hit],
    info: ModelInfo,
    count: Callable[[str], int],
    nonce: str = "",
) -> Prompt:
    """Fit persona, passages, last turn and question into 40 % of the loaded window.

    Passages go first, then the last turn; persona and question stay whole.
    `nonce` marks where sources begin and end; it is random, so that no page can forge it.
    Raises AetherError where persona and question alone do not fit the window.
    """
    nonce = nonce or secrets.token_hex(4)
    system = f"{mandates}\n\n{agent.prompt.strip()}".strip()
    budget = int(info.context * SHARE)
    fixed, last = 0, ""
    for last in _last_turn(question):  # shorter ones where passages would have no room
        fixed = count(system) + count(_user(nonce, "", last, text)) + SPARE
        if fixed + LEAST_SOURCES <= budget:
            break
    if fixed + LEAST_ANSWER > info.context:
        raise AetherError(
            f"the question is too long: {fixed} tokens with the expert's instructions, "
            f"and the loaded window holds {info.context}",
            advice="ask a shorter question, add the text to the knowledge base as a file, "
            "or load the model with a larger context",
        )
    kept, block, used = _sources(hits, budget - fixed, count)
    room = info.context - fixed - used
    messages = (
        Message("system", system),
        Message("user", _user(nonce, block, last, text)),
    )
    return Prompt(
        messages=messages,
        hits=kept,
        tokens=fixed + used,
        window=info.context,
        budget=budget,
        dropped=len(hits) - len(kept),
        temperature=agent.temperature,
        max_tokens=max(LEAST_ANSWER, min(agent.max_tokens, room)),
    )


def _user(nonce: str, block: str, last: str, text: str) -> str:
    parts = [f"<<<SOURCES {nonce}\n{block or '(no source was found)'}\nSOURCES {nonce}>>>"]
    if last:
        parts.append(last)
    parts.append(f"Question: {text}")
    if block:
        parts.append(TASK)
    else:
        parts.append(
            "No source was found. Say so first, then answer briefly from general knowledge."
        )
    return "\n\n".join(parts)


def _last_turn(question: Question) -> tuple[str, ...]:
    """The last turn, its question alone, nothing: from the longest to the shortest."""
    if not question.previous:
        return ("",)
    # its markers number other sources than the ones above
    answer = " ".join(without_markers(question.previous.answer).split())[:600]
    asked = " ".join(question.previous.question.split())[:300]
    alone = f"Earlier in this conversation:\nQ: {asked}"
    return f"{alone}\nA: {answer}", alone, ""


def _sources(
    hits: Sequence[Hit], room: int, count: Callable[[str], int]
) -> tuple[tuple[Hit, ...], str, int]:
    """The passages that fit, best first; the last one is cut at a sentence or a word."""
    kept: list[Hit] = []
    blocks: list[str] = []
    used = 0
    for hit in hits:
        block = _block(hit, hit.text)
        cost = count(block) + 1
        if used + cost > room:
            if short := _shortened(hit, room - used, count):
                kept.append(hit)
                blocks.append(short)
                used += count(short) + 1
            break
        kept.append(hit)
        blocks.append(block)
        used += cost
    return tuple(kept), "\n".join(blocks), used


def _block(hit: Hit, text: str) -> str:
    """One source, every line marked as data and every sentence with the source's number.

    Small models copy sentences rather than number them: what they copy is cited by itself.
    """
    place = " ".join(" - ".join(p for p in (hit.title, hit.locator, hit.date) if p).split())
    fenced = False
    lines: list[str] = []
    for line in text.splitlines():
        opens = bool(_FENCE.match(line))
        if line.strip():
            code = fenced or opens or line.startswith(("    ", "\t"))
            lines.append(f"| {line if code else _numbered(line, hit.n)}")
        fenced ^= opens
    return "\n".join([f"[{hit.n}] {place}", *lines])


def _numbered(line: str, n: int) -> str:
    """A line of prose with `[n]` before the end of each sentence; numbers of its own go."""
    if _RULE.match(line) or line.rstrip().endswith(":"):
        return line
    item = _ITEM.match(line)
    head = item.group() if item else ""
    rest = line[len(head) :]
    said = sentences(rest if "`" in rest else without_markers(rest))
    return head + " ".join(_END.sub(lambda end: f" [{n}]{end.group()}", s, count=1) for s in said)


def _shortened(hit: Hit, room: int, count: Callable[[str], int]) -> str:
    """As many sentences as fit, else as many words; "" where that is hardly anything."""
    for parts in (sentences(hit.text), hit.text.split()):
        fits, beyond = 0, len(parts)  # the whole passage did not fit
        while beyond - fits > 1:
            middle = (fits + beyond) // 2
            cost = count(_block(hit, " ".join(parts[:middle]))) + 1
            fits, beyond = (middle, beyond) if cost <= room else (fits, middle)
        block = _block(hit, " ".join(parts[:fits]))
        if fits and count(block) >= LEAST_PASSAGE:
            return block
    return ""
