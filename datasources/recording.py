"""Records what one request or job does, as a tree of timed spans: loader batches, races, calls of
stores. Traces, slow operations in the log and `extensions.trace` are made from it.

Nothing is recorded unless a `Recording` was begun: then `current()` gives the span under which the
work is done. Otherwise it gives None, and a recorded place costs one look at a context variable.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from time import perf_counter, time_ns
from typing import Any, NamedTuple

from datasources.errors import (
    StaleTopology,
    StoreConflict,
    StoreCorrupt,
    StoreTimeout,
    StoreUnavailable,
)

MOST_SPANS = 2_000
"""Spans that a recording keeps; it counts the further ones."""

OK = "ok"
OUTCOMES: dict[type[BaseException], str] = {
    StoreTimeout: "timeout",
    StaleTopology: "stale_topology",
    StoreConflict: "conflict",
    StoreUnavailable: "unavailable",
    StoreCorrupt: "corrupt",
    asyncio.CancelledError: "cancelled",
}


def outcome_of(error: BaseException) -> str:
    """The outcome of a call that raised: the kind of the store's error, `cancelled`, or `raised`
    for an error that is not the store's."""
    for kind in type(error).__mro__:
        if kind in OUTCOMES:
            return OUTCOMES[kind]
    return "raised"


class TraceContext(NamedTuple):
    """A place in a distributed trace, as W3C's Trace Context names it (ids in hexadecimal)."""

    trace_id: str
    span_id: str
    sampled: bool
    state: str = ""

    @property
    def traceparent(self) -> str:
        """The value of the header `traceparent`."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


def parse_traceparent(text: str, state: str = "") -> TraceContext | None:
    """The place that a header `traceparent` names; None for a header that is not valid."""
    found = _TRACEPARENT.fullmatch(text.strip())
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    if version == "ff" or (version == "00" and more) or not int(trace_id, 16) * int(span_id, 16):
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & 1), state)


class Span:
    """A piece of work with a beginning and an end, in seconds of `perf_counter`. `kind` says what
    it is ("store", "batch", "race", "level", ...), `notes` has the details."""

    __slots__ = ("above", "began", "ended", "kind", "name", "notes", "outcome", "recording")

    def __init__(self, recording: "Recording", above: "Span | None", kind: str, name: str) -> None:
        self.recording, self.above, self.kind, self.name = recording, above, kind, name
        self.began = perf_counter()
        self.ended: float | None = None
        self.outcome = OK
        self.notes: dict[str, Any] = {}

    def begin(self, kind: str, name: str) -> "Span":
        """Begin a piece of this work."""
        span = Span(self.recording, self, kind, name)
        self.recording.add(span)
        return span

    def end(self, outcome: str = OK) -> None:
        self.ended, self.outcome = perf_counter(), outcome

    @contextmanager
    def within(self, kind: str, name: str) -> "Iterator[Span]":
        """Begin a piece of this work that lasts as long as the block; spans that begin in the block
        are its pieces."""
        span = self.begin(kind, name)
        _current.set(span)
        try:
            yield span
        except BaseException as error:
            span.end(outcome_of(error))
            raise
        else:
            span.end()
        finally:
            # `reset` would fail where the block ends in another context than it began in.
            _current.set(self)


class Recording:
    """The spans of one request or job. `context` is its place in a distributed trace, None where
    it is in none; `link` is the place of the request that caused a job."""

    __slots__ = (
        *("came_from", "context", "epoch_ns", "is_open", "left_out", "link", "lookups", "root"),
        "spans",
    )

    def __init__(
        self,
        kind: str,
        name: str,
        *,
        context: TraceContext | None = None,
        came_from: TraceContext | None = None,
    ) -> None:
        """`came_from`: the place of the caller, whose trace goes on here."""
        self.context, self.came_from = context, came_from
        self.link: TraceContext | None = None
        self.is_open, self.left_out = True, 0
        self.root = Span(self, None, kind, name)
        self.epoch_ns = time_ns() - int(self.root.began * 1e9)
        """The time of `perf_counter`'s zero, as nanoseconds since 1970."""
        self.spans = [self.root]
        self.lookups: dict[str, list[int]] = {}
        """Keys that were found in each cache, and keys that the cache was asked for."""

    def add(self, span: Span) -> None:
        """Keep a span, unless the recording is closed or full."""
        if len(self.spans) < MOST_SPANS and self.is_open:
            self.spans.append(span)
        else:
            self.left_out += 1

    def looked_up(self, cache: str, hits: int, keys: int) -> None:
        """Count the keys that a cache was asked for, and the keys that it had."""
        counts = self.lookups.setdefault(cache, [0, 0])
        counts[0] += hits
        counts[1] += keys

    def close(self, outcome: str = OK) -> None:
        """End the recording; later calls are not recorded."""
        self.is_open = False
        self.root.end(outcome)

    @property
    def sampled(self) -> str:
        """The `traceparent` to hand on with work that follows; empty where nobody collects it."""
        return self.context.traceparent if self.context and self.context.sampled else ""


_current: ContextVar[Span | None] = ContextVar("pinway_span", default=None)
current = _current.get
"""The span under which work is done now; None where nothing is recorded."""


@contextmanager
def recorded(recording: Recording | None) -> Iterator[None]:
    """Record the block's work. None records nothing."""
    if recording is None:
        yield
        return
    start(recording)
    try:
        yield
    finally:
        stop()


def start(recording: Recording) -> None:
    """Record the current task's work from now on."""
    _current.set(recording.root)


def stop() -> None:
    """Record nothing more of the current task."""
    _current.set(None)


def unrecorded() -> Context:
    """The current context variables, without the recording: for work that nobody waits for."""
    context = copy_context()
    context.run(_current.set, None)
    return context
