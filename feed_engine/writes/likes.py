"""Likes and unlikes pins."""

from datasources.clocks import now_ms
from datasources.ids import Kind
from datasources.mappings import SEQUENCE_STEP, Edge, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Pin
from feed_engine.feeds.affinity import LIKE
from feed_engine.outbox.change import AnyTask, PinLiked, PinUnliked
from feed_engine.transactions import access
from feed_engine.transactions.commit import Rows, of_viewer
from feed_engine.writes.affinities import learn
from feed_engine.writes.edges import clear_edge, set_edge


async def like_pin(
    stores: Stores, viewer_id: int, pin_id: int, *, key: str | None = None, at: int | None = None
) -> Edge:
    """Like a pin that the viewer sees. Returns the row in the viewer's likes. An existing like
    stays. Raises NotFound."""
    at = at if at is not None else now_ms()
    liked = _Liked(stores, viewer_id, pin_id)

    def tasks(_: Edge) -> list[AnyTask]:
        return [PinLiked(viewer_id=viewer_id, pin_id=pin_id, at=at)]

    mutation = of_viewer(stores, "likePin", viewer_id, Kind.PIN, pin_id, key)
    return await set_edge(
        *(stores, mutation, Mapping.USER_LIKES_PINS, pin_id, at, liked.find, tasks, liked.learn)
    )


async def unlike_pin(
    stores: Stores, viewer_id: int, pin_id: int, *, key: str | None = None
) -> Edge:
    """Unlike the pin. Nothing changes if the viewer doesn't like it. Raises NotFound."""
    liked = _Liked(stores, viewer_id, pin_id)

    def tasks(_: Edge) -> list[AnyTask]:
        return [] if liked.is_own else [PinUnliked(viewer_id=viewer_id, pin_id=pin_id)]

    mutation = of_viewer(stores, "unlikePin", viewer_id, Kind.PIN, pin_id, key)
    return await clear_edge(
        *(stores, mutation, Mapping.USER_LIKES_PINS, pin_id, liked.find, tasks, liked.unlearn)
    )


class _Liked:
    """The pin, as the viewer sees it, and what its like teaches about the viewer."""

    def __init__(self, stores: Stores, viewer_id: int, pin_id: int) -> None:
        self._stores, self._viewer_id, self._pin_id = stores, viewer_id, pin_id
        self._pin: Pin | None = None

    @property
    def is_own(self) -> bool:
        """Whether the pin was found, and is the viewer's."""
        return self._pin is not None and self._pin.owner_id == self._viewer_id

    async def find(self) -> int:
        """Find the pin. Returns its owner. Raises NotFound."""
        self._pin = None
        self._pin, _ = await access.find_pin(self._stores, self._viewer_id, self._pin_id)
        return self._pin.owner_id

    async def learn(self, tx: ShardTx, rows: Rows, like: Edge) -> None:
        await self._teach(tx, rows, like, LIKE)

    async def unlearn(self, tx: ShardTx, rows: Rows, like: Edge) -> None:
        """A pin that the viewer can no longer see keeps what it taught, which fades."""
        await self._teach(tx, rows, like, -LIKE)

    async def _teach(self, tx: ShardTx, rows: Rows, like: Edge, weight: float) -> None:
        if self._pin is not None:
            at = like.sequence // SEQUENCE_STEP
            await learn(tx, rows, self._viewer_id, self._pin, weight, at)
