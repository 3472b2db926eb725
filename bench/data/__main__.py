"""`python -m bench.data [--quick] [--parts PART ...]`: moves under load, a master that hangs,
caches that hang or die, reads of 50 pins, comparisons, and 512 shards on one server, on real
servers. Prints a table at the end, and writes bench/results/data.json."""

import argparse
import asyncio
import json
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.data.alternation import in_turn
from bench.data.caches import hung_caches
from bench.data.many_shards import many_shards, say
from bench.machine import machine
from bench.rows import Row, replace, table
from datasources.errors import StoreError
from datasources.ids import Kind
from datasources.memcached import MemcachedObjectCache
from datasources.memcached.connection import Connection
from datasources.mysql import MySqlShards
from datasources.mysql.link import Link, Login, connect
from datasources.protocols import Lease
from datasources.sql.engine import Result
from tests.pairs import SHARDS, Load, Pairs, started

RANGE = f"0-{SHARDS - 1}"
MASTER, OTHER = "MySQL001A", "MySQL002A"
WRITERS, READS_A_SECOND, PAGE = 8, 30, 50
GRACE = 2.0  # seconds that a read may wait for a master that hangs


class Effort(NamedTuple):
    """The size of a run. `cuts` is even."""

    cuts: int
    hung: float  # seconds
    rounds: int
    rows: int  # in a shard
    many: int  # shards on one server


PARTS = {
    "cuts": ("longest write ", "writes that failed "),
    "hung": ("reads that failed ",),
    "caches": ("memcached ", "redis "),
    "pins": ("50 pins by id from ",),
    "verify": ("verify",),
    "many": ("opening ", "a new shard ", "50 pins by id of ", "CPU ", "pinway "),
}
"""The parts of the benchmark, and the first words of each part's measures."""
FULL, QUICK = Effort(20, 10.0, 1_000, 50_000, 512), Effort(2, 4.0, 200, 2_000, 128)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.data", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 moves, fewer rows and shards")
    parser.add_argument(
        "--parts", nargs="*", choices=PARTS, default=[*PARTS], help="these parts; keep the others"
    )
    chosen = parser.parse_args()
    effort = QUICK if chosen.quick else FULL
    measures = {
        "cuts": cuts,
        "hung": hung,
        "caches": caches,
        "pins": fifty_pins,
        "verify": verify,
    }
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as folder:
        if few := [part for part in measures if part in chosen.parts]:
            with started(Path(folder) / "stack") as pairs:
                for part in few:
                    found = asyncio.run(measures[part](pairs, effort))
                    replace("data", PARTS[part], found)
                    rows += found
        if "many" in chosen.parts:
            found = asyncio.run(many_shards(Path(folder) / "many", effort.many, effort.rounds))
            replace("data", PARTS["many"], found)
            rows += found
    print(machine())
    print(table(rows))


async def shards(pairs: Pairs, *words: str) -> str:
    """Run `pinway shards`. Raises RuntimeError with its output when it fails."""
    status, output = await asyncio.to_thread(pairs.run, *words)
    if status:
        raise RuntimeError(output)
    return output


async def cuts(pairs: Pairs, effort: Effort) -> list[Row]:
    """The longest write while shards move to the other master and back."""
    count = effort.cuts
    say(f"{count} cuts")
    async with pairs.gateway(deadline=5.0) as gateway:
        load, began = Load(gateway), time.perf_counter()
        async with load.running(WRITERS):
            for number in range(count):
                there, start = ("move", RANGE, "--to", OTHER, "--group", "1"), time.perf_counter()
                await shards(pairs, *(("rollback", RANGE) if number % 2 else there))
                took, done = time.perf_counter() - start, len(load.acknowledged)
                say(f"  {number + 1} of {count}: {took:.1f} s, {done:,} writes so far")
        seconds = time.perf_counter() - began
        await load.check()
    done = len(load.acknowledged)
    told = f"{WRITERS} writers, {done:,} writes acknowledged, {done / seconds:.0f}/s"
    failed = len(load.refused) + len(load.unknown)
    return [
        Row(f"longest write during {count} moves", load.slowest, "s", "<= 1", told),
        Row("writes that failed during the moves", failed, "", "<= 0", "none lost, none twice"),
    ]


async def hung(pairs: Pairs, effort: Effort) -> list[Row]:
    """The failed reads while the master is stopped."""
    say("a master that hangs")
    async with pairs.gateway() as gateway:
        ids = await insert_pins(gateway)
        clock = asyncio.get_running_loop().time
        began = clock()

        async def read() -> tuple[float, bool]:
            at = clock() - began
            try:
                return at, (await gateway.objects.get(ids)).keys() == set(ids)
            except StoreError:
                return at, False

        reads = list[asyncio.Task[tuple[float, bool]]]()
        pairs.server(MASTER).kill(signal.SIGSTOP)
        try:
            while clock() - began < effort.hung:
                reads.append(asyncio.create_task(read()))
                await asyncio.sleep(1 / READS_A_SECOND)
            found = await asyncio.gather(*reads)
        finally:
            pairs.server(MASTER).kill(signal.SIGCONT)
    early = [well for at, well in found if at < GRACE]
    late = [well for at, well in found if at >= GRACE]
    told = f"of {len(late)}; in the first {GRACE:g} s {early.count(False)} of {len(early)}"
    name = f"reads that failed while a master hung, after {GRACE:g} s"
    return [Row(name, late.count(False), "", "<= 0", told)]


async def caches(pairs: Pairs, effort: Effort) -> list[Row]:
    """The latencies while a cache is stopped or killed."""
    return await hung_caches(pairs, effort.hung, say)


async def fifty_pins(pairs: Pairs, effort: Effort) -> list[Row]:
    """Reads of 50 pins by id, compared with the same reads on the driver's connection."""
    say(f"{PAGE} pins by id")
    async with pairs.gateway() as gateway:
        ids = await insert_pins(gateway)
        statement = await statement_of(gateway, ids)
        login = Login.of(
            f"mysql://127.0.0.1:{pairs.server(MASTER).port}",
            pairs.stack.settings["mysql.user"],
            pairs.stack.settings["mysql.password"],
        )
        link = await connect(login, autocommit=True, deadline=5.0)
        ours, bare = await in_turn(
            lambda: gateway.objects.get(ids), lambda: link.run_all(*statement), effort.rounds
        )
        link.close()
        rows = [compared("MySQL", ours, bare)]
        data = await gateway.objects.get(ids)
    memcached = pairs.stack.services["memcached"]
    memcached.start()
    memcached.wait_ready()
    cache = MemcachedObjectCache([("127.0.0.1", memcached.port)], deadline=5.0)
    missing = await cache.get(ids)
    leases = [(lease, data[id]) for id, lease in missing.items() if isinstance(lease, Lease)]
    await cache.fill(leases)
    connection = await Connection.open("127.0.0.1", memcached.port)
    keys = [b"pinway:%d" % id for id in ids]
    assert await cache.get(ids) == data
    ours, bare = await in_turn(lambda: cache.get(ids), lambda: connection.gets(keys), effort.rounds)
    connection.close()
    await cache.close()
    return [compared("memcached", ours, bare), *rows]


def compared(name: str, ours: float, bare: float) -> Row:
    told = f"{ours * 1e3:.3f} ms, bare connection {bare * 1e3:.3f} ms"
    return Row(f"{PAGE} pins by id from {name} / bare connection", ours / bare, "", "<= 1.5", told)


async def statement_of(gateway: MySqlShards, ids: Sequence[int]) -> tuple[str, tuple[Any, ...]]:
    """The statement that the store sends for these ids."""
    sent = list[tuple[str, tuple[Any, ...]]]()
    original = Link.run_all

    async def recorded(link: Link, sql: str, args: Sequence[Any] = ()) -> list[Result]:
        sent.append((sql, tuple(args)))
        return await original(link, sql, args)

    Link.run_all = recorded  # type: ignore[method-assign]
    try:
        await gateway.objects.get(ids)
    finally:
        Link.run_all = original  # type: ignore[method-assign]
    [statement] = sent
    return statement


async def verify(pairs: Pairs, effort: Effort) -> list[Row]:
    """The rows a second at which both sides are compared."""
    say("verify")
    admin = pairs.admin(MASTER)
    for shard in range(SHARDS):
        await admin.run(
            f"INSERT INTO db{shard:05d}.pins (data) SELECT REPEAT('x', 300) "
            f"FROM db00000.seq_1_to_{effort.rows}"
        )
    await shards(pairs, "move", RANGE, "--to", OTHER, "--no-verify")
    report = json.loads((await shards(pairs, "verify", RANGE, "--json")).splitlines()[-1])
    found = await admin.run(
        "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables "
        "WHERE table_schema REGEXP '^db[0-9]{5}$' AND table_type = 'BASE TABLE'"
    )
    began = time.perf_counter()
    await admin.run(f"CHECKSUM TABLE {', '.join(name.decode() for [name] in found)}")
    bare = report["rows"] / (time.perf_counter() - began)
    await admin.close()
    told = f"{report['rows']:,} rows; CHECKSUM TABLE of one side {bare:,.0f}/s"
    return [Row("verify", report["rows"] / report["seconds"], "rows/s", versus=told)]


async def insert_pins(gateway: MySqlShards) -> list[int]:
    """50 new pins over all shards."""
    data = json.dumps({"title": "x" * 60, "description": "y" * 200}).encode()
    return [
        await gateway.objects.transact(n % SHARDS, lambda tx: tx.insert(Kind.PIN, data))
        for n in range(PAGE)
    ]


if __name__ == "__main__":
    main()
