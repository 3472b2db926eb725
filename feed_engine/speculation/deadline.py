"""A request's deadline, which bounds every call made for it."""

from contextvars import ContextVar

ends: ContextVar[float | None] = ContextVar("ends", default=None)
"""A time on the running event loop's clock. Code in the context where the deadline is set, and
tasks started there, wait for no store beyond it."""
