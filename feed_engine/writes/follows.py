"""Follows and unfollows users, boards and interests; the target's id tells the kind."""

from datasources.clocks import now_ms
from datasources.errors import BadInput, NotFound
from datasources.ids import InvalidId, Kind, kind_of
from datasources.mappings import Edge
from datasources.protocols import ShardTx, Stores
from datasources.records import Interest
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.outbox.change import AnyTask, Followed, Unfollowed
from feed_engine.transactions import access, blocks
from feed_engine.transactions.commit import Rows, of_viewer
from feed_engine.writes.edges import clear_edge, set_edge


async def follow(
    stores: Stores, viewer_id: int, target_id: int, *, key: str | None = None, at: int | None = None
) -> Edge:
    """Follow a user, a board or an interest. Returns the row in the viewer's list. An existing
    follow stays. Raises BadInput, NotFound."""
    at = at if at is not None else now_ms()
    kind = _kind_of(target_id)
    if target_id == viewer_id:
        raise BadInput("Nobody can follow themselves: choose another user.", "userId")

    owner_id = 0

    async def check() -> int:
        nonlocal owner_id
        owner_id = await _check(stores, viewer_id, kind, target_id)
        return owner_id

    async def refuse_blocked(tx: ShardTx, _: Rows, __: Edge) -> None:
        """Refuse the follow if a block came after the check."""
        if owner_id and await blocks.hold_in(tx, viewer_id, owner_id):
            raise access.missing(kind, target_id)

    def tasks(edge: Edge) -> list[AnyTask]:
        return [Followed(viewer_id=viewer_id, target_id=target_id, version=edge.version, at=at)]

    mutation = of_viewer(stores, "follow", viewer_id, kind, target_id, key)
    return await set_edge(
        *(stores, mutation, FOLLOWS[kind], target_id, at, check, tasks, refuse_blocked)
    )


async def unfollow(
    stores: Stores, viewer_id: int, target_id: int, *, key: str | None = None
) -> Edge:
    """Unfollow the target. Nothing changes if the viewer doesn't follow it. Raises NotFound."""
    kind, at = _kind_of(target_id), now_ms()

    async def check() -> int:
        return await _check(stores, viewer_id, kind, target_id)

    def tasks(edge: Edge) -> list[AnyTask]:
        return [Unfollowed(viewer_id=viewer_id, target_id=target_id, version=edge.version, at=at)]

    mutation = of_viewer(stores, "unfollow", viewer_id, kind, target_id, key)
    return await clear_edge(stores, mutation, FOLLOWS[kind], target_id, check, tasks)


def _kind_of(target_id: int) -> Kind:
    try:
        kind = kind_of(target_id)
    except InvalidId as error:
        raise NotFound(str(error)) from None
    if kind not in FOLLOWS:
        raise BadInput(f"A {kind.name.lower()} can't be followed: only users, boards and interests")
    return kind


async def _check(stores: Stores, viewer_id: int, kind: Kind, target_id: int) -> int:
    """The followed user, or the owner of the followed board; 0 for an interest."""
    if kind is Kind.BOARD:
        return (await access.find_board(stores, viewer_id, target_id)).owner_id
    if kind is Kind.USER:
        return (await access.find_user(stores, viewer_id, target_id)).id
    if not await access.read(stores, Interest, [target_id]):
        raise access.missing(kind, target_id)
    return 0
