"""The graph agrees with what is public: after a build, and after each change since."""

import random
from pathlib import Path

import pytest

from datasources.errors import StoreConflict, StoreUnavailable
from datasources.protocols import Sides
from feed_engine import writes
from feed_engine.feeds.rows import POOLS
from feed_engine.feeds.wide import read_row
from feed_engine.related import build as building
from feed_engine.related import changes
from feed_engine.related.build import build
from feed_engine.related.upkeep import due, keep_built
from feed_engine.related.walks import ABSENT, DAMAGED, OK, OLD, Walks
from feed_engine.times import DAY, HOUR
from tests.faulty import Unwell, down, lacking
from tests.feeds import Feeding
from tests.stores.feed_engine.related.worlds import drain_with, edges, public, repin, walking

pytestmark = pytest.mark.anyio


async def test_a_build_has_every_public_pin_and_no_other(
    feeding: Feeding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "PAGE", 3)
    one, two = await feeding.user(), await feeding.user()
    board, secret = await feeding.board(one), await feeding.board(two, secret=True)
    other, gone = await feeding.board(two), await feeding.board(two)
    first, second, third = await feeding.pins(board, 3)
    await feeding.pins(secret, 2)
    await feeding.pins(gone, 2)
    again = await repin(feeding, two, first, other)
    await repin(feeding, one, again, board)
    await repin(feeding, two, second, secret)
    await writes.delete_pin(feeding.stores, one.id, third.id)
    await writes.delete_board(feeding.stores, two.id, gone.id)
    read: list[int] = []
    async with walking(feeding.stores, tmp_path, built=False) as walks:
        header = await build(feeding.stores, walks.path, on_pins=read.append)
        assert await edges(walks) == {
            (first.id, board.id),
            (second.id, board.id),
            (first.id, other.id),
        }
        assert header.pins == 4
        assert read[-1] == 10
        assert len(read) > 3


async def test_each_change_reaches_the_graph_with_its_job(feeding: Feeding, tmp_path: Path) -> None:
    one, two = await feeding.user(), await feeding.user()
    board, other = await feeding.board(one), await feeding.board(two)
    secret = await feeding.board(one, secret=True)
    first, second = await feeding.pins(board, 2)
    stores = feeding.stores
    async with walking(stores, tmp_path) as walks:

        async def agree() -> None:
            await drain_with(stores, walks)
            assert await edges(walks) == await public(stores)

        saved = await feeding.pin_at(board, 10**12)
        await agree()
        await repin(feeding, two, saved, other)
        await agree()
        await writes.move_pin(stores, one.id, first.id, secret.id)
        await agree()
        await writes.move_pin(stores, one.id, first.id, board.id)
        await agree()
        await writes.delete_pin(stores, one.id, second.id)
        await agree()
        await writes.update_board(stores, one.id, board.id, writes.BoardChange(secret=True))
        await agree()
        await writes.update_board(stores, one.id, board.id, writes.BoardChange(secret=False))
        await agree()
        await writes.delete_board(stores, two.id, other.id)
        await agree()


@pytest.mark.parametrize("seed", range(3))
async def test_changes_in_any_order_and_twice_end_with_what_is_public(
    feeding: Feeding, tmp_path: Path, seed: int
) -> None:
    """The log is written in a random order, with every entry twice."""
    dice, stores = random.Random(seed), feeding.stores
    user = await feeding.user()
    boards = [await feeding.board(user) for _ in range(3)]
    pins = [pin for board in boards for pin in await feeding.pins(board, 3)]
    async with walking(stores, tmp_path) as walks:
        built = await edges(walks)
        touched: list[int] = []
        for _ in range(12):
            pin, board = dice.choice(pins), dice.choice(boards)
            match dice.randrange(3):
                case 0:
                    await writes.move_pin(stores, user.id, pin.id, board.id)
                    touched.append(pin.id)
                case 1:
                    change = writes.BoardChange(secret=dice.random() < 0.5)
                    await writes.update_board(stores, user.id, board.id, change)
                    touched += [board.id, *(pin.id for pin in pins)]
                case 2:
                    saved = await repin(feeding, user, pin, board)
                    touched.append(saved.id)
        entries = touched * 2
        dice.shuffle(entries)
        for place, id in enumerate(entries):
            await changes.note(stores, [id], feeding.now + place % 7)
        assert await edges(walks) == await public(stores) != built


async def test_a_change_while_the_snapshot_is_built_is_in_the_log(
    feeding: Feeding, tmp_path: Path
) -> None:
    user = await feeding.user()
    board = await feeding.board(user)
    pins = await feeding.pins(board, 3)
    async with walking(feeding.stores, tmp_path) as walks:
        await drain_with(feeding.stores, walks)
        before = await edges(walks)

        async def read(*args: object, **rest: object) -> object:
            saves = await saves_of(*args, **rest)  # type: ignore[arg-type]
            await writes.delete_pin(feeding.stores, user.id, pins[0].id)
            await drain_with(feeding.stores, walks)
            return saves

        saves_of = building._saves
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(building, "_saves", read)
            await build(feeding.stores, walks.path)
        assert await edges(walks) == before - {(pins[0].id, board.id)}


async def test_one_side_of_the_log_is_enough_and_an_entry_of_either_side_counts(
    feeding: Feeding, tmp_path: Path
) -> None:
    user = await feeding.user()
    board = await feeding.board(user)
    stores = feeding.stores
    primary, standby = stores.pools
    await feeding.drain()
    async with walking(stores, tmp_path) as walks:
        for sides in (Sides(Unwell(primary), standby), Sides(primary, Unwell(standby))):
            pin = await feeding.pin_at(board, 10**12)
            await changes.note(stores._replace(pools=sides), [pin.id], feeding.now)
        assert len(await edges(walks)) == 2
    with pytest.raises(StoreUnavailable, match="either side"):
        await changes.note(stores._replace(pools=down(stores.pools)), [1], feeding.now)


async def test_a_long_log_is_read_whole_from_sides_that_differ(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_PAGE", 4)
    stores = feeding.stores
    primary, standby = stores.pools
    wanted = set()
    for number in range(30):
        sides = [Sides(primary, Unwell(standby)), Sides(Unwell(primary), standby), stores.pools]
        at = HOUR * 10 + number * (HOUR // 20)
        await changes.note(stores._replace(pools=sides[number % 3]), [number + 1], at)
        wanted.add(changes.Entry(at, number + 1))
    read = [page async for page in changes.entries(stores, HOUR * 10, HOUR * 12)]
    assert set().union(*read) == wanted
    since = HOUR * 10 + 7 * (HOUR // 20)
    later = [page async for page in changes.entries(stores, since, HOUR * 12)]
    assert set().union(*later) == {entry for entry in wanted if entry.at >= since}


async def test_an_entry_of_a_clock_that_is_behind_is_read(feeding: Feeding, tmp_path: Path) -> None:
    board = await feeding.board(await feeding.user())
    async with walking(feeding.stores, tmp_path) as walks:
        ahead, behind = await feeding.pins(board, 2)
        now = feeding.now
        await changes.note(feeding.stores, [ahead.id], now + 30_000)
        assert await edges(walks) == {(ahead.id, board.id)}
        await changes.note(feeding.stores, [behind.id], now - 20_000)
        assert await edges(walks) == {(ahead.id, board.id), (behind.id, board.id)}


async def test_the_log_is_kept_for_three_days(feeding: Feeding, tmp_path: Path) -> None:
    now = 100 * DAY
    await changes.note(feeding.stores, [1], now - 4 * DAY)
    await changes.note(feeding.stores, [2], now - 2 * DAY)
    await build(feeding.stores, tmp_path / "graph", clock=lambda: now)
    for side in feeding.stores.pools:
        assert not await read_row(side, POOLS, changes.log_row(now - 4 * DAY))
        assert await read_row(side, POOLS, changes.log_row(now - 2 * DAY))


async def test_two_processes_do_not_build_at_the_same_time(
    feeding: Feeding, tmp_path: Path
) -> None:
    with building._alone(tmp_path / "graph"), pytest.raises(StoreConflict, match="another process"):
        await build(feeding.stores, tmp_path / "graph")
    await build(feeding.stores, tmp_path / "graph")


async def test_the_state_of_the_file_says_what_is_wrong(feeding: Feeding, tmp_path: Path) -> None:
    stores, now = feeding.stores, [50 * DAY]
    await feeding.pins(await feeding.board(await feeding.user()), 2)
    walks = Walks(stores, tmp_path / "graph", every=0.0, clock=lambda: now[0])

    async def state() -> str:
        found = await walks.state()
        usable = await walks.run(lambda graph: graph.header.pins)
        assert (usable == 2) is (found.state == OK)
        return found.state

    try:
        assert await state() == ABSENT
        assert await due(walks, 24, lambda: now[0]) == ABSENT
        await build(stores, walks.path, clock=lambda: now[0])
        assert await state() == OK
        assert await due(walks, 24, lambda: now[0]) == ""
        now[0] += 25 * HOUR
        assert await state() == OK
        assert "24 hours" in await due(walks, 24, lambda: now[0])
        now[0] += 3 * DAY
        assert await state() == OLD
        raw = bytearray(walks.path.read_bytes())
        raw[_place(walks)] ^= 1
        walks.path.write_bytes(raw)
        assert await state() == DAMAGED
        assert "checksum" in (await walks.state()).fault
        await build(stores, walks.path, clock=lambda: now[0])
        assert await state() == OK
        walks.path.unlink()
        assert await state() == ABSENT
    finally:
        await walks.close()


def _place(walks: Walks) -> int:
    """A place in the file's arrays."""
    from feed_engine.related.snapshot import read_header

    return read_header(walks.path).sections["root_ids"].offset


async def test_the_snapshot_is_built_when_it_is_due_and_stores_that_fail_are_tried_again(
    feeding: Feeding, tmp_path: Path
) -> None:
    await feeding.pins(await feeding.board(await feeding.user()), 2)
    walks = Walks(feeding.stores, tmp_path / "graph", every=0.0)
    states: list[str] = []

    class Enough(Exception):
        pass

    async def sleep(_: float) -> None:
        states.append((await walks.state()).state)
        if len(states) == 3:
            walks.path.write_bytes(b"damaged")
        if len(states) == 5:
            raise Enough

    try:
        with pytest.raises(Enough):
            await keep_built(feeding.stores, walks, hours=24, sleep=sleep)
        assert states == [ABSENT, OK, OK, OK, OK]
        walks.path.unlink()
        states.clear()
        away = lacking(feeding.stores, "objects")
        with pytest.raises(Enough):
            await keep_built(away, walks, hours=24, sleep=sleep)
        assert states == [ABSENT, ABSENT, ABSENT, DAMAGED, DAMAGED]
    finally:
        await walks.close()


async def test_a_walk_goes_on_while_the_log_can_t_be_read(feeding: Feeding, tmp_path: Path) -> None:
    await feeding.pins(await feeding.board(await feeding.user()), 2)
    path = tmp_path / "graph"
    await build(feeding.stores, path)
    walks = Walks(feeding.stores._replace(pools=down(feeding.stores.pools)), path, every=0.0)
    try:
        assert len(await edges(walks)) == 2
    finally:
        await walks.close()
