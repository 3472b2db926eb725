"""Reads of a pair while the topology changes. Servers that change it during a call force each
interleaving."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from datasources.errors import Refused, StoreError, StoreTimeout, StoreUnavailable
from datasources.mysql.engine import MySqlEngine
from datasources.replication import topologies
from datasources.sql.engine import Part, Result, Row, object_place
from datasources.sql.router import Router
from datasources.topology import ModShards, ShardRange, Topology

pytestmark = pytest.mark.anyio

PAIR = (ShardRange((0, 0), "A", "B"),)
FIRST = Topology(
    1,
    {name: f"mysql://127.0.0.1:{port}" for port, name in enumerate("AB", 3306)},
    PAIR,
    ModShards(1, PAIR),
)
TWO_PAIRS = Topology(
    1,
    {name: f"mysql://127.0.0.1:{port}" for port, name in enumerate("ABCD", 3306)},
    (ShardRange((0, 0), "A", "B"), ShardRange((1, 1), "C", "D")),
    ModShards(1, PAIR),
)
LEASE_OVER = 5_000_000  # microseconds

Step = Callable[[], Awaitable[None]]


async def nothing() -> None:
    return None


class FakeServer:
    """A server with one row of data. `step` runs while the row is read."""

    def __init__(
        self, data: bytes, *, answers: bool = True, lease_age: int = 0, part: int = 0
    ) -> None:
        """`part` is the number of the part of a read that this server has."""
        self.data, self.answers, self.lease_age, self.part = data, answers, lease_age, part
        self.fault: StoreError = StoreTimeout("A: no answer in 2.0 s")
        self.uptime = 100  # s
        self.is_slave, self.behind, self.step = True, False, nothing
        self.asked = 0

    async def received(self) -> str:
        if not self.is_slave:
            raise StoreUnavailable("B: it is no slave that applies events")
        return "1-1-1"

    async def query_all(
        self, operation: str, *_: object, check: str, within: float | None = None
    ) -> list[Result]:
        self.asked += 1
        data, age = self.data, self.lease_age
        step, self.step = self.step, nothing
        await step()
        if not self.answers:
            raise self.fault
        of_slave = [_result((-1 if self.behind else 0,))] if operation.endswith(".slave") else []
        checks = _result((age, self.uptime)) if of_slave else _result((1, age))
        return [*of_slave, _result((self.part, data)), checks]


def _result(row: Row) -> Result:
    return Result([row], 0, 0)


class World:
    """A gateway over pairs of servers. `saved` is the topology in ZooKeeper."""

    def __init__(self, *servers: FakeServer, topology: Topology = FIRST) -> None:
        engine = MySqlEngine(
            topology, "", "", pool_size=1, deadline=5.0, observe=lambda *_: None, slave_reads=True
        )
        named: dict[str, Any] = dict(zip(topology.servers, servers, strict=True))
        engine.server = named.__getitem__  # type: ignore[assignment, method-assign]
        self.router = Router(engine, topology, lambda: 0)
        self.router.reload = self.reload
        self.saved, self.reloads, self.cut_off = topology, 0, False

    async def reload(self) -> None:
        self.reloads += 1
        if self.cut_off:
            raise StoreUnavailable("topology: cut off")
        if self.saved.epoch > self.router.topology.epoch:
            self.router.use(self.saved)

    async def read(self) -> Sequence[Row]:
        [rows] = await self.router.read("get", [Part(object_place("A", 0), "data", "FROM t", ())])
        return rows


async def test_a_read_follows_a_promotion_that_ended_before_the_gateway_heard_of_it() -> None:
    old, new = FakeServer(b"old", answers=False), FakeServer(b"new")
    world = World(old, new)

    async def promote() -> None:
        world.saved = topologies.promoted(FIRST, "A", "B")
        new.is_slave = False

    old.step = promote
    assert await world.read() == [(b"new",)]
    assert world.reloads == 1


@pytest.mark.parametrize("cut_off", [False, True])
async def test_a_read_fails_as_its_master_did_while_the_slave_is_lost_too(cut_off: bool) -> None:
    old, new = FakeServer(b"old", answers=False), FakeServer(b"new")
    world = World(old, new)
    new.is_slave, world.cut_off = False, cut_off
    with pytest.raises(StoreTimeout, match="no answer"):
        await world.read()
    assert world.reloads == 1
    assert (old.asked, new.asked) == (1, 0)


@pytest.mark.parametrize(
    "lost",
    [
        StoreTimeout("A: no answer in 2.0 s"),
        StoreUnavailable("A: it does not answer"),
        Refused("A: Can't connect"),
    ],
)
async def test_an_error_of_a_read_tells_what_is_wrong_with_the_master_and_with_its_slave(
    lost: StoreError,
) -> None:
    old, slave = FakeServer(b"old", answers=False), FakeServer(b"slave")
    world = World(old, slave)
    old.fault, slave.behind = lost, True
    with pytest.raises(StoreError) as raised:
        await world.read()
    assert type(raised.value) is type(lost)
    assert str(raised.value) == f"{lost}; its slave B: it has not applied all that it received"
    assert raised.value.__cause__ is lost


async def test_an_error_of_a_read_tells_that_the_slave_may_be_the_master_by_now() -> None:
    world = World(FakeServer(b"old", answers=False), FakeServer(b"slave"))
    world.cut_off = True
    with pytest.raises(StoreTimeout) as raised:
        await world.read()
    assert str(raised.value) == (
        "A: no answer in 2.0 s; its slave B: it can't be told whether it is still the slave:"
        " topology: cut off"
    )


async def test_a_slave_that_may_have_received_nothing_since_its_start_is_not_read() -> None:
    """Servers count their uptime in whole seconds: one of 3 s may have been up for 2.1 s, and a
    lease of 2.5 s ago may be from before its start."""
    old, slave = FakeServer(b"old", answers=False), FakeServer(b"slave", lease_age=2_500_000)
    world = World(old, slave)
    slave.uptime = 4
    assert await world.read() == [(b"slave",)]
    slave.uptime = 3
    with pytest.raises(StoreTimeout):
        await world.read()


async def test_a_slave_that_was_detached_during_the_read_is_not_believed() -> None:
    """The gateway knows of the detachment before it reads the topology again."""
    master, slave = FakeServer(b"old", answers=False), FakeServer(b"old")
    world = World(master, slave)

    async def detach() -> None:
        world.saved = topologies.with_slave(FIRST, "A", None)
        world.router.use(world.saved)
        master.data, master.answers = b"new", True

    slave.step = detach
    assert await world.read() == [(b"new",)]


async def test_a_master_that_was_deposed_during_the_read_is_not_believed() -> None:
    old, new = FakeServer(b"old", lease_age=LEASE_OVER), FakeServer(b"old")
    world = World(old, new)

    async def promote() -> None:
        world.saved = topologies.promoted(FIRST, "A", "B")
        world.router.use(world.saved)
        new.data = b"new"

    old.step = promote
    assert await world.read() == [(b"new",)]


async def test_a_master_that_was_deposed_while_another_was_asked_is_not_believed() -> None:
    """The servers of one read are asked one after the other, in turns of the event loop."""
    first = FakeServer(b"first")
    old, new = FakeServer(b"old", lease_age=LEASE_OVER, part=1), FakeServer(b"new", part=1)
    world = World(first, FakeServer(b"first"), old, new, topology=TWO_PAIRS)

    async def promote() -> None:
        world.saved = topologies.promoted(TWO_PAIRS, "C", "D")
        world.router.use(world.saved)

    first.step = promote
    parts = [
        Part(object_place(name, number), "data", "FROM t", ()) for number, name in enumerate("AC")
    ]
    assert await world.router.read("get", parts) == [[(b"first",)], [(b"new",)]]


async def test_reads_that_go_to_a_slave_are_one_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World(FakeServer(b"old", answers=False), FakeServer(b"new"))
    with caplog.at_level(logging.INFO, "pinway.stores"):
        for _ in range(3):
            assert await world.read() == [(b"new",)]
    [record] = caplog.records
    assert record.getMessage().startswith("A fails, and its slave is read instead: A: no answer")
