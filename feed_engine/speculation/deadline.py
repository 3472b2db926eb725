"""A request's deadline, which bounds every call made for it."""

from contextvars import ContextVar

ends: ContextVar[float | None] = ContextVar("ends", default=None)
"""A time of the running event loop's clock. Code that runs where the deadline is set, and the tasks
started there, ask no store past it."""
