"""Many shards on one server: what they cost, beside a server with 64 shards in the same run."""

import asyncio
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.data.alternation import in_turn
from bench.rows import Row
from datasources.ids import Kind
from datasources.mysql import MySqlShards
from datasources.topology import ModShards, ShardRange, Topology, dump
from deploy.stack.layout import to_toml
from deploy.stack.mariadb import topology_name
from tests.pairs import Pairs, servers

FEW = 64
FEW_ON, MANY_ON = "mysql001a", "mysql002a"
PAGE, LOOKS = 50, 20
RELAY_SECONDS = 5.0
"""Seconds between two looks of a relay (`relay_seconds`)."""
LOOKED_AT = (("shards", "show"), ("doctor",))
TICKS = os.sysconf("SC_CLK_TCK")


class Size(NamedTuple):
    """The bytes and files of a server's shards."""

    bytes: int
    files: int


async def many_shards(folder: Path, count: int, rounds: int) -> list[Row]:
    """Two pairs: one gets FEW shards from `pinway init`, the other one `count` shards from `pinway
    shards open`."""
    with servers(folder, FEW) as pairs:
        return await _measured(pairs, configured(pairs, FEW), count, rounds)


async def _measured(pairs: Pairs, config: Path, count: int, rounds: int) -> list[Row]:
    say(f"{count} shards on one server")
    installed = await timed("init", "--config", str(config))
    few = {words: await timed(*words, "--config", str(config)) for words in LOOKED_AT}
    before = size_of(pairs, MANY_ON)
    master, slave = topology_name(MANY_ON), topology_name("mysql002b")
    span = f"{FEW}-{FEW + count - 1}"
    opened = await timed(
        *("shards", "open", span, "--on", master, "--slave", slave, "--config", str(config))
    )
    after = size_of(pairs, MANY_ON)
    many = {words: await timed(*words, "--config", str(config)) for words in LOOKED_AT}
    one = f"{FEW} shards"
    rows = [
        Row(
            f"opening {count} shards on one server", opened, "s", versus=f"{one} {installed:.1f} s"
        ),
        Row(
            f"a new shard of {count}",
            (after.bytes - before.bytes) / count / 2**20,
            "MiB",
            versus=f"{(after.files - before.files) / count:.0f} files",
        ),
    ]
    async with pairs.gateway() as gateway:
        rows += [await _page(gateway, count, rounds), *await _polling(pairs, gateway, count)]
    for words in LOOKED_AT:
        told = f"with {one} {few[words]:.2f} s"
        rows.append(Row(f"pinway {' '.join(words)}, {count} shards", many[words], "s", versus=told))
    return rows


def configured(pairs: Pairs, count: int) -> Path:
    """Settings with `count` shards on the first pair, and all other stores embedded."""
    settings = pairs.stack.settings
    few, slave = topology_name(FEW_ON), topology_name("mysql001b")
    topology = Topology(
        1,
        pairs.topology().servers,
        (ShardRange((0, count - 1), few, slave),),
        ModShards(2, (ShardRange((0, 1), few, slave),)),
    )
    seed = pairs.stack.dir / "seed.json"
    seed.write_bytes(dump(topology))
    kept = {name: value for name, value in settings.items() if name.startswith(("mysql.", "auth."))}
    named = {name: settings[name] for name in ("stores.topology", "data_dir")}
    config = pairs.stack.dir / "many.toml"
    config.write_text(to_toml({**kept, **named, "stores.topology_seed": str(seed)}))
    return config


async def timed(*words: str) -> float:
    """The seconds of a `pinway` command, with the start of its process. Raises RuntimeError with
    the command's output when it fails. Status 3 is not a failure: `doctor` found faults."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    seconds = time.perf_counter() - began
    if process.returncode not in (0, 3):
        raise RuntimeError(output.decode())
    return seconds


def size_of(pairs: Pairs, name: str) -> Size:
    """The shards of a server, as its files tell: sparse parts of a file are not counted."""
    files = [
        path.stat()
        for database in pairs.server(name).data.glob("db[0-9]*")
        for path in database.iterdir()
    ]
    return Size(sum(file.st_blocks * 512 for file in files), len(files))


async def _page(gateway: MySqlShards, count: int, rounds: int) -> Row:
    """Pages of pins on 50 shards, other shards for each page."""
    data = b'{"title": "%s", "description": "%s"}' % (b"x" * 60, b"y" * 200)
    ids = [
        await gateway.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, data))
        for shard in range(FEW + count)
    ]

    def page_of(some: Sequence[int]) -> Callable[[], Awaitable[object]]:
        return lambda: gateway.objects.get(random.sample(some, PAGE))

    of_many, of_few = await in_turn(page_of(ids[FEW:]), page_of(ids[:FEW]), rounds)
    told = f"{of_many * 1e3:.3f} ms, on a server with {FEW} shards {of_few * 1e3:.3f} ms"
    return Row(f"{PAGE} pins by id of {count} shards / of {FEW}", of_many / of_few, "", versus=told)


async def _polling(pairs: Pairs, gateway: MySqlShards, count: int) -> list[Row]:
    """The servers' and the process's CPU time of a relay's look at all outboxes."""
    due = gateway.outbox.due
    await due(2**40, 1_000, behind={})
    servers = [pairs.server(name) for name in (MANY_ON, FEW_ON)]
    idle = [cpu_seconds(server.pid) for server in servers]
    began = time.perf_counter()
    await asyncio.sleep(2.0)
    idle_seconds = time.perf_counter() - began
    before = [cpu_seconds(server.pid) for server in servers]
    own, began = time.process_time(), time.perf_counter()
    for _ in range(LOOKS):
        await due(2**40, 1_000, behind={})
    seconds = time.perf_counter() - began
    own = (time.process_time() - own) / LOOKS
    many, few = (
        (cpu_seconds(server.pid) - at - (at - rested) * seconds / idle_seconds) / LOOKS
        for server, at, rested in zip(servers, before, idle, strict=True)
    )
    told = f"{FEW} shards {few * 1e3:.1f} ms; the relay's process {own * 1e3:.1f} ms for all"
    share = many / RELAY_SECONDS * 100
    return [
        Row(
            f"CPU time of one look at the outboxes of {count} shards", many * 1e3, "ms", versus=told
        ),
        Row(
            f"CPU of a server with {count} shards for one relay",
            share,
            "% of a core",
            versus=f"a look each {RELAY_SECONDS:g} s; one process a host relays",
        ),
    ]


def cpu_seconds(pid: int | None) -> float:
    """The CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
