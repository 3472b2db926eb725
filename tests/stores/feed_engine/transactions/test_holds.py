"""Boards between which a pin moves are held: what readers see if the cache fails, and which job
ends a hold."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, cast

import pytest

from datasources.errors import BadInput, StoreUnavailable
from datasources.ids import shard_of
from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.protocols import Job, MappingCache, Stores
from datasources.records import Board
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.transactions.hold import KIND
from loaders import Loaders
from tests.embedded_stores import drain, flush
from tests.faulty import Unwell
from tests.pauses import Pause
from tests.people import People
from tests.scale import scaled

pytestmark = pytest.mark.anyio
ON_BOARD = Mapping.BOARD_HAS_PINS


class Acting(Pause):
    """Does something at chosen seams of its caller, counted from 0, and continues."""

    def __init__(self, actions: dict[int, Callable[[], Awaitable[None]]]) -> None:
        super().__init__(-1)
        self._actions, self.passed = actions, 0

    async def seam(self) -> None:
        action = self._actions.get(self.passed)
        self.passed += 1
        if action is not None:
            await action()


class Scene(NamedTuple):
    """A user's two boards, the second empty at first, and the pin on the first board."""

    stores: Stores
    boards: tuple[Board, Board]
    pin: int

    async def read(self, *boards: Board) -> list[list[int]]:
        """Read as a separate request."""
        loaders = Loaders(self.stores)
        keys = [ListKey(ON_BOARD, board.id) for board in boards]
        pages = await loaders.pages.many([PageRequest(key, 10) for key in keys])
        heads = await loaders.heads.many(keys)
        sizes = [head.size for head in heads if not isinstance(head, BaseException)]
        found = [[row.to_id for row in page] for page in pages if isinstance(page, list)]
        if len(boards) == 2:
            assert sum(sizes) == 1
            assert [id for page in found for id in page] == [self.pin]
        return found

    async def move(self, stores: Stores, to: Board, key: str | None = None) -> None:
        await writes.move_pin(stores, to.owner_id, self.pin, to.id, key=key)
        await settle()

    async def held(self) -> list[bool]:
        keys = [ListKey(ON_BOARD, board.id) for board in self.boards]
        heads = await self.stores.shards.mappings.heads(keys)
        return [heads[key].held for key in keys]


@pytest.fixture
async def scene(stores: Stores, people: People) -> Scene:
    user = await people.user()
    one, other = await people.board(user), await people.board(user)
    pin = await people.pin(one)
    await settle()
    return Scene(stores, (one, other), pin.id)


async def test_a_moved_pin_is_on_one_board_whenever_the_cache_starts_anew(
    scene: Scene, valkey: ValkeyServer
) -> None:
    """At one seam of the writer, the cache loses all its data, and a reader reads one of the
    boards. At a later seam, a reader reads the other board, and then both. `make test` takes every
    fourth pair of seams."""
    counting = Acting({})
    await scene.move(counting.of(scene.stores), scene.boards[1])
    seams = counting.passed
    assert seams > 15
    here, there = scene.boards[1], scene.boards[0]
    step = scaled(4, 1)
    for lost_at in range(seams):
        for read_at in range(lost_at + 1 + lost_at % step, seams, step):
            for early, late in ((here, there), (there, here)):

                async def lose(early: Board = early) -> None:
                    await flush(valkey)
                    await scene.read(early)

                async def read(early: Board = early, late: Board = late) -> None:
                    await scene.read(late)
                    await scene.read(early, late)

                await scene.read(here, there)
                acting = Acting({lost_at: lose, read_at: read})
                await scene.move(acting.of(scene.stores), there)
                assert await scene.read(there, here) == [[scene.pin], []]
                here, there = there, here
    assert await scene.held() == [False, False]


class Drops:
    """The cache of lists. After each drop, another function runs."""

    def __init__(self, stores: Stores, then: Callable[[], Awaitable[None]]) -> None:
        self._stores, self._then = stores, then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stores.mapping_cache, name)

    async def drop(self, keys: Sequence[ListKey]) -> None:
        await self._stores.mapping_cache.drop(keys)
        await self._then()


async def test_a_move_that_takes_longer_than_its_hold_begins_anew(
    stores: Stores, scene: Scene
) -> None:
    """A job ends the hold before the move locks anything. Then both boards may be cached as they
    are."""
    one, other = scene.boards
    held = list[list[bool]]()

    async def then() -> None:
        held.append(await scene.held())
        if len(held) == 1:
            await drain(stores)
            assert await scene.held() == [False, False]
            await scene.read(one, other)

    await scene.move(stores._replace(mapping_cache=cast(MappingCache, Drops(stores, then))), other)
    assert held == [[True, True], [True, True], [False, False]]
    assert await scene.read(one, other) == [[], [scene.pin]]


async def test_who_moves_nothing_holds_nothing(stores: Stores, scene: Scene) -> None:
    one, other = scene.boards
    stopped = stores._replace(mapping_cache=cast(MappingCache, Unwell(stores.mapping_cache)))
    with pytest.raises(StoreUnavailable):
        await scene.move(stopped, other)
    assert await scene.held() == [False, False]
    with pytest.raises(BadInput):
        await writes.move_pin(stores, one.owner_id, scene.pin, other.id, scene.pin + 1)
    assert await scene.held() == [False, False]
    await scene.move(stores, other, "key")
    await scene.move(stores, one)
    await scene.move(stores, other, "key")
    assert await scene.held() == [False, False]
    assert await scene.read(one, other) == [[scene.pin], []]
    assert {row.kind for row in await stores.shards.outbox.pending(2**62, 100)} <= {"change"}


async def test_a_hold_of_a_later_version_is_parked(stores: Stores, scene: Scene) -> None:
    shard = shard_of(scene.pin)
    for payload in (b"{}", b'{"lists": [[999, 1]]}'):
        id = await stores.shards.objects.transact(
            shard, lambda tx, payload=payload: tx.post(KIND, payload)
        )
        await run_job(stores, Job(shard, id))
        row = await stores.shards.outbox.load(shard, id)
        assert row is not None
        assert row.attempts == 1
        await stores.shards.outbox.finish(shard, id)


async def test_a_pin_that_moves_between_sections_is_in_one_of_them_at_every_seam(
    stores: Stores, people: People
) -> None:
    """At a seam of the writer, the cache loses one of the sections, and a reader reads it again.
    Then a reader reads both."""
    board = await people.board(await people.user())
    me, pin, new = (
        board.owner_id,
        await people.pin(board),
        writes.NewSection(board_id=board.id, name="a"),
    )
    ids = [(await writes.create_section(stores, me, new)).section.id for _ in range(2)]
    keys = [ListKey(Mapping.SECTION_HAS_PINS, id) for id in ids]

    async def read(*keys: ListKey) -> list[int]:
        pages = await Loaders(stores).pages.many([PageRequest(key, 10) for key in keys])
        return [row.to_id for page in pages if isinstance(page, list) for row in page]

    async def move(to: int, acting: Acting) -> None:
        await writes.move_pin_to_section(acting.of(stores), me, pin.id, to)
        await settle()

    await move(ids[0], Acting({}))
    counting = Acting({})
    await move(ids[1], counting)
    assert counting.passed > 15
    here = 1
    for seam in range(counting.passed):
        for lost in keys:

            async def act(lost: ListKey = lost) -> None:
                await stores.mapping_cache.drop([lost])
                await read(lost)
                assert await read(*keys) == [pin.id]

            assert await read(*keys) == [pin.id]
            here = 1 - here
            await move(ids[here], Acting({seam: act}))
            assert await read(keys[here]) == [pin.id]
    heads = await stores.shards.mappings.heads(keys)
    assert not any(head.held for head in heads.values())
