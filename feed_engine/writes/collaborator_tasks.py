"""The task after an invitation or a membership began or ended: it looks for blocks, and notifies.

A block may have come between the check of a write and its commit. The task runs after the commit,
and a block ends memberships after its own commit. So one of the two sees the other.
"""

from datasources.ids import shard_of
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey
from datasources.protocols import Notification, NotificationKind, ShardTx, Stores
from datasources.records import Board
from feed_engine.outbox.change import Advance, MembershipChanged
from feed_engine.transactions import access, blocks
from feed_engine.writes import members
from feed_engine.writes.members import HAS, INVITES
from feed_engine.writes.notification_tasks import store


async def membership_changed(
    stores: Stores, task: MembershipChanged, cursor: bytes | None, advance: Advance
) -> None:
    """End the membership if a block keeps the two apart or the user's account is deleted. Notify
    the user of an invitation, and the owner of a new collaborator; or end these notifications."""
    board_id, user_id = task.board_id, task.user_id
    board = await access.recall(stores, Board, board_id)

    async def kept_apart(tx: ShardTx) -> bool:
        return await blocks.hold_in(tx, user_id, board.owner_id)

    if user_id in (*board.invited, *board.collaborators) and (
        await stores.shards.objects.transact(shard_of(user_id), kept_apart)
    ):
        await members.end(stores, board_id, user_id.__eq__)
    keys = [EdgeKey(mapping, board_id, user_id) for mapping in (INVITES, HAS)]
    found = await stores.shards.mappings.edges(keys)
    for key, kind, to_id, actor_id in (
        (keys[0], NotificationKind.INVITED, user_id, board.owner_id),
        (keys[1], NotificationKind.JOINED_BOARD, board.owner_id, user_id),
    ):
        if (edge := found.get(key)) is not None:
            await store(stores, _act(kind, edge, to_id, actor_id))


def _act(kind: NotificationKind, edge: Edge, user_id: int, actor_id: int) -> Notification:
    return Notification(
        user_id=user_id,
        kind=kind,
        subject_id=edge.from_id,
        actor_id=actor_id,
        about_id=0,
        version=edge.version,
        at=edge.sequence // SEQUENCE_STEP,
        active=edge.active,
    )
