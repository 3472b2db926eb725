"""Shards on a private MariaDB server, their increments, and the merged tables."""

import asyncio
import random
import re
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path

import duckdb

from datasources import records
from datasources.ids import Kind, shard_of
from datasources.mappings import Edge, EdgeKey, Mapping
from datasources.mysql import MySqlShards
from datasources.mysql.link import Login, connect
from datasources.protocols import ShardTx
from datasources.records import Pin
from datasources.sql.engine import Row
from datasources.topology import ModShards, ShardRange, Topology
from gateway.operate.dumps.dump import Dump, begin
from gateway.operate.dumps.earlier import named, read_earlier
from gateway.operate.dumps.manifest import Manifest
from gateway.operate.dumps.places import opened
from gateway.operate.dumps.sources import changed_rows
from gateway.operate.dumps.tables import TABLES, ObjectTable
from gateway.operate.imports.report import silent
from tests.pinway_process import ROOT

PATIENT = 120.0  # seconds for a call: the machine may be busy
PAGE = ROOT / "docs/how-to/analytics.md"


def topology(port: int, first: int, count: int) -> Topology:
    """Some shards on the server at a port."""
    return Topology(
        1,
        {"Only": f"mysql://root@127.0.0.1:{port}"},
        (ShardRange((first, first + count - 1), "Only"),),
        ModShards(1, (ShardRange((0, 0), "Only"),)),
    )


def opened_shards(topology: Topology) -> MySqlShards:
    return MySqlShards(topology, user="root", password="", deadline=PATIENT)


async def administer(port: int, *statements: str) -> list[Row]:
    """Run statements. Returns the rows of the last one."""
    link = await connect(Login("127.0.0.1", port, "root", ""), autocommit=True, deadline=PATIENT)
    try:
        return [(await link.run(statement)).rows for statement in statements][-1]
    finally:
        link.close()


async def purge(port: int) -> None:
    """Delete all binary logs but a new one. The server keeps logs that a recovery from a crash
    would need, until its storage engine has written its pages."""
    await administer(port, "FLUSH BINARY LOGS")
    async with asyncio.timeout(PATIENT):
        while len(logs := await administer(port, "SHOW BINARY LOGS")) > 1:
            await administer(port, f"PURGE BINARY LOGS TO '{logs[-1][0].decode()}'")


async def increment(
    shards: MySqlShards, since: Path | str, to: Path | str, pictures: str = ""
) -> Manifest:
    """Write the changes since an earlier dump."""
    earlier = await read_earlier(str(since), "test", "day", pictures)
    rows_of = changed_rows(shards, earlier, str(since))
    async with opened(str(to), pictures) as place:
        follows = named(str(since), earlier)
        manifest = await begin(place, str(to), "day", source="test", replace=False, since=follows)
        await Dump(shards, place, manifest, silent, rows_of=rows_of).write()
        return manifest


async def change(shards: MySqlShards, shard: int, rng: random.Random) -> None:
    """Change, delete, and insert rows of a shard that `fill` has filled."""
    places = {
        kind: sorted(
            id for id, _ in await shards.objects.list(kind, 0, 100_000) if shard_of(id) == shard
        )
        for kind in (Kind.USER, Kind.BOARD, Kind.PIN)
    }
    linked, pins = places[Kind.PIN][:8], rng.sample(places[Kind.PIN][8:], 9)
    held = await shards.objects.get(pins)
    owners = places[Kind.USER] + places[Kind.BOARD]

    async def write(tx: ShardTx) -> None:
        for id in pins[:5]:
            pin = records.decode(Kind.PIN, id, held[id])
            assert isinstance(pin, Pin)
            told = records.encode(Pin(board_id=pin.board_id, owner_id=pin.owner_id, title="new"))
            await tx.update(id, told)
        await tx.erase(pins[5:])
        new = await tx.insert_many(
            Kind.PIN,
            [records.encode(Pin(board_id=1, owner_id=2, created=5_000 * n)) for n in (1, 2)],
        )
        for mapping in Mapping:
            gone = [
                EdgeKey(mapping, owner, pin) for owner in owners for pin in rng.sample(linked, 3)
            ]
            await tx.erase_edges(gone)
            sequence = rng.randrange(10**20, 10**30)
            await tx.put_edge(mapping, Edge(owners[0], new[0], sequence, 1))
            await tx.put_edge(mapping, Edge(owners[0], new[0], sequence + 1, 2, False))
            await tx.put_edge(mapping, Edge(owners[0], new[1], sequence + 2, 1))

    await shards.objects.transact(shard, write)


def differences(folder: Path, full: str, names: Sequence[str] = tuple(TABLES)) -> dict[str, int]:
    """The number of rows, for each table, that only one of two has: the full dump `full`, and what
    the page's SQL makes of the folder's `dump` and `changes`."""
    [view] = re.findall(
        r"^```sql\n(CREATE VIEW pins AS\nSELECT \* EX.*?)^```", PAGE.read_text(), re.M | re.S
    )
    found = {}
    with chdir(folder), duckdb.connect() as connection:
        for name in names:
            sql = view.replace("pins", name)
            if not isinstance(TABLES[name], ObjectTable):
                sql = sql.replace("PARTITION BY id", "PARTITION BY from_id, to_id")
            connection.execute(sql)
            other = f"read_parquet('{full}/{name}/**/*.parquet', hive_partitioning = true)"
            connection.execute(f"CREATE TABLE of_both_{name} AS FROM {name}")
            connection.execute(f"CREATE TABLE of_full_{name} AS FROM {other}")
            counts = [
                f"SELECT count(*) FROM (FROM of_{one}_{name} EXCEPT ALL FROM of_{two}_{name})"
                for one, two in (("both", "full"), ("full", "both"))
            ]
            found[name] = sum(connection.execute(count).fetchall()[0][0] for count in counts)
    return {name: count for name, count in found.items() if count}
