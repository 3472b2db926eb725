"""Changes of a user's name.

A user is on one shard, the claim of a name on another, so a change takes three steps, each of which
may be the last one of a process:

1. The new name is noted in the user's record as kept for the user, for an hour.
2. The name is claimed.
3. The user gets the name. The old name is kept for the user for 30 days: links by it lead to the
   user, and the user can go back.

A task in the outbox frees each kept name at its end, unless the user has it by then. Claims and
releases carry the version of the name, which changes when the name is freed: a late or repeated
claim or release does nothing (`datasources.protocols.ModStore`).
"""

from typing import NamedTuple

from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.protocols import ShardTx, Stores
from datasources.records import KeptName, User
from feed_engine.outbox.change import KIND, Change, NameEnded, TextChanged, change, encode
from feed_engine.times import DAY, HOUR
from feed_engine.transactions import access
from feed_engine.transactions.commit import (
    Mutation,
    Outcome,
    Outdated,
    Saved,
    commit,
    mutate,
    now_ms,
)
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import NameChange
from feed_engine.writes.name_tasks import free, kept, without
from feed_engine.writes.users import NAMESPACE, taken

KEPT_FOR = 30 * DAY
"""The time for which an old name stays the user's."""
_CLAIMED_WITHIN = HOUR
"""The time for which a new name is kept for a change that has not ended."""
MOST = 10
"""Names that are kept for one user at the same time."""


class _Claimed(NamedTuple):
    """The name before the change, with its claim's version (None if the user did not hold it), and
    the version of the new name's claim."""

    before: str
    before_version: int | None
    version: int


async def change_user_name(
    stores: Stores,
    viewer_id: int,
    given: NameChange,
    *,
    key: str | None = None,
    at: int | None = None,
) -> User:
    """Give the viewer another user name. Nothing happens if it is the viewer's name already.

    Raises BadInput, also if too many names are kept for the viewer; Conflict if somebody else has
    the name, or it is kept for somebody else; NotFound if the viewer's account is gone.
    """
    given, now = given.checked(), at if at is not None else now_ms()
    name, shard = given.username, access.home(stores, Kind.USER, viewer_id)
    mutation = Mutation("changeUserName", shard, viewer_id, key, given)

    async def prepare() -> _Claimed | None:
        user = (await access.read(stores, User, [viewer_id])).get(viewer_id)
        if user is None:
            raise access.missing(Kind.USER, viewer_id)
        if user.username == name:
            return None
        claims = await stores.shards.mod.look(NAMESPACE, [user.username, name])
        own, (holder, version) = claims[user.username], claims[name]
        if holder not in (None, viewer_id):
            raise taken(name)
        entry = kept(user, name)
        if entry is not None and (entry.ending or entry.version != version):
            await free(stores, _end(viewer_id, entry))
            raise Outdated
        if entry is None:
            entry = _entry(name, version, now, first=True)
            if not await _note(stores, mutation, user.username, entry):
                return None
        holder = await stores.shards.mod.claim_at(NAMESPACE, name, viewer_id, version)
        if holder is None:
            raise Outdated
        if holder != viewer_id:
            raise taken(name)
        before_version = own.version if own.id == viewer_id else None
        return _Claimed(user.username, before_version, version)

    async def work(tx: ShardTx, claimed: _Claimed | None) -> Outcome[User]:
        user, raw = await access.lock(tx, User, viewer_id)
        if user.username != (name if claimed is None else claimed.before):
            raise Outdated
        if claimed is None:
            return Outcome(user, Saved(id=viewer_id), Change(), durable=False)
        entry = kept(user, name)
        if entry is None or entry.ending or entry.version != claimed.version:
            raise Outdated
        names = without(user, name)
        if claimed.before_version is not None:
            old = _entry(user.username, claimed.before_version, now)
            names = (*names, old)
            await _post_end(tx, viewer_id, old, delay=KEPT_FOR)
        changes = {"username": name, "claimed": claimed.version, "kept_names": names}
        after = await edit(tx, user, raw, changes)
        following = change(objects=[viewer_id], tasks=[TextChanged(object_ids=(viewer_id,))])
        return Outcome(after, Saved(id=viewer_id), following)

    async def again(saved: Saved) -> User:
        return await access.recall(stores, User, saved.id)

    return await mutate(stores, mutation, prepare, work, again)


async def _note(stores: Stores, mutation: Mutation, before: str, entry: KeptName) -> bool:
    """Keep the name for the viewer, so that it is freed if this process ends before the change.
    Returns False if the mutation has its answer already: then nothing is kept."""
    viewer_id, noted = mutation.viewer_id, True

    async def work(tx: ShardTx) -> Change:
        nonlocal noted
        key = mutation.scoped_key()
        noted = key is None or await tx.answered(viewer_id, key) is None
        if not noted:
            return change()
        user, raw = await access.lock(tx, User, viewer_id)
        if user.username != before or kept(user, entry.name) is not None:
            raise Outdated
        if len(user.kept_names) >= MOST:
            raise BadInput(
                f"{MOST} earlier user names are kept for you, for {KEPT_FOR // DAY} days each: "
                "take one of them, or wait until one is free.",
                "username",
            )
        await edit(tx, user, raw, {"kept_names": (*user.kept_names, entry)})
        await _post_end(tx, viewer_id, entry, delay=_CLAIMED_WITHIN)
        return change(objects=[viewer_id])

    await commit(stores, mutation.shard, work)
    return noted


async def _post_end(tx: ShardTx, user_id: int, entry: KeptName, *, delay: int) -> None:
    await tx.post(KIND, encode(change(tasks=[_end(user_id, entry)])), delay=delay)


def _entry(name: str, version: int, now: int, *, first: bool = False) -> KeptName:
    return KeptName(name, version, now + (_CLAIMED_WITHIN if first else KEPT_FOR))


def _end(user_id: int, entry: KeptName) -> NameEnded:
    return NameEnded(user_id=user_id, name=entry.name, version=entry.version, until=entry.until)
