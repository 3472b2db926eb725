"""Begins the upload of a picture.

Only the write is counted and, under an idempotency key, remembered. The picture itself is sent to
an address that the gateway signs (`gateway.uploads`).
"""

import secrets

from datasources.ids import Kind
from datasources.protocols import ShardTx, Stores
from feed_engine.outbox.change import change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Mutation, Outcome, Saved, mutate, nothing
from feed_engine.transactions.inputs import Target


async def create_upload(stores: Stores, viewer_id: int, *, key: str | None = None) -> int:
    """The number of a new upload of the viewer, below 2^62."""
    shard = access.home(stores, Kind.USER, viewer_id)
    mutation = Mutation("createUpload", shard, viewer_id, key, Target(id=viewer_id))
    upload = secrets.randbelow(2**62)

    async def work(tx: ShardTx, _: None) -> Outcome[int]:
        return Outcome(upload, Saved(id=upload), change())

    return await mutate(stores, mutation, nothing, work, _again)


async def _again(saved: Saved) -> int:
    return saved.id


async def erase_pictures(stores: Stores, user_id: int) -> None:
    """Remove all pictures that a user uploaded. Raises StoreError."""
    if stores.pictures is not None:
        await stores.pictures.delete(await stores.pictures.names(str(user_id)))
