"""Creates and deletes comments. A comment is on its pin's shard."""

from typing import Any

import msgspec

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import Forbidden, StoreCorrupt
from datasources.ids import Kind
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Comment, Pin
from feed_engine.live.events import PinChange, PinEvent
from feed_engine.outbox.change import AnyTask, CommentChanged
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Rows, Saved, mutate, row_of
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import NewComment, Target
from feed_engine.transactions.results import CommentWritten
from feed_engine.writes.comment_index import put_rows


async def create_comment(
    stores: Stores,
    viewer_id: int,
    new: NewComment,
    *,
    key: str | None = None,
    at: int | None = None,
) -> CommentWritten:
    """Comment on a pin that the viewer sees. `at` is epoch ms; the default is now. Raises BadInput,
    NotFound."""
    new = new.checked()

    async def prepare() -> tuple[Pin, Board]:
        return await access.find_pin(stores, viewer_id, new.pin_id)

    async def work(tx: ShardTx, found: tuple[Pin, Board]) -> Outcome[CommentWritten]:
        pin, board = found
        comment = Comment(
            created=at if at is not None else now_ms(),
            pin_id=new.pin_id,
            author_id=viewer_id,
            text=new.text,
            flips=board.flips,
        )
        id = await tx.insert(Kind.COMMENT, records.encode(comment))
        comment = msgspec.structs.replace(comment, id=id)
        rows, edge = Rows(tx), Edge(new.pin_id, id, comment.created * SEQUENCE_STEP, 1)
        await put_rows(rows, comment, edge)
        saved = Saved(id=id, row=row_of(edge))
        told = PinEvent(pin_id=pin.id, change=PinChange.COMMENTED, about_id=id)
        tasks: list[AnyTask] = [CommentChanged(comment_id=id)] if pin.owner_id != viewer_id else []
        return Outcome(
            CommentWritten(comment, edge),
            saved,
            rows.change(tasks=tasks, events=[told]),
            toward=pin.owner_id,
            under=pin.id,
        )

    async def again(saved: Saved) -> CommentWritten:
        return CommentWritten(await access.recall(stores, Comment, saved.id), saved.edge())

    shard = access.home(stores, Kind.PIN, new.pin_id)
    mutation = Mutation("createComment", shard, viewer_id, key, new)
    return await mutate(stores, mutation, prepare, work, again)


async def delete_comment(
    stores: Stores, viewer_id: int, comment_id: int, *, key: str | None = None
) -> Comment:
    """Delete a comment, as its author or as the owner of its pin. Returns the inactive comment.
    Raises NotFound (also for what the viewer can't see), Forbidden."""

    async def prepare() -> int | None:
        """The owner of the pin, if the viewer must be the pin's owner."""
        comment = (await access.read(stores, Comment, [comment_id])).get(comment_id)
        if comment is not None and comment.author_id == viewer_id:
            return None
        return (await access.pin_of_comment(stores, viewer_id, comment_id, comment)).owner_id

    async def work(tx: ShardTx, owner_id: int | None) -> Outcome[Comment]:
        comment, raw = await access.lock(tx, Comment, comment_id)
        if viewer_id not in (comment.author_id, owner_id):
            raise Forbidden(
                "Only its author and the owner of its pin may delete a comment.", "commentId"
            )
        rows = Rows(tx)
        after = await deactivate(tx, rows, comment, raw, {})
        tasks: list[AnyTask] = [CommentChanged(comment_id=comment_id)]
        following = rows.change(objects=[comment_id], tasks=tasks, events=[deleted(after)])
        return Outcome(after, Saved(id=comment_id), following)

    async def again(saved: Saved) -> Comment:
        return await access.recall(stores, Comment, saved.id)

    shard, given = access.home(stores, Kind.COMMENT, comment_id), Target(id=comment_id)
    mutation = Mutation("deleteComment", shard, viewer_id, key, given, takes_back=True)
    return await mutate(stores, mutation, prepare, work, again)


async def deactivate(
    tx: ShardTx, rows: Rows, comment: Comment, raw: bytes, changes: dict[str, Any]
) -> Comment:
    """Deactivate a locked comment and its rows, with further changes. Returns the inactive
    comment."""
    after = await edit(tx, comment, raw, {**changes, "active": False})
    await tx.head(ListKey(Mapping.PIN_HAS_COMMENTS, comment.pin_id))
    row = await tx.edge(EdgeKey(Mapping.PIN_HAS_COMMENTS, comment.pin_id, comment.id))
    if row is None:
        raise StoreCorrupt(f"comment {comment.id} is not under its pin {comment.pin_id}")
    edge = row._replace(version=row.version + 1, active=False)
    await put_rows(rows, comment, edge)
    return after


def deleted(comment: Comment) -> PinEvent:
    """The event of a deleted comment."""
    return PinEvent(pin_id=comment.pin_id, change=PinChange.COMMENT_DELETED, about_id=comment.id)
