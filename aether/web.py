"""The door to the network: search on listed sites, read the pages, keep the best passages.

Every wait ends at one shared deadline, whatever a server does: work runs on daemon threads that
nobody waits for, so neither a caller nor the end of the program hangs on a slow engine. What may
be fetched is decided in `hosts.py`, how it is fetched in `fetch.py`.
"""

from __future__ import annotations

import functools
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeVar
from urllib.parse import urlsplit

from aether.cancel import Cancel
from aether.errors import WebError, WebFailed, WebOffline, WebRateLimited, WebUnavailable
from aether.evidence import Draft, drafts, rank
from aether.extract import read_html, read_text
from aether.fetch import Clock, Dial, Resolver, Wire, dial, fetch, resolve, tls_context
from aether.hosts import Allowlist, Place, Target, canonical, under
from aether.page import Page
from aether.protocols import SearchProvider, SearchResult, WebResult
from aether.records import WebStatus
from aether.settings import WebSettings
from aether.text import STOP_WORDS, words

PARALLEL = 5
MAX_PAGES = 6
_SEARCH_SHARE = 0.6  # of the budget; what comes later leaves no time to read a page
_SORTING_S = 0.15  # kept back for ranking
_RESULTS = 10
_GROUP, _GROUPS = 4, 2  # hosts in one query, queries in one lookup
_QUERY_WORDS = 24
_LEAST_S = 0.5  # for one search
_BACK_OFF_S = 1.0
_REST_S, _LONGEST_REST_S = 60.0, 600.0  # how long a rate limit is remembered; doubles
_STATUS: dict[type[WebError], WebStatus] = {
    WebRateLimited: "web_rate_limited",
    WebOffline: "web_offline",
    WebUnavailable: "web_unavailable",
}
T = TypeVar("T")


class WebDoor:
    """Looks things up on listed sites; a `protocols.Web`. Safe to use from several threads."""

    def __init__(
        self,
        settings: WebSettings,
        places: Iterable[Place],
        provider: SearchProvider,
        *,
        resolver: Resolver = resolve,
        dial: Dial = dial,
        clock: Clock = time.monotonic,
    ) -> None:
        self._settings = settings
        self._allow = Allowlist(places)
        self._provider = provider
        self._resolver = resolver
        self._dial = dial
        self._clock = clock
        self._rest_until = 0.0
        self._rest_s = _REST_S

    def lookup(
        self, query: str, hosts: Sequence[str], budget_s: float, cancel: Cancel
    ) -> WebResult:
        """Search these hosts, read the pages found, return the best passages within the budget.

        Hosts that are not on the allowlist are left out. A failure is a status with one line of
        words; only Cancelled is raised.
        """
        if not self._settings.enabled:
            return WebResult("off", (), "web search is switched off (web.enabled)")
        cancel.check()
        end = self._clock() + budget_s
        listed = self._allow.listed(hosts)
        if not listed:
            return WebResult("web_empty", (), "none of these sites is on the allowlist")
        try:
            targets = self._find(query, listed, end, cancel)
            if not targets:
                return WebResult("web_empty", (), f"nothing found on {', '.join(listed)}")
            return self._read(query, targets, end, cancel)
        except WebError as error:
            return WebResult(_status(error), (), _line(error))

    def read(self, url: str, budget_s: float, cancel: Cancel) -> Page:
        """Read one page of a listed site; raises WebError, or Cancelled."""
        target = self._allow.check(url)
        end = self._clock() + budget_s
        resolver = None if self._settings.proxy else self._resolver
        wire = Wire(resolver, self._dial, end, self._clock)
        job = functools.partial(self._page, wire, tls_context(self._settings.ca_file), target)
        with cancel.on_cancel(wire.break_off):
            done = gather([job], 1, end, self._clock, cancel)
        wire.break_off()
        if not done:
            raise WebFailed(f"the page did not arrive within {budget_s:.0f} s", where=target.url)
        if isinstance(done[0], WebError):
            raise done[0]
        return done[0][0]

    # --- search ---

    def _find(
        self, query: str, hosts: Sequence[str], end: float, cancel: Cancel
    ) -> tuple[Target, ...]:
        """Search, with one back-off where the service asks for it, and keep what is listed."""
        resting = self._rest_until - self._clock()
        if resting > 0:
            raise WebRateLimited(
                f"the search service asked to slow down; it is asked again in {resting:.0f} s"
            )
        until = end - (1 - _SEARCH_SHARE) * (end - self._clock())
        queries = _queries(query, hosts)
        if not queries:
            return ()
        try:
            results = self._search(queries, until, cancel)
        except WebRateLimited:
            if until - self._clock() < 1.5 * _BACK_OFF_S:
                self._rest()
                raise
            cancel.wait(_BACK_OFF_S)
            cancel.check()
            results = self._search_again(queries, until, cancel)
        self._rest_s = _REST_S
        targets = self._targets(results, hosts)
        if not targets and len(hosts) > 1 and until - self._clock() > _LEAST_S:
            # not every engine understands OR: the best site alone, before it is called empty
            targets = self._targets(self._search(_queries(query, hosts[:1]), until, cancel), hosts)
        return targets

    def _search_again(
        self, queries: Sequence[str], until: float, cancel: Cancel
    ) -> list[SearchResult]:
        try:
            return self._search(queries[:1], until, cancel)
        except WebRateLimited:
            self._rest()
            raise

    def _search(self, queries: Sequence[str], until: float, cancel: Cancel) -> list[SearchResult]:
        """Ask all queries at once; an error counts only where no query found anything."""

        def ask(query: str) -> tuple[SearchResult, ...]:
            return self._provider.search(query, _RESULTS, max(0.1, until - self._clock()))

        started = self._clock()
        jobs = [functools.partial(ask, query) for query in queries]
        done = gather(jobs, len(jobs), until, self._clock, cancel)
        errors = [item for item in done if isinstance(item, WebError)]
        rows = [item for item in done if not isinstance(item, WebError)]
        if errors and not any(rows):
            raise next((e for e in errors if isinstance(e, WebRateLimited)), errors[0])
        if len(done) < len(jobs) and not any(rows):
            waited = self._clock() - started
            raise WebFailed(f"the search service did not answer within {waited:.1f} s")
        deepest = max((len(r) for r in rows), default=0)
        return [r[i] for i in range(deepest) for r in rows if i < len(r)]

    def _rest(self) -> None:
        self._rest_until = self._clock() + self._rest_s
        self._rest_s = min(2 * self._rest_s, _LONGEST_REST_S)

    def _targets(self, results: Iterable[SearchResult], hosts: Sequence[str]) -> tuple[Target, ...]:
        kept: dict[str, Target] = {}
        for result in results:
            try:
                target = self._allow.check(re.sub(r"^http:", "https:", result.url))
            except WebError:
                continue  # a search engine may offer anything; only listed sites are kept
            if under(target.host, hosts):
                kept.setdefault(canonical(target.url), target)
        return tuple(kept.values())[:MAX_PAGES]

    # --- pages ---

    def _read(self, query: str, targets: Sequence[Target], end: float, cancel: Cancel) -> WebResult:
        context = tls_context(self._settings.ca_file)
        resolver = None if self._settings.proxy else self._resolver
        wire = Wire(resolver, self._dial, end, self._clock)
        jobs = [functools.partial(self._page, wire, context, target) for target in targets]
        with cancel.on_cancel(wire.break_off):
            done = gather(jobs, PARALLEL, end - _SORTING_S, self._clock, cancel)
        wire.break_off()
        failed = [item for item in done if isinstance(item, WebError)]
        pages = [item for item in done if not isinstance(item, WebError)]
        hits = rank(query, [draft for _, cut in pages for draft in cut])
        notes = [f"{urlsplit(p.url).hostname}: {p.reason}" for p, _ in pages if p.reason]
        notes += [_line(error) for error in failed]
        if late := len(jobs) - len(done):
            notes.append(f"{late} did not arrive in time")
        aside = "; ".join(dict.fromkeys(notes))
        if hits:
            used = len({hit.url for hit in hits})
            detail = f"passages: {len(hits)}, from {used} of {len(jobs)} pages"
            return WebResult("ok", hits, f"{detail} ({aside})" if aside else detail)
        if pages:
            return WebResult("web_empty", (), f"nothing usable on {len(pages)} pages. {aside}")
        offline = bool(failed) and all(isinstance(error, WebOffline) for error in failed)
        status: WebStatus = "web_offline" if offline else "web_error"
        return WebResult(status, (), f"{len(jobs)} pages found, none could be read: {aside}")

    def _page(
        self, wire: Wire, context: ssl.SSLContext, target: Target
    ) -> tuple[Page, tuple[Draft, ...]]:
        reply = fetch(target, self._allow, wire, context, self._settings.proxy)
        url = reply.target.url
        page = read_html(reply.text, url) if reply.html else read_text(reply.text, url)
        return page, drafts(page, reply.target.place)


def gather(
    jobs: Sequence[Callable[[], T]], width: int, end: float, clock: Clock, cancel: Cancel
) -> list[T | WebError]:
    """Run jobs on at most `width` daemon threads; return what came before `end`, in job order.

    A WebError is a result, any other exception is raised here; so is Cancelled, at once.
    """
    todo: SimpleQueue[tuple[int, Callable[[], T]]] = SimpleQueue()
    done: SimpleQueue[tuple[int, T | Exception] | None] = SimpleQueue()
    for numbered in enumerate(jobs):
        todo.put(numbered)

    def work() -> None:
        with suppress(Empty):
            while clock() < end and not cancel.is_set:
                i, job = todo.get_nowait()
                try:
                    done.put((i, job()))
                except Exception as error:  # handed to the caller's thread, which raises it
                    done.put((i, error))

    for _ in range(min(width, len(jobs))):
        threading.Thread(target=work, name="aether-web", daemon=True).start()
    came: dict[int, T | WebError] = {}
    with cancel.on_cancel(lambda: done.put(None)), suppress(Empty):
        while len(came) < len(jobs):
            item = done.get(timeout=max(0.0, end - clock()))
            cancel.check()
            if item is None:
                continue
            i, outcome = item
            if isinstance(outcome, Exception) and not isinstance(outcome, WebError):
                raise outcome
            came[i] = outcome
    cancel.check()
    return [came[i] for i in sorted(came)]


def _queries(query: str, hosts: Sequence[str]) -> list[str]:
    """Return the question's words with `site:` restrictions, a few hosts to a query; [] for none.

    Words only: quotes, minus signs and operators in a question are no commands to the engine.
    """
    said = list(dict.fromkeys(words(query)))
    if len(said) > _QUERY_WORDS:
        said = [word for word in said if word not in STOP_WORDS and len(word) < 40]
    if not said:
        return []
    asked = " ".join(said[:_QUERY_WORDS])
    groups = [hosts[i : i + _GROUP] for i in range(0, len(hosts), _GROUP)][:_GROUPS]
    sites = [" OR ".join(f"site:{host}" for host in group) for group in groups]
    return [f"{asked} ( {site} )" if " OR " in site else f"{asked} {site}" for site in sites]


def _status(error: WebError) -> WebStatus:
    return _STATUS.get(type(error), "web_error")


def _line(error: WebError) -> str:
    return f"{error.what}; {error.advice}" if error.advice else error.what
