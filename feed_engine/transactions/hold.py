"""Holds on lists that one write changes together, such as two boards: no cache ever has one list as
before the write and another list as after it.

A separate transaction holds the lists, and then they are dropped from the caches. A reader of a
held list caches nothing, and an earlier reader can't fill the cache any more. So until the write
commits, and releases the lists in the same transaction, no cache has them. This is true even if
the cache fails. The hold is a row in the outbox: if the write died or comes too late, a job removes
the hold.
"""

from collections.abc import Sequence

import msgspec

from datasources.errors import StoreCorrupt
from datasources.mappings import BY_CODE, ListKey
from datasources.protocols import ShardTx, Stores
from feed_engine.outbox.change import Advance, WholeRow

KIND = "hold"  # the kind of the outbox rows


class _Held(msgspec.Struct, frozen=True):
    """The payload: lists as (mapping code, from id), in the order in which they are locked."""

    lists: tuple[tuple[int, int], ...]


_HELD = msgspec.json.Decoder(_Held)


class Hold:
    """A hold of some lists of one shard, for one write."""

    def __init__(self, stores: Stores, shard: int) -> None:
        self._stores, self._shard = stores, shard
        self._lists: tuple[ListKey, ...] = ()
        self._outbox_id: int | None = None

    @property
    def taken(self) -> bool:
        return self._outbox_id is not None

    async def take(self, lists: Sequence[ListKey]) -> None:
        """Hold the lists. Raises StoreError, also when they can't be dropped from the caches."""
        self._lists = tuple(sorted(lists, key=lambda key: (key.mapping.code, key.from_id)))
        payload = _Held(tuple((key.mapping.code, key.from_id) for key in self._lists))

        async def work(tx: ShardTx) -> int:
            await tx.hold(self._lists)
            return await tx.post(KIND, msgspec.json.encode(payload))

        self._outbox_id = await self._stores.shards.objects.transact(self._shard, work)
        await self._stores.mapping_cache.drop(self._lists)

    async def release(self, tx: ShardTx) -> bool:
        """Release the lists, before a transaction changes them. Returns False if they are no
        longer held."""
        return self._outbox_id is not None and await _release(tx, self._outbox_id, self._lists)

    async def give_up(self) -> None:
        """Release the lists now, if they are still held."""
        if self._outbox_id is not None:
            await _give_up(self._stores, self._shard, self._outbox_id, self._lists)
            self._outbox_id = None


async def held(stores: Stores, task: WholeRow, cursor: bytes | None, advance: Advance) -> None:
    """Release the lists that a dead write has held. Raises StoreCorrupt, StoreError."""
    row = task.row
    try:
        held = _HELD.decode(row.payload)
        lists = [ListKey(BY_CODE[code], from_id) for code, from_id in held.lists]
    except (msgspec.MsgspecError, KeyError) as error:
        raise StoreCorrupt(f"outbox row {row.id} of shard {row.shard}: {error}") from error
    await _give_up(stores, row.shard, row.id, lists)


async def _give_up(stores: Stores, shard: int, outbox_id: int, lists: Sequence[ListKey]) -> None:
    await stores.shards.objects.transact(shard, lambda tx: _release(tx, outbox_id, lists))


async def _release(tx: ShardTx, outbox_id: int, lists: Sequence[ListKey]) -> bool:
    if await tx.owed(outbox_id) is None:
        return False
    await tx.release(lists)
    await tx.finish_row(outbox_id)
    return True
