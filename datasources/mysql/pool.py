"""A pool of a few connections to one server, with a queue of waiting callers.

Unlike the driver's pool, it never connects while it holds a lock. So a connect that hangs doesn't
keep other callers from the idle connections.
"""

from collections.abc import Awaitable, Callable

from datasources.mysql.link import Link
from datasources.places import Places


class Pool:
    """A pool of at most `size` links. A taken link must be given back or discarded."""

    def __init__(self, connect: Callable[[], Awaitable[Link]], size: int) -> None:
        self._connect = connect
        self.places = Places(size)
        self._idle: list[Link] = []
        self._closed = False

    async def take(self, *, fresh: bool = False) -> Link:
        """The most recently used link, or a new one. Raises the exceptions of connecting.

        `fresh` is for a caller that has just found a dead link: the other idle links may be dead,
        too.
        """
        await self.places.acquire()
        try:
            if fresh:
                self._close_idle()
            while self._idle:
                link = self._idle.pop()
                if link.alive:
                    link.used = True
                    return link
                link.close()
            return await self._connect()
        except BaseException:
            self.places.release()
            raise

    def give(self, link: Link) -> None:
        if self._closed or not link.alive:
            link.close()
        else:
            self._idle.append(link)
        self.places.release()

    def discard(self, link: Link) -> None:
        link.close()
        self.places.release()

    def close(self) -> None:
        """Close the idle links now, and all other links when they are given back."""
        self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()
