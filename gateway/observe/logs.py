"""The log: lines for people on a terminal, or JSON for machines, one object on each line.

Lines of all libraries and of Pinway use the same handler. A line that is written during a request
has the request's id. A request's own line does not use Python's `logging`, which would take more
time than some requests.
"""

import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from io import StringIO
from typing import Any, Protocol, TextIO

import orjson
import structlog
from structlog.types import EventDict, ExcInfo, Processor

from gateway.settings import Settings

request_id: ContextVar[str] = ContextVar("pinway_request_id", default="")
"""The id of the present request; empty outside of requests."""

Say = Callable[..., Any]
_QUIET = ("streaq",)
"""Drivers of which only warnings are logged; stores log their other messages as errors."""
MOST = 2_000
"""Characters of a line's message, and of each of its other texts: an error's message may have a
client's text."""
MOST_OF_ERROR = 20_000
"""Characters of an exception with its stack."""
_SILENT = ("opentelemetry",)
"""Libraries that log each failed call of an outage; Pinway logs an outage once."""


class Lines(Protocol):
    """Writes lines of requests."""

    def info(self, event: str, **fields: Any) -> None: ...

    def warning(self, event: str, **fields: Any) -> None: ...


def start_logging(settings: Settings, name: str = "") -> None:
    """Log to standard error. A worker's lines have its name."""
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                *_common(name),
                structlog.stdlib.add_logger_name,
                structlog.stdlib.PositionalArgumentsFormatter(),
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(settings.telemetry.log_format, sys.stderr),
            ],
        )
    )
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(settings.telemetry.log_level.upper())
    for driver in _QUIET:
        logging.getLogger(driver).setLevel(logging.WARNING)
    for driver in _SILENT:
        logging.getLogger(driver).setLevel(logging.CRITICAL)


def request_lines(settings: Settings, name: str = "", file: TextIO | None = None) -> Lines | None:
    """The writer of requests' lines; None if the log level excludes them."""
    if settings.telemetry.log_level in ("warning", "error") and not settings.telemetry.slow_seconds:
        return None
    to = file or sys.stderr
    lines: Lines = structlog.wrap_logger(
        structlog.WriteLogger(to),
        processors=[*_common(name), *_renderers(settings.telemetry.log_format, to)],
        wrapper_class=structlog.make_filtering_bound_logger(settings.telemetry.log_level),
        cache_logger_on_first_use=True,
    ).bind()
    return lines


def _common(name: str) -> list[Processor]:
    added: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_request,
    ]
    if name:

        def add_process(_: Any, __: str, event: EventDict) -> EventDict:
            event["process"] = name
            return event

        added.append(add_process)
    return added


def _add_request(_: Any, __: str, event: EventDict) -> EventDict:
    id = request_id.get()
    if id:
        event.setdefault("request_id", id)
    return event


def _shorten(_: Any, __: str, event: EventDict) -> EventDict:
    """Bound the length of each text in the line."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = cut(value, MOST_OF_ERROR if name == "exception" else MOST)
    return event


def cut(text: str, most: int) -> str:
    """The text without its middle, if it is too long: an exception's end says what happened."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}"


def _write_stack(to: TextIO, error: ExcInfo) -> None:
    whole = StringIO()
    structlog.dev.plain_traceback(whole, error)
    to.write(cut(whole.getvalue(), MOST_OF_ERROR))


def _renderers(log_format: str, to: TextIO) -> list[Processor]:
    if log_format == "json":
        return [
            structlog.processors.format_exc_info,
            _shorten,
            structlog.processors.JSONRenderer(serializer=_dumps),
        ]
    return [
        _shorten,
        structlog.dev.ConsoleRenderer(
            colors=to.isatty(),
            pad_event_to=0,
            exception_formatter=_write_stack,
        ),
    ]


def _dumps(event: Any, **_: Any) -> str:
    return orjson.dumps(event, default=repr).decode()
