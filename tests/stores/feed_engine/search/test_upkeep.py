"""The search index agrees with what is public: after a build, and after each change since."""

import asyncio
import random
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import pytest

from datasources.errors import StoreUnavailable
from datasources.ids import Kind
from datasources.protocols import SearchRequest, SearchStore, Stores
from datasources.tantivy import TantivySearch
from feed_engine import writes
from feed_engine.feeds.rows import POOLS
from feed_engine.feeds.wide import read_row
from feed_engine.related import changes
from feed_engine.search import build as building
from feed_engine.search import upkeep
from feed_engine.search.build import build
from feed_engine.search.reading import Update
from feed_engine.search.upkeep import EVERY, LOOK, Upkeep, keep_indexed, note_all
from feed_engine.times import DAY, HOUR
from feed_engine.transactions.inputs import BoardChange, NewBoard, PinChange, ProfileChange
from tests.faulty import without_primary
from tests.feeds import Feeding

pytestmark = pytest.mark.anyio


class Indexing:
    """An index of the stores, whose writer looks at the logs when a test asks for it."""

    def __init__(self, feeding: Feeding, index: SearchStore) -> None:
        self.feeding, self.index = feeding, index
        self.upkeep = Upkeep(feeding.stores, index, lambda: feeding.now)

    async def changed(self) -> None:
        """Run all jobs, and let the writer catch up."""
        await self.feeding.drain()
        self.feeding.now = max(self.feeding.now, changes.now_ms())
        async with self.index.alone():
            await self.upkeep.catch_up()

    async def found(self, text: str, *kinds: Kind) -> list[int]:
        hits = await self.index.search(SearchRequest(text, 100, kinds))
        return [hit.id for hit in hits]


@pytest.fixture
async def indexing(feeding: Feeding, tmp_path: Path) -> AsyncIterator[Indexing]:
    index = TantivySearch(str(tmp_path / "search"))
    yield Indexing(feeding, index)
    await index.close()


async def pin(feeding: Feeding, board_id: int, owner_id: int, title: str, body: str = "") -> int:
    new = writes.NewPin(board_id=board_id, title=title, description=body)
    return (await writes.create_pin(feeding.stores, owner_id, new)).pin.id


async def test_a_build_has_everything_public_and_nothing_else(
    feeding: Feeding, indexing: Indexing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "PAGE", 3)
    user = await feeding.user()
    board = await feeding.board(user)
    secret = await feeding.board(user, secret=True)
    kept = [await pin(feeding, board.id, user.id, f"heron {n}") for n in range(5)]
    gone = await pin(feeding, board.id, user.id, "heron that flew")
    await writes.delete_pin(feeding.stores, user.id, gone)
    await pin(feeding, secret.id, user.id, "heron in hiding")
    told: list[tuple[str, int]] = []
    await build(feeding.stores, indexing.index, on_objects=lambda stage, n: told.append((stage, n)))
    assert sorted(await indexing.found("heron")) == kept
    assert await indexing.found(board.name, Kind.BOARD) == [board.id]
    assert await indexing.found(user.username, Kind.USER) == [user.id]
    assert ("indexing pins", 7) in told
    assert ("indexing pins", 3) in told


async def test_each_change_is_found_after_its_job(feeding: Feeding, indexing: Indexing) -> None:
    stores = feeding.stores
    user = await feeding.user()
    await indexing.changed()
    board_id = (await writes.create_board(stores, user.id, NewBoard(name="Wading birds"))).board.id
    heron = await pin(feeding, board_id, user.id, "grey heron", "by the pond")
    await indexing.changed()
    assert await indexing.found("heron") == [heron]
    assert await indexing.found("wading") == [board_id]

    await writes.update_pin(stores, user.id, heron, PinChange(title="white egret"))
    await writes.update_board(stores, user.id, board_id, BoardChange(name="Egrets"))
    await writes.update_profile(stores, user.id, ProfileChange(full_name="Ardea Alba"))
    await indexing.changed()
    assert await indexing.found("heron") == []
    assert set(await indexing.found("egret")) == {heron, board_id}
    assert await indexing.found("wading") == []
    assert await indexing.found("ardea") == [user.id]

    await writes.delete_pin(stores, user.id, heron)
    await indexing.changed()
    assert await indexing.found("egret") == [board_id]
    await pin(feeding, board_id, user.id, "little egret")
    await indexing.changed()
    assert len(await indexing.found("egret")) == 2
    await writes.delete_board(stores, user.id, board_id)
    await indexing.changed()
    assert await indexing.found("egret") == []


async def test_a_board_that_becomes_secret_leaves_with_its_pins_and_comes_back(
    feeding: Feeding, indexing: Indexing
) -> None:
    user = await feeding.user()
    board = await feeding.board(user, name="Rookery")
    first, second = [await pin(feeding, board.id, user.id, f"nest {n}") for n in range(2)]
    await indexing.changed()
    assert set(await indexing.found("nest")) == {first, second}
    await writes.update_board(feeding.stores, user.id, board.id, BoardChange(secret=True))
    await indexing.changed()
    assert await indexing.found("nest") == []
    assert await indexing.found("rookery") == []
    await writes.update_board(feeding.stores, user.id, board.id, BoardChange(secret=False))
    await indexing.changed()
    assert set(await indexing.found("nest")) == {first, second}
    assert await indexing.found("rookery") == [board.id]


async def test_pins_that_move_to_a_secret_board_leave(feeding: Feeding, indexing: Indexing) -> None:
    user = await feeding.user()
    board, secret = await feeding.board(user), await feeding.board(user, secret=True)
    moved = await pin(feeding, board.id, user.id, "plover")
    await indexing.changed()
    await writes.move_pin(feeding.stores, user.id, moved, secret.id)
    await indexing.changed()
    assert await indexing.found("plover") == []
    await writes.move_pin(feeding.stores, user.id, moved, board.id)
    await indexing.changed()
    assert await indexing.found("plover") == [moved]


async def test_liked_and_saved_pins_come_first(feeding: Feeding, indexing: Indexing) -> None:
    owner, one, two = await feeding.user(), await feeding.user(), await feeding.user()
    board, other = await feeding.board(owner), await feeding.board(one)
    pins = [
        (await feeding.pin_at(board, 1_700_000_000_000)).id for _ in range(3)
    ]  # all are "a pin"
    await indexing.changed()
    assert set(await indexing.found("pin")) == set(pins)
    await writes.like_pin(feeding.stores, one.id, pins[1])
    await indexing.changed()
    assert (await indexing.found("pin"))[0] == pins[1]
    await writes.repin(feeding.stores, one.id, pins[0], other.id, at=1)
    await writes.like_pin(feeding.stores, two.id, pins[0])
    await indexing.changed()
    assert (await indexing.found("pin"))[0] == pins[0]
    followed = await feeding.board(owner, name="pin")
    unknown = await feeding.board(owner, name="pin")
    await feeding.follow(one, followed.id)
    await indexing.changed()
    assert await indexing.found("pin", Kind.BOARD) == [followed.id, unknown.id]


async def test_random_changes_end_in_the_index_that_a_build_makes(
    feeding: Feeding, indexing: Indexing, tmp_path: Path
) -> None:
    random_ = random.Random(7)
    users = [await feeding.user() for _ in range(2)]
    boards = [await feeding.board(random_.choice(users), name="reed") for _ in range(4)]
    live: dict[int, int] = {}  # the owner of each pin
    owners = {board.id: board.owner_id for board in boards}
    stores = feeding.stores
    await indexing.changed()
    for step in range(60):
        board_id, owner = random_.choice(list(owners.items()))
        match random_.randrange(6):
            case 0 | 1:
                live[await pin(feeding, board_id, owner, f"reed {step}")] = owner
            case 2 if live:
                chosen = random_.choice(list(live))
                await writes.delete_pin(stores, live.pop(chosen), chosen)
            case 3:
                change = BoardChange(secret=random_.random() < 0.5)
                await writes.update_board(stores, owner, board_id, change)
            case 4 if live:
                chosen = random_.choice(list(live))
                own = [id for id, by in owners.items() if by == live[chosen]]
                await writes.move_pin(stores, live[chosen], chosen, random_.choice(own))
            case 5 if live:
                chosen = random_.choice(list(live))
                await writes.update_pin(
                    stores, live[chosen], chosen, PinChange(title=f"reed {step}")
                )
        if random_.random() < 0.3:
            await indexing.changed()
    await indexing.changed()
    again = TantivySearch(str(tmp_path / "again"))
    await build(stores, again)
    hits = await again.search(SearchRequest("reed", 100))
    assert set(await indexing.found("reed")) == {hit.id for hit in hits}
    assert hits
    await again.close()


async def test_an_absent_or_old_index_is_built(feeding: Feeding, indexing: Indexing) -> None:
    user = await feeding.user()
    await pin(feeding, (await feeding.board(user)).id, user.id, "bittern")
    await indexing.changed()
    assert len(await indexing.found("bittern")) == 1
    first = await indexing.index.times()
    feeding.now += 4 * DAY
    await indexing.changed()
    second = await indexing.index.times()
    assert first is not None
    assert second is not None
    assert second.built > first.built, "the log does not reach back to its last change"


async def test_a_quiet_index_does_not_grow_old(feeding: Feeding, indexing: Indexing) -> None:
    await indexing.changed()
    before = await indexing.index.times()
    assert before is not None
    for _ in range(6):
        feeding.now += 20 * HOUR
        await indexing.changed()
    after = await indexing.index.times()
    assert after is not None
    assert after.built == before.built
    assert after.read_to > before.read_to


@pytest.mark.parametrize("quiet", [0, 30_000, 3 * changes.OVERLAP, HOUR, DAY])
async def test_an_entry_is_applied_once_however_long_nothing_follows_it(
    feeding: Feeding, indexing: Indexing, monkeypatch: pytest.MonkeyPatch, quiet: int
) -> None:
    user = await feeding.user()
    board = await feeding.board(user)
    await indexing.changed()
    await pin(feeding, board.id, user.id, "heron")
    await indexing.changed()
    applied: list[int] = []
    update_for = upkeep.update_for

    async def counted(stores: Stores, index: SearchStore, ids: Collection[int]) -> Update:
        applied.extend(ids)
        return await update_for(stores, index, ids)

    monkeypatch.setattr(upkeep, "update_for", counted)
    for _ in range(3):
        feeding.now += quiet // 3
        await indexing.changed()
    assert applied == []


async def test_an_import_has_the_index_built_once(feeding: Feeding, indexing: Indexing) -> None:
    await indexing.changed()
    feeding.now += 1
    await note_all(feeding.stores)
    before = await indexing.index.times()
    await indexing.changed()
    after = await indexing.index.times()
    assert before is not None
    assert after is not None
    assert after.built > before.built
    await indexing.changed()
    assert await indexing.index.times() == after


async def test_very_many_changes_are_a_build(
    feeding: Feeding, indexing: Indexing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await indexing.changed()
    before = await indexing.index.times()
    monkeypatch.setattr(upkeep, "FEWER_THAN_A_BUILD", 2)
    user = await feeding.user()
    pins = await feeding.pins(await feeding.board(user), 4)
    feeding.now += 1
    await indexing.changed()
    after = await indexing.index.times()
    assert before is not None
    assert after is not None
    assert after.built > before.built
    assert len(await indexing.found("pin", Kind.PIN)) == len(pins)


async def test_an_entry_that_was_not_written_is_applied_again(
    feeding: Feeding, indexing: Indexing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await indexing.changed()
    user = await feeding.user()
    await pin(feeding, (await feeding.board(user)).id, user.id, "curlew")
    good = indexing.index.write

    async def fail(*given: object, **rest: object) -> None:
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(indexing.index, "write", fail)
    with pytest.raises(StoreUnavailable):
        await indexing.changed()
    monkeypatch.setattr(indexing.index, "write", good)
    await indexing.changed()
    assert len(await indexing.found("curlew")) == 1


async def test_changes_during_a_build_by_another_process_are_in_its_index(
    feeding: Feeding, indexing: Indexing, tmp_path: Path
) -> None:
    user = await feeding.user()
    board = await feeding.board(user)
    await indexing.changed()
    index = TantivySearch(str(tmp_path / "search"))
    changed = list[int]()

    async def change() -> None:
        heron = await pin(feeding, board.id, user.id, "heron")
        await indexing.changed()  # into the index in use
        assert await indexing.found("heron") == [heron]
        changed.append(heron)

    async with index.rebuild(feeding.now + 1):  # it has read all objects before the change
        await change()
    await index.close()
    assert await indexing.found("heron") == []
    await indexing.changed()
    assert await indexing.found("heron") == changed


async def test_one_side_of_the_pools_is_enough(feeding: Feeding, indexing: Indexing) -> None:
    await indexing.changed()
    user = await feeding.user()
    board = await feeding.board(user)
    stores = feeding.stores
    lame = stores._replace(pools=without_primary(stores.pools))
    await changes.note(lame, [board.id], changes.now_ms(), changes.SEARCH)
    await indexing.changed()
    assert board.id in await indexing.found(board.name, Kind.BOARD)


async def test_old_entries_are_forgotten(feeding: Feeding, indexing: Indexing) -> None:
    stores, now = feeding.stores, changes.now_ms()
    await changes.note(stores, [1], now - 5 * DAY, changes.SEARCH)
    await indexing.changed()
    await indexing.changed()
    for side in stores.pools:
        row = changes.log_row(now - 5 * DAY, changes.SEARCH)
        assert await read_row(side, POOLS, row) == []


async def test_a_damaged_index_is_built_again(feeding: Feeding, indexing: Indexing) -> None:
    await indexing.changed()
    user = await feeding.user()
    board = await feeding.board(user, name="Godwit")
    await indexing.changed()
    before = await indexing.index.times()
    assert before is not None
    assert isinstance(indexing.index, TantivySearch)
    _spoil(indexing.index)
    feeding.now += 1
    await indexing.upkeep.check()
    after = await indexing.index.times()
    assert after is not None
    assert after.built > before.built
    assert await indexing.found("godwit") == [board.id]


def _spoil(index: TantivySearch) -> None:
    (folder,) = index._folder.path.glob("index-*")
    terms = sorted(folder.glob("*.term"))[0]
    terms.write_bytes(terms.read_bytes()[:-12])


async def test_another_process_goes_on_when_the_writer_ends(
    feeding: Feeding, indexing: Indexing, tmp_path: Path
) -> None:
    there = TantivySearch(str(tmp_path / "search"))
    sleeps: asyncio.Queue[float] = asyncio.Queue()

    async def sleep(seconds: float) -> None:
        sleeps.put_nowait(seconds)
        await asyncio.sleep(0.001)

    async with indexing.index.alone():
        task = asyncio.create_task(keep_indexed(feeding.stores, there, sleep=sleep))
        assert {await sleeps.get() for _ in range(3)} == {LOOK}
        assert await there.times() is None
    while await sleeps.get() != EVERY:
        pass
    assert await there.times() is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await there.close()
