"""Putting many pins of a board in order at once: where they end, what is refused, and what happens
when it is stopped in the middle."""

import asyncio
import random
from itertools import pairwise
from typing import Any

import pytest

from datasources.errors import BadInput, Conflict, Forbidden, NotFound, StoreUnavailable
from datasources.ids import Kind, compose, shard_of
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import Job, ShardTx, Stores
from datasources.records import Board
from feed_engine import writes
from feed_engine.ordering import arrange
from feed_engine.ordering.spacing import Spacing
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from tests.embedded_stores import drain
from tests.faulty import Unwell, with_part
from tests.people import People

pytestmark = pytest.mark.anyio
ON_BOARD = Mapping.BOARD_HAS_PINS


def _expected(
    ids: list[int], chosen: list[int], before: int | None, after: int | None
) -> list[int]:
    rest = [id for id in ids if id not in chosen]
    at = 0
    if before is not None:
        at = rest.index(before) + 1
    elif after is not None:
        at = rest.index(after)
    return [*rest[:at], *chosen, *rest[at:]]


@pytest.fixture(params=[1, 3, 256])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    size: int = request.param
    monkeypatch.setattr(arrange, "CHUNK", size)
    monkeypatch.setattr(arrange, "READ", max(2, size // 2))
    return size


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2)), 3]
)
async def test_pins_stand_together_in_the_order_given_where_they_were_asked(
    stores: Stores, people: People, chunk: int, seed: int
) -> None:
    chooser = random.Random(seed)
    board, ids = await people.board_with_pins(14)
    me = board.owner_id
    for pin_id in ids[::5]:  # rows that are there no more take part in nothing
        await writes.delete_pin(stores, me, pin_id)
        ids = [id for id in ids if id != pin_id]
    if seed == 3:
        await people.pack(board, ids)
    for _ in range(8):
        chosen = chooser.sample(ids, chooser.randint(1, len(ids) - 1))
        stays = [id for id in ids if id not in chosen]
        before = chooser.choice([None, chooser.choice(stays)])
        after = chooser.choice([None, *stays[stays.index(before) + 1 if before else 0 :]])
        ids = _expected(ids, chosen, before, after)
        version = await writes.reorder_pins(stores, me, board.id, chosen, before, after)
        assert await people.list(ON_BOARD, board.id) == ids
        key = ListKey(ON_BOARD, board.id)
        assert (await stores.shards.mappings.heads([key]))[key].version == version


async def test_a_whole_board_is_sorted_and_what_is_in_order_is_not_written(
    stores: Stores, people: People, chunk: int
) -> None:
    board, ids = await people.board_with_pins(20)
    random.Random(1).shuffle(ids)
    first = await writes.reorder_pins(stores, board.owner_id, board.id, ids)
    assert await people.list(ON_BOARD, board.id) == ids
    assert await writes.reorder_pins(stores, board.owner_id, board.id, ids) == first
    newest = (await people.pin(board)).id
    sorted_in = [*ids[:7], newest, *ids[7:]]
    last = await writes.reorder_pins(stores, board.owner_id, board.id, sorted_in)
    assert await people.list(ON_BOARD, board.id) == sorted_in
    assert last == first + 1 + 7  # saved on top; then those before it went above it


async def test_a_board_of_thousands_is_sorted_in_one_call_by_small_transactions(
    stores: Stores, people: People
) -> None:
    board, _ = await people.board_with_pins(0)
    me, shard, count = board.owner_id, shard_of(board.id), 3000
    ids = await _many(stores, board, count)
    random.Random(2).shuffle(ids)
    written: list[int] = []
    objects: Any = stores.shards.objects

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(objects, name)

        async def transact(self, of: int, work: Any) -> Any:
            versions = await _version(stores, board)
            done = await objects.transact(of, work)
            written.append(await _version(stores, board) - versions)
            return done

    await writes.reorder_pins(with_part(stores, "objects", Counting()), me, board.id, ids)
    assert await people.list(ON_BOARD, board.id) == ids
    assert max(written) <= arrange.CHUNK
    assert sum(written) <= count
    rows = await people.rows(ON_BOARD, board.id)
    gaps = [a.sequence - b.sequence for a, b in pairwise(rows)]
    assert min(gaps) > 10**20
    assert {row.era for row in rows} == {0}
    await stores.shards.objects.transact(shard, lambda tx: _retire(tx, board, ids))


async def _many(stores: Stores, board: Board, count: int) -> list[int]:
    """Ids of no pins at all on a board: their rows are what matters here."""
    ids = list(range(1, count + 1))
    await stores.shards.mappings.load(
        [(ON_BOARD, Edge(board.id, id, 10**37 + id * 10**25, 1)) for id in ids]
    )
    return ids


async def _retire(tx: ShardTx, board: Board, ids: list[int]) -> None:
    for row in (await tx.edges([EdgeKey(ON_BOARD, board.id, id) for id in ids])).values():
        await tx.put_edge(ON_BOARD, row._replace(version=row.version + 1, active=False))


async def _version(stores: Stores, board: Board) -> int:
    key = ListKey(ON_BOARD, board.id)
    return (await stores.shards.mappings.heads([key]))[key].version


async def test_what_can_t_all_be_done_is_refused_and_nothing_of_it_is_done(
    stores: Stores, people: People
) -> None:
    board, [a, b, c, gone] = await people.board_with_pins(4)
    me, other = board.owner_id, await people.pin(await people.board(await people.user()))
    await writes.delete_pin(stores, me, gone)
    too_many = list(range(1, arrange.MOST + 2))
    for ids, before, after, field, said in (
        ([], None, None, "pinIds", "empty"),
        (too_many, None, None, "pinIds", "at most 10,000"),
        ([c, a, c], None, None, "pinIds", f"more than once: pin {c}"),
        ([c, other.id], None, None, "pinIds", f"board {board.id}: pin {other.id}"),
        ([c, gone, 17], None, None, "pinIds", f"pin {gone}, pin 17"),
        ([c, a], a, None, "beforePinId", "among pinIds"),
        ([c, a], None, c, "afterPinId", "among pinIds"),
        ([c], a, a, "afterPinId", "same pin"),
        ([c], gone, None, "beforePinId", "not on board"),
    ):
        with pytest.raises(BadInput) as refused:
            await writes.reorder_pins(stores, me, board.id, ids, before, after)
        assert refused.value.field == field
        assert said in refused.value.message
    with pytest.raises(BadInput, match="and 9995 more"):
        await writes.reorder_pins(stores, me, board.id, too_many[:-1])
    with pytest.raises(Conflict):
        await writes.reorder_pins(stores, me, board.id, [c], b, a)
    stranger = await people.user()
    with pytest.raises(Forbidden):
        await writes.reorder_pins(stores, stranger.id, board.id, [c, a])
    await writes.update_board(stores, me, board.id, writes.BoardChange(secret=True))
    with pytest.raises(NotFound):
        await writes.reorder_pins(stores, stranger.id, board.id, [c, a])
    assert await people.list(ON_BOARD, board.id) == [a, b, c]


async def _stopped(stores: Stores, board: Board, ids: list[int], chunks: int) -> Job:
    """Start to sort a board, and lose the store after `chunks` parts."""
    objects = stores.shards.objects

    class Dying(Unwell):
        def topology(self) -> object:
            return objects.topology()

    late = with_part(stores, "objects", Dying(objects, after=1 + chunks))
    with pytest.raises(StoreUnavailable):
        await writes.reorder_pins(late, board.owner_id, board.id, ids, key="k")
    await settle()
    [row] = [
        row for row in await stores.shards.outbox.pending(2**62, 100) if row.kind == arrange.KIND
    ]
    return Job(row.shard, row.id)


@pytest.mark.parametrize("by", ["a job", "the client"])
async def test_what_was_stopped_half_way_is_completed_once(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(arrange, "CHUNK", 3)
    board, ids = await people.board_with_pins(12)
    me, wanted = board.owner_id, ids[::-1]
    job = await _stopped(stores, board, wanted, 2)
    assert await people.list(ON_BOARD, board.id) == [*wanted[:6], *ids[:6]]
    # Pins that are dragged meanwhile stay where they were put, and deleted pins stay deleted.
    await writes.reorder_pin(stores, me, board.id, wanted[1], ids[0])
    await writes.delete_pin(stores, me, wanted[7])
    await writes.delete_pin(stores, me, wanted[5])
    if by == "a job":
        await asyncio.gather(*(run_job(stores, job) for _ in range(3)))
    else:
        await writes.reorder_pins(stores, me, board.id, wanted, key="k")
    left = [id for id in wanted if id not in (wanted[5], wanted[7])]
    left.remove(wanted[1])
    left.insert(left.index(ids[0]) + 1, wanted[1])
    assert await people.list(ON_BOARD, board.id) == left
    await writes.reorder_pin(stores, me, board.id, wanted[0], ids[0])
    shown = await people.list(ON_BOARD, board.id)
    await run_job(stores, job)
    await writes.reorder_pins(stores, me, board.id, wanted, key="k")
    assert await people.list(ON_BOARD, board.id) == shown


async def test_a_board_deleted_half_way_ends_it(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrange, "CHUNK", 3)
    board, ids = await people.board_with_pins(9)
    await _stopped(stores, board, ids[::-1], 1)
    await writes.delete_board(stores, board.owner_id, board.id)
    await drain(stores)
    assert await people.list(ON_BOARD, board.id) == []


async def test_more_pins_than_a_respaced_gap_takes_find_room_whatever_the_settings(
    stores: Stores, people: People
) -> None:
    """The gaps have the room asked for, but not eight bisections for each of 400 pins."""
    spacing = Spacing(threshold=8, room=16, rows=16)
    board = await people.board(await people.user())
    ids = [compose(shard_of(board.id), Kind.PIN, (1 << 30) + number) for number in range(500)]
    rows = [Edge(board.id, id, 10**37 - place * 2**16, 1) for place, id in enumerate(ids)]
    await stores.shards.mappings.load([(ON_BOARD, row) for row in rows])
    chosen = random.Random(1).sample(ids[100:], 400)
    await writes.reorder_pins(
        stores, board.owner_id, board.id, chosen, before_pin_id=ids[20], spacing=spacing
    )
    assert await people.list(ON_BOARD, board.id) == _expected(ids, chosen, ids[20], None)
    key = ListKey(ON_BOARD, board.id)
    log = await stores.shards.mappings.respacings(key, 0)
    assert 0 < max(len(entry.moves) for entry in log) <= spacing.rows
    # There are no pins of these rows, which is not what a shard should hold.
    gone = [row._replace(version=1_000, active=False) for row in rows]
    await stores.shards.mappings.load([(ON_BOARD, row) for row in gone])
