"""Many requests of one process for one hot object or list while its cache is away: they share a
read of the shard, and none gets a value that is older than a write which was acknowledged first."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from datasources.circuit import Mode
from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.memcached import MemcachedObjectCache
from datasources.protocols import Stores
from datasources.redis import RedisMappingCache
from datasources.sql.engine import Part, Row
from datasources.sql.shards import SqlShards
from feed_engine import writes
from feed_engine.writes import PinChange
from loaders import Loaders
from tests.contract.shards import Deployment, RoundTrips
from tests.embedded_stores import stores
from tests.people import People

__all__ = ["stores"]
pytestmark = pytest.mark.anyio
REQUESTS = 1000
Load = Callable[[Loaders], Awaitable[object]]


@asynccontextmanager
async def silent_port(way: str) -> AsyncIterator[int]:
    """A port at which nobody listens, or where connections get no answer."""
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    if way == "refuses":
        server.close()
    yield port
    server.close()


@asynccontextmanager
async def without_caches(base: Stores, shards: SqlShards, way: str) -> AsyncIterator[Stores]:
    """A gateway that has found out that both caches are away."""
    async with silent_port(way) as port:
        objects = MemcachedObjectCache([("127.0.0.1", port)], deadline=0.05)
        lists = RedisMappingCache(f"redis://127.0.0.1:{port}/0", deadline=0.05)
        found = base._replace(shards=shards, object_cache=objects, mapping_cache=lists)
        while {state.mode for state in (*objects.circuits(), *lists.circuits())} != {Mode.AVOIDED}:
            await asyncio.gather(
                objects.get([7]),
                lists.heads([ListKey(Mapping.BOARD_HAS_PINS, 7)]),
                return_exceptions=True,
            )
        try:
            yield found
        finally:
            await objects.close()
            await lists.close()


def loads(board_id: int, pin_id: int) -> dict[str, Load]:
    """The loads of a hot pin and board, by the operation that reads their shard."""
    key = ListKey(Mapping.BOARD_HAS_PINS, board_id)
    return {
        "objects.get": lambda loaders: loaders.pins.load(pin_id),
        "mappings.pages": lambda loaders: loaders.pages.load(PageRequest(key, 50)),
        "mappings.heads": lambda loaders: loaders.heads.load(key),
    }


@pytest.mark.parametrize("way", ["refuses", "hangs"])
async def test_a_thousand_requests_for_a_hot_pin_are_no_thousand_reads_of_its_shard(
    stores: Stores, mysql: Deployment, way: str
) -> None:
    trips = RoundTrips()
    shards = mysql.open(observe=trips)
    people = People(stores._replace(shards=shards), prefix=f"u{secrets.token_hex(4)}_")
    board, [pin_id] = await people.board_with_pins(1)
    async with without_caches(stores, shards, way) as here:
        for operation, load in loads(board.id, pin_id).items():
            trips.clear()
            answers = await asyncio.gather(*(load(Loaders(here)) for _ in range(REQUESTS)))
            assert all(answer == answers[0] for answer in answers)
            counted = {name: count for (_, name), count in trips.items()}
            assert set(counted) == {operation}
            # The first read, and one for all requests that came while it ran.
            assert counted[operation] <= 2
    await shards.close()


class Held:
    """The reads of a gateway's shards: each waits after the server's answer, until it is let go."""

    def __init__(self, shards: SqlShards, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answered: list[asyncio.Event] = []
        self.gates: list[asyncio.Event] = []
        read = shards._router.engine.read

        async def held(operation: str, parts: Sequence[Part]) -> list[list[Row]]:
            answered, gate = asyncio.Event(), asyncio.Event()
            self.answered.append(answered)
            self.gates.append(gate)
            rows = await read(operation, parts)
            answered.set()
            await gate.wait()
            return rows

        monkeypatch.setattr(shards._router.engine, "read", held)

    async def until_answered(self, number: int) -> None:
        while len(self.answered) <= number:  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0.001)
        await self.answered[number].wait()

    def let_go(self) -> None:
        for gate in self.gates:
            gate.set()


async def test_a_read_after_an_acknowledged_write_joins_no_earlier_read(
    stores: Stores, mysql: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write is of another gateway. Reads that began before it have the server's old answer, and
    have not returned when later reads begin."""
    shards, others = mysql.open(), mysql.open()
    there = stores._replace(shards=others)
    people = People(there, prefix=f"u{secrets.token_hex(4)}_")
    board, [pin_id] = await people.board_with_pins(1)
    async with without_caches(stores, shards, "refuses") as here:
        held = Held(shards, monkeypatch)

        def reads(count: int) -> list["asyncio.Task[tuple[Any, Any]]"]:
            async def read() -> tuple[Any, Any]:
                loaders = Loaders(here)
                load = loads(board.id, pin_id)
                pin, page = await asyncio.gather(
                    load["objects.get"](loaders), load["mappings.pages"](loaders)
                )
                assert not isinstance(pin, BaseException)
                return pin, page

            return [asyncio.create_task(read()) for _ in range(count)]

        early = reads(2)  # a read of each kind begins, and then another one for the second request
        async with asyncio.timeout(60):
            for number in range(4):
                await held.until_answered(number)
        change = PinChange(title="new")
        await writes.update_pin(there, board.owner_id, pin_id, change, key=secrets.token_hex(10))
        second = await people.pin(board)
        late = reads(3)
        await asyncio.sleep(0.01)
        assert not any(task.done() for task in (*early, *late))
        while not all(task.done() for task in (*early, *late)):
            held.let_go()
            await asyncio.sleep(0.001)
        for task in late:
            pin, page = await task
            assert pin.title == "new"
            assert [edge.to_id for edge in page] == [second.id, pin_id]
        for task in early:
            pin, page = await task
            assert pin.title != "new"
            assert [edge.to_id for edge in page] == [pin_id]
    await shards.close()
    await others.close()
