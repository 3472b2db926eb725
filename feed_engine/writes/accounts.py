"""Deletes a user's account.

From the acknowledgement on, the user and all that belongs to the user is absent for everybody: the
user and the user's boards are inactive, pins are shown with their boards only, and comments with
active authors only. The user's tokens are refused: the account blocks itself
(`feed_engine.transactions.blocks`).

Two tasks follow. The first ends likes, follows, comments and feeds, at once (`account_tasks`). The
second removes the account from the stores, and frees the user name (`account_erasure`). It comes
later than any write that may still be on its way.
"""

from datasources.clocks import now_ms
from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.mappings import SEQUENCE_STEP, Edge
from datasources.protocols import ShardTx, Stores
from datasources.records import User
from feed_engine.live.events import SignedOut
from feed_engine.outbox.change import KIND, AccountDeleted, AccountErased, Change, change, encode
from feed_engine.times import DAY
from feed_engine.transactions import access, blocks
from feed_engine.transactions.commit import Mutation, Outcome, Rows, Saved, mutate, nothing
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import Deletion
from feed_engine.writes import members
from feed_engine.writes.account_tasks import end_boards

ERASED_AFTER = 30 * DAY
"""The time after which a deleted account is removed from the stores. Answers under idempotency keys
and quotas are kept for less."""


async def delete_account(
    stores: Stores,
    viewer_id: int,
    given: Deletion,
    *,
    key: str | None = None,
    at: int | None = None,
) -> None:
    """Delete the viewer's account. The input repeats the user name, so that nobody does it by
    accident. Nothing happens if the account is already deleted. Raises BadInput, NotFound."""
    now = at if at is not None else now_ms()

    async def work(tx: ShardTx, _: None) -> Outcome[None]:
        found = await access.lock_any(tx, User, viewer_id)
        if found is None or not (found[0].active or found[0].deleted):
            raise access.missing(Kind.USER, viewer_id)
        user, raw = found
        if user.deleted:
            return Outcome(None, Saved(id=viewer_id), Change(), durable=False)
        if given.username.strip().lower() != user.username:
            raise BadInput("Repeat your user name to delete your account.", "username")
        bare = {"full_name": "", "about": "", "avatar": None, "data_export": None}
        await edit(tx, user, raw, {**bare, "active": False, "deleted": now})
        rows, own = Rows(tx), await tx.edge(blocks.own_key(viewer_id))
        version = own.version + 1 if own else 1
        for mapping in blocks.LISTS:
            await rows.put(mapping, Edge(viewer_id, viewer_id, now * SEQUENCE_STEP, version))
        later = AccountErased(user_id=viewer_id, at=now)
        await tx.post(KIND, encode(change(tasks=[later])), delay=ERASED_AFTER)
        following = rows.change(
            objects=[viewer_id, blocks.cache_key(viewer_id)],
            tasks=[AccountDeleted(user_id=viewer_id, at=now)],
            events=[SignedOut(user_id=viewer_id)],
        )
        return Outcome(None, Saved(id=viewer_id), following)

    async def again(_: Saved) -> None:
        return

    shard = access.home(stores, Kind.USER, viewer_id)
    mutation = Mutation("deleteAccount", shard, viewer_id, key, given, takes_back=True)
    await mutate(stores, mutation, nothing, work, again)
    # The transaction above bars new boards. If the process dies here, the task does the rest, and
    # nobody was told that the account is deleted.
    await end_boards(stores, viewer_id, now)
    await members.end_of(stores, viewer_id)
