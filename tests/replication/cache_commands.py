"""`pinway cache` on servers that belong to one test, over a copy of the pairs' topology."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner

from datasources.zookeeper import ZooKeeperTopology
from gateway.cli import main
from tests.faults.cache_servers import CacheServer
from tests.pairs import Pairs
from tests.replication.stepped_command import REACHED

ROOT = Path(__file__).parents[2]
SECONDS = 300.0


class Command:
    """`pinway cache` over the topology at a node."""

    def __init__(
        self, pairs: Pairs, node: str, file: Path, servers: list[CacheServer], zookeeper: str = ""
    ) -> None:
        """`zookeeper`: its address, if not the pairs'."""
        self._pairs, self._node, self._servers = pairs, node, servers
        self.settings = {
            "object_cache": f"memcached://{self.addresses((0, 1))}",
            "topology": f"zookeeper://{zookeeper or pairs.zookeeper}{node}",
        }
        self.file = file
        write_settings(pairs, file, self.settings)

    def through(self, zookeeper: str, file: Path) -> "Command":
        """The command over another path to ZooKeeper."""
        return Command(self._pairs, self._node, file, self._servers, zookeeper)

    def addresses(self, chosen: Sequence[int]) -> str:
        return ",".join(f"127.0.0.1:{self._servers[n].port}" for n in chosen)

    async def run(self, *words: str) -> tuple[int, str]:
        words = ("cache", *words, "--config", str(self.file))
        running = asyncio.create_task(asyncio.to_thread(CliRunner().invoke, main, words))
        try:
            done = await asyncio.shield(running)
        finally:
            await running  # a cancelled command would print into later commands' output
        return done.exit_code, done.output

    async def change(self, *chosen: int) -> None:
        status, output = await self.run("servers", self.addresses(chosen))
        assert status == 0, output

    async def show(self) -> dict[str, Any]:
        """The output of `pinway cache show --json`."""
        status, output = await self.run("show", "--json")
        assert status == 0, output
        return dict(json.loads(output))

    @asynccontextmanager
    async def halted(self, seam: str, *words: str) -> AsyncIterator["Halted"]:
        """The command as a process, which has come to a seam. It is killed at the end."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.replication.stepped_command", seam),
            *("cache", *words, "--config", str(self.file)),
            cwd=ROOT,
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
        )
        halted = Halted(process)
        try:
            await halted.reached()
            yield halted
        finally:
            await halted.kill()


@dataclass
class Halted:
    """A command's process, which waits at a seam."""

    process: Process
    output: str = ""

    async def reached(self) -> None:
        assert self.process.stdout is not None
        async with asyncio.timeout(SECONDS):
            while line := (await self.process.stdout.readline()).decode():
                if line == f"{REACHED}\n":
                    return
                self.output += line
        raise AssertionError(f"the command ended before its seam: {self.output}")

    async def go_on(self) -> int:
        """Let the command go on to its end. Returns its exit status."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        async with asyncio.timeout(SECONDS):
            self.process.stdin.write(b"\n")
            await self.process.stdin.drain()
            self.output += (await self.process.stdout.read()).decode()
            return await self.process.wait()

    async def kill(self) -> None:
        """Kill the process, if it runs."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)
        await self.process.wait()


def write_settings(
    pairs: Pairs, file: Path, stores: Mapping[str, str], data: Path | None = None
) -> None:
    """Write the pairs' settings with other stores, and with another data directory."""
    named = dict(stores)
    lines = []
    for line in pairs.stack.settings_file.read_text().splitlines():
        name = line.partition(" = ")[0]
        if name == "data_dir" and data is not None:
            lines.append(f'{name} = "{data}"')
        else:
            lines.append(f'{name} = "{named.pop(name)}"' if name in named else line)
    assert not named
    file.write_text("\n".join(lines))


@asynccontextmanager
async def copied(pairs: Pairs, node: str) -> AsyncIterator[None]:
    """The topology at another node. At the end, the pairs' topology has an epoch that the shards
    accept."""
    topology = await pairs.saved()
    source = ZooKeeperTopology(pairs.zookeeper, node)
    own = ZooKeeperTopology(pairs.zookeeper, "/pinway/topology")
    await source.save(topology, expected_epoch=None)
    try:
        yield
    finally:
        last = await source.load()
        later = msgspec.structs.replace(topology, epoch=last.epoch + 1)
        await own.save(later, expected_epoch=topology.epoch)
        await source.close()
        await own.close()
