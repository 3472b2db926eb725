"""Jobs of follows, unfollows and new pins: in any order, twice, partially, and during each
other."""

import itertools
import random
from typing import Any

import msgspec
import pytest

from datasources.errors import StoreError
from datasources.protocols import Sides
from feed_engine.feeds.fanout import pin_published
from feed_engine.feeds.follow_jobs import followed, unfollowed
from feed_engine.feeds.rows import POOLS, Reason, Source, pool_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import Followed, PinPublished, Task, Unfollowed
from tests.faulty import Interrupted, Preceded, Unwell, marking, with_part
from tests.feeds import START, Feeding, pins_of
from tests.scale import nightly_unless, seeds

pytestmark = pytest.mark.anyio


async def test_every_order_of_follow_unfollow_and_publish_jobs_ends_in_the_same_feed(
    feeding: Feeding,
) -> None:
    owner = await feeding.user()
    board = await feeding.board(owner)
    await feeding.drain()
    orders = list(itertools.permutations(range(5)))[::5]
    viewers = {order: await feeding.user() for order in orders}
    tasks: dict[int, list[Task]] = {}
    published = [(await feeding.pin_at(board, START)).id]
    pins: list[Task] = await feeding.tasks()
    await feeding.drain()
    for viewer in viewers.values():
        await feeding.follow(viewer, owner.id)
        await feeding.unfollow(viewer, owner.id)
        await feeding.follow(viewer, owner.id)
    for task in await feeding.tasks():
        assert isinstance(task, Followed | Unfollowed)
        tasks.setdefault(task.viewer_id, []).append(task)
    published.append((await feeding.pin_at(board, START + 1)).id)
    pins += [task for task in await feeding.tasks() if isinstance(task, PinPublished)]
    assert (len(pins), {len(some) for some in tasks.values()}) == (2, {3})
    for order, viewer in viewers.items():
        for number in order:
            await feeding.run([*tasks[viewer.id], *pins][number])
    for viewer in viewers.values():
        assert pins_of(await feeding.following(viewer)) == published[::-1]
        primary, standby = await feeding.cells(viewer)
        assert primary == standby == [(pin_id, owner.id) for pin_id in published[::-1]]


@pytest.mark.parametrize("seed", seeds(4, 40))
async def test_jobs_run_late_twice_and_in_any_order_show_what_is_followed_now(
    feeding: Feeding, seed: int
) -> None:
    rng = random.Random(seed)
    viewer, *owners = [await feeding.user() for _ in range(4)]
    boards = [await feeding.board(owner) for owner in owners for _ in range(2)]
    targets = [*(owner.id for owner in owners), *(board.id for board in boards)]
    await feeding.drain()
    following: set[int] = set()
    pins = []
    for number in range(40):
        target = rng.choice(targets)
        match rng.choice(["pin", "pin", "follow", "unfollow", "job", "job"]):
            case "pin":
                pins.append(await feeding.pin_at(rng.choice(boards), START + number))
            case "follow":
                await feeding.follow(viewer, target)
                following.add(target)
            case "unfollow":
                await feeding.unfollow(viewer, target)
                following.discard(target)
            case _:
                if tasks := await feeding.tasks():
                    await feeding.run(rng.choice(tasks))
    rest = await feeding.tasks()
    rng.shuffle(rest)
    for task in rest:
        await feeding.run(task)
    expected = [p.id for p in reversed(pins) if following & {p.owner_id, p.board_id}]
    assert pins_of(await feeding.following(viewer)) == expected
    await feeding.drain()
    assert pins_of(await feeding.following(viewer)) == expected
    primary, standby = await feeding.cells(viewer)
    assert primary == standby


@pytest.mark.parametrize("trims_by", ["removing", "marking"])
async def test_a_feed_holds_the_newest_up_to_its_cap_whatever_the_order(
    feeding: Feeding, trims_by: str
) -> None:
    settings = FeedSettings(following_cap=4)
    if trims_by == "marking":
        feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    viewer, new, old = [await feeding.user() for _ in range(3)]
    board = await feeding.board(new)
    late = await feeding.pins(board, 12, start=START + 1_000_000)
    early = await feeding.pins(await feeding.board(old), 6)
    await feeding.drain()
    for target in (new.id, board.id, old.id):
        await feeding.follow(viewer, target)
    for task in await feeding.tasks():
        assert isinstance(task, Followed)
        await followed(feeding.stores, task, None, _nowhere, settings=settings)
    found = await feeding.cells(viewer)
    assert found[0] == found[1]
    assert {pin_id for pin_id, _ in found[0]} == {pin.id for pin in late[-4:]}
    assert pins_of(await feeding.following(viewer)) == [pin.id for pin in late[:-5:-1]]
    for target in (new.id, board.id):
        await feeding.unfollow(viewer, target)
    for task in await feeding.tasks():
        if isinstance(task, Unfollowed):
            await unfollowed(feeding.stores, task, None, _nowhere, settings=settings)
    assert pins_of(await feeding.following(viewer)) == [pin.id for pin in early[:-5:-1]]


@pytest.mark.parametrize("dies", ["standby", "mappings"])
async def test_an_unfollow_that_died_half_way_still_fills_the_feed_up(
    feeding: Feeding, dies: str
) -> None:
    settings = FeedSettings(following_cap=3)
    viewer, new, old = [await feeding.user() for _ in range(3)]
    newer = await feeding.board(new)
    await feeding.pins(newer, 8, start=START + 1_000_000)
    early = await feeding.pins(await feeding.board(old), 3)
    for target in (new.id, newer.id, old.id):
        await feeding.follow(viewer, target)
    for task in await feeding.tasks():
        if isinstance(task, Followed):
            await followed(feeding.stores, task, None, _nowhere, settings=settings)
    await feeding.unfollow(viewer, newer.id)
    await feeding.unfollow(viewer, new.id)
    tasks = [task for task in await feeding.tasks() if isinstance(task, Unfollowed)]
    for task in tasks:
        cursor: bytes | None = None

        async def advance(saved: bytes) -> None:
            nonlocal cursor
            cursor = saved

        for calls in itertools.count():
            if dies == "standby":
                standby = Unwell(feeding.stores.feeds.standby, after=calls)
                feeds = Sides(feeding.stores.feeds.primary, standby)
                stores = feeding.stores._replace(feeds=feeds)
            else:
                mappings = Unwell(feeding.stores.shards.mappings, after=calls)
                stores = with_part(feeding.stores, "mappings", mappings)
            try:
                await unfollowed(stores, task, cursor, advance, settings=settings)
            except StoreError:
                continue
            break
    assert pins_of(await feeding.following(viewer)) == [p.id for p in reversed(early)]


@pytest.mark.parametrize("kind", [PinPublished, Followed])
async def test_an_unfollow_in_the_midst_of_another_job_leaves_nothing_in_the_rows(
    feeding: Feeding, kind: type[PinPublished | Followed]
) -> None:
    """The job reads the edge; the unfollow and its job run completely; then the job writes."""
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    await feeding.pin_at(board, START)
    task = next(task for task in await feeding.tasks() if isinstance(task, kind))

    async def unfollow() -> None:
        await feeding.unfollow(viewer, owner.id)
        for unfollow in await feeding.tasks():
            if isinstance(unfollow, Unfollowed):
                await feeding.run(unfollow)

    read = {PinPublished: "pages", Followed: "edges"}[kind]
    mappings = Interrupted(feeding.stores.shards.mappings, read, unfollow)
    await feeding.run(task, stores=with_part(feeding.stores, "mappings", mappings))
    assert await feeding.cells(viewer) == [[], []]
    for side in feeding.stores.pools:
        assert await read_row(side, POOLS, pool_row(viewer.id, Source.FOLLOWED)) == []


@pytest.mark.parametrize("kind", [PinPublished, Followed])
async def test_a_pin_and_a_follow_that_come_in_the_midst_of_each_others_jobs_meet(
    feeding: Feeding, kind: type[PinPublished | Followed]
) -> None:
    """One job has made its reads; the other change and its job run completely; then the first
    job writes."""
    viewer, owner = await feeding.user(), await feeding.user()
    board, pins = await feeding.board(owner), list[int]()

    async def publish() -> None:
        pins.append((await feeding.pin_at(board, START + len(pins))).id)

    async def follow() -> None:
        await feeding.follow(viewer, owner.id)

    begin, come = (publish, follow) if kind is PinPublished else (follow, publish)
    await begin()
    (task,) = await feeding.tasks()

    async def change_comes() -> None:
        await come()
        for other in await feeding.tasks():
            if not isinstance(other, kind):
                await feeding.run(other)

    read = {PinPublished: "pages", Followed: "edges"}[kind]
    mappings = Interrupted(feeding.stores.shards.mappings, read, change_comes)
    await feeding.run(task, stores=with_part(feeding.stores, "mappings", mappings))
    await feeding.drain()
    assert pins_of(await feeding.following(viewer)) == pins
    assert await feeding.cells(viewer) == [[(pins[0], owner.id)]] * 2


async def test_a_fan_out_that_died_goes_on_where_it_was(feeding: Feeding) -> None:
    owner = await feeding.user()
    board = await feeding.board(owner)
    viewers = [await feeding.user() for _ in range(7)]
    for viewer in viewers:
        await feeding.follow(viewer, owner.id)
    await feeding.drain()
    pin = await feeding.pin_at(board, START)
    (task,) = await feeding.tasks()
    assert isinstance(task, PinPublished)
    cursors: list[bytes] = []

    async def die_at_the_second(saved: bytes) -> None:
        cursors.append(saved)
        if len(cursors) >= 2:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        await pin_published(feeding.stores, task, None, die_at_the_second, page=2)
    reached = [bool((await feeding.cells(viewer))[0]) for viewer in viewers]
    assert 0 < sum(reached) < len(viewers)
    await pin_published(feeding.stores, task, cursors[-1], _nowhere, page=2)
    for viewer in viewers:
        assert await feeding.cells(viewer) == [[(pin.id, owner.id)]] * 2


async def test_a_fan_out_that_missed_a_side_fails_and_is_complete_after_another_run(
    feeding: Feeding,
) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    await feeding.drain()
    pin = await feeding.pin_at(board, START)
    (task,) = await feeding.tasks()
    lame = Sides(Unwell(feeding.stores.feeds.primary), feeding.stores.feeds.standby)
    with pytest.raises(StoreError):
        await feeding.run(task, stores=feeding.stores._replace(feeds=lame))
    assert await feeding.cells(viewer) == [[], [(pin.id, owner.id)]]
    await feeding.run(task)
    assert await feeding.cells(viewer) == [[(pin.id, owner.id)]] * 2


async def _nowhere(cursor: bytes) -> None: ...


@pytest.mark.parametrize(
    ("times", "order"),
    [
        # In `make test`, each order has one of the times.
        pytest.param(times, order, marks=nightly_unless(number % 3 == at))
        for at, times in enumerate([(5, 5, 5), (9_000, 9_000, 5), (5, 90_000_000, 6)])
        for number, order in enumerate(itertools.permutations(range(3)))
    ],
)
async def test_a_follow_that_comes_back_at_once_brings_its_pins_whatever_the_clocks_say(
    feeding: Feeding, times: tuple[int, int, int], order: tuple[int, int, int]
) -> None:
    """Follow, unfollow and follow within a millisecond, or at gateways whose clocks differ."""
    viewer, owner = await feeding.user(), await feeding.user()
    pins = await feeding.pins(await feeding.board(owner), 5)
    await feeding.drain()
    await feeding.follow(viewer, owner.id)
    await feeding.unfollow(viewer, owner.id)
    await feeding.follow(viewer, owner.id)
    tasks = [
        msgspec.structs.replace(task, at=START + at)
        for task, at in zip(await feeding.tasks(), times, strict=True)
        if isinstance(task, Followed | Unfollowed)
    ]
    for number in order:
        await feeding.run(tasks[number])
    row = pool_row(viewer.id, Source.FOLLOWED)
    for store in feeding.stores.pools:
        assert len(await read_row(store, POOLS, row)) == len(pins)
    page = await feeding.home(viewer)
    assert set(pins_of(page)) == {pin.id for pin in pins}
    assert {item.reason for item in page.items} == {Reason.FOLLOWED_USER}


@pytest.mark.parametrize("call", ["read", "delete"])
async def test_a_follow_that_comes_back_during_the_unfollows_job_keeps_its_pins(
    feeding: Feeding, call: str
) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    pins = await feeding.pins(await feeding.board(owner), 20)
    await feeding.follow(viewer, owner.id)
    await feeding.drain()
    await feeding.unfollow(viewer, owner.id)
    [task] = await feeding.tasks()
    row = pool_row(viewer.id, Source.FOLLOWED)

    async def come_back() -> None:
        await feeding.follow(viewer, owner.id)
        for later in await feeding.tasks():
            if isinstance(later, Followed):
                await feeding.run(msgspec.structs.replace(later, at=1))

    primary: Any = Preceded(feeding.stores.pools.primary, call, come_back)
    sides = feeding.stores.pools._replace(primary=primary)
    await feeding.run(task, stores=feeding.stores._replace(pools=sides))
    assert await feeding.following_ids(viewer) == [owner.id]
    for store in feeding.stores.pools:
        assert len(await read_row(store, POOLS, row)) == len(pins)
