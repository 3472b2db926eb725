"""Records the work of one request or job as a tree of timed spans: loader batches, races, calls of
stores. Traces, slow operations in the log and `extensions.trace` are made from the tree.

Nothing is recorded without a `Recording`. During a recording, `current()` returns the span that
contains the present work. Otherwise it returns None, and a place that could be recorded costs one
read of a context variable.
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
"""Spans that a recording keeps. Further spans are only counted."""

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
    for other errors."""
    for kind in type(error).__mro__:
        if kind in OUTCOMES:
            return OUTCOMES[kind]
    return "raised"


class TraceContext(NamedTuple):
    """A place in a distributed trace, as in W3C's Trace Context (ids in hexadecimal)."""

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
    """The place in a `traceparent` header; None for an invalid header."""
    found = _TRACEPARENT.fullmatch(text.strip())
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    if version == "ff" or (version == "00" and more) or not int(trace_id, 16) * int(span_id, 16):
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & 1), state)


class Span:
    """A piece of work with a start and an end, in seconds of `perf_counter`. `kind` is its kind
    ("store", "batch", "race", "level", ...), and `notes` has the details."""

    __slots__ = ("above", "began", "ended", "kind", "name", "notes", "outcome", "recording")

    def __init__(self, recording: "Recording", above: "Span | None", kind: str, name: str) -> None:
        self.recording, self.above, self.kind, self.name = recording, above, kind, name
        self.began = perf_counter()
        self.ended: float | None = None
        self.outcome = OK
        self.notes: dict[str, Any] = {}

    def begin(self, kind: str, name: str) -> "Span":
        """Begin a child span."""
        span = Span(self.recording, self, kind, name)
        self.recording.add(span)
        return span

    def end(self, outcome: str = OK) -> None:
        self.ended, self.outcome = perf_counter(), outcome

    @contextmanager
    def within(self, kind: str, name: str) -> "Iterator[Span]":
        """Begin a child span that lasts as long as the block. Spans that begin in the block are its
        children."""
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
            # `reset` would fail if the block ends in another context.
            _current.set(self)


class Recording:
    """The spans of one request or job. `context` is its place in a distributed trace, or None;
    `link` is the place of the request that caused a job."""

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
        """`came_from`: the caller's place, whose trace this recording continues."""
        self.context, self.came_from = context, came_from
        self.link: TraceContext | None = None
        self.is_open, self.left_out = True, 0
        self.root = Span(self, None, kind, name)
        self.epoch_ns = time_ns() - int(self.root.began * 1e9)
        """The zero of `perf_counter`, as nanoseconds since 1970."""
        self.spans = [self.root]
        self.lookups: dict[str, list[int]] = {}
        """For each cache: the keys that were found, and the keys that were looked up."""

    def add(self, span: Span) -> None:
        """Keep a span, unless the recording is closed or full."""
        if len(self.spans) < MOST_SPANS and self.is_open:
            self.spans.append(span)
        else:
            self.left_out += 1

    def looked_up(self, cache: str, hits: int, keys: int) -> None:
        """Count the keys that were looked up in a cache, and the keys that the cache had."""
        counts = self.lookups.setdefault(cache, [0, 0])
        counts[0] += hits
        counts[1] += keys

    def close(self, outcome: str = OK) -> None:
        """End the recording. Nothing is recorded afterwards."""
        self.is_open = False
        self.root.end(outcome)

    def forget(self) -> None:
        """Drop the spans of a closed recording. Each refers to its recording: otherwise, only the
        garbage collector would free them."""
        self.spans.clear()

    @property
    def sampled(self) -> str:
        """The `traceparent` to pass on with later work; empty if no trace is collected."""
        return self.context.traceparent if self.context and self.context.sampled else ""


_current: ContextVar[Span | None] = ContextVar("pinway_span", default=None)
current = _current.get
"""The span that contains the present work; None if nothing is recorded."""


@contextmanager
def recorded(recording: Recording | None) -> Iterator[None]:
    """Record the block's work. With None nothing is recorded."""
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
    """Stop recording the current task."""
    _current.set(None)


def unrecorded() -> Context:
    """The current context variables, without the recording: for background work."""
    context = copy_context()
    context.run(_current.set, None)
    return context
