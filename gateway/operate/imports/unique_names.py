"""Loads objects with unique names: users by user name, interests by slug."""

from typing import NamedTuple

from datasources import records
from datasources.ids import Kind, kind_of
from datasources.protocols import ShardTx
from datasources.records import Interest, User
from feed_engine.transactions.edit import edited
from feed_engine.transactions.key_kinds import USERNAME
from gateway.operate.imports.jsonl import InterestLine, UserLine, decode_again
from gateway.operate.imports.line_records import interest_of, user_of
from gateway.operate.imports.load import Load, Row, batches, batches_by, patiently

SLUGS = "interest"  # the claims' namespace of interests


class Naming(NamedTuple):
    """A table of the spool whose names are claimed in a namespace of the mod shards."""

    table: str
    kind: Kind
    namespace: str
    taken: str  # the message for a name that another object has


USERS = Naming("users", Kind.USER, USERNAME.namespace, "the user name {0!r} is taken")
INTERESTS = Naming("interests", Kind.INTEREST, SLUGS, "the slug {0!r} is taken")


async def find_existing(load: Load, naming: Naming) -> None:
    """Note the ids of objects that the stores already have. Leave out users with a name that
    another user has. An interest is identified by its slug: the file's other values for it are not
    checked."""
    taken: list[Row] = []
    adopt = "adopt" if naming is USERS else "1"
    waiting = f"SELECT n, line, key, name, {adopt} FROM {naming.table} ORDER BY n"
    for batch in batches(load.spool.rows(waiting), load.options.batch):
        holders, stored = await _holders(load, naming, [row[3] for row in batch])
        found: list[Row] = []
        for n, line, key, name, adopted in batch:
            id = holders.get(name)
            if id is None:
                continue
            data = stored.get(id)
            if data is not None and (
                adopted or records.decode(naming.kind, id, data).key == load.key(key)
            ):
                found.append((id, n))
            else:
                taken.append((n, line, name))
        load.spool.many(f"UPDATE {naming.table} SET id = ? WHERE n = ?", found)
    _leave_out(load, naming, taken)


async def store_new(load: Load, naming: Naming) -> bool:
    """Store the missing objects and claim their names. Returns False if another process has claimed
    a name in the meantime."""
    topology = load.stores.shards.objects.topology()
    load.spool.db.create_function("place", 1, topology.place, deterministic=True)
    total = load.spool.count(naming.table)
    done = total - load.spool.count(f"{naming.table} WHERE id IS NULL")
    new = (
        f"SELECT n, line, key, name, data, place(name) AS shard FROM {naming.table} "
        "WHERE id IS NULL ORDER BY shard, n"
    )
    lost: list[Row] = []
    for shard, batch in batches_by(load.spool.rows(new), lambda row: row[5], load.options.batch):
        made, names = [_record(row[4]) for row in batch], [row[3] for row in batch]
        ids, _ = await load.insert(shard, naming.kind, made, names)
        holders = await _claim(load, naming, dict(zip(names, ids, strict=True)))
        found: list[Row] = []
        for (n, line, _, name, *_rest), id in zip(batch, ids, strict=True):
            holder = holders[name]
            if holder != id:
                load.count_new(naming.kind.name.lower(), -1)
                await _deactivate(load, shard, id)
                if naming is USERS:
                    lost.append((n, line, name))
                    continue
            found.append((holder, n))
        load.spool.many(f"UPDATE {naming.table} SET id = ? WHERE n = ?", found)
        done += len(batch)
        load.step(naming.table, done, total, naming.table)
    _leave_out(load, naming, lost)
    load.report.loaded[naming.kind.name.lower()] = load.spool.count(naming.table)
    return not lost


async def _holders(
    load: Load, naming: Naming, names: list[str]
) -> tuple[dict[str, int], dict[int, bytes]]:
    """The ids that hold the names, and their JSON."""
    shards = load.stores.shards
    holders = await patiently(lambda: shards.mod.find(naming.namespace, names))
    return holders, await patiently(lambda: shards.objects.get(list(holders.values())))


async def _claim(load: Load, naming: Naming, ids: dict[str, int]) -> dict[str, int]:
    return await patiently(lambda: load.stores.shards.mod.claim_many(naming.namespace, ids))


def _record(data: bytes) -> User | Interest:
    line = decode_again(data)
    match line:
        case UserLine():
            return user_of(line)
        case InterestLine():
            return interest_of(line)
    raise TypeError(f"{line!r} has no name to claim")


async def _deactivate(load: Load, shard: int, id: int) -> None:
    """Deactivate the users who lost their name."""

    async def work(tx: ShardTx) -> None:
        data = await tx.get(id)
        if data is not None:
            await tx.update(id, edited(data, {"active": False}, records.RECORDS[kind_of(id)]))

    await load.transact(shard, work)
    await load.forget_objects([id])


def _leave_out(load: Load, naming: Naming, rows: list[Row]) -> None:
    for n, line, name in rows:
        load.complaints.add(line, naming.taken.format(name))
        load.spool.db.execute(f"DELETE FROM {naming.table} WHERE n = ?", (n,))
