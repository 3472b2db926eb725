"""Measures thousands of shards on one pair of MariaDB servers: making, opening, watching, relaying
and dumping them.

    python -m bench.shards [--shards 4096] [--quick]

The pair (master and slave), ZooKeeper and all commands share the machine's cores. The results are
written after each step.
"""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from bench.data.many_shards import (
    FEW_ON,
    RELAY_SECONDS,
    configured,
    cpu_seconds,
    say,
    size_of,
    timed,
)
from bench.rows import Row, table, write
from datasources.mysql import MySqlShards
from datasources.sql import turns
from datasources.topology import parse
from gateway.operate.dumps.dump import Dump, begin
from gateway.operate.dumps.manifest import Manifest
from gateway.operate.dumps.places import opened
from gateway.operate.imports.report import silent
from tests.pairs import Pairs, servers

SHARDS, QUICK = 4_096, 128
LOOKS = 5
PATIENT = 600.0  # seconds for a call: the machine may be busy
Keep = Callable[[Sequence[Row]], None]
"""Takes rows that were measured."""
COMMANDS = (("shards", "show"), ("shards", "check"), ("doctor",))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--shards", type=int, default=SHARDS)
    parser.add_argument("--quick", action="store_true", help="128 shards; writes no file")
    asked = parser.parse_args()
    count = QUICK if asked.quick else asked.shards
    rows = list[Row]()

    def keep(some: Sequence[Row]) -> None:
        rows.extend(some)
        say(table(some))
        if not asked.quick:
            write("shards", rows)

    with (
        tempfile.TemporaryDirectory(prefix="shards-") as folder,
        servers(Path(folder) / "stack", count, 1) as pairs,
    ):
        asyncio.run(measure(pairs, Path(folder), count, keep))
    print(table(rows))


async def measure(pairs: Pairs, folder: Path, count: int, keep: Keep) -> None:
    """Measure `count` shards."""
    config, master = configured(pairs, count), pairs.server(FEW_ON)
    made = await timed("init", "--config", str(config))
    size = size_of(pairs, FEW_ON)
    keep(
        [
            Row(f"pinway init of {count:,} shards", made, "s"),
            Row("a shard, on each server", size.bytes / count / 2**20, "MiB"),
            Row("files of a shard, on each server", size.files / count, ""),
        ]
    )
    keep(await _looks(pairs, count))
    again = await timed("init", "--config", str(config))
    keep([Row("pinway init again: all shards are there", again, "s")])
    for words in COMMANDS:
        keep([Row(f"pinway {' '.join(words)}", await timed(*words, "--config", str(config)), "s")])
    admin = pairs.admin(FEW_ON)
    [[_, most]] = await admin.run("SHOW GLOBAL STATUS LIKE 'Max_used_connections'")
    await admin.close()
    keep(
        [
            Row("memory of the master", _resident(master.pid) / 2**20, "MiB"),
            Row("files that the master has open", len(_open_files(master.pid)), ""),
            Row("connections to the master, at most", int(most), ""),
        ]
    )
    keep(await _dumped(pairs, folder))
    keep([Row("memory of the process that measures, at most", _peak() / 2**20, "MiB")])


async def _looks(pairs: Pairs, count: int) -> list[Row]:
    """The reads that the processes of a site repeat."""
    shards = _shards(pairs)
    outbox, master = shards.outbox, pairs.server(FEW_ON)
    began = time.perf_counter()
    await shards.absent()
    rows = [
        Row("look for absent shards, at the start of a gateway", time.perf_counter() - began, "s")
    ]

    async def cost(what: str, look: Callable[[int], Awaitable[object]]) -> Row:
        """The server's CPU time of a look, less what it uses at rest."""
        await look(-1)
        rested, began = cpu_seconds(master.pid), time.perf_counter()
        await asyncio.sleep(2.0)
        rest = (cpu_seconds(master.pid) - rested) / (time.perf_counter() - began)
        before, own, began = cpu_seconds(master.pid), time.process_time(), time.perf_counter()
        for number in range(LOOKS):
            await look(number)
        seconds = time.perf_counter() - began
        used = (cpu_seconds(master.pid) - before - rest * seconds) / LOOKS
        own = (time.process_time() - own) / LOOKS
        told = f"the process {own * 1e3:.1f} ms; by the clock {seconds / LOOKS * 1e3:.0f} ms"
        return Row(f"CPU time of the master for {what}", used * 1e3, "ms", versus=told)

    rounds = -(-count // turns.SHARDS)
    rows += [
        await cost("a round of the relay", lambda n: outbox.due(2**40, 1_000, behind={}, turn=n)),
        await cost("a look at all outboxes", lambda n: outbox.due(2**40, 1_000, behind={})),
        Row(
            "rounds until the relay has looked at all shards",
            rounds,
            "",
            versus=f"{rounds * RELAY_SECONDS:g} s",
        ),
        await cost("the outbox's counts for /metrics", lambda n: outbox.backlog()),
        await cost("a look for expired answers", lambda n: shards.expiry.answers(0, 100)),
    ]
    await shards.close()
    return rows


async def _dumped(pairs: Pairs, folder: Path) -> list[Row]:
    shards = _shards(pairs, "operator_")  # this account may release locks while it reads
    began, before = time.perf_counter(), time.process_time()
    async with opened(str(folder / "dump")) as place:
        manifest: Manifest = await begin(place, "dump", "day", source="bench", replace=False)
        await Dump(shards, place, manifest, silent).write()
        size = len(await place.get("manifest.json") or b"")
    seconds = time.perf_counter() - began
    await shards.close()
    told = f"CPU time {time.process_time() - before:.0f} s; {len(manifest.files)} files"
    return [
        Row("dump of the empty shards", seconds, "s", versus=told),
        Row("manifest of that dump", size / 2**20, "MiB", versus=f"{len(manifest.parts):,} parts"),
    ]


def _shards(pairs: Pairs, account: str = "") -> MySqlShards:
    settings = pairs.stack.settings
    topology = parse((pairs.stack.dir / "seed.json").read_bytes())
    return MySqlShards(
        topology,
        user=settings[f"mysql.{account}user"],
        password=settings[f"mysql.{account}password"],
        deadline=PATIENT,
    )


def _resident(pid: int | None) -> int:
    """The memory of a process in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _open_files(pid: int | None) -> list[Path]:
    return list(Path(f"/proc/{pid}/fd").iterdir())


def _peak() -> int:
    """The most memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
