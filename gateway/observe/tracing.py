"""Traces, sent to a collector by OTLP over HTTP: a span for each request, loader batch, race and
store call, and for each job, linked to the request that caused it.

A recording (`datasources.recording`) becomes spans when it has ended. So no code of OpenTelemetry
runs during a request, and a request that is not sampled costs one random number.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from datasources.errors import ConfigError
from datasources.outages import Outages
from datasources.recording import Recording, Span, TraceContext
from gateway.settings import Settings

log = logging.getLogger("pinway.traces")

FOLLOWED = 100
"""Requests in a second that are traced because their clients say so. Any stranger can say so, and
further requests are traced by the share alone: otherwise a flood would fill the collector."""
EXPORT_SECONDS = 5.0
"""Seconds for sending one batch of spans. The number of spans that wait in the meantime is
bounded."""
_EMBEDDED = ("memory", "sqlite", "rocksdb")
Attributes = Mapping[str, str | int]


class Tracer:
    """Sends recordings to the collector at `endpoint`. The share `share` of the requests without a
    client's trace is sampled. Requests with a client's trace follow the client's decision, up to
    FOLLOWED of them in a second."""

    def __init__(
        self,
        endpoint: str,
        share: float = 1.0,
        *,
        rng: Callable[[], float] = random.random,
        clock: Callable[[], float] = monotonic,
        every: float = 2.0,
    ) -> None:
        """`every`: the seconds between two batches. Raises ConfigError if OpenTelemetry is not
        installed."""
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise ConfigError(
                f"setting traces: needs the package {error.name}, which is not installed: install "
                "Pinway with its extra `telemetry`"
            ) from error
        self._share, self._rng, self._clock = share, rng, clock
        self._second, self._followed = clock(), 0
        self._resource = Resource.create({"service.name": "pinway"})
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_SECONDS)
        self._processor = BatchSpanProcessor(
            _logging_outages(exporter, endpoint), schedule_delay_millis=every * 1000
        )

    def place(self, came_from: TraceContext | None) -> TraceContext:
        """The place of a new request or job."""
        if came_from is None:
            return TraceContext(_new_trace(), _new_span(), self._rng() < self._share)
        sampled = came_from.sampled and (self._follows() or self._rng() < self._share)
        return came_from._replace(span_id=_new_span(), sampled=sampled)

    def _follows(self) -> bool:
        """Whether a client's decision is followed: FOLLOWED of them are in each second."""
        now = self._clock()
        if now - self._second >= 1.0:
            self._second, self._followed = now, 0
        self._followed += 1
        return self._followed <= FOLLOWED

    def export(self, recording: Recording, name: str, attributes: Attributes) -> None:
        """Send the recording of a request that has ended."""
        assert recording.context is not None
        self._send(recording, recording.context, name, "SERVER", attributes)

    def export_job(self, recording: Recording, name: str, attributes: Attributes) -> None:
        """Send the recording of a job that has ended, if it is linked to a request that was
        sampled. A job has its own trace: it may run long after its request, and more than once."""
        if recording.link is not None and recording.link.sampled:
            place = TraceContext(_new_trace(), _new_span(), True)
            self._send(recording, place, name, "CONSUMER", attributes)

    async def close(self) -> None:
        """Send waiting spans, and stop."""
        await asyncio.to_thread(self._processor.shutdown)

    def _send(
        self,
        recording: Recording,
        place: TraceContext,
        name: str,
        kind: str,
        attributes: Attributes,
    ) -> None:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import Link, SpanKind, Status, StatusCode

        contexts = {id(recording.root): _context(place)}
        above = None if recording.came_from is None else _context(recording.came_from, remote=True)
        for span in recording.spans:
            own = contexts.setdefault(id(span), _context(place._replace(span_id=_new_span())))
            is_root = span is recording.root
            linked = recording.link if is_root else None
            failed = span.outcome not in ("ok", "cancelled")
            ended = span.ended if span.ended is not None else recording.root.ended
            assert ended is not None
            self._processor.on_end(
                ReadableSpan(
                    name=name if is_root else f"{span.kind} {span.name}",
                    context=own,
                    parent=above if span.above is None else contexts.get(id(span.above)),
                    resource=self._resource,
                    attributes=dict(attributes) if is_root else _attributes(span),
                    links=[Link(_context(linked, remote=True))] if linked else [],
                    kind=SpanKind[kind if is_root else _kind(span)],
                    status=Status(StatusCode.ERROR, span.outcome) if failed else Status(),
                    start_time=recording.epoch_ns + int(span.began * 1e9),
                    end_time=recording.epoch_ns + int(ended * 1e9),
                )
            )


@asynccontextmanager
async def tracing(settings: Settings) -> AsyncIterator[Tracer | None]:
    """The tracer of the settings, inside the block; None if the settings name no collector."""
    if not settings.telemetry.traces:
        yield None
        return
    tracer = Tracer(settings.telemetry.traces, settings.telemetry.traces_share)
    try:
        yield tracer
    finally:
        await tracer.close()


def _kind(span: Span) -> str:
    is_remote = span.kind == "store" and span.notes.get("backend") not in _EMBEDDED
    return "CLIENT" if is_remote else "INTERNAL"


def _attributes(span: Span) -> dict[str, str | int]:
    found: dict[str, str | int] = {
        f"pinway.{name}": value for name, value in span.notes.items() if name != "backend"
    }
    if span.kind == "store":
        store, _, operation = span.name.partition(".")
        found["db.system.name"] = span.notes.get("backend", "")
        found["db.collection.name"], found["db.operation.name"] = store, operation
    if span.outcome != "ok":
        found["error.type"] = span.outcome
    return found


def _context(place: TraceContext, *, remote: bool = False) -> Any:
    from opentelemetry.trace import SpanContext, TraceFlags, TraceState

    return SpanContext(
        int(place.trace_id, 16),
        int(place.span_id, 16),
        is_remote=remote,
        trace_flags=TraceFlags(TraceFlags.SAMPLED if place.sampled else TraceFlags.DEFAULT),
        trace_state=TraceState.from_header([place.state]) if place.state else None,
    )


def _logging_outages(inner: Any, endpoint: str) -> Any:
    """The exporter, changed so that an outage of the collector is logged once."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    outages = Outages(log, "traces can't be sent to {}")

    class Telling(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            result: SpanExportResult = inner.export(spans)
            if result is SpanExportResult.SUCCESS:
                outages.well(endpoint)
            else:
                outages.failed(endpoint, ConnectionError("the collector did not take them"))
            return result

        def shutdown(self) -> None:
            inner.shutdown()

    return Telling()


def _new_trace() -> str:
    return f"{random.getrandbits(128):032x}"


def _new_span() -> str:
    return f"{random.getrandbits(64):016x}"
