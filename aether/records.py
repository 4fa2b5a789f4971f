"""The language of Aether: frozen records that the steps take and return.

Nothing here computes. A record is a fact that can be printed, compared and written to the audit;
`as_json` is the one way from a record to JSON, so that screen, audit and `--json` agree on names.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

Origin = Literal["web", "kb"]
Decision = Literal["route", "multi", "ambiguous", "no_route"]
Pass = Literal["pinned", "forced", "tier3", "tier2", "default"]
Strategy = Literal["lookup", "query", "investigate", "record", "execute", "search"]
Outcome = Literal["answered", "low_confidence", "refused", "clarify", "cancelled", "failed"]
WebStatus = Literal[
    "off", "ok", "web_empty", "web_rate_limited", "web_offline", "web_unavailable", "web_error"
]
KbStatus = Literal["not_asked", "ok", "kb_empty", "kb_error"]
Verdict = Literal["supported", "weak", "unsupported", "uncited"]
Finish = Literal["stop", "length", "loop", "cut", "cancelled", "none"]
FileStatus = Literal["added", "updated", "unchanged", "skipped", "failed"]
Parts = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One whole exchange of a conversation: what was asked, who answered, what was said."""

    question: str
    agent: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asked, and how they want it answered."""

    text: str
    id: str = ""
    agent: str = ""  # an expert's id where the person pinned one
    conversation: str = ""
    previous: Turn | None = None  # exactly the last whole turn
    offline: bool = False
    use_cache: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of a score table: an expert (or source), points, and the columns that sum to them."""

    agent: str
    score: float
    parts: Parts = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """Who answers, and why: the decision with the whole score table."""

    decision: Decision
    agent: str
    agents: tuple[str, ...]
    confidence: float  # 0-1: how clear the decision was
    pass_: Pass
    out_of_domain: bool
    strategy: Strategy
    candidates: tuple[Candidate, ...]
    reason: str = ""
    command: str | None = None
    validated: bool = True
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to look for one attempt: the query, the picked sources and the table behind them."""

    agent: str
    query: str
    sources: tuple[str, ...]
    hosts: tuple[str, ...]  # search is restricted to these, best first
    namespaces: tuple[str, ...]
    table: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage that may be cited. `score` is a similarity, 0-1, whatever door it came from."""

    text: str
    title: str
    url: str
    source: str  # the id of a place in kb/sources, or a namespace
    origin: Origin
    score: float
    n: int = 0  # its number in the prompt, counted from 1; 0 before it has one
    path: str = ""
    locator: str = ""  # "page 4", "line 120", a heading path
    vendor: str = ""
    date: str = ""
    tier: float = 0.0  # how far the place is trusted, 0-1


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was found for one attempt, and how each way of looking ended."""

    hits: tuple[Hit, ...]
    web: WebStatus
    web_detail: str
    kb: KbStatus
    kb_detail: str
    quality: float  # R of the confidence formula, 0-1
    parts: Parts = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; roles alternate, because several chat templates insist on it."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given: messages, the hits that are really in it, and its token sum."""

    messages: tuple[Message, ...]
    hits: tuple[Hit, ...]
    tokens: int
    window: int
    budget: int
    dropped: int = 0  # passages that did not fit
    temperature: float = 0.2
    max_tokens: int = 1200


@dataclass(frozen=True, slots=True)
class Usage:
    """What one generation cost; tokens, and tokens per second of decoding."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    tokens_per_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelDelta:
    """A piece of an answer as the server sent it."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelEnd:
    """The end of a stream: why it ended, what it cost, and when the first token came."""

    finish: Literal["stop", "length"]
    usage: Usage
    first_token_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of the model that answers; `context` is the window really loaded, in tokens."""

    id: str
    base_url: str
    server: str  # lmstudio, ollama, llama.cpp, vllm, openai, embedded
    context: int
    note: str = ""  # said to the person: "for trying Aether out"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model wrote, with citations already cleaned."""

    text: str
    finish: Finish
    usage: Usage = Usage()
    forged: int = 0  # markers that named no served source and were removed
    moved: int = 0  # markers moved to the passage that carries the sentence
    attached: int = 0  # sentences without a marker that a passage carries clearly
    first_token_ms: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement of an answer, and how far its cited passages carry it."""

    text: str
    citations: tuple[int, ...]
    support: float
    verdict: Verdict
    parts: Parts = ()
    evidence: str = ""  # the window that supports it best
    contradicted: bool = False


@dataclass(frozen=True, slots=True)
class Confidence:
    """The computed confidence of one attempt, with every term of the sum."""

    value: float
    verdict: Literal["answer", "escalate"]
    pre: float
    threshold: float
    parts: Parts
    claims: tuple[Claim, ...] = ()
    cap: str = ""  # why the value was capped, in words
    calibrated: float | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One rung of the ladder: an expert that tried, or was passed by before a token was spent."""

    agent: str
    pre: float
    confidence: float
    generated: bool
    answer: str = ""
    hits: tuple[Hit, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of one run, by step; `first_token_ms` counts from the question."""

    route_ms: float = 0.0
    retrieve_ms: float = 0.0
    build_ms: float = 0.0
    first_token_ms: float = 0.0
    total_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """One question from start to end, as it is written to the audit."""

    run: str
    at: str
    question: str
    agent: str
    answer: str
    confidence: float
    threshold: float
    outcome: Outcome
    hits: tuple[Hit, ...]
    attempts: tuple[Attempt, ...]
    timings: Timings
    usage: Usage
    error: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document under one heading, as a reader found it."""

    text: str
    headings: tuple[str, ...] = ()  # from the outermost inwards
    page: int = 0  # counted from 1; 0 where the format has no pages
    line: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """A file as a reader gives it: its title, its sections in order and what is known of it."""

    title: str
    sections: tuple[Section, ...]
    vendor: str = ""
    product: str = ""
    date: str = ""
    url: str = ""
    notes: tuple[str, ...] = ()  # "page 7 could not be read"


@dataclass(frozen=True, slots=True)
class Passage:
    """What is embedded and found again: 120-260 tokens that know where they come from."""

    text: str
    title: str
    heading: str
    locator: str
    ordinal: int


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file that was given to the knowledge base."""

    path: str
    status: FileStatus
    passages: int = 0
    reason: str = ""
    seconds: float = 0.0


def as_json(value: Any) -> Any:
    """Turn records into JSON-ready values; `parts` become an object, `pass_` becomes `pass`."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            f.name.rstrip("_"): _field_json(f.name, getattr(value, f.name)) for f in fields(value)
        }
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, float):
        return round(value, 6)
    return value


def _field_json(name: str, value: Any) -> Any:
    if name == "parts":
        return {key: round(points, 6) for key, points in value}
    return as_json(value)
