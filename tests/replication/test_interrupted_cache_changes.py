"""A command that changes the list of memcached servers is killed, cut off, or taken back at each of
its seams, while two gateways read and write: no object is read older than an acknowledged write."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path

import pytest

from datasources.protocols import Stores
from tests.embedded_stores import stores, valkey
from tests.faults.test_cache_histories import Reading, Site, people_of, until_ended
from tests.pairs import Pairs
from tests.proxy import proxied
from tests.replication.cache_commands import Command, Halted
from tests.replication.stepped_command import SEAMS
from tests.replication.test_cache_servers import CHANGES, opened
from tests.scale import scaled
from tests.stopped_process import stop_process

__all__ = ["stores", "valkey"]
pytestmark = pytest.mark.anyio
NIGHTLY = pytest.mark.nightly
BEFORE_TURNED = ["after begun", "before fences", "within fences", "after fences", "before turned"]
ONCE_TURNED = ["after turned", "before leases", "within leases", "after leases", "before ended"]


@asynccontextmanager
async def read_and_written(
    here: Site,
) -> AsyncIterator[Callable[[Awaitable[None]], Awaitable[None]]]:
    """Runs work while clients read and write through both gateways. Raises AssertionError for a
    read that is older than an acknowledged write."""
    chooser = random.Random(0)
    reading = await Reading.begin(here, chooser, people_of(here))

    async def run(work: Awaitable[None]) -> None:
        async def worked() -> None:
            await work
            await reading.last(0.5)

        await until_ended(asyncio.create_task(worked()), reading.clients())

    yield run


async def check_other_list_is_refused(command: Command, seam: str) -> None:
    """Another list is refused while a change goes on, with what to do, and changes nothing."""
    before = await command.show()
    if seam in ("before begun", "after ended"):
        assert before["step"] is None
        return
    status, output = await command.run("servers", "127.0.0.1:1", "--force")
    step = "begun" if seam in BEFORE_TURNED else "turned"
    assert status == 1
    assert f"has {step}: end it with `pinway cache servers 127.0.0.1:" in output
    assert ("`pinway cache rollback`" in output) == (step == "begun")
    assert await command.show() == before


async def change_with(
    command: Command, seams: Sequence[str], interrupt: Callable[[Halted, str], Awaitable[None]]
) -> None:
    """Change the list with an interruption at each seam, and by a command that ends the change."""
    for seam, chosen in zip(seams, cycle(CHANGES), strict=False):
        async with command.halted(seam, "servers", command.addresses(chosen)) as halted:
            await interrupt(halted, seam)
        await command.change(*chosen)
        found = await command.show()
        assert found["step"] is None
        assert sorted(found["servers"]) == sorted(command.addresses(chosen).split(","))


async def test_a_command_that_is_killed_at_a_seam_is_ended_by_its_repetition(
    stores: Stores, pairs: Pairs, tmp_path: Path
) -> None:
    async with opened(stores, pairs, tmp_path) as (here, command), read_and_written(here) as run:

        async def kill(halted: Halted, seam: str) -> None:
            await halted.kill()
            await check_other_list_is_refused(command, seam)

        await run(change_with(command, scaled(["within leases"], SEAMS), kill))


@NIGHTLY
async def test_a_command_that_loses_zookeeper_at_a_seam_is_ended_by_its_repetition(
    stores: Stores, pairs: Pairs, tmp_path: Path
) -> None:
    zookeeper = int(pairs.zookeeper.rpartition(":")[2])
    async with (
        opened(stores, pairs, tmp_path) as (here, command),
        proxied("127.0.0.1", zookeeper) as path,
        read_and_written(here) as run,
    ):
        through = command.through(f"127.0.0.1:{path.port}", tmp_path / "through.toml")

        async def cut(halted: Halted, seam: str) -> None:
            await path.cut()
            status = await halted.go_on()
            assert status == (0 if seam == "after ended" else 1), halted.output
            await path.mend()

        await run(change_with(through, SEAMS, cut))


@NIGHTLY
@pytest.mark.parametrize("server", [0, 1, 2])
async def test_a_memcached_that_is_stopped_in_the_middle_of_a_change_holds_nothing_up(
    stores: Stores, pairs: Pairs, tmp_path: Path, server: int
) -> None:
    """The server goes on when the change has ended, and comes back into the list later."""
    async with opened(stores, pairs, tmp_path) as (here, command), read_and_written(here) as run:
        cache = here.servers[server]

        async def stop(halted: Halted, seam: str) -> None:
            cache.stop()
            try:
                assert await halted.go_on() == 0, halted.output
                await asyncio.sleep(1.0)  # of reads and writes
            finally:
                cache.go_on()

        await run(change_with(command, ["after begun", "before turned", *ONCE_TURNED[:3]], stop))


@NIGHTLY
async def test_a_change_that_has_begun_is_taken_back(
    stores: Stores, pairs: Pairs, tmp_path: Path
) -> None:
    """The rollback is killed and run again. The stopped command, which goes on then, changes
    nothing, and the next change has the same number."""
    async with opened(stores, pairs, tmp_path) as (here, command), read_and_written(here) as run:

        async def take_back(chosen: Sequence[int], seam: str, at: str) -> None:
            before = await command.show()
            async with command.halted(seam, "servers", command.addresses(chosen)) as halted:
                stop_process(halted.process.pid)
                async with command.halted(at, "rollback") as killed:
                    await killed.kill()
                status, output = await command.run("rollback")
                assert status == 0, output
                found = await command.show()
                assert (found["servers"], found["list"]) == (before["servers"], before["list"])
                assert found["step"] is None
                os.kill(halted.process.pid, signal.SIGCONT)
                assert await halted.go_on() == 1
                assert await command.show() == found

        async def work() -> None:
            for number, seam in enumerate(BEFORE_TURNED):
                ended = ("before ended", "after ended")[number % 2]
                await take_back((1, 2), seam, ended)
                await command.change(0, 2)
                await command.change(0, 1)

        await run(work())


@NIGHTLY
async def test_a_change_that_has_turned_is_not_taken_back(
    stores: Stores, pairs: Pairs, tmp_path: Path
) -> None:
    """The change is ended, and then changed back, as the error says."""
    async with opened(stores, pairs, tmp_path) as (here, command), read_and_written(here) as run:

        async def work() -> None:
            old, new = command.addresses((0, 1)), command.addresses((1, 2))
            for seam in ONCE_TURNED:
                async with command.halted(seam, "servers", new) as halted:
                    await halted.kill()
                before = await command.show()
                status, output = await command.run("rollback")
                told = f"end the change with `pinway cache servers {new}`, then change back with "
                assert (status, f"{told}`pinway cache servers {old}`" in output) == (1, True)
                assert await command.show() == before
                await command.change(1, 2)
                await command.change(0, 1)

        await run(work())


@NIGHTLY
async def test_a_server_that_never_answers_may_come_in_by_force(
    stores: Stores, pairs: Pairs, tmp_path: Path
) -> None:
    async with opened(stores, pairs, tmp_path) as (here, command), read_and_written(here) as run:

        async def work() -> None:
            here.servers[2].kill()
            wanted = command.addresses((0, 2))
            status, output = await command.run("servers", wanted)
            assert (status, "nothing was changed: start it" in output) == (1, True)
            status, output = await command.run("servers", wanted, "--force")
            assert status == 0, output
            await asyncio.sleep(1.0)  # of reads and writes
            here.servers[2].start()
            await command.change(0, 1)

        await run(work())
