"""Live moves on a model of two servers, killed at every seam, under writers and readers."""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest

from datasources.errors import StoreError
from datasources.replication import moves
from datasources.replication.mover import Mover
from datasources.replication.moves import Move, State
from tests.scale import scaled
from tests.unit.datasources.moves.load import Gateway, check, gateways
from tests.unit.datasources.moves.model import SHARDS, Killed, ModelRecords, ModelSides, World
from tests.unit.feed_engine.virtual_time import run

SPAN = (SHARDS[0], SHARDS[-1])
Act = Callable[[Mover], Coroutine[Any, Any, Move]]


class Tool:
    """`pinway shards`, killed at the seams with the numbers in `kills`, and run again each time."""

    def __init__(self, world: World, kills: set[int]) -> None:
        self.world, self.kills = world, kills
        self.seams = 0
        self.told: list[str] = []
        self.killed_in: list[State] = []
        self.slowest = 0.0  # seconds that a write took
        self.refused = 0

    def seam(self) -> None:
        self.seams += 1
        if self.seams in self.kills:
            raise Killed

    async def move(self) -> State:
        """Run `move` to its end, with restarts."""
        self.world.record = None
        return await self._again_and_again(Mover.run)

    async def move_once(self) -> State:
        """Run `move` until it is killed."""
        self.world.record = None
        try:
            await self._mover().run()
        except (Killed, StoreError) as end:
            self._ended(end)
        return self.state

    async def roll_back(self) -> State:
        return await self._again_and_again(_rolled_back)

    @property
    def state(self) -> State:
        return State.PLANNED if self.world.record is None else moves.decode(self.world.record).state

    async def _again_and_again(self, act: Act) -> State:
        while True:
            try:
                return (await act(self._mover())).state
            except (Killed, StoreError) as end:
                self._ended(end)
                await self.world.delay(0.3)

    def _ended(self, end: BaseException) -> None:
        self.told.append(repr(end))
        if isinstance(end, Killed):
            self.killed_in.append(self.state)

    def _mover(self) -> Mover:
        if self.world.record is None:
            move = moves.planned(self.world.topology, SPAN, "t", size=2)
        else:
            move = moves.renamed(moves.decode(self.world.record), self.world.topology)
        sides = ModelSides(self.world, self.seam)
        return Mover(move, sides, ModelRecords(self.world, self.seam), tell=self.told.append)


async def _rolled_back(mover: Mover) -> Move:
    return mover.move if mover.move.state is State.BACK else await mover.rollback()


async def there(tool: Tool) -> State:
    return await tool.move()


async def there_back_and_there(tool: Tool) -> State:
    await tool.move()
    await tool.world.delay(0.2)
    assert await tool.roll_back() is State.BACK
    return await tool.move()


async def back_from_halfway(tool: Tool) -> State:
    await tool.move_once()
    return await tool.roll_back()


Play = Callable[[Tool], Coroutine[Any, Any, State]]


def played(
    seed: int, kills: set[int], play: Play, *, trouble: bool = False, promoted: bool = False
) -> Tool:
    """One run, with the checks at its end. `promoted`: the source dies during the move."""

    async def main() -> Tool:
        world = World(seed)
        made = gateways(world, all_watch=promoted)
        if trouble:
            world.hangs = 0.2
            world.start(troubles(world, made))
        if promoted:
            asyncio.get_running_loop().call_later(world.random.uniform(0.2, 2.5), world.promote)
        tool = Tool(world, kills)
        await asyncio.sleep(0.2)
        async with asyncio.timeout(2000):
            state = await play(tool)
        await settled(world, made)
        check(world, made)
        master = "t" if state is State.MOVED else "s2" if world.servers["s"].dead else "s"
        assert world.topology.moving == ()
        assert {world.topology.master_of(shard) for shard in SHARDS} == {master}
        assert all(world.servers[master].owns(shard) for shard in SHARDS)
        assert all(gateway.reads for gateway in made)
        tool.slowest = max(gateway.slowest for gateway in made)
        tool.refused = sum(len(gateway.refused) for gateway in made)
        return tool

    return run(main())


async def troubles(world: World, made: list[Gateway]) -> None:
    """Channels that stop, hang or break; ZooKeeper restarts; a gateway without ZooKeeper."""
    random = world.random
    while True:
        await world.delay(2.0)
        channels = [c for server in world.servers.values() for c in server.channels.values()]
        kind = random.randrange(5)
        if kind == 0:
            world.zookeeper_up = False
            await world.delay(1.0)
            world.zookeeper_up = True
        elif kind == 1:
            gateway = random.choice(made)
            gateway.cut_off = True
            await world.delay(3.0)
            gateway.cut_off = False
        elif channels:
            channel = random.choice(channels)
            if kind == 2:
                channel.running = False
            elif kind == 3:
                channel.stuck = True
                await world.delay(5.0)
                channel.stuck = False
            elif random.random() < 0.3:
                channel.broken = "its server lost its place"


async def settled(world: World, made: list[Gateway]) -> None:
    """Wait until every gateway has written again."""
    before = [len(gateway.acknowledged) for gateway in made]
    async with asyncio.timeout(100):
        while any(len(g.acknowledged) < n + 8 for g, n in zip(made, before, strict=True)):
            await world.delay(0.2)
    await world.stop()


STEPS = {there: 9, there_back_and_there: 31, back_from_halfway: 25}
"""Only some seams are tried; `make test-all` tries all, in some minutes."""


@pytest.mark.parametrize("play", STEPS)
def test_a_move_that_is_killed_at_any_seam_loses_and_doubles_nothing(play: Play) -> None:
    step = scaled(STEPS[play], 1)
    killed_in = set()
    for seam in range(1, played(1, set(), play).seams + 1, step):
        killed_in.update(played(seam, {seam}, play).killed_in)
    assert killed_in >= {State.COPYING, State.VERIFIED, State.HANDING}


def test_nothing_is_lost_whatever_else_fails_meanwhile() -> None:
    undone = 0
    for seed in range(scaled(5, 400)):
        kills = set(Random(seed).sample(range(1, 300), 3))
        tool = played(seed, kills, there_back_and_there, trouble=True)
        undone += any("going back" in line for line in tool.told)
    assert undone > 2


def test_a_source_that_dies_and_its_successor_lose_nothing() -> None:
    for seed in range(scaled(10, 100)):
        tool = played(seed, {seed + 40}, there if seed % 2 else back_from_halfway, promoted=True)
        assert tool.seams


def test_writes_wait_less_than_a_second_for_a_move_without_trouble() -> None:
    tools = [played(seed, set(), there_back_and_there) for seed in range(5)]
    assert max(tool.slowest for tool in tools) < 1.0
    assert sum(tool.refused for tool in tools) == 0
