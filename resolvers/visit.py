"""The home feed's visit that a request begins: one visit, even if several fields of the request
read the feed.

A visit uses up new pins, and beginning one is a transaction on the viewer's shard that reads the
earlier visits. So the fields of one request share a new visit: the first field begins it, and the
other fields wait for its name.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar


class Visited(Protocol):
    """A page with the name of its visit."""

    @property
    def visit(self) -> str: ...


P = TypeVar("P", bound=Visited)


class Beginning:
    """The name of the request's visit, when it is known."""

    __slots__ = ("_lock", "_name")

    def __init__(self) -> None:
        self._lock: asyncio.Lock | None = None
        self._name: str | None = None

    async def page(self, read: Callable[[str | None], Awaitable[P]]) -> P:
        """Call `read` with the name of the request's visit, or None for a new visit. Returns its
        page. If the field that begins the visit fails, the next field begins it."""
        if self._name is None:
            if self._lock is None:
                self._lock = asyncio.Lock()
            async with self._lock:
                if self._name is None:
                    page = await read(None)
                    self._name = page.visit
                    return page
        return await read(self._name)
