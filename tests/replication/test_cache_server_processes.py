"""The list of memcached servers is changed by a process that is killed or waits at each of its
steps, while gateways that are processes serve, and are stopped (SIGSTOP) and continued: no pin is
read older than an acknowledged write."""

import asyncio
import json
import random
import secrets
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli import main
from tests.faults.cache_servers import CacheServer
from tests.faults.memcached_server import memcached
from tests.faults.redis_server import valkey_at
from tests.faults.registers import Register
from tests.faults.test_cache_histories import PAUSES, Reading, until_ended
from tests.pairs import Pairs
from tests.replication.cache_commands import Command, copied, write_settings
from tests.replication.gateway_process import GatewayProcess, gateway_process, made
from tests.replication.test_cache_servers import CHANGES

pytestmark = pytest.mark.anyio
NIGHTLY = pytest.mark.nightly
STOPS = ("before begun", "after begun", "after fences", "after turned", "within leases")
"""The seams at which a gateway is stopped. The fences wait for up to 60 s for a write that it had
begun."""
QUIET = 12
"""Pins that are written before and after a change alone: caches have their older values."""


@dataclass
class Scene:
    """Gateways of which the second may be stopped, and pins. `busy`: pins that are read and written
    all the time; `quiet`: pins that both gateways have cached."""

    command: Command
    caches: list[CacheServer]
    gateways: list[GatewayProcess]
    folder: Path
    pairs: Pairs
    busy: list[Register]
    quiet: list[Register]
    opened: AsyncExitStack

    async def begin(self) -> None:
        first = self.gateways[0]
        owner, pins = await first.pins(f"u{secrets.token_hex(6)}", QUIET + len(PAUSES))
        made = [Register(owner, pin, 0) for pin in pins]
        self.quiet = made[:QUIET]
        self.busy = [replace(it, number=n) for n, it in enumerate(made[QUIET:])]
        for register in (*self.quiet, *self.busy):
            await register.write([first])
        await self.warm()

    async def warm(self) -> None:
        """Cache the quiet pins."""
        for gateway in self.gateways * 2:
            await self.read(gateway)

    async def write(self) -> None:
        """Write the quiet pins through the first gateway."""
        await asyncio.gather(*(it.write(self.gateways[:1]) for it in self.quiet))

    async def read(self, gateway: GatewayProcess) -> None:
        """Read the quiet pins through a gateway."""
        await asyncio.gather(*(it.read(gateway) for it in self.quiet))

    async def check_continued(self, stopped: GatewayProcess) -> None:
        """Write the quiet pins, let a stopped gateway go on, and read them there. The first reads
        were sent before it goes on."""
        await self.write()
        reads = asyncio.create_task(self.read(stopped))
        await self.read(self.gateways[0])
        stopped.go_on()
        await reads
        for _ in range(3):
            await self.read(stopped)

    async def check_told(self, gateway: GatewayProcess, number: int, *, changing: int) -> None:
        """Wait until a gateway uses a list, and tells it; its cache is well and up."""
        async with asyncio.timeout(60):
            while await self._told(gateway) != (number, changing, "well"):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert await gateway.metric('pinway_store_up{store="object_cache"}') == 1

    async def _told(self, gateway: GatewayProcess) -> tuple[float, float, str]:
        return (
            await gateway.metric("pinway_cache_list_number"),
            await gateway.metric("pinway_cache_list_changing"),
            (await gateway.ready())["object_cache"]["state"],
        )

    async def doctor(self) -> dict[str, str]:
        """The finding of `pinway doctor` about the list."""
        config = await self._configured("doctor")
        words = ["doctor", "--json", "--config", str(config)]
        done = await asyncio.to_thread(CliRunner().invoke, main, words)
        found = json.loads(done.stdout)["findings"]
        [told] = [it for it in found if it["check"] == "memcached servers"]
        return dict(told)

    async def add_gateway(self) -> None:
        """Start one more gateway."""
        config = await self._configured(f"gateway{len(self.gateways)}")
        self.gateways.append(await self.opened.enter_async_context(gateway_process(config)))

    async def _configured(self, name: str) -> Path:
        """The settings of a process with feeds of its own, which are made."""
        config, data = self.folder / f"{name}.toml", self.folder / name
        sides = ("pools_primary", "pools_standby", "feeds_primary", "feeds_standby")
        port = self.caches[-1].port
        stores = {
            **self.command.settings,
            **{side: f"rocksdb://{data}/{side}" for side in sides},
            "mapping_cache": f"redis://127.0.0.1:{port}/0",
            "queue": f"redis://127.0.0.1:{port}/1",
            "search": "",
        }
        write_settings(self.pairs, config, stores, data)
        if not data.exists():
            await made(config, first=not self.gateways)
        return config


@asynccontextmanager
async def scene(pairs: Pairs, folder: Path, *, gateways: int = 2) -> AsyncIterator[Scene]:
    node = f"/tests/{uuid.uuid4().hex}/topology"
    async with AsyncExitStack() as opened:
        await opened.enter_async_context(copied(pairs, node))
        runs = (memcached, memcached, memcached, valkey_at)
        caches = [opened.enter_context(CacheServer(run)) for run in runs]
        command = Command(pairs, node, folder / "pinway.toml", caches)
        found = Scene(command, caches, [], folder, pairs, [], [], opened)
        for _ in range(gateways):
            await found.add_gateway()
        await found.begin()
        yield found


@NIGHTLY
async def test_a_gateway_that_was_stopped_during_a_change_reads_no_older_pin(
    pairs: Pairs, tmp_path: Path
) -> None:
    """Another list is refused meanwhile, and the command is killed and run again."""
    async with scene(pairs, tmp_path) as here:
        wanted = here.command.addresses((2,))
        async with here.command.halted("after begun", "servers", wanted):
            here.gateways[1].stop()
        status, output = await here.command.run("servers", here.command.addresses((1, 2)))
        assert status == 1
        assert f"has begun: end it with `pinway cache servers {wanted}`, or take it" in output
        await here.command.change(2)
        await here.check_continued(here.gateways[1])
        assert (await here.command.show())["step"] is None


@NIGHTLY
@pytest.mark.timeout(1800)
async def test_a_gateway_may_be_stopped_at_any_step_of_a_change(
    pairs: Pairs, tmp_path: Path
) -> None:
    async with scene(pairs, tmp_path) as here:
        second = here.gateways[1]
        reading = Reading(here.gateways, random.Random(0), here.busy)

        async def work() -> None:
            for seam, chosen in zip(STOPS, cycle(CHANGES), strict=False):
                await here.warm()
                wanted = here.command.addresses(chosen)
                async with here.command.halted(seam, "servers", wanted) as halted:
                    second.stop()
                    if await halted.go_on():
                        assert "run the command again" in halted.output
                        await here.command.change(*chosen)
                    await here.check_continued(second)
            await reading.last(1.0)

        await until_ended(asyncio.create_task(work()), reading.clients())


@NIGHTLY
async def test_what_is_told_in_the_middle_of_a_change_is_true(pairs: Pairs, tmp_path: Path) -> None:
    """A gateway that starts in the middle tells the same."""
    async with scene(pairs, tmp_path, gateways=1) as here:
        wanted = here.command.addresses((0, 2))
        for seam, step, number in (("after begun", "begun", 1), ("after turned", "turned", 2)):
            async with here.command.halted(seam, "servers", wanted):
                await here.add_gateway()
                for gateway in here.gateways:
                    await here.check_told(gateway, number, changing=1)
                doctor = await here.doctor()
                assert (doctor["state"], f"has {step}" in doctor["detail"]) == ("warning", True)
                assert f"end it with `pinway cache servers {wanted}`" in doctor["advice"]
                await here.write()
                for gateway in here.gateways:
                    await here.read(gateway)
        # The server that leaves is dead, which costs nobody anything once the change has turned.
        here.caches[1].kill()
        for gateway in here.gateways:
            await here.check_told(gateway, 2, changing=1)
        await here.command.change(0, 2)
        for gateway in here.gateways:
            await here.check_told(gateway, 2, changing=0)
            await here.read(gateway)
        doctor = await here.doctor()
        assert doctor["detail"].endswith("which has no effect")  # the settings name the old list
        here.caches[1].start()
