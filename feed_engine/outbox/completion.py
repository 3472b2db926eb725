"""Completes a committed write: claims keys, writes rows on other shards, invalidates caches.

A write is completed before its acknowledgement, or by a job if the process died before that. Every
part may be repeated.
"""

import asyncio
import logging
from collections.abc import Coroutine
from itertools import zip_longest
from typing import Any

import msgspec

from datasources import records
from datasources.errors import StoreCorrupt, StoreError, Unfinished
from datasources.ids import kind_of, shard_of
from datasources.mappings import ListMove
from datasources.protocols import Job, OutboxRow, ShardTx, Stores
from datasources.records import User
from datasources.together import together
from feed_engine.live.events import messages_of
from feed_engine.outbox.change import KIND, Change, decode
from feed_engine.outbox.priorities import of_tasks
from feed_engine.transactions.edit import edited
from feed_engine.transactions.key_kinds import KINDS

log = logging.getLogger(__name__)

_running: set[asyncio.Task[None]] = set()


def change_of(row: OutboxRow) -> Change:
    """The change in an outbox row. Raises StoreCorrupt for a row that this version can't read."""
    if row.kind != KIND:
        raise StoreCorrupt(f"outbox row {row.id} of shard {row.shard}: unknown kind {row.kind!r}")
    try:
        return decode(row.payload)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"outbox row {row.id} of shard {row.shard}: {error}") from error


async def fulfill(stores: Stores, change: Change) -> None:
    """Do the work of a change except its tasks: claims first, then rows, then caches. A reader that
    loads after the invalidation gets complete data. Raises StoreError when a part can't be done."""
    stale = [*change.objects, *await _claim_all(stores, change)]
    if change.edges:
        await stores.shards.mappings.apply(change.remote_edges())
    caches: list[Coroutine[Any, Any, None]] = []
    if stale:
        caches.append(stores.object_cache.drop(stale))
    if change.lists:
        caches.append(stores.mapping_cache.drop(change.stale_lists()))
    if change.moves:
        caches.append(_move(stores, change.list_moves()))
    await together(caches)


async def acknowledge(stores: Stores, row: OutboxRow | None, change: Change) -> None:
    """Fulfill a change before its write is acknowledged, even if the request is cancelled, and
    queue the tasks. `row` is None if the change needs no outbox row.

    Raises Unfinished when the change can't be fulfilled now. The write is kept, and completed
    later.
    """
    await asyncio.shield(keep(_complete(stores, row, change)))


async def announce(stores: Stores, row: OutboxRow, change: Change) -> None:
    """Publish the events of a change that was fulfilled. A repeated call publishes nothing."""
    if change.events:
        await stores.broadcasts.publish(f"{row.shard}:{row.id}", messages_of(change.events))


async def settle() -> None:
    """Wait until no background work is left. Call it before stores are closed."""
    while _running:
        await asyncio.wait(_running)


def keep(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Run the work to its end, even if the caller that waits for it is cancelled."""
    task = asyncio.get_running_loop().create_task(work)
    _running.add(task)
    task.add_done_callback(_forget)
    return task


def _forget(task: asyncio.Task[None]) -> None:
    _running.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        log.info("left to the relay: %s", error)


async def _complete(stores: Stores, row: OutboxRow | None, change: Change) -> None:
    try:
        await fulfill(stores, change)
    except StoreError as error:
        raise Unfinished(
            "The write is kept and will be completed, but some shards or caches could not be "
            "updated yet. Send it again with the same idempotency key to get the answer."
        ) from error
    if row is not None:
        keep(_hand_over(stores, row, change))


async def _hand_over(stores: Stores, row: OutboxRow, change: Change) -> None:
    """Publish the events, and queue the tasks, without waiting for the queue. If the queue is
    down, the tasks are only late, because the relay finds the row."""
    await announce(stores, row, change)
    if change.tasks:
        priority = of_tasks(change.tasks)
        await stores.queue.enqueue([Job(row.shard, row.id)], priority=priority)
    else:
        await stores.shards.outbox.finish(row.shard, row.id)


async def _claim_all(stores: Stores, change: Change) -> list[int]:
    """Claim the keys of new objects. An object that loses a key becomes inactive, and gives back
    the keys before it. Returns the ids of objects that lost a key."""
    lost: list[int] = []
    claims = list(zip_longest(change.claims, change.claim_versions))
    for at, ((namespace, key, id), version) in enumerate(claims):
        if id in lost or await _claim(stores, namespace, key, id, version):
            continue
        lost.append(id)
        if not await _deactivate(stores, namespace, key, id, version):
            continue
        for (other, of_other, holder), held in claims[:at]:
            if holder == id:
                await stores.shards.mod.release(other, of_other, id, held)
    return lost


async def _claim(stores: Stores, namespace: str, key: str, id: int, version: int | None) -> bool:
    mod = stores.shards.mod
    if version is None:
        return await mod.claim(namespace, key, id) == id
    return await mod.claim_at(namespace, key, id, version) == id


async def _deactivate(
    stores: Stores, namespace: str, key: str, id: int, version: int | None
) -> bool:
    """Deactivate an object whose claim is lost. A user who has another key by now, or the same key
    by a later claim, did not lose it: this is the repetition of an old row, and the result is
    False."""

    async def work(tx: ShardTx) -> bool:
        raw = await tx.get(id)
        if raw is None:
            return False
        found = records.decode(kind_of(id), id, raw)
        if isinstance(found, User):
            kind = KINDS.get(namespace)
            if kind is None:
                raise StoreCorrupt(f"a claim of user {id}: unknown kind of key {namespace!r}")
            if (kind.key_of(found), kind.version_of(found)) != (key, version or 0):
                return False
        if found.active:
            await tx.update(id, edited(raw, {"active": False}, records.RECORDS[kind_of(id)]))
        return True

    return await stores.shards.objects.transact(shard_of(id), work)


async def _move(stores: Stores, moves: list[ListMove]) -> None:
    try:
        await stores.mapping_cache.move(moves)
    except StoreError:
        await stores.mapping_cache.drop([move.key for move in moves])
