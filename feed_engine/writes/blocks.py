"""Blocks and unblocks users. Neither of the two then sees the other (`transactions.blocks`)."""

from datasources.clocks import now_ms
from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.mappings import Edge, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import User
from feed_engine.outbox.change import AnyTask, Blocked
from feed_engine.transactions import access, blocks
from feed_engine.transactions.commit import Rows, of_viewer
from feed_engine.writes import members
from feed_engine.writes.edges import clear_edge, set_edge

_BLOCKS = Mapping.USER_BLOCKS_USERS


async def block_user(
    stores: Stores, viewer_id: int, user_id: int, *, key: str | None = None, at: int | None = None
) -> Edge:
    """Block a user. Returns the row in the viewer's list. An existing block stays. What each of the
    two is on the other's boards ends; a job removes the follows between them. Raises BadInput, and
    NotFound, also for a user who blocks the viewer."""
    at = at if at is not None else now_ms()
    if user_id == viewer_id:
        raise BadInput("Nobody can block themselves: choose another user.", "userId")

    async def check() -> int:
        return await _check(stores, viewer_id, user_id)

    def tasks(_: Edge) -> list[AnyTask]:
        return [Blocked(viewer_id=viewer_id, user_id=user_id, at=at)]

    async def bound(tx: ShardTx, _: Rows, __: Edge) -> None:
        if (await tx.head(ListKey(_BLOCKS, viewer_id))).size >= blocks.MOST:
            raise BadInput(
                f"More than {blocks.MOST:,} users can't be blocked: unblock one first.", "userId"
            )

    mutation = of_viewer(stores, "blockUser", viewer_id, Kind.USER, user_id, key)
    edge = await set_edge(stores, mutation, _BLOCKS, user_id, at, check, tasks, bound)
    # From the acknowledgement on, neither may write on the other's boards. If the process dies
    # here, the task does it, and nobody was told of the block.
    await members.end_between(stores, viewer_id, user_id)
    return edge


async def unblock_user(
    stores: Stores, viewer_id: int, user_id: int, *, key: str | None = None
) -> Edge:
    """Unblock a user. The follows that the block removed stay removed. Nothing changes if the
    viewer doesn't block the user. Raises NotFound."""

    async def check() -> int:
        return await _check(stores, viewer_id, user_id)

    mutation = of_viewer(stores, "unblockUser", viewer_id, Kind.USER, user_id, key)
    return await clear_edge(stores, mutation, _BLOCKS, user_id, check)


async def _check(stores: Stores, viewer_id: int, user_id: int) -> int:
    """Find the user. Raises NotFound also for a user who blocks the viewer: the viewer can't tell
    such a user from a missing one."""
    found = await access.read(stores, User, [user_id])
    [_, blocked_by] = blocks.keys(viewer_id, user_id)
    edge = (await stores.shards.mappings.edges([blocked_by])).get(blocked_by)
    if user_id not in found or (edge is not None and edge.active):
        raise access.missing(Kind.USER, user_id)
    return 0  # writes toward one user are bounded, but a block is not refused because of them
