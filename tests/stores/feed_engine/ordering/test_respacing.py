"""Re-spacing: narrow gaps are widened by jobs, the order stays, and old places are still found."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from datasources.errors import StoreConflict
from datasources.ids import shard_of
from datasources.mappings import SEQUENCE_STEP, Edge, ListKey, Mapping
from datasources.protocols import Stores
from datasources.records import Board, User
from feed_engine import writes
from feed_engine.ordering import order
from feed_engine.ordering.respace import Crowded, with_room
from feed_engine.ordering.respace_job import respace
from feed_engine.ordering.spacing import SPACING, Spacing
from feed_engine.outbox.change import Respace
from feed_engine.outbox.completion import change_of, settle
from feed_engine.transactions import access
from tests.embedded_stores import drain
from tests.faulty import with_part
from tests.people import People
from tests.scale import scaled

pytestmark = pytest.mark.anyio
ON_BOARD = Mapping.BOARD_HAS_PINS


async def _rows(stores: Stores, board: Board) -> list[Edge]:
    """Every row from the bottom up, deleted ones included."""
    key = ListKey(ON_BOARD, board.id)
    return await stores.shards.objects.transact(
        shard_of(board.id), lambda tx: tx.rows_above(key, 0, 10_000)
    )


async def _saved(cursor: bytes) -> None:
    assert cursor


async def _tasks(stores: Stores) -> list[Respace]:
    await settle()
    rows = await stores.shards.outbox.pending(2**62, 1000)
    return [task for row in rows for task in change_of(row).tasks if isinstance(task, Respace)]


async def test_a_region_is_queued_once_when_its_gap_becomes_narrow_and_the_job_widens_it(
    stores: Stores, people: People
) -> None:
    board, ids = await people.board_with_pins(order.bisections(0, SEQUENCE_STEP) + 8)
    await drain(stores)
    anchor, moves = ids[1], 0
    while not await _tasks(stores):
        await writes.reorder_pin(stores, board.owner_id, board.id, ids[-1 - moves], anchor)
        moves += 1
    assert moves > 83 - SPACING.threshold - 8
    for more in range(3):
        await writes.reorder_pin(stores, board.owner_id, board.id, ids[-1 - moves - more], anchor)
    [task] = await _tasks(stores)
    shown = await people.list(ON_BOARD, board.id)
    await drain(stores)
    assert await people.list(ON_BOARD, board.id) == shown
    at = shown.index(anchor)
    rows = {row.to_id: row for row in await _rows(stores, board)}
    for above, below in pairwise(shown[: at + 4]):
        gap = rows[above].sequence - rows[below].sequence
        assert gap.bit_length() > SPACING.room
    await respace(stores, task, None, _saved)  # a repetition changes nothing
    assert {row.to_id: row for row in await _rows(stores, board)} == rows


async def test_a_wide_region_is_spread_in_small_transactions_that_never_change_the_order(
    stores: Stores, people: People
) -> None:
    spacing = Spacing(rows=8)
    board, ids = await people.board_with_pins(60)
    base = await people.pack(board, ids, 3)
    key = ListKey(ON_BOARD, board.id)
    task = Respace(from_id=board.id, around=str(base + 90), era=0)
    before, cursors = await _rows(stores, board), list[bytes]()
    written = list[int]()

    async def advance(cursor: bytes) -> None:
        nonlocal before
        cursors.append(cursor)
        assert await people.list(ON_BOARD, board.id) == ids
        after = await _rows(stores, board)
        written.append(len(set(after) - set(before)))
        before = after
        if len(cursors) == 3:
            raise asyncio.CancelledError  # killed here

    with pytest.raises(asyncio.CancelledError):
        await respace(stores, task, None, advance, spacing=spacing)
    await respace(
        stores, task, cursors[-2], advance, spacing=spacing
    )  # from a cursor that is not the last
    assert await people.list(ON_BOARD, board.id) == ids
    rows = await _rows(stores, board)
    gaps = [b.sequence - a.sequence for a, b in pairwise(rows)]
    assert min(gaps) >= 2 ** (spacing.room - 1)
    assert max(written) <= 8
    log = await stores.shards.mappings.respacings(key, 0)
    assert [entry.era for entry in log] == list(range(1, len(log) + 1))


@pytest.mark.parametrize("seed", range(3))
async def test_places_translate_through_any_history_of_moves_and_respacings(
    stores: Stores, people: People, seed: int
) -> None:
    """A place taken at any time splits the pins that were not moved since as it did then."""
    chooser = random.Random(seed)
    board, ids = await people.board_with_pins(24)
    await people.pack(board, ids, 5)
    # sequence, era, the pin at the place, the pins below it, the pins that were moved since
    taken: list[tuple[int, int, int, set[int], set[int]]] = []
    for _ in range(40):
        rows = await people.rows(ON_BOARD, board.id)
        row = chooser.choice(rows)
        below = {other.to_id for other in rows if other.sequence < row.sequence}
        taken.append((row.sequence, row.era, row.to_id, below, set()))
        moved, anchor = chooser.sample(ids, 2)
        await writes.reorder_pin(stores, board.owner_id, board.id, moved, anchor)
        for *_, since in taken:
            since.add(moved)
        if chooser.random() < 0.2:
            await drain(stores)
    await drain(stores)
    rows = await people.rows(ON_BOARD, board.id)
    key = ListKey(ON_BOARD, board.id)
    assert rows[0].era > 0
    for sequence, era, at, below, since in taken:
        log = await stores.shards.mappings.respacings(key, era)
        now = order.translate(sequence, log)
        found = {other.to_id for other in rows if other.sequence < now}
        assert found - since == below - since
        place, own = order.translated(sequence, log)
        assert place == now
        above = {r.to_id for r in rows if r.sequence > place or (r.sequence == place and not own)}
        assert above - since - {at} == set(ids) - below - since - {at}
        assert at in since or at not in above


async def test_reorders_saves_deletes_and_respacings_at_once_keep_the_order(
    stores: Stores, people: People
) -> None:
    chooser = random.Random(5)
    board, ids = await people.board_with_pins(16)
    me = board.owner_id
    base = await people.pack(board, ids, 2)
    still = ids[:8]  # neither moved nor deleted: their order stays

    async def drag() -> None:
        moved, anchor = chooser.choice(ids[8:14]), chooser.choice(still)
        await writes.reorder_pin(stores, me, board.id, moved, anchor)
        assert [id for id in await people.list(ON_BOARD, board.id) if id in still] == still

    async def job() -> None:
        await respace(stores, Respace(board.id, str(base + 16), 0), None, _saved)
        assert [id for id in await people.list(ON_BOARD, board.id) if id in still] == still

    work: list[Callable[[], Awaitable[object]]] = [
        *[drag] * 12,
        *[job] * 4,
        *[lambda: people.pin(board)] * 4,
        *(lambda id=id: writes.delete_pin(stores, me, id) for id in ids[14:]),  # type: ignore[misc]
    ]
    chooser.shuffle(work)
    await asyncio.gather(*(one() for one in work))
    left = await people.list(ON_BOARD, board.id)
    assert [id for id in left if id in still] == still
    assert len(left) == 18


async def test_a_job_ends_whose_pins_others_took_elsewhere_while_it_was_at_them(
    stores: Stores, people: People
) -> None:
    board, ids = await people.board_with_pins(3)
    rows = await _rows(stores, board)
    await respace(stores, Respace(board.id, "7", 0), b"5 500 0 0", _saved)
    assert await people.list(ON_BOARD, board.id) == ids
    assert await _rows(stores, board) == rows


class AfterRoom:
    """The store of objects; other writers do something after the first transactions that follow a
    Crowded transaction."""

    def __init__(self, objects: Any, action: Callable[[], Awaitable[None]], times: int) -> None:
        self._objects, self._action, self._left = objects, action, times
        self._crowded = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    async def transact(self, shard: int, work: Any) -> Any:
        try:
            answer = await self._objects.transact(shard, work)
        except Crowded:
            self._crowded = True
            raise
        if self._crowded and self._left:
            self._crowded = False
            self._left -= 1
            await self._action()
        return answer


@pytest.mark.parametrize("write", ["reorderPin", "movePin", "reorderPins"])
async def test_a_write_whose_room_others_took_once_more_makes_some_again(
    stores: Stores, people: People, write: str
) -> None:
    """Other rows take the room after it was made, in a transaction of its own, and before it is
    used."""
    spacing = Spacing(threshold=8, room=40, rows=4)
    board, ids = await people.board_with_pins(16)
    other = await people.board(await access.recall(stores, User, board.owner_id))
    moved = (await people.pin(other)).id if write == "movePin" else ids[12]
    await people.pack(board, ids, 1)
    packed = 0

    async def pack() -> None:
        nonlocal packed
        packed += 1
        await people.pack(board, ids, 1, 10**37 + packed * 10**30)

    crowded = with_part(stores, "objects", AfterRoom(stores.shards.objects, pack, 2))
    me, before = board.owner_id, ids[7]
    if write == "reorderPin":
        await writes.reorder_pin(crowded, me, board.id, moved, before, spacing=spacing)
    elif write == "movePin":
        await writes.move_pin(crowded, me, moved, board.id, before, spacing=spacing)
    else:
        await writes.reorder_pins(crowded, me, board.id, [moved], before, spacing=spacing)
    assert packed == 2
    left = [id for id in ids if id != moved]
    assert await people.list(ON_BOARD, board.id) == [*left[:8], moved, *left[8:]]


async def test_a_write_whose_room_others_take_each_time_is_a_conflict_and_not_an_internal_error(
    stores: Stores, people: People
) -> None:
    board, ids = await people.board_with_pins(3)
    key = ListKey(ON_BOARD, board.id)
    tries = 0

    async def write() -> None:
        nonlocal tries
        tries += 1
        raise Crowded(key, 10**37, 0)

    with pytest.raises(StoreConflict, match="no room around"):
        await with_room(stores, write)
    assert tries > 1
    assert await people.list(ON_BOARD, board.id) == ids


@pytest.mark.parametrize("adversary", ["same side", "alternating", "smallest gap"])
async def test_an_adversary_costs_two_rewritten_rows_a_move_at_most(
    stores: Stores, people: People, adversary: str
) -> None:
    board, ids = await people.board_with_pins(40)
    key = ListKey(ON_BOARD, board.id)
    place, moves, relabelled = 20, scaled(160, 400), 0
    for number in range(moves):
        if adversary == "smallest gap":
            rows = await people.rows(ON_BOARD, board.id)
            place = min(range(1, 38), key=lambda at: rows[at].sequence - rows[at + 1].sequence)
        at = place + (number % 2 if adversary == "alternating" else 0)
        moved = ids[-1] if at < 39 else ids[0]
        await writes.reorder_pin(stores, board.owner_id, board.id, moved, ids[at])
        before = ids[at]
        ids.remove(moved)
        ids.insert(ids.index(before) + 1, moved)
        if number % 10 == 9:
            await drain(stores)
    assert await people.list(ON_BOARD, board.id) == ids
    for entry in await stores.shards.mappings.respacings(key, 0):
        relabelled += len(entry.moves)
    assert relabelled <= 2 * moves
