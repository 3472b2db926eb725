"""The tasks that notify users of what others did: follows, saves, likes and comments.
Invitations to boards are in `collaborator_tasks`.

A task reads the present state of the act (an edge with its version, a pin, a comment), and stores
it on the shard of the user whom it concerns. So repeated, late and reordered tasks end in the same
state, and an act that was taken back ends its notification. Whether a user may still see the actor
and the subject is decided when the notifications are read.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from datasources.errors import StoreError
from datasources.ids import Kind, kind_of, shard_of
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, Mapping
from datasources.protocols import Notification, NotificationKind, ShardTx, Stores
from datasources.records import Board, Comment, Pin, User
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.live.events import NotificationsChanged
from feed_engine.outbox.change import (
    Advance,
    Change,
    CommentChanged,
    Followed,
    Handler,
    PinLiked,
    PinSaved,
    PinUnliked,
    Unfollowed,
    change,
)
from feed_engine.transactions import access
from feed_engine.transactions.commit import commit

Notify = Callable[[Stores, Any], Awaitable[None]]
_ACTIVE, _ENDED = 1, 2
"""The versions of an act that happens once, and may end once."""


def notifying(handler: Handler, notify: Notify) -> Handler:
    """A task's handler that first notifies the user whom the act concerns. The handler runs even if
    that failed; then the job fails in the end, and runs again."""

    async def notified(
        stores: Stores, task: Any, cursor: bytes | None, advance: Advance, **rest: Any
    ) -> None:
        failed: StoreError | None = None
        try:
            await notify(stores, task)
        except StoreError as error:
            failed = error
        await handler(stores, task, cursor, advance, **rest)
        if failed is not None:
            raise failed

    return notified


async def notify_of_follow(stores: Stores, task: Followed | Unfollowed) -> None:
    """Notify the followed user, or the owner of the followed board."""
    kind = kind_of(task.target_id)
    if kind is Kind.INTEREST:
        return
    user_id, of = task.target_id, NotificationKind.FOLLOWED_USER
    if kind is Kind.BOARD:
        board = (await access.read(stores, Board, [task.target_id])).get(task.target_id)
        if board is None:
            return
        user_id, of = board.owner_id, NotificationKind.FOLLOWED_BOARD
    await _edge(stores, user_id, of, EdgeKey(FOLLOWS[kind], task.viewer_id, task.target_id))


async def notify_of_like(stores: Stores, task: PinLiked | PinUnliked) -> None:
    """Notify the pin's owner. There is a PinLiked for a repin, too, of which `pin_saved`
    notifies."""
    pin = (await access.read(stores, Pin, [task.pin_id])).get(task.pin_id)
    if pin is None:
        return
    key = EdgeKey(Mapping.USER_LIKES_PINS, task.viewer_id, task.pin_id)
    await _edge(stores, pin.owner_id, NotificationKind.LIKED, key)


async def pin_unliked(
    stores: Stores, task: PinUnliked, cursor: bytes | None, advance: Advance
) -> None:
    """End the notification of the like."""
    await notify_of_like(stores, task)


async def pin_saved(stores: Stores, task: PinSaved, cursor: bytes | None, advance: Advance) -> None:
    """Notify the owner of the pin that was saved, unless it was saved to a secret board."""
    saved = (await access.read(stores, Pin, [task.pin_id])).get(task.pin_id)
    if saved is None or saved.source_id is None:
        return
    boards = await access.read(stores, Board, [saved.board_id])
    source = (await access.read(stores, Pin, [saved.source_id])).get(saved.source_id)
    if source is None or saved.board_id not in boards or boards[saved.board_id].secret:
        return
    await store(
        stores,
        Notification(
            user_id=source.owner_id,
            kind=NotificationKind.SAVED,
            subject_id=source.id,
            actor_id=saved.owner_id,
            about_id=saved.id,
            version=_ACTIVE,
            at=saved.created,
        ),
    )


async def comment_changed(
    stores: Stores, task: CommentChanged, cursor: bytes | None, advance: Advance
) -> None:
    """Notify the pin's owner of the comment, or end the notification."""
    comment = await access.recall(stores, Comment, task.comment_id)
    pin = (await access.read(stores, Pin, [comment.pin_id])).get(comment.pin_id)
    if pin is None:
        return
    await store(
        stores,
        Notification(
            user_id=pin.owner_id,
            kind=NotificationKind.COMMENTED,
            subject_id=pin.id,
            actor_id=comment.author_id,
            about_id=comment.id,
            version=_ACTIVE if comment.active else _ENDED,
            at=comment.created,
            active=comment.active,
        ),
    )


async def _edge(stores: Stores, user_id: int, kind: NotificationKind, key: EdgeKey) -> None:
    """Store the present state of a like or a follow."""
    if user_id == key.from_id:
        return
    edge: Edge | None = (await stores.shards.mappings.edges([key])).get(key)
    if edge is None:
        return
    await store(
        stores,
        Notification(
            user_id=user_id,
            kind=kind,
            subject_id=key.to_id,
            actor_id=key.from_id,
            about_id=0,
            version=edge.version,
            at=edge.sequence // SEQUENCE_STEP,
            active=edge.active,
        ),
    )


async def store(stores: Stores, act: Notification) -> None:
    """Store the notification, and tell the user's streams. Nobody is notified of their own acts,
    and nothing is stored for or of a deleted account."""
    both = [act.user_id, act.actor_id]
    if act.user_id == act.actor_id or len(await access.read(stores, User, both)) < len(both):
        return

    async def work(tx: ShardTx) -> Change | None:
        stored = await tx.notify(act)
        told = NotificationsChanged(user_id=act.user_id)
        return change(events=[told]) if stored else None

    await commit(stores, shard_of(act.user_id), work)
