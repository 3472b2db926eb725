"""Shards with objects and mappings of many kinds and days, and dumps of them."""

from collections.abc import Iterable
from collections.abc import Mapping as Named
from pathlib import Path
from typing import Any

import duckdb

from datasources import records
from datasources.mappings import SEQUENCE_STEP, Edge, Mapping
from datasources.protocols import ShardTx
from datasources.records import Board, Comment, Image, Interest, Pin, Section, User
from datasources.scans import ShardScans
from datasources.sql.engine import Part
from datasources.sql.shards import SqlShards
from gateway.operate.dumps.dump import Dump, begin
from gateway.operate.dumps.manifest import Manifest
from gateway.operate.dumps.places import DumpPlace, opened
from gateway.operate.dumps.tables import TABLES, ObjectTable
from gateway.operate.imports.report import silent

DAY = 86_400_000
FIRST = 1_767_225_600_000  # 2026-01-01
PINS, LIKES = 60, 8


async def fill(shards: SqlShards, shard: int) -> None:
    """Add objects of each kind and rows of each mapping, on three days."""

    async def write(tx: ShardTx) -> None:
        [user] = await tx.insert_many(
            records.KINDS[User],
            [records.encode(User(username="ann", created=FIRST, avatar=Image("/a.webp", 8, 9)))],
        )
        [board] = await tx.insert_many(
            records.KINDS[Board], [records.encode(Board(name="Tea", owner_id=user, created=FIRST))]
        )
        pins = [
            Pin(
                board_id=board,
                owner_id=user,
                title=f"Grüße {n} 🗼",
                created=FIRST + n % 3 * DAY,
                active=n % 5 > 0,
                interest_ids=(n, n + 1),
            )
            for n in range(PINS)
        ]
        ids = await tx.insert_many(records.KINDS[Pin], [records.encode(pin) for pin in pins])
        await tx.insert_many(
            records.KINDS[Comment],
            [records.encode(Comment(pin_id=ids[0], author_id=user, text="?", created=FIRST))],
        )
        await tx.insert_many(
            records.KINDS[Section], [records.encode(Section(name="Green", board_id=board))]
        )
        await tx.insert_many(
            records.KINDS[Interest], [records.encode(Interest(name="Art", slug="art"))]
        )
        edges.extend(
            (
                mapping,
                Edge(
                    (user, board)[n % 2],
                    ids[n],
                    (FIRST + n % 3 * DAY + n) * SEQUENCE_STEP,
                    n + 1,
                    n % 4 > 0,
                ),
            )
            for mapping in Mapping
            for n in range(LIKES)
        )

    edges: list[tuple[Mapping, Edge]] = []
    await shards.objects.transact(shard, write)
    await shards.mappings.load(edges)


async def dumped(
    shards: SqlShards, to: Path, *, by: str = "day", replace: bool = False
) -> Manifest:
    """Write a dump into a folder."""
    async with opened(str(to)) as place:
        return await written(shards, place, str(to), by=by, replace=replace)


async def written(
    shards: SqlShards, place: DumpPlace, to: str, *, by: str = "day", replace: bool = False
) -> Manifest:
    assert isinstance(shards, ShardScans)
    manifest = await begin(place, to, by, source="test", replace=replace)
    await Dump(shards, place, manifest, silent).write()
    return manifest


def table(to: Path | str, name: str) -> str:
    """The SQL of a table of a dump."""
    return f"read_parquet('{to}/{name}/**/*.parquet', hive_partitioning = true)"


def sums_of_dump(to: Path | str, names: Iterable[str] = TABLES) -> dict[str, tuple[int, ...]]:
    """The number of rows, of different rows, and a sum, of each table of a dump."""
    found = {}
    for name in names:
        is_object = isinstance(TABLES[name], ObjectTable)
        key = "id" if is_object else "(from_id, to_id)"
        total = "id % 68719476736" if is_object else "to_id % 1000 + version + active::INT"
        sql = f"SELECT count(*), count(DISTINCT {key}), sum({total})::BIGINT FROM "
        [row] = duckdb.sql(sql + table(to, name)).fetchall()
        found[name] = row
    return found


async def sums_of_shards(
    shards: SqlShards, names: Iterable[str] = TABLES
) -> dict[str, tuple[int, ...]]:
    """The number of rows, twice, and the sum of `sums_of_dump`, of each stored table."""
    router = shards._router
    places = [router.place(shard) for shard in shards.objects.topology().open_shards]
    found = {}
    for name in names:
        is_object = isinstance(TABLES[name], ObjectTable)
        total = "local_id" if is_object else "to_id % 1000 + version + active"
        columns = f"COUNT(*), COALESCE(SUM({total}), 0)"
        parts = [Part(place, columns, f"FROM {{db}}.{name}", ()) for place in places]
        answers = await router.engine.read("sums", parts)
        rows, sums = (sum(int(a[0][at]) for a in answers) for at in (0, 1))
        found[name] = (rows, rows, sums)
    return found


def rows_of(to: Path | str, name: str) -> dict[int, Named[str, Any]]:
    """The objects of a table of a dump by id, with all columns."""
    found = duckdb.sql(f"SELECT * FROM {table(to, name)}")
    names = found.columns
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return {row["id"]: row for row in rows}
