"""Ends and renews a user's sessions: all tokens at once, or a new token for a valid token.

The time of the last sign-out is a row on the user's shard, and requests read it together with the
viewer's blocks (`feed_engine.transactions.blocks`). Both transactions lock the user and take their
time inside: so no token that was renewed before a sign-out is newer than the sign-out.
"""

from collections.abc import Callable
from typing import TypeVar

from datasources.clocks import now_ms
from datasources.errors import Unauthenticated
from datasources.ids import Kind
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import User
from feed_engine.live.events import SignedOut
from feed_engine.transactions import access, blocks
from feed_engine.transactions.blocks import Blocks
from feed_engine.transactions.commit import Mutation, Outcome, Rows, Saved, mutate, nothing
from feed_engine.transactions.inputs import Target

T = TypeVar("T")
REFUSED = "the token is not valid any more: sign in again"


async def sign_out_everywhere(
    stores: Stores, viewer_id: int, *, key: str | None = None, at: int | None = None
) -> None:
    """Refuse all tokens of the viewer that were issued until now. Raises NotFound if the viewer's
    account is gone."""
    shard = access.home(stores, Kind.USER, viewer_id)
    mutation = Mutation(
        *("signOutEverywhere", shard, viewer_id, key, Target(id=viewer_id)), takes_back=True
    )

    async def work(tx: ShardTx, _: None) -> Outcome[None]:
        await access.lock(tx, User, viewer_id)
        last = await tx.edge(own_key(viewer_id))
        sequence = (now_ms() if at is None else at) * SEQUENCE_STEP
        if last is not None:  # a clock may be behind
            sequence = max(sequence, last.sequence)
        version = last.version + 1 if last is not None else 1
        rows = Rows(tx)
        row = Edge(viewer_id, viewer_id, sequence, version)
        await rows.put(Mapping.USER_SIGNED_OUT, row)
        following = rows.change(
            objects=[blocks.cache_key(viewer_id)], events=[SignedOut(user_id=viewer_id)]
        )
        return Outcome(None, Saved(id=viewer_id), following)

    async def again(_: Saved) -> None:
        return

    await mutate(stores, mutation, nothing, work, again)


async def renew(stores: Stores, viewer_id: int, issued: float, issue: Callable[[], T]) -> T:
    """A new token, from `issue`, for a token that was issued at an epoch second. Raises
    Unauthenticated if that token is refused, NotFound if the viewer's account is gone."""

    async def work(tx: ShardTx) -> T:
        await access.lock(tx, User, viewer_id)
        last = await tx.edge(own_key(viewer_id))
        if last is not None and Blocks(signed_out=last.sequence // SEQUENCE_STEP).refuses(issued):
            raise Unauthenticated(REFUSED)
        return issue()

    shard = access.home(stores, Kind.USER, viewer_id)
    return await stores.shards.objects.transact(shard, work)


def own_key(viewer_id: int) -> EdgeKey:
    """The row of the user's last sign-out."""
    return EdgeKey(Mapping.USER_SIGNED_OUT, viewer_id, viewer_id)
