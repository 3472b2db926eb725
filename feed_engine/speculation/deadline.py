"""A request's deadline, which bounds every call made for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ends: ContextVar[float | None] = ContextVar("ends", default=None)
"""In the time of the running event loop."""


@contextmanager
def ending_at(when: float) -> Iterator[None]:
    """What runs inside, and the tasks it starts, ask no store past `when` (the loop's time)."""
    token = ends.set(when)
    try:
        yield
    finally:
        ends.reset(token)
