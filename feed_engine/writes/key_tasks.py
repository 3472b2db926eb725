"""The task at the end of the time for which a key of a user was kept: it frees the key.

The key is marked in the user's record, freed on its mod shard, and then removed from the record.
So the only free keys in a record have a mark, and are not taken into use again.
"""

import msgspec

from datasources.errors import StoreCorrupt
from datasources.ids import shard_of
from datasources.protocols import ShardTx, Stores
from datasources.records import User
from feed_engine.outbox.change import Advance, Change, KeyEnded, NameEnded, change
from feed_engine.transactions import access
from feed_engine.transactions.commit import commit
from feed_engine.transactions.edit import edit
from feed_engine.transactions.key_kinds import KINDS, USERNAME, KeyKind


async def key_ended(stores: Stores, task: KeyEnded, cursor: bytes | None, advance: Advance) -> None:
    """Free the key, unless the user has it, or it is kept for longer by now. Raises StoreCorrupt
    for a kind of keys that this version doesn't know."""
    await free(stores, task)


async def name_ended(
    stores: Stores, task: NameEnded, cursor: bytes | None, advance: Advance
) -> None:
    """Free a user name as `key_ended` does."""
    ended = KeyEnded(
        user_id=task.user_id,
        namespace=USERNAME.namespace,
        key=task.name,
        version=task.version,
        until=task.until,
    )
    await free(stores, ended)


async def free(stores: Stores, task: KeyEnded) -> None:
    """Free a key as its task does."""
    kind = KINDS.get(task.namespace)
    if kind is None:
        raise StoreCorrupt(f"a kept key of user {task.user_id}: unknown kind {task.namespace!r}")
    if await _mark(stores, kind, task):
        await stores.shards.mod.release(kind.namespace, task.key, task.user_id, task.version)
        await _remove(stores, kind, task)


async def _mark(stores: Stores, kind: KeyKind, task: KeyEnded) -> bool:
    """Mark the key as ending. Returns False if it must not be freed."""
    frees = True

    async def work(tx: ShardTx) -> Change:
        nonlocal frees
        frees = True
        found = await access.lock_any(tx, User, task.user_id)
        if found is None:
            return change()
        user, raw = found
        entry = kind.find_kept(user, task.key)
        if (kind.key_of(user), kind.version_of(user)) == (task.key, task.version):
            frees = False
        elif entry is not None and entry.version == task.version and not entry.ending:
            frees = entry.until <= task.until
            if frees:
                ending = msgspec.structs.replace(entry, ending=True)
                await edit(tx, user, raw, {kind.kept: (*kind.kept_without(user, task.key), ending)})
        return change(objects=[task.user_id])

    await commit(stores, shard_of(task.user_id), work)
    return frees


async def _remove(stores: Stores, kind: KeyKind, task: KeyEnded) -> None:
    async def work(tx: ShardTx) -> Change:
        found = await access.lock_any(tx, User, task.user_id)
        if found is not None:
            entry = kind.find_kept(found[0], task.key)
            if entry is not None and entry.version == task.version and entry.ending:
                await edit(tx, *found, {kind.kept: kind.kept_without(found[0], task.key)})
        return change(objects=[task.user_id])

    await commit(stores, shard_of(task.user_id), work)
