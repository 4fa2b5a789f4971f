"""The one place where doors are built. Command line and window talk to this, and to nothing below.

Everything is opened on first use: `route`, `lint`, `agents` and `score` never import torch,
LanceDB or the model client.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aether import ask as line
from aether.agents import AgentTree, load_tree
from aether.cancel import Cancel
from aether.conversations import kept, last_turn
from aether.errors import AetherError, WebRefused
from aether.events import Event
from aether.examples import load_examples
from aether.feedback import Thumb, add_feedback
from aether.lexicon import Lexicon, build_lexicon
from aether.lint import RESOURCES, folders
from aether.records import Confidence, FileReport, Hit, Plan, Question, Route
from aether.settings import Settings
from aether.sources import Source, SourceLibrary, load_sources
from aether.steps.audit import audit
from aether.steps.plan import plan
from aether.steps.retrieve import WebRules
from aether.steps.route import route

if TYPE_CHECKING:
    from aether.embed import SentenceEmbedder
    from aether.protocols import Model
    from aether.replay import Replay
    from aether.store import LanceStore
    from aether.trial import Seen, Trial
    from aether.web import WebDoor

VENDOR_TRUST, LISTED_TRUST = 0.85, 0.70  # tier term of R for web pages
LINK_S = 20.0  # for one dropped link
NOTES = RESOURCES / "kb" / "notes"


class Engine:
    """Aether without a face. `notify` is told, in words, what a person is waiting for."""

    def __init__(self, settings: Settings, notify: Callable[[str], None] | None = None) -> None:
        self.settings = settings
        self.notify: Callable[[str], None] = notify or (lambda text: None)
        self._lock = threading.RLock()
        self._seeding = threading.Lock()  # apart: reading notes must not hold up the model door
        self._opened: list[Model] = []

    # --- what is read from files ------------------------------------------------------

    @cached_property
    def tree(self) -> AgentTree:
        """The experts; raises ManifestError where none is sound."""
        return load_tree(folders("agents", self.settings.home))

    @cached_property
    def lexicon(self) -> Lexicon:
        """The compiled signals and example weights."""
        return build_lexicon(self.tree, load_examples(self.tree, self.settings.home / "cache"))

    @cached_property
    def library(self) -> SourceLibrary:
        """Every place to look."""
        return load_sources(folders("kb/sources", self.settings.home), self.tree)

    @property
    def audit_path(self) -> Path:
        """The log of runs."""
        return self.settings.home / "audit" / "runs.jsonl"

    # --- doors --------------------------------------------------------------------------

    @cached_property
    def embedder(self) -> SentenceEmbedder:
        """The embedding model; loaded on first use, once."""
        from aether.embed import SentenceEmbedder

        return SentenceEmbedder(self.settings.kb.embedder, self.settings.home)

    @cached_property
    def store(self) -> LanceStore:
        """The knowledge base."""
        from aether.store import LanceStore

        return LanceStore(self.settings.kb_uri, self.embedder)

    @cached_property
    def web(self) -> WebDoor | None:
        """The network, None where `web.enabled` is off."""
        if not self.settings.web.enabled:
            return None
        from aether.hosts import Place
        from aether.search import search_provider
        from aether.web import WebDoor

        preferred = {host for agent in self.tree.agents.values() for host in agent.vendors}
        places = [
            Place(s.id, s.hosts, s.vendor, _trust(s, preferred), s.type) for s in self.library.web()
        ]
        return WebDoor(self.settings.web, places, search_provider(self.settings.web))

    def model(self) -> Model:
        """The model door; finds a server, or starts the embedded one."""
        with self._lock:
            if not self._opened:
                from aether.llm import open_model

                self._opened.append(open_model(self.settings, notify=self.notify))
            return self._opened[0]

    def close(self) -> None:
        """Let go of the model server and its sockets."""
        with self._lock:
            while self._opened:
                self._opened.pop().close()

    # --- changes while it runs -----------------------------------------------------------

    def reload(self) -> None:
        """Read experts and sources again; a question under way goes on with the old ones.

        Raises ManifestError where no expert is sound; then the old ones stay in force.
        """
        tree = load_tree(folders("agents", self.settings.home))
        with self._lock:
            for name in ("lexicon", "library", "web"):
                self.__dict__.pop(name, None)
            self.__dict__["tree"] = tree

    def adopt(self, settings: Settings) -> None:
        """Go on with other settings; the doors that they concern open anew on their next use."""
        with self._lock:
            old, self.settings = self.settings, settings
            if old.llm != settings.llm:
                self.close()
            if old.web != settings.web:
                self.__dict__.pop("web", None)
            if old.kb != settings.kb:
                self._seeded = False
                for name in ("store", "embedder"):
                    self.__dict__.pop(name, None)

    def search_services(self) -> tuple[str, ...]:
        """The names that `web.provider` knows."""
        from aether.search import PROVIDERS

        return tuple(PROVIDERS)

    def servers(self) -> Iterator[Seen]:
        """The usual places of a model server, and who answers there."""
        from aether.trial import look_around

        return look_around(self.settings.llm)

    def try_model(self, cancel: Cancel) -> Trial:
        """Ask the model one short question; raises ModelError."""
        from aether.trial import try_model

        return try_model(self.model(), cancel)

    # --- what it does -------------------------------------------------------------------

    def ask(self, question: Question, cancel: Cancel) -> Iterator[Event]:
        """Answer one question; see `ask.ask` for the events."""
        home = self.settings.home
        if question.conversation and question.previous is None:
            question = replace(question, previous=last_turn(home, question.conversation))
        yield from kept(home, question, line.ask(question, self._kit(cancel), cancel))

    def feedback(self, run: str, verdict: Thumb, because: str = "") -> None:
        """Keep what a person thought of an answer, and why."""
        add_feedback(self.settings.home, run, verdict, because)

    def route(self, question: Question) -> Route:
        """Who would answer, and why."""
        return route(question, self.tree, self.lexicon)

    def plan(self, question: str, agent: str = "") -> Plan:
        """Where the routed (or given) expert would look."""
        chosen = self.route(Question(question, agent=agent)).agent
        return plan(question, chosen, self.tree, self.library)

    def seed(self, cancel: Cancel | None = None) -> None:
        """Bring the starter notes into the knowledge base; quick when they are there already."""
        from aether.ingest import seed

        cancel = cancel or Cancel()
        with self._seeding:
            if not self._seeded:
                seed(NOTES, self.store, self.embedder, notify=self.notify, cancel=cancel)
                self._seeded = not cancel.is_set

    _seeded = False

    def kb_add(
        self,
        paths: Sequence[Path],
        namespace: str,
        cancel: Cancel,
        workers: int = 2,
        tell: Callable[[str, str], None] | None = None,
    ) -> Iterator[FileReport]:
        """Add files and folders; one report a file. `tell` hears path and stage before it."""
        from aether.ingest import add

        return add(
            paths, namespace, self.store, self.embedder, cancel=cancel, workers=workers, tell=tell
        )

    def kept_page(self, url: str, cancel: Cancel) -> Path:
        """Read one page of a listed site into a file of the user folder; raises AetherError."""
        from aether.links import keep_page

        if self.web is None:
            raise WebRefused(
                "web search is switched off, so no page is fetched",
                where=url,
                advice="switch it on in the settings (web.enabled), or drop a saved page",
            )
        page = self.web.read(url, LINK_S, cancel)
        try:
            return keep_page(page, url, self.settings.home)
        except OSError as error:
            what = f"the page cannot be kept: {error.strerror or error}"
            raise AetherError(what, where=url, advice="look at the space on the disk") from error

    def timed_search(
        self, text: str, namespaces: Sequence[str], k: int
    ) -> tuple[tuple[Hit, ...], float]:
        """What the knowledge base would give for this text, and the milliseconds it took."""
        self.seed()
        start = time.perf_counter()
        return self.store.search(text, namespaces, k), (time.perf_counter() - start) * 1000

    def kb_remove(self, paths: Sequence[str], namespace: str) -> int:
        """Forget files, in one namespace or wherever they are; the number of passages gone."""
        where = [namespace] if namespace else sorted({f.namespace for f in self.store.files()})
        return sum(self.store.remove(paths, space) for space in where)

    def score(self, item: Mapping[str, Any]) -> Confidence:
        """Confidence of a recorded answer and its passages; no model is called."""
        from aether.rescore import rescore

        return rescore(item, self.tree, self.lexicon, self.settings.confidence.threshold)

    def replay(self, record: Mapping[str, Any]) -> Replay:
        """Decide a recorded run again with today's files; nothing is looked up or generated."""
        from aether.replay import replay

        threshold = self.settings.confidence.threshold
        return replay(record, self.tree, self.lexicon, self.library, threshold)

    def _kit(self, cancel: Cancel) -> line.Kit:
        web, settings = self.settings.web, self.settings
        return line.Kit(
            tree=self.tree,
            lexicon=self.lexicon,
            library=self.library,
            model=self.model,
            store=_SeededStore(self, cancel),
            web=self.web,
            rules=WebRules(web.enabled, web.budget_s, web.min_chars),
            threshold=settings.confidence.threshold,
            write=lambda record: audit(self.audit_path, record),
        )


@dataclass(frozen=True, slots=True)
class _SeededStore:
    """The knowledge base, opened and given its starter notes when a question first needs it.

    A question that is refused, or that the web answers, waits for neither.
    """

    engine: Engine
    cancel: Cancel

    def search(self, text: str, namespaces: Sequence[str], k: int) -> tuple[Hit, ...]:
        self.engine.seed(self.cancel)
        return self.engine.store.search(text, namespaces, k)


def _trust(source: Source, preferred: set[str]) -> float:
    """0.85 for the documentation of a preferred vendor, 0.70 for the rest of the list."""
    return VENDOR_TRUST if source.tier == 1 and preferred & set(source.hosts) else LISTED_TRUST
