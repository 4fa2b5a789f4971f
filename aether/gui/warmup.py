"""What is fetched ready behind the window: experts, model server, knowledge base.

In small steps with the lowest priority, so that a question asked in the first second goes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aether.cancel import Cancel
from aether.errors import AetherError
from aether.gui.code import load_lexers
from aether.gui.context import Context
from aether.gui.tasks import BACKGROUND, CHAT

Found = tuple[str, Any]  # what was looked at, and what was found: a record or the error


def warm(context: Context) -> None:
    """Get everything ready; what is found is told through the wishes."""
    engine = context.engine

    def work(cancel: Cancel) -> Iterator[Found]:
        yield from _look_for_server(context)
        try:
            yield "experts", engine.lexicon
            yield "lexers", load_lexers()
            engine.seed(cancel)
            yield "knowledge", engine.store.stats()
            yield "embedder", len(engine.embedder.encode(("ready",)))
        except AetherError as error:
            yield "knowledge", error

    context.tasks.submit(work, lambda found: _tell(context, *found), _ended(context), BACKGROUND)


def look_for_server(context: Context) -> None:
    """Look for a model server again, now."""
    context.tasks.submit(
        lambda _: _look_for_server(context),
        lambda found: _tell(context, *found),
        _ended(context),
        CHAT,
    )


def count_knowledge(context: Context) -> None:
    """Count again what is in the knowledge base."""
    context.tasks.call(
        lambda _: context.engine.store.stats(),
        lambda stats: _tell(context, "knowledge", stats),
        lambda error: _tell(context, "knowledge", error),
    )


def _look_for_server(context: Context) -> Iterator[Found]:
    try:
        yield "server", context.engine.model().info()
    except AetherError as error:
        yield "server", error


def _tell(context: Context, what: str, found: Any) -> None:
    if what == "server":
        context.wishes.server_changed.emit(found)
    elif what == "knowledge":
        context.wishes.knowledge_counted.emit(found)


def _ended(context: Context) -> Any:
    def done(error: Exception | None) -> None:
        if isinstance(error, AetherError):
            context.wishes.say.emit(error.what)
        elif error is not None and not context.tasks.closing:
            raise error  # a fault of ours: the crash dialog shows it

    return done
