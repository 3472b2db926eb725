"""The home feed's visit that a request begins: one visit, however many fields ask for the feed.

A visit uses up new pins, and beginning one is a transaction on the viewer's shard that reads those
begun before. So fields of one request that begin a visit share it: the first begins it, and the
others wait for its name.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar


class Visited(Protocol):
    """A page that names its visit."""

    @property
    def visit(self) -> str: ...


P = TypeVar("P", bound=Visited)


class Beginning:
    """The name of the request's visit, once there is one."""

    __slots__ = ("_lock", "_name")

    def __init__(self) -> None:
        self._lock: asyncio.Lock | None = None
        self._name: str | None = None

    async def page(self, read: Callable[[str | None], Awaitable[P]]) -> P:
        """The page that `read` gives of the request's visit, or of a new one (None). If the field
        that begins it fails, the next one begins it."""
        if self._name is None:
            if self._lock is None:
                self._lock = asyncio.Lock()
            async with self._lock:
                if self._name is None:
                    page = await read(None)
                    self._name = page.visit
                    return page
        return await read(self._name)
