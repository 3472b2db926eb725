"""The state of one request on tables, as slots, resolution and waiting use it."""

from __future__ import annotations

from typing import Any

from gateway.execution.levels.failures import Failures
from gateway.execution.levels.tables import Table
from gateway.execution.model.state import State


class Request(State):
    """The state of one request. `execution.Run` executes it."""

    __slots__ = ("failures", "garbage", "latest", "roots", "waits")

    failures: Failures
    """The errors of the request."""
    waits: Any
    """The awaited values of the request: a `waits.Waits`."""
    roots: list[Table]
    """The table of each step that has begun."""
    latest: list[int]
    """The ranks of the latest awaitable of the serial chain."""
    garbage: list[list[Any]]
    """Large lists. They are freed after the response, a slice in each turn of the event loop."""
