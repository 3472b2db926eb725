"""The task after a block: it removes the follows between the two users, and of their boards, and
ends memberships of their boards.

A follow that is older than the block is removed whenever the job runs, even after an unblock. A
later follow is removed while the block holds: it was written at the same time as the block. So
repeated and late jobs end in the same state.
"""

from datasources.clocks import now_ms
from datasources.ids import kind_of, shard_of
from datasources.mappings import (
    REVERSE,
    SEQUENCE_STEP,
    EdgeKey,
    ListKey,
    Mapping,
    PageRequest,
)
from datasources.protocols import ShardTx, Stores
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.outbox.change import Advance, AnyTask, Blocked, Change, Unfollowed
from feed_engine.transactions import blocks
from feed_engine.transactions.commit import Rows, commit
from feed_engine.writes import members

BOARDS = 500  # boards whose follows are read at a time


async def blocked(stores: Stores, task: Blocked, cursor: bytes | None, advance: Advance) -> None:
    """End memberships and remove follows, in both directions."""
    await members.end_between(stores, task.viewer_id, task.user_id)
    await end_follows_between(stores, task.viewer_id, task.user_id, task.at)


async def end_follows_between(stores: Stores, one_id: int, other_id: int, at: int) -> None:
    """Remove the follows between two users and of their boards, after a block at epoch ms `at`."""
    for follower_id, user_id in ((one_id, other_id), (other_id, one_id)):
        await end_follows(stores, follower_id, user_id, [user_id], at)
        owned: PageRequest | None = PageRequest(ListKey(Mapping.USER_HAS_BOARDS, user_id), BOARDS)
        while owned:
            [rows] = await stores.shards.mappings.pages([owned])
            await end_follows(stores, follower_id, user_id, [row.to_id for row in rows], at)
            owned = owned.next(rows)


async def end_follows(
    stores: Stores, follower_id: int, user_id: int, target_ids: list[int], at: int | None = None
) -> None:
    """Remove the follower's follows of a user and of some boards of this user (`target_ids`). A
    follow that is newer than epoch ms `at`, or any follow without `at`, goes only while a block
    holds."""
    keys = [EdgeKey(FOLLOWS[kind_of(id)], follower_id, id) for id in target_ids]
    found = await stores.shards.mappings.edges(keys) if keys else {}
    followed = [key for key in keys if key in found and found[key].active]
    if not followed:
        return

    async def work(tx: ShardTx) -> Change:
        rows, tasks, now = Rows(tx), list[AnyTask](), now_ms()
        for mapping in dict.fromkeys(key.mapping for key in followed):
            await tx.head(ListKey(mapping, follower_id))
        holds = await blocks.hold_in(tx, follower_id, user_id)
        for key, edge in (await tx.edges(followed)).items():
            older = at is not None and edge.sequence <= at * SEQUENCE_STEP
            if not edge.active or not (holds or older):
                continue
            ended = edge._replace(version=edge.version + 1, active=False)
            await rows.put(key.mapping, ended)
            await rows.put(REVERSE[key.mapping], ended.reversed())
            tasks.append(
                Unfollowed(
                    viewer_id=follower_id, target_id=key.to_id, version=ended.version, at=now
                )
            )
        return rows.change(tasks=tasks)

    await commit(stores, shard_of(follower_id), work)
