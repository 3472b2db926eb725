"""The stream of a viewer's home feed: how many new pins of followed users and boards wait."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass

from datasources.errors import StoreUnavailable
from datasources.records import Pin
from feed_engine.feeds.preferences import known_muted
from feed_engine.feeds.smart.pools import brought_by
from feed_engine.live.waiting import MOST, Pool
from resolvers import visibility
from resolvers.context import Context
from resolvers.live.streams import NOTHING, LiveEvent, Nothing, Subscriber


@dataclass(frozen=True, slots=True)
class HomeFeedUpdated:
    """The number of pins that came since the stream began, and still wait. `more`: there are so
    many that they are not counted any further."""

    waiting: int
    more: bool


def home_feed_updated(context: Context, updated: HomeFeedUpdated) -> HomeFeedUpdated:
    """The field's value: the event itself."""
    return updated


class HomeStream:
    """The pins that come to a viewer's pools."""

    def __init__(self, subscriber: Subscriber) -> None:
        self._new_context = subscriber.new_context
        self._opened = AsyncExitStack()
        self._last: int | None = None
        self._looked_at = -1
        """The version of the pool that was counted last."""

    async def begin(self) -> None:
        context = self._new_context()
        viewer_id = context.require_viewer()
        if context.waiting is None:
            raise StoreUnavailable("this process has no feeds")
        self._watch = await self._opened.enter_async_context(context.waiting.watching(viewer_id))
        self._known = frozenset(self._watch.pool)

    async def wait(self) -> None:
        await self._watch.change(self._looked_at)

    def is_shared(self) -> bool:
        return False

    async def next(self) -> LiveEvent | Nothing:
        context, version = self._new_context(), self._watch.version
        waiting = await self._waiting(context, self._watch.pool)
        if waiting == self._last:
            self._looked_at = version
            return NOTHING
        self._last = waiting  # the pins are counted again after the event
        return LiveEvent(context, HomeFeedUpdated(min(waiting, MOST), waiting >= MOST))

    async def end(self) -> None:
        await self._opened.aclose()

    async def _waiting(self, context: Context, pool: Pool) -> int:
        """The number of new pins that the viewer may see, and that still belong to what brought
        them."""
        fresh = {id: cause for id, cause in pool.items() if id not in self._known}
        if not fresh:
            return 0
        found, muted = await asyncio.gather(
            visibility.pins(context, list(fresh)),
            known_muted(context.feeds, context.require_viewer()),
        )
        return sum(
            isinstance(pin, Pin)
            and pin.owner_id != context.viewer_id
            and pin.owner_id not in muted
            and brought_by(pin, fresh[id])
            for id, pin in found.items()
        )
