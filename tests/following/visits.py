"""Random schedules of one viewer's visits, and what their pages must show.

Definition: the list of a visit is its own chunk, then the chunks of earlier visits, newest first.
All its pages together show that list, whichever side answers, and whatever is saved in between.
Each pin is in one chunk.
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import msgspec
import pytest

from datasources.errors import StoreError
from datasources.protocols import Stores
from feed_engine.feeds import visits
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.results import HomePage
from feed_engine.feeds.visits import Chunk
from feed_engine.outbox.completion import settle
from tests.faulty import Preceded, with_part, without
from tests.feeds import START, Feeding, pins_of
from tests.following.jobs import drain, finish_row, run_row
from tests.following.schedule import _failing
from tests.jitter import jittered

STEPS = 30
LATE = 0.005  # seconds: the embedded feeds have answered
ACTIONS = {
    "visit": 4,
    "page": 6,
    "job": 4,
    "again": 1,
    "crash": 2,
    "together": 4,
    "late": 4,
    "pin": 2,
}


@dataclass
class Open:
    """A visit whose pages are being read."""

    page: HomePage
    seen: list[int] = field(default_factory=list)


class VisitSchedule:
    """A schedule during its run."""

    def __init__(self, feeding: Feeding, seed: int) -> None:
        self.rng, self.seed, self.feeding = random.Random(seed), seed, feeding
        self.settings = feeding.settings = FeedSettings(
            chunk=self.rng.choice((1, 2, 3)), generator_seconds=60
        )
        self.open: list[Open] = []
        self.done: list[Open] = []

    async def run(self) -> list[str]:
        """The visits whose pages were wrong."""
        self.viewer, owner = await self.feeding.user(), await self.feeding.user()
        self.board = await self.feeding.board(owner)
        await self.feeding.follow(self.viewer, owner.id)
        self.pins = [(await self.feeding.pin_at(self.board, START + n)).id for n in range(12)]
        await drain(self.feeding.stores, self.settings)
        for _ in range(STEPS):
            await self._act(self.rng.choices(list(ACTIONS), list(ACTIONS.values()))[0])
        while self.open:
            await self._page(self._sided())
        return await self._judge()

    async def _judge(self) -> list[str]:
        chunks: list[list[int]] = []
        wrong: list[str] = []
        for opened in self.done:
            name = opened.page.visit
            told = await self.feeding.stores.shards.visits.recent(self.viewer.id, 1000, named=name)
            chunks = [[id for id, _ in _chunk(visit.chunk).pins] for visit in reversed(told)]
            [this] = [visit.generation for visit in told if visit.visit == name]
            list_of = [id for chunk in reversed(chunks[:this]) for id in chunk]
            if opened.seen != list_of:
                wrong.append(f"seed {self.seed}: visit {this} shows {opened.seen}, not {list_of}")
        shown = [id for chunk in chunks for id in chunk]
        if len(shown) != len(set(shown)):
            wrong.append(f"seed {self.seed}: chosen twice: {chunks}")
        return wrong

    def _sided(self) -> Stores:
        """The stores, sometimes with one side of the feeds or pools unavailable."""
        stores, rng = self.feeding.stores, self.rng
        if rng.random() < 0.6:
            return stores
        return without(stores, rng.choice(("feeds", "pools")), rng.choice(("primary", "standby")))

    async def _act(self, action: str) -> None:
        stores = self.feeding.stores
        match action:
            case "visit":
                await self._visit(self._sided())
            case "page":
                await self._page(self._sided())
            case "pin":
                at = START + 1000 + len(self.pins)
                self.pins.append((await self.feeding.pin_at(self.board, at)).id)
            case "job" | "again":
                await self._job(action, stores)
            case "crash":
                await self._job("again", _failing(stores, self.rng))
            case "late":
                # The feeds are read, then jobs run to their end, then the shard is read.
                async def save() -> None:
                    await asyncio.sleep(LATE)
                    await self._job("job", stores)

                part = Preceded(stores.shards.visits, "recent", save)
                read = self._visit if self.rng.random() < 0.6 else self._page
                await read(with_part(stores, "visits", part))
            case "together":
                some = jittered(stores, random.Random(self.rng.random()))
                read = self._visit if self.rng.random() < 0.6 else self._page
                jobs = [self._job("job", some) for _ in range(self.rng.choice((1, 2, 3)))]
                await asyncio.gather(read(some), *jobs)
                await settle()

    async def _visit(self, stores: Stores) -> None:
        self.feeding.now += 1
        opened = Open(await self.feeding.home(self.viewer, stores=stores, first=2))
        self._read(opened)

    async def _page(self, stores: Stores) -> None:
        if not self.open:
            return
        opened = self.open.pop(self.rng.randrange(len(self.open)))
        after = opened.page.items[-1].cursor
        opened.page = await self.feeding.home(self.viewer, stores=stores, first=3, after=after)
        self._read(opened)

    def _read(self, opened: Open) -> None:
        opened.seen += pins_of(opened.page)
        (self.open if opened.page.has_next else self.done).append(opened)

    async def _job(self, action: str, stores: Stores) -> None:
        await settle()
        rows = await self.feeding.pending()
        if not rows:
            return
        row = self.rng.choice(rows)
        with suppress(StoreError):
            await (finish_row if action == "job" else run_row)(stores, row, self.settings)


_CHUNK = msgspec.json.Decoder(Chunk)


def _chunk(data: bytes) -> Chunk:
    return _CHUNK.decode(data)


@contextmanager
def one_saved_visit() -> Iterator[None]:
    """While schedules run, the shard returns one saved visit, and all unsaved visits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visits, "RECENT", 1)
        yield


async def run_visits(feeding: Feeding, seed: int) -> list[str]:
    """Run a schedule. Returns the visits whose pages were wrong."""
    with one_saved_visit():
        return await VisitSchedule(feeding, seed).run()
