"""Likes and unlikes pins."""

from datasources.ids import Kind
from datasources.mappings import Edge, Mapping
from datasources.protocols import Stores
from feed_engine.outbox.change import AnyTask, PinLiked
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, now_ms
from feed_engine.transactions.inputs import Target
from feed_engine.writes.edges import clear_edge, set_edge


async def like_pin(
    stores: Stores, viewer_id: int, pin_id: int, *, key: str | None = None, at: int | None = None
) -> Edge:
    """Like a pin that the viewer sees. Returns the row in the viewer's likes. An existing like
    stays. Raises NotFound."""
    at = at if at is not None else now_ms()

    async def check() -> int:
        return (await access.find_pin(stores, viewer_id, pin_id))[0].owner_id

    def tasks(_: Edge) -> list[AnyTask]:
        return [PinLiked(viewer_id=viewer_id, pin_id=pin_id, at=at)]

    mutation = _mutation(stores, "likePin", viewer_id, pin_id, key)
    return await set_edge(stores, mutation, Mapping.USER_LIKES_PINS, pin_id, at, check, tasks)


async def unlike_pin(
    stores: Stores, viewer_id: int, pin_id: int, *, key: str | None = None
) -> Edge:
    """Unlike the pin. Nothing changes if the viewer doesn't like it. Raises NotFound."""

    async def check() -> int:
        return (await access.find_pin(stores, viewer_id, pin_id))[0].owner_id

    def tasks(_: Edge) -> list[AnyTask]:
        return []

    mutation = _mutation(stores, "unlikePin", viewer_id, pin_id, key)
    return await clear_edge(stores, mutation, Mapping.USER_LIKES_PINS, pin_id, check, tasks)


def _mutation(stores: Stores, name: str, viewer_id: int, pin_id: int, key: str | None) -> Mutation:
    access.home(stores, Kind.PIN, pin_id)
    shard = access.home(stores, Kind.USER, viewer_id)
    return Mutation(name, shard, viewer_id, key, Target(id=pin_id))
