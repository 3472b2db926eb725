"""One request for operators: its id, its log line, its trace and, on request,
`extensions.trace`."""

import re
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from datasources.recording import (
    Recording,
    TraceContext,
    parse_traceparent,
    start,
    stop,
)
from gateway.execution.executor import Result
from gateway.http.requests import Headers
from gateway.observe.answers import shortened
from gateway.observe.extension import described
from gateway.observe.logs import Lines, request_id
from gateway.observe.tracing import Tracer
from gateway.observe.volume import Volume

SLOWEST = 10
"""Kinds of calls in the log line of a slow operation."""
CODES = 10
"""Codes of errors in a log line."""
MOST_STATE = 512
"""The characters of the longest `tracestate` that is passed on. W3C's Trace Context asks for 512; a
client may send 30,000, and each span of the request would have them."""
_ID = re.compile(rb"[\w.:@/+=-]{1,128}", re.ASCII)


class Observed:
    """One request while it is answered. `address` is its client's, as it is charged; empty if the
    request comes from a proxy that doesn't name its client."""

    __slots__ = ("address", "id", "place", "recording", "viewer_id", "wants_trace")

    def __init__(self, id: str) -> None:
        self.id = id
        self.address = ""
        self.place: TraceContext | None = None
        self.recording: Recording | None = None
        self.viewer_id: int | None = None
        self.wants_trace = False


class Requests:
    """The requests of one endpoint."""

    def __init__(
        self,
        *,
        lines: Lines | None = None,
        slow_seconds: float = 0.0,
        tracer: Tracer | None = None,
        may_show: Callable[[Headers, str], bool] | None = None,
        volume: Volume | None = None,
    ) -> None:
        """`lines` gets a line for each request, and another for each request that took longer than
        `slow_seconds` (0: none). `may_show`: whether a request with these headers, from the address
        of a peer, may ask for `extensions.trace`; None: none may. `volume` bounds the lines of one
        address."""
        self._lines, self._slow, self._tracer = lines, slow_seconds, tracer
        self._may_show, self._volume = may_show, volume or Volume()
        self._start, self._numbers = secrets.token_hex(4), count(1)

    def begin(self, headers: Headers, peer: str = "") -> Observed:
        """Begin a request, which came from the address `peer`. Its work is recorded from now on, if
        its recording is needed."""
        given = headers.get(b"x-request-id")
        if given is not None and _ID.fullmatch(given):
            id = given.decode()
        else:
            id = f"{self._start}-{next(self._numbers):x}"
        request_id.set(id)
        request = Observed(id)
        if b"traceparent" in headers or self._tracer is not None:
            self._place(request, headers)
        if self._may_show is not None and headers.get(b"x-pinway-trace") == b"1":
            request.wants_trace = self._may_show(headers, peer)
        place = request.place
        if request.wants_trace or self._slow or (self._tracer and place and place.sampled):
            came_from = _came_from(headers) if place is not None else None
            request.recording = Recording("request", "", context=place, came_from=came_from)
            start(request.recording)
        return request

    def _place(self, request: Observed, headers: Headers) -> None:
        """Take the request's place from its client's trace, or create a place."""
        came_from = _came_from(headers)
        if self._tracer is not None:
            request.place = self._tracer.place(came_from)
        else:
            request.place = came_from

    async def show(self, request: Observed, result: Result) -> None:
        """The request is answered: add its recording to the response, if the client wants it."""
        recording = request.recording
        if recording is not None and request.wants_trace:
            stop()
            _close(recording, result)
            result.extend(b'{"trace":%b}' % await described(recording))

    def end(self, request: Observed, result: Result, status: int, seconds: float) -> bytes:
        """End the request. Returns additional header lines for the response."""
        recording, place = request.recording, request.place
        head = b"x-request-id: %b\r\n" % request.id.encode()
        if recording is not None:
            stop()
            if recording.is_open:
                _close(recording, result)
            if self._tracer is not None and place is not None and place.sampled:
                self._tracer.export(recording, *_as_span(request, result, status))
        if self._tracer is not None and place is not None:
            head += b"traceresponse: %b\r\n" % place.traceparent.encode()
        if self._lines is not None:
            self._log(self._lines, request, result, status, seconds)
        if recording is not None:
            recording.forget()
        return head

    def _log(
        self, lines: Lines, request: Observed, result: Result, status: int, seconds: float
    ) -> None:
        if left_out := self._volume.next_second():
            lines.warning("lines of requests were left out", **left_out._asdict())
        is_slow = 0 < self._slow <= seconds and request.recording is not None
        may = self._volume.may(request.address)
        if not may and not is_slow:
            return
        fields: dict[str, Any] = {"ms": round(seconds * 1000, 2), "status": status}
        operation = result.operation
        if operation is not None:
            fields["type"] = operation.type.value
            if operation.name:
                fields["operation"] = shortened(operation.name)
        if request.viewer_id is not None:
            fields["viewer"] = str(request.viewer_id)
        if result.codes:
            fields["errors"] = dict(Counter(result.codes).most_common(CODES))
        if request.place is not None:
            fields["trace_id"] = request.place.trace_id
        if may:
            lines.info("request", **fields)
        if is_slow and request.recording is not None:
            lines.warning("slow operation", **fields, calls=slowest(request.recording))


def slowest(recording: Recording) -> list[str]:
    """The store calls that took longest, by name: their number and their total time."""
    together: dict[str, tuple[int, float]] = {}
    for span in recording.spans:
        if span.kind == "store" and span.ended is not None:
            name = span.name if span.outcome == "ok" else f"{span.name} ({span.outcome})"
            number, seconds = together.get(name, (0, 0.0))
            together[name] = number + 1, seconds + span.ended - span.began
    longest = sorted(together.items(), key=lambda item: -item[1][1])[:SLOWEST]
    return [f"{name} x{number} {seconds * 1000:.1f} ms" for name, (number, seconds) in longest]


def _close(recording: Recording, result: Result) -> None:
    recording.close("ok" if result.started and not result.codes else "errors")


def _came_from(headers: Headers) -> TraceContext | None:
    found = headers.get(b"traceparent")
    if found is None:
        return None
    state = headers.get(b"tracestate", b"").decode("latin-1")
    return parse_traceparent(found.decode("latin-1"), state if len(state) <= MOST_STATE else "")


def _as_span(request: Observed, result: Result, status: int) -> tuple[str, Mapping[str, str | int]]:
    """The name and the attributes of the request's span, after OpenTelemetry's conventions."""
    attributes: dict[str, str | int] = {
        "http.request.method": "POST",
        "http.response.status_code": status,
        "pinway.request_id": request.id,
    }
    name = "GraphQL"
    if (operation := result.operation) is not None:
        name = operation.type.value
        attributes["graphql.operation.type"] = operation.type.value
        if operation.name:
            name += f" {shortened(operation.name)}"
            attributes["graphql.operation.name"] = shortened(operation.name)
    if request.viewer_id is not None:
        attributes["enduser.id"] = str(request.viewer_id)
    if result.codes:
        attributes["error.type"] = result.codes[0]
    return name, attributes
