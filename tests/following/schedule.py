"""One random schedule of writes, jobs, trims and faults, and what each side must show at its end.

Definition: a following feed shows the newest `cap` pins, by creation, that are visible now, of what
is followed now; each side gets there when its queue has drained and a reader has come.
"""

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from datasources.errors import StoreError
from datasources.protocols import Sides, Stores
from datasources.records import Board, Pin, User
from feed_engine import writes
from feed_engine.feeds.rows import id_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.trimming import trim_following
from feed_engine.outbox.completion import settle
from tests.faulty import Unwell
from tests.feeding import START, Feeding, pins_of
from tests.following.jobs import drain, finish_row, run_row

STEPS = 30
OF_BOARDS = (b"BoardSecrecy", b"BoardDeleted", b"Respace")
ACTIONS = {
    "pin": 7,
    "delete": 2,
    "move": 2,
    "flip": 2,
    "follow": 4,
    "unfollow": 3,
    "job": 8,
    "again": 2,
    "crash": 3,
    "trim": 3,
    "read": 2,
}


@dataclass
class World:
    """The model of what was written."""

    viewer: User
    owners: list[User]
    boards: list[Board]
    secret: set[int] = field(default_factory=set)
    pins: dict[int, Pin] = field(default_factory=dict)  # active ones, with their present boards
    followed: set[int] = field(default_factory=set)

    def expected(self) -> list[int]:
        """All pins that may be shown, the newest first."""
        shown = [
            pin
            for pin in self.pins.values()
            if pin.board_id not in self.secret and {pin.owner_id, pin.board_id} & self.followed
        ]
        return [pin.id for pin in sorted(shown, key=lambda pin: -pin.created)]


async def run_schedule(feeding: Feeding, seed: int) -> list[str]:
    """Run a schedule; the sides that show something else than they must."""
    rng = random.Random(seed)
    cap = rng.choice((1, 2, 3, 4))
    settings = FeedSettings(following_cap=cap)
    feeding.settings = settings
    viewer, *owners = [await feeding.user() for _ in range(3)]
    boards = [await feeding.board(owner) for owner in owners for _ in range(2)]
    await drain(feeding.stores, settings)
    world = World(viewer, owners, boards)
    times = rng.sample(range(10_000), STEPS)
    for number in range(STEPS):
        action = rng.choices(list(ACTIONS), list(ACTIONS.values()))[0]
        await _act(feeding, world, action, times[number], settings, rng)
    await drain(feeding.stores, settings)
    wrong = []
    for name in ("primary", "standby"):
        alone = feeding.stores._replace(feeds=_only(feeding.stores.feeds, name))
        await feeding.following(viewer, stores=alone)
        await settle()
        await drain(feeding.stores, settings)
        seen = pins_of(await feeding.following(viewer, stores=alone))
        visible = world.expected()
        # A row is trimmed now and then, so it may show more than its cap.
        if seen[:cap] != visible[:cap] or not set(seen) <= set(visible):
            wrong.append(f"seed {seed}: {name} shows {seen}, not {visible[:cap]}")
    return wrong


def _only(sides: Sides, name: str) -> Sides:
    """The sides without the other one."""
    pairs = zip(sides._fields, sides, strict=True)
    away: list[Any] = [side if field == name else Unwell(side) for field, side in pairs]
    return Sides(*away)


async def _act(
    feeding: Feeding,
    world: World,
    action: str,
    at: int,
    settings: FeedSettings,
    rng: random.Random,
) -> None:
    stores, targets = feeding.stores, [*world.owners, *world.boards]
    match action:
        case "pin":
            pin = await feeding.pin_at(rng.choice(world.boards), START + at)
            world.pins[pin.id] = pin
        case "delete" if world.pins:
            pin = world.pins.pop(rng.choice(sorted(world.pins)))
            await writes.delete_pin(stores, pin.owner_id, pin.id)
        case "move" if world.pins:
            pin = world.pins[rng.choice(sorted(world.pins))]
            board = rng.choice([b for b in world.boards if b.owner_id == pin.owner_id])
            moved = await writes.move_pin(stores, pin.owner_id, pin.id, board.id)
            world.pins[pin.id] = moved.pin
        case "flip":
            board = rng.choice(world.boards)
            secret = board.id not in world.secret
            change = writes.BoardChange(secret=secret)
            await writes.update_board(stores, board.owner_id, board.id, change)
            (world.secret.add if secret else world.secret.discard)(board.id)
        case "follow":
            target = rng.choice([t.id for t in targets if t.id not in world.secret])
            await feeding.follow(world.viewer, target)
            world.followed.add(target)
        case "unfollow" if world.followed:
            target = rng.choice(sorted(world.followed))
            await feeding.unfollow(world.viewer, target)
            world.followed.discard(target)
        case "trim":
            row = id_row(world.viewer.id)
            await trim_following(rng.choice(list(stores.feeds)), row, settings.following_cap)
        case "read":
            await feeding.following(world.viewer)
            await settle()
        case "job" | "again" | "crash":
            await _job(feeding, action, settings, rng)


async def _job(feeding: Feeding, action: str, settings: FeedSettings, rng: random.Random) -> None:
    await settle()
    rows = await feeding.pending()
    if not rows:
        return
    row = rng.choice(rows)
    if action == "job":
        await finish_row(feeding.stores, row, settings)
        return
    if row.kind != "change" or any(name in row.payload for name in OF_BOARDS):
        return
    if action == "again":
        await run_row(feeding.stores, row, settings)
        return
    with suppress(StoreError):
        await run_row(_failing(feeding.stores, rng), row, settings)


def _failing(stores: Stores, rng: random.Random) -> Stores:
    """Stores of which one side stops answering at some call."""
    kind, number = rng.choice(("feeds", "pools")), rng.randrange(2)
    sides = list(getattr(stores, kind))
    sides[number] = Unwell(sides[number], after=rng.randrange(6))
    return stores._replace(**{kind: Sides(*sides)})
