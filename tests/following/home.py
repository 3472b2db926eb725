"""Random schedules of writes, jobs, trims and visits, and the pins that home feeds must have shown.

Definition: every visible pin of what a viewer follows comes once, as followed. A picture counts as
come when the viewer was shown the pin, or another pin of its chain of repins. Of an interest, the
newest pins that its pool can hold count; of users and boards, the newest pins that a refill
searches. No pin comes for any other reason, because no pin is popular or related.
"""

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

from datasources.errors import StoreError
from datasources.protocols import Stores
from datasources.records import Board, Interest, Pin, User
from feed_engine import writes
from feed_engine.feeds import fanout
from feed_engine.feeds.rows import Reason, Source, pool_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart import candidates, cuts, handover, interests, lanes, pool_rows
from feed_engine.feeds.smart.interests import tidy
from feed_engine.feeds.smart.pool_refill import DEEPEST
from feed_engine.feeds.visits import remembered
from feed_engine.feeds.wide import due, due_rows
from feed_engine.outbox.completion import settle
from feed_engine.related import pool as related_pool
from feed_engine.times import DAY, HOUR, MINUTE
from tests.faulty import without
from tests.feeds import START, Feeding
from tests.following.jobs import drain, finish_row, may_repeat, run_row
from tests.following.schedule import _failing
from tests.jitter import jittered

STEPS = 30
PINS = 10  # at the beginning
VISITS = 40  # at the end, at most
TRIM_EVERY = 3  # arrivals at a row for each of its trims, on average
BEGIN = START + 30 * DAY  # epoch ms; pins are created before
FOLLOWED = {Reason.FOLLOWED_USER, Reason.FOLLOWED_BOARD, Reason.FOLLOWED_INTEREST}
ACTIONS = {
    "pin": 5,
    "repin": 2,
    "delete": 3,
    "move": 1,
    "flip": 3,
    "label": 2,
    "follow": 4,
    "unfollow": 2,
    "toggle": 2,
    "clock": 3,
    "trim": 3,
    "visit": 5,
    "job": 12,
    "again": 2,
    "crash": 2,
    "together": 3,
    "away": 1,
}
JUMPS = (1, MINUTE, HOUR, 3 * DAY)


class HomeSchedule:
    """A schedule during its run."""

    def __init__(self, feeding: Feeding, seed: int) -> None:
        self.rng, self.seed, self.feeding = random.Random(seed), seed, feeding
        draw = self.rng.choice
        self.settings = feeding.settings = FeedSettings(
            chunk=draw((1, 2, 3)),
            pool_cap=draw((2, 3, 4, 6)),
            interest_cap=draw((2, 3, 4, 6)),
            backfill=draw((2, 3, 6)),
            generator_seconds=60,
        )
        self.lame: Stores | None = None
        self.pins: dict[int, Pin] = {}
        self.secret: set[int] = set()
        self.labels: dict[int, tuple[int, ...]] = {}
        self.wrong: list[str] = []
        self.now = BEGIN

    async def run(self) -> list[str]:
        """The faults that were found."""
        with self._clock():
            await self._begin()
            for _ in range(STEPS):
                await self._act(self.rng.choices(list(ACTIONS), list(ACTIONS.values()))[0])
            self.lame = None
            await drain(self.feeding.stores, self.settings)
            for viewer in self.viewers:
                await self._judge(viewer)
        return [f"seed {self.seed}: {line}" for line in self.wrong]

    @contextmanager
    def _clock(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "time_ns", lambda: self.now * 1_000_000)
            yield

    async def _begin(self) -> None:
        feeding = self.feeding
        people = [await feeding.user() for _ in range(self.rng.choice((3, 4)))]
        self.viewers, self.owners = people[:-2], people[-2:]
        self.interests: list[Interest] = [await feeding.interest() for _ in range(2)]
        self.boards: list[Board] = [
            await feeding.board(owner) for owner in self.owners for _ in range(2)
        ]
        self.followed: dict[int, set[int]] = {viewer.id: set() for viewer in self.viewers}
        self.times = iter(self.rng.sample(range(10_000), STEPS + PINS))
        await drain(feeding.stores, self.settings)
        for _ in range(PINS):
            await self._write("pin")
        for viewer in self.viewers:
            for target in self.rng.sample(self._targets, 2):
                await feeding.follow(viewer, target)
                self.followed[viewer.id].add(target)
        if self.rng.random() < 0.5:
            await drain(feeding.stores, self.settings)

    @property
    def _stores(self) -> Stores:
        return self.lame or self.feeding.stores

    async def _act(self, action: str) -> None:
        rng, stores = self.rng, self.feeding.stores
        match action:
            case "clock":
                self.now += rng.choice((1, 1, 1, -1)) * rng.choice(JUMPS)
            case "trim":
                await self._trim(rng.choice(list(self._stores.pools)))
            case "visit":
                await self._visit(rng.choice(self.viewers), self._stores)
            case "away":
                side = rng.choice(("primary", "standby"))
                self.lame = None if self.lame else without(stores, "pools", side)
            case "job" | "again" | "crash":
                await self._job(action, self._stores)
            case "together":
                some = jittered(self._stores, random.Random(rng.random()))
                drawn = [rng.choice(("job", "job", "again")) for _ in range(2)]
                for action in drawn:
                    await self._job(action, some)
            case _:
                await self._write(action)

    async def _write(self, action: str) -> None:
        rng, stores = self.rng, self.feeding.stores
        viewer = rng.choice(self.viewers)
        followed = self.followed[viewer.id]
        pin = self.pins[rng.choice(sorted(self.pins))] if self.pins else None
        match action:
            case "pin":
                labels = [i.id for i in self.interests if rng.random() < 0.4]
                made = await self.feeding.pin_at(
                    rng.choice(self.boards), START + next(self.times), *labels
                )
                self.pins[made.id], self.labels[made.id] = made, tuple(labels)
            case "repin" if pin and pin.board_id not in self.secret:
                board = rng.choice(self.boards)
                at = START + next(self.times)
                new = (await writes.repin(stores, board.owner_id, pin.id, board.id, at=at)).pin
                self.pins[new.id], self.labels[new.id] = new, new.interest_ids
            case "delete" if pin:
                del self.pins[pin.id]
                await writes.delete_pin(stores, pin.owner_id, pin.id)
            case "move" if pin:
                board = rng.choice([b for b in self.boards if b.owner_id == pin.owner_id])
                moved = await writes.move_pin(stores, pin.owner_id, pin.id, board.id)
                self.pins[pin.id] = moved.pin
            case "label" if pin:
                labels = [i.id for i in self.interests if rng.random() < 0.5]
                change = writes.PinChange(interest_ids=tuple(labels))
                await writes.update_pin(stores, pin.owner_id, pin.id, change)
                self.labels[pin.id] = tuple(labels)
            case "flip":
                board = rng.choice(self.boards)
                secret = board.id not in self.secret
                flip = writes.BoardChange(secret=secret)
                await writes.update_board(stores, board.owner_id, board.id, flip)
                (self.secret.add if secret else self.secret.discard)(board.id)
            case "follow":
                target = rng.choice(self._targets)
                await self.feeding.follow(viewer, target)
                followed.add(target)
            case "unfollow" if followed:
                target = rng.choice(sorted(followed))
                await self.feeding.unfollow(viewer, target)
                followed.discard(target)
            case "toggle" if some := sorted(followed.intersection(self._targets)):
                target = rng.choice(some)
                for _ in range(rng.choice((1, 2))):
                    await self.feeding.unfollow(viewer, target)
                    await self.feeding.follow(viewer, target)

    @property
    def _targets(self) -> list[int]:
        boards = (board.id for board in self.boards if board.id not in self.secret)
        return [*(o.id for o in self.owners), *boards, *(i.id for i in self.interests)]

    async def _trim(self, store: Any) -> None:
        rng, settings = self.rng, self.settings
        with suppress(StoreError):
            if rng.random() < 0.5:
                interest = rng.choice(self.interests)
                await tidy(store, self.feeding.stores, interest.id, settings.interest_cap)
            else:
                viewer = rng.choice(self.viewers)
                row = pool_row(viewer.id, Source.FOLLOWED)
                await cuts.cut(store, row, viewer.id, settings.pool_cap)

    async def _job(self, action: str, stores: Stores) -> None:
        await settle()
        rows = await self.feeding.pending()
        if not rows:
            return
        row = self.rng.choice(rows)
        with suppress(StoreError):
            if action == "job":
                await finish_row(stores, row, self.settings, self.rng.choice((None, None, 1)))
            elif may_repeat(row):
                some = _failing(stores, self.rng) if action == "crash" else stores
                await run_row(some, row, self.settings)

    async def _visit(self, viewer: User, stores: Stores) -> int:
        """The number of new pins of a visit."""
        self.feeding.now = self.now
        page = await self.feeding.home(viewer, stores=stores, first=10)
        await settle()
        new = [item for item in page.items if item.reason is not Reason.SHOWN_BEFORE]
        followed = self.followed[viewer.id]
        for item in new:
            causes = {item.pin.owner_id, item.pin.board_id, *item.pin.interest_ids}
            if item.reason not in FOLLOWED or followed.isdisjoint(causes):
                self.wrong.append(f"{item.pin.id} came as {item.reason.name}")
        return len(new)

    async def _judge(self, viewer: User) -> None:
        expected = {pin.root: pin.id for pin in self._expected(viewer)}
        shown: list[int] = []
        for _ in range(VISITS):
            shown = await self._shown(viewer)
            if expected.keys() <= set(shown):
                break
            self.now += HOUR
            await self._visit(viewer, self.feeding.stores)
            await drain(self.feeding.stores, self.settings)
        if missing := expected.keys() - set(shown):
            lacking = [expected[root] for root in sorted(missing)]
            self.wrong.append(f"{viewer.id} never sees {lacking}, of {len(expected)}")
        if len(shown) != len(set(shown)):
            twice = sorted({root for root in shown if shown.count(root) > 1})
            self.wrong.append(f"{viewer.id} sees twice: {twice}")

    async def _shown(self, viewer: User) -> list[int]:
        """The first pins of the chains of all pins that the viewer was shown."""
        told = await self.feeding.stores.shards.visits.recent(viewer.id, 1000)
        chunks = [remembered(visit).chunk for visit in told]
        return [chunk.roots.get(pin_id, pin_id) for chunk in chunks for pin_id, _ in chunk.pins]

    def _expected(self, viewer: User) -> list[Pin]:
        followed, settings = self.followed[viewer.id], self.settings
        visible = [pin for pin in self.pins.values() if pin.board_id not in self.secret]
        visible.sort(key=lambda pin: -pin.created)
        most = max(settings.interest_cap, settings.backfill)
        found = _first(
            (p for p in visible if not followed.isdisjoint((p.owner_id, p.board_id))),
            DEEPEST * settings.pool_cap,
        )
        for interest in self.interests:
            if interest.id in followed:
                found += _first((p for p in visible if interest.id in self.labels[p.id]), most)
        return [pin for pin in found if pin.owner_id != viewer.id]


def _first(pins: Iterable[Pin], count: int) -> list[Pin]:
    return list(pins)[:count]


@contextmanager
def small_pools() -> Iterator[None]:
    """While schedules run, rows are read in small pages and trimmed often, and no pin is popular or
    related."""

    async def nothing(*_: Any, **__: Any) -> None: ...

    def rows_due(rows: Sequence[bytes], pin_id: int, cap: int) -> list[bytes]:
        return due_rows(rows, pin_id, 4 * TRIM_EVERY)

    small = {
        pool_rows: {"PAGE": 3, "SHARED_PAGE": 2, "TOP": 1},
        handover: {"SWEEP_EVERY": 4},
        candidates: {"SWEPT": 2},
        lanes: {"update_side": nothing},
        related_pool: {"update_popularity": nothing, "put": nothing},
        fanout: {"due_rows": rows_due},
        interests: {"due": lambda row, pin_id, cap: due(row, pin_id, 4 * TRIM_EVERY)},
    }
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for module, values in small.items():
            for name, value in values.items():
                patch.setattr(module, name, value)
        yield


async def run_home(feeding: Feeding, seed: int) -> list[str]:
    """Run a schedule. Returns the faults that were found."""
    with small_pools():
        return await HomeSchedule(feeding, seed).run()
