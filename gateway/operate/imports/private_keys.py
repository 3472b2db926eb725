"""Claims the e-mail addresses and subjects of an import's users, which their records have, and
notes the versions of the claims of all their keys: somebody else may have had a key before."""

from functools import partial
from typing import Any

from datasources import records
from datasources.ids import Kind, shard_of
from datasources.protocols import ShardTx
from datasources.records import User
from feed_engine.transactions.edit import edited
from feed_engine.transactions.key_kinds import EMAIL, KINDS, SUBJECT, KeyKind
from gateway.operate.imports.load import Load, batches, patiently

WITHOUT_KEY = "is taken: the user is there without it"
"""The end of the reports about keys that another user has."""
TAKEN = {
    EMAIL: f"the e-mail address {{0!r}} {WITHOUT_KEY}",
    SUBJECT: f"the subject {{0}} {WITHOUT_KEY}",
}


async def claim_keys(load: Load) -> None:
    """Claim the keys. A key that another user has is reported, and removed from its user. A user
    who had another key before the import keeps that one."""
    found = load.spool.rows("SELECT line, id FROM users WHERE id IS NOT NULL ORDER BY n")
    for batch in batches(found, load.options.batch):
        lines = {id: line for line, id in batch}
        stored = await patiently(partial(load.stores.shards.objects.get, [*lines]))
        users = records.decode_each(Kind.USER, stored).values()
        for kind in (EMAIL, SUBJECT):
            held = [it for it in users if isinstance(it, User) and it.active and kind.key_of(it)]
            await _claim(load, kind, held, lines)
        for kind in KINDS.values():
            await _note_versions(load, kind, [it for it in users if isinstance(it, User)])


async def _claim(load: Load, kind: KeyKind, users: list[User], lines: dict[int, int]) -> None:
    wanted: dict[str, int] = {}
    for user in users:
        wanted.setdefault(kind.key_of(user), user.id)
    if not wanted:
        return
    mod = load.stores.shards.mod
    holders = await patiently(lambda: mod.claim_many(kind.namespace, wanted))
    for user in users:
        key = kind.key_of(user)
        if holders[key] != user.id:
            await _remove(load, kind, user.id, key)
            load.complaints.add(lines[user.id], TAKEN[kind].format(key), kept=True)


async def _note_versions(load: Load, kind: KeyKind, users: list[User]) -> None:
    """Note the versions in the records of the users who hold their keys. A key is only freed with
    its version."""
    keys = {user.id: kind.key_of(user) for user in users if kind.key_of(user)}
    if not keys:
        return
    mod = load.stores.shards.mod
    claims = await patiently(lambda: mod.look(kind.namespace, [*keys.values()]))
    for user in users:
        claim = claims.get(keys.get(user.id, ""))
        if claim is not None and claim.id == user.id and claim.version != kind.version_of(user):
            await _edit(load, kind, user.id, keys[user.id], {kind.claimed: claim.version})


async def _remove(load: Load, kind: KeyKind, id: int, key: str) -> None:
    await _edit(load, kind, id, key, kind.cleared())


async def _edit(load: Load, kind: KeyKind, id: int, key: str, changes: dict[str, Any]) -> None:
    """Change fields of a user who has the key still."""

    async def work(tx: ShardTx) -> None:
        data = await tx.get(id)
        user = None if data is None else records.decode(Kind.USER, id, data)
        if data is not None and isinstance(user, User) and kind.key_of(user) == key:
            await tx.update(id, edited(data, changes, User))

    await load.transact(shard_of(id), work)
    await load.forget_objects([id])
