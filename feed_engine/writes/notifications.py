"""Marks a viewer's notifications as read."""

from datasources.ids import Kind
from datasources.protocols import ShardTx, Stores
from feed_engine.live.events import NotificationsChanged
from feed_engine.outbox.change import change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, nothing
from feed_engine.transactions.inputs import Notifications


async def mark_notifications_read(
    stores: Stores, viewer_id: int, up_to: int | None, *, key: str | None = None
) -> None:
    """Mark the viewer's notifications as read, up to a place in their list (None: all). A mark is
    never taken back."""
    shard = access.home(stores, Kind.USER, viewer_id)
    given = Notifications(up_to=up_to)
    mutation = Mutation("markNotificationsRead", shard, viewer_id, key, given, takes_back=True)

    async def work(tx: ShardTx, _: None) -> Outcome[None]:
        changed = await tx.mark_notifications(viewer_id, up_to)
        told = [NotificationsChanged(user_id=viewer_id)] if changed else []
        return Outcome(None, Saved(), change(events=told), durable=changed)

    await mutate(stores, mutation, nothing, work, _again)


async def _again(saved: Saved) -> None:
    """The answer is empty."""
