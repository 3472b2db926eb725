"""Measures `pinway dump` of embedded shards: rows a second, and the most memory.

    python -m bench.dump [--quick]

Each pin is a row of `pins` and of two mappings, as after a save: pins of 30 days, on 16 shards.
"""

import argparse
import asyncio
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from bench.rows import Row, table, write
from datasources import records
from datasources.ids import Kind
from datasources.mappings import SEQUENCE_STEP, Edge, Mapping
from datasources.protocols import ShardTx
from datasources.records import Image, Pin
from datasources.sqlite import SqliteShards
from datasources.topology import ModShards, ShardRange, Topology
from gateway.operate.dumps.dump import Dump, begin
from gateway.operate.dumps.manifest import Manifest
from gateway.operate.dumps.places import opened
from gateway.operate.imports.report import silent

PINS, QUICK, SHARDS, BATCH = 100_000, 10_000, 16, 1_000
FIRST, MONTH = 1_767_225_600_000, 30 * 86_400_000  # from 2026-01-01 on
TEXT = "a quiet corner of the garden with roses, and a table for two under the old apple tree"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="rough figures; writes no file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dump-") as folder:
        rows = asyncio.run(measured(Path(folder), QUICK if asked.quick else PINS))
    print(table(rows))
    if not asked.quick:
        print(f"written to {write('dump', rows)}")


async def measured(folder: Path, pins: int) -> list[Row]:
    """The measures of a dump of `pins` pins."""
    topology = Topology(
        1,
        {"local": f"sqlite://{quote(str(folder / 'shards'))}"},
        (ShardRange((0, SHARDS - 1), "local"),),
        ModShards(1, (ShardRange((0, 0), "local"),)),
    )
    shards = SqliteShards(topology, "OFF", deadline=60.0)
    await shards.create()
    rng = random.Random(1)
    for shard in topology.open_shards:
        for start in range(0, pins // SHARDS, BATCH):
            await _fill(shards, shard, min(BATCH, pins // SHARDS - start), rng)
    before = _peak()
    began = time.monotonic()
    manifest = await _dump(shards, str(folder / "dump"))
    seconds = time.monotonic() - began
    await shards.close()
    size = sum(file.bytes for file in manifest.files)
    return [
        Row("rows", manifest.rows, ""),
        Row("rows a second", manifest.rows / seconds, ""),
        Row("files", len(manifest.files), ""),
        Row("bytes a row", size / manifest.rows, ""),
        Row("memory beyond the process before it", (_peak() - before) / 2**20, "MiB"),
    ]


async def _fill(shards: SqliteShards, shard: int, count: int, rng: random.Random) -> None:
    pins = [
        Pin(
            board_id=1,
            owner_id=2,
            title=TEXT[: rng.randint(10, 40)],
            description=TEXT,
            link=f"https://example.org/{rng.getrandbits(64):x}",
            image=Image(f"/pictures/{rng.getrandbits(64):x}.webp", 736, 1104, "#8899aa"),
            created=FIRST + rng.randrange(MONTH),
        )
        for _ in range(count)
    ]

    async def insert(tx: ShardTx) -> list[int]:
        return await tx.insert_many(Kind.PIN, [records.encode(pin) for pin in pins])

    ids = await shards.objects.transact(shard, insert)
    owner = ids[0]  # any id of the shard: the rows of a mapping are on their from id's shard
    await shards.mappings.load(
        [
            (mapping, Edge(owner, id, pin.created * SEQUENCE_STEP, 1))
            for mapping in (Mapping.USER_HAS_PINS, Mapping.USER_LIKES_PINS)
            for id, pin in zip(ids, pins, strict=True)
        ]
    )


async def _dump(shards: SqliteShards, to: str) -> Manifest:
    async with opened(to) as place:
        manifest = await begin(place, to, "day", source="bench", replace=False)
        await Dump(shards, place, manifest, silent).write()
        return manifest


def _peak() -> int:
    """The most memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


if __name__ == "__main__":
    main()
