"""A random schedule of writes, jobs, trims and faults, and what each side must show at its end.

Definition: a following feed shows the newest `cap` pins, by creation, that are visible now and that
the viewer follows now. Each side reaches this state when its queue is empty and a reader has come.
An available side reaches it while the other side is unavailable.
"""

import asyncio
import random
from contextlib import suppress
from typing import Any

from datasources.errors import StoreError
from datasources.protocols import OutboxRow, Sides, Stores
from feed_engine import writes
from feed_engine.feeds.row_cap import trim_following
from feed_engine.feeds.rows import id_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.outbox.completion import settle
from tests.faulty import Unwell, lacking, without
from tests.feeds import START, Feeding, pins_of
from tests.following.jobs import drain, finish_row, may_repeat, run_row
from tests.following.world import World
from tests.jitter import jittered

STEPS = 30
WRITES = {
    "pin": 7,
    "delete": 2,
    "move": 2,
    "drag": 4,
    "flip": 2,
    "delete board": 0.3,
    "follow": 4,
    "unfollow": 3,
}
ACTIONS = {
    **WRITES,
    "job": 8,
    "again": 2,
    "crash": 3,
    "together": 4,
    "trim": 3,
    "read": 2,
    "away": 1,
}


class Schedule:
    """A schedule during its run."""

    def __init__(self, feeding: Feeding, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed, self.feeding = seed, feeding
        self.cap = self.rng.choice((1, 2, 3, 4))
        self.settings = feeding.settings = FeedSettings(following_cap=self.cap)
        self.batch = self.rng.choice((None, None, 1, 2))
        self.away: tuple[str, str] | None = None
        self.lame: Stores | None = None  # without the unavailable side

    async def begin(self) -> None:
        count = self.rng.choice((1, 1, 2, 3))
        people = [await self.feeding.user() for _ in range(count + 2)]
        viewers, owners = people[:count], people[count:]
        boards = [await self.feeding.board(owner) for owner in owners for _ in range(2)]
        await drain(self.feeding.stores, self.settings)
        self.world = World(viewers, owners, boards)
        self.times = iter(self.rng.sample(range(10_000), STEPS))

    async def run(self) -> list[str]:
        """The sides whose feeds are wrong."""
        await self.begin()
        for _ in range(STEPS):
            await self._act(self._draw(ACTIONS))
        wrong = await self._judge_living() if self.away else []
        self.away = self.lame = None
        await drain(self.feeding.stores, self.settings)
        for side in ("primary", "standby"):
            wrong += await self._judge(side, self.feeding.stores)
        return wrong

    async def _judge_living(self) -> list[str]:
        """The feeds' available sides that are wrong after all possible jobs."""
        assert self.away is not None
        assert self.lame is not None
        kind, away = self.away
        wrong: list[str] = []
        await self._try_all()
        for side in {"primary", "standby"} - ({away} if kind == "feeds" else set()):
            wrong += await self._judge(side, self.lame)
        return wrong

    async def _try_all(self) -> None:
        """Run each job on the available sides, and the jobs that these post."""
        tried = set[tuple[int, int]]()
        await settle()
        while rows := [r for r in await self.feeding.pending() if (r.shard, r.id) not in tried]:
            for row in rows:
                tried.add((row.shard, row.id))
                with suppress(StoreError):
                    await finish_row(self._stores, row, self.settings, self.batch)
            await settle()

    async def _judge(self, side: str, stores: Stores) -> list[str]:
        wrong: list[str] = []
        alone = stores._replace(feeds=_only(stores.feeds, side))
        for viewer in self.world.viewers:
            await self.feeding.following(viewer, stores=alone)
            await self._try_all() if self.away else await drain(stores, self.settings)
            visible = self.world.expected(viewer)
            found = {"": alone, " without the shard": lacking(alone, "mappings")}
            for how, some in found.items():
                page = await self.feeding.following(viewer, stores=some)
                seen = pins_of(page)
                # Rows are trimmed occasionally, so a row may show more than its cap.
                good = seen[: self.cap] == visible[: self.cap] and set(seen) <= set(visible)
                if not good or (how and seen and not page.may_be_stale):
                    wrong.append(
                        f"seed {self.seed}: {side}{how} shows {seen}, not {visible[: self.cap]}"
                    )
        return wrong

    @property
    def _stores(self) -> Stores:
        return self.lame or self.feeding.stores

    def _draw(self, actions: dict[str, float]) -> str:
        return self.rng.choices(list(actions), list(actions.values()))[0]

    async def _act(self, action: str) -> None:
        rng, stores = self.rng, self.feeding.stores
        match action:
            case "trim":
                row = id_row(rng.choice(self.world.viewers).id)
                with suppress(StoreError):
                    await trim_following(rng.choice(list(self._stores.feeds)), row, self.cap)
            case "read":
                with suppress(StoreError):
                    await self.feeding.following(
                        rng.choice(self.world.viewers), stores=self._stores
                    )
                await settle()
            case "away" if self.away:
                self.away = self.lame = None
            case "away":
                self.away = rng.choice(("feeds", "pools")), rng.choice(("primary", "standby"))
                self.lame = without(stores, *self.away)
            case "job" | "again" | "crash":
                await self._run(action, await self._row(), self._stores)
            case "together":
                await self._together()
            case _:
                await self._write(action)

    async def _together(self) -> None:
        """Run jobs, perhaps the same job twice, and a write at the same time."""
        stores = jittered(self._stores, random.Random(self.rng.random()))
        drawn = [(self._draw({"job": 2, "again": 1}), await self._row()) for _ in range(2)]
        jobs = [self._run(action, row, stores) for action, row in drawn]
        await asyncio.gather(self._write(self._draw(WRITES)), *jobs)

    async def _write(self, action: str) -> None:
        feeding, world, rng = self.feeding, self.world, self.rng
        stores, viewer = feeding.stores, rng.choice(world.viewers)
        followed = world.followed[viewer.id]
        match action:
            case "pin" if world.boards:
                at = START + next(self.times, rng.randrange(10_000, 10**9))
                pin = await feeding.pin_at(rng.choice(world.boards), at)
                world.pins[pin.id] = pin
            case "delete" if world.pins:
                pin = world.pins.pop(rng.choice(sorted(world.pins)))
                await writes.delete_pin(stores, pin.owner_id, pin.id)
            case "move" if world.pins:
                pin = world.pins[rng.choice(sorted(world.pins))]
                board = rng.choice([b for b in world.boards if b.owner_id == pin.owner_id])
                moved = await writes.move_pin(stores, pin.owner_id, pin.id, board.id)
                world.pins[pin.id] = moved.pin
            case "drag" if world.pins:
                pin = world.pins[rng.choice(sorted(world.pins))]
                beside = [p.id for p in world.pins.values() if p.board_id == pin.board_id]
                if (other := rng.choice(beside)) != pin.id:
                    ids = pin.owner_id, pin.board_id, pin.id, other
                    await writes.reorder_pin(stores, *ids)
            case "flip" if world.boards:
                board = rng.choice(world.boards)
                secret = board.id not in world.secret
                change = writes.BoardChange(secret=secret)
                await writes.update_board(stores, board.owner_id, board.id, change)
                (world.secret.add if secret else world.secret.discard)(board.id)
            case "delete board" if len(world.boards) > 1:
                board = rng.choice(world.boards)
                world.delete_board(board)
                await writes.delete_board(stores, board.owner_id, board.id)
            case "follow":
                target = rng.choice(world.targets)
                await feeding.follow(viewer, target)
                followed.add(target)
            case "unfollow" if followed:
                target = rng.choice(sorted(followed))
                await feeding.unfollow(viewer, target)
                followed.discard(target)

    async def _row(self) -> OutboxRow | None:
        await settle()
        rows = await self.feeding.pending()
        return self.rng.choice(rows) if rows else None

    async def _run(self, action: str, row: OutboxRow | None, stores: Stores) -> None:
        if row is None:
            return
        with suppress(StoreError):
            if action == "job":
                await finish_row(stores, row, self.settings, self.batch)
            elif may_repeat(row):
                some = _failing(stores, self.rng) if action == "crash" else stores
                await run_row(some, row, self.settings, self.batch)


async def run_schedule(feeding: Feeding, seed: int) -> list[str]:
    """Run a schedule. Returns the sides whose feeds are wrong."""
    return await Schedule(feeding, seed).run()


def _only(sides: Sides, name: str) -> Sides:
    """The sides, with the other one unavailable."""
    pairs = zip(sides._fields, sides, strict=True)
    away: list[Any] = [side if field == name else Unwell(side) for field, side in pairs]
    return Sides(*away)


def _failing(stores: Stores, rng: random.Random) -> Stores:
    """Stores with one side that stops answering at some call."""
    kind, number = rng.choice(("feeds", "pools")), rng.randrange(2)
    sides = list(getattr(stores, kind))
    sides[number] = Unwell(sides[number], after=rng.randrange(6))
    return stores._replace(**{kind: Sides(*sides)})
