"""The task at the end of the time for which a user name was kept: it frees the name.

The name is marked in the user's record, freed on its mod shard, and then removed from the record.
So the only free names in a record have a mark, and are not taken into use again.
"""

import msgspec

from datasources.ids import shard_of
from datasources.protocols import ShardTx, Stores
from datasources.records import KeptName, User
from feed_engine.outbox.change import Advance, Change, NameEnded, change
from feed_engine.transactions import access
from feed_engine.transactions.commit import commit
from feed_engine.transactions.edit import edit
from feed_engine.writes.users import NAMESPACE


async def name_ended(
    stores: Stores, task: NameEnded, cursor: bytes | None, advance: Advance
) -> None:
    """Free the name, unless the user has it, or it is kept for longer by now."""
    await free(stores, task)


async def free(stores: Stores, task: NameEnded) -> None:
    """Free a name as its task does."""
    if await _mark(stores, task):
        await stores.shards.mod.release(NAMESPACE, task.name, task.user_id, task.version)
        await _remove(stores, task)


def kept(user: User, name: str) -> KeptName | None:
    """The entry of a name that is kept for the user."""
    return next((entry for entry in user.kept_names if entry.name == name), None)


def without(user: User, name: str) -> tuple[KeptName, ...]:
    """The user's kept names except one."""
    return tuple(entry for entry in user.kept_names if entry.name != name)


async def _mark(stores: Stores, task: NameEnded) -> bool:
    """Mark the name as ending. Returns False if it must not be freed."""
    frees = True

    async def work(tx: ShardTx) -> Change:
        nonlocal frees
        frees = True
        found = await access.lock_any(tx, User, task.user_id)
        if found is None:
            return change()
        user, raw = found
        entry = kept(user, task.name)
        if (user.username, user.claimed) == (task.name, task.version):
            frees = False
        elif entry is not None and entry.version == task.version and not entry.ending:
            frees = entry.until <= task.until
            if frees:
                ending = msgspec.structs.replace(entry, ending=True)
                await edit(tx, user, raw, {"kept_names": (*without(user, task.name), ending)})
        return change(objects=[task.user_id])

    await commit(stores, shard_of(task.user_id), work)
    return frees


async def _remove(stores: Stores, task: NameEnded) -> None:
    async def work(tx: ShardTx) -> Change:
        found = await access.lock_any(tx, User, task.user_id)
        if found is not None:
            entry = kept(found[0], task.name)
            if entry is not None and entry.version == task.version and entry.ending:
                await edit(tx, *found, {"kept_names": without(found[0], task.name)})
        return change(objects=[task.user_id])

    await commit(stores, shard_of(task.user_id), work)
