"""Moving pins on a board: where they end, what is refused, and that room never runs out."""

import random
from collections.abc import Callable

import pytest

from datasources.errors import BadInput, Forbidden, NotFound
from datasources.ids import shard_of
from datasources.mappings import Edge, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Pin
from feed_engine import writes
from feed_engine.ordering import order
from feed_engine.ordering.spacing import SPACING, Spacing
from feed_engine.transactions.results import Crossed
from tests.people import People
from tests.scale import scaled

pytestmark = pytest.mark.anyio

ON_BOARD = Mapping.BOARD_HAS_PINS


async def _all_rows(stores: Stores, board: Board) -> list[Edge]:
    """Every row of the board from the top down, deleted ones included."""

    async def read(tx: ShardTx) -> list[Edge]:
        key = ListKey(ON_BOARD, board.id)
        found, row = list[Edge](), await tx.top(key)
        while row is not None:
            found.append(row)
            row = await tx.below(key, row.sequence)
        return found

    return await stores.shards.objects.transact(shard_of(board.id), read)


async def test_a_pin_goes_directly_below_the_one_before_it(stores: Stores, people: People) -> None:
    board, [a, b, c, d] = await people.board_with_pins(4)
    me = board.owner_id
    moved = await writes.reorder_pin(stores, me, board.id, d, a, b)
    assert await people.list(ON_BOARD, board.id) == [a, d, b, c]
    assert (moved.above_id, moved.below_id) == (a, b)
    assert moved.edge in await people.rows(ON_BOARD, board.id)
    moved = await writes.reorder_pin(stores, me, board.id, a, before_pin_id=c)
    assert await people.list(ON_BOARD, board.id) == [d, b, c, a]
    assert (moved.above_id, moved.below_id) == (c, None)


async def test_with_one_anchor_a_pin_goes_directly_above_the_one_after_it(
    stores: Stores, people: People
) -> None:
    board, [a, b, c] = await people.board_with_pins(3)
    moved = await writes.reorder_pin(stores, board.owner_id, board.id, c, after_pin_id=a)
    assert await people.list(ON_BOARD, board.id) == [c, a, b]
    assert (moved.above_id, moved.below_id) == (None, a)
    await writes.reorder_pin(stores, board.owner_id, board.id, c, after_pin_id=b)
    assert await people.list(ON_BOARD, board.id) == [a, c, b]


async def test_others_that_came_between_the_anchors_end_below_the_pin(
    stores: Stores, people: People
) -> None:
    board, [a, b, c, d] = await people.board_with_pins(4)
    moved = await writes.reorder_pin(stores, board.owner_id, board.id, d, a, c)
    assert await people.list(ON_BOARD, board.id) == [a, d, b, c]
    assert (moved.above_id, moved.below_id) == (a, b)


async def test_anchors_that_stand_the_other_way_now_are_a_conflict(
    stores: Stores, people: People
) -> None:
    board, ids = await people.board_with_pins(3)
    with pytest.raises(Crossed) as refused:
        await writes.reorder_pin(stores, board.owner_id, board.id, ids[0], ids[2], ids[1])
    assert (refused.value.above_id, refused.value.below_id) == (None, ids[1])
    key = ListKey(ON_BOARD, board.id)
    assert refused.value.version == (await stores.shards.mappings.heads([key]))[key].version
    assert await people.list(ON_BOARD, board.id) == ids


async def test_moving_a_pin_to_where_it_is_changes_nothing(stores: Stores, people: People) -> None:
    board, [a, gone, b, c] = await people.board_with_pins(4)
    me = board.owner_id
    await writes.delete_pin(stores, me, gone)
    rows = await _all_rows(stores, board)
    head = await stores.shards.mappings.heads([ListKey(ON_BOARD, board.id)])
    for before, after in ((a, None), (None, c), (a, c)):
        stayed = await writes.reorder_pin(stores, me, board.id, b, before, after)
        assert (stayed.above_id, stayed.below_id) == (a, c)
        assert stayed.version == head[ListKey(ON_BOARD, board.id)].version
    assert await _all_rows(stores, board) == rows


async def test_a_reorder_rewrites_one_row_and_raises_the_lists_version_by_one(
    stores: Stores, people: People
) -> None:
    board, ids = await people.board_with_pins(5)
    key = ListKey(ON_BOARD, board.id)
    rows = await _all_rows(stores, board)
    version = (await stores.shards.mappings.heads([key]))[key].version
    moved = await writes.reorder_pin(stores, board.owner_id, board.id, ids[4], ids[0])
    assert moved.version == version + 1
    changed = set(await _all_rows(stores, board)) - set(rows)
    assert changed == {moved.edge}
    assert moved.edge.version == 2


@pytest.mark.parametrize(
    ("anchors", "field"),
    [
        (lambda own, other: (None, None), "beforePinId"),
        (lambda own, other: (own[0], None), "beforePinId"),
        (lambda own, other: (None, own[0]), "afterPinId"),
        (lambda own, other: (own[1], own[1]), "afterPinId"),
        (lambda own, other: (other, None), "beforePinId"),
        (lambda own, other: (None, other), "afterPinId"),
        (lambda own, other: (own[1], other + 10_000), "afterPinId"),
    ],
)
async def test_anchors_must_be_given_distinct_and_on_the_board(
    stores: Stores,
    people: People,
    anchors: Callable[[list[int], int], tuple[int | None, int | None]],
    field: str,
) -> None:
    board, ids = await people.board_with_pins(2)
    other = await people.pin(await people.board(await people.user()))
    with pytest.raises(BadInput) as refused:
        await writes.reorder_pin(stores, board.owner_id, board.id, ids[0], *anchors(ids, other.id))
    assert refused.value.field == field


async def test_a_deleted_pin_can_be_neither_moved_nor_an_anchor(
    stores: Stores, people: People
) -> None:
    board, ids = await people.board_with_pins(3)
    me = board.owner_id
    await writes.delete_pin(stores, me, ids[1])
    with pytest.raises(BadInput):
        await writes.reorder_pin(stores, me, board.id, ids[1], ids[0])
    with pytest.raises(BadInput):
        await writes.reorder_pin(stores, me, board.id, ids[2], ids[1])


async def test_only_the_owner_reorders(stores: Stores, people: People) -> None:
    stranger = await people.user()
    board, ids = await people.board_with_pins(2)
    with pytest.raises(Forbidden):
        await writes.reorder_pin(stores, stranger.id, board.id, ids[1], after_pin_id=ids[0])
    await writes.update_board(stores, board.owner_id, board.id, writes.BoardChange(secret=True))
    with pytest.raises(NotFound):
        await writes.reorder_pin(stores, stranger.id, board.id, ids[1], after_pin_id=ids[0])


async def test_a_pin_never_takes_a_deleted_pins_sequence(stores: Stores, people: People) -> None:
    board, [a, gone, b, c] = await people.board_with_pins(4)
    await people.set_sequences(board, {a: 300, gone: 200, b: 100, c: 50})
    await writes.delete_pin(stores, board.owner_id, gone)
    await writes.reorder_pin(stores, board.owner_id, board.id, c, a, b)
    assert await people.list(ON_BOARD, board.id) == [a, c, b]
    sequences = [row.sequence for row in await _all_rows(stores, board)]
    assert len(set(sequences)) == 4


@pytest.mark.parametrize("count", [3, 5, 24])
async def test_where_no_room_is_left_a_few_rows_are_spread_and_the_order_is_kept(
    stores: Stores, people: People, count: int
) -> None:
    """The largest board has three times the rows of a region."""
    spacing = Spacing(rows=8)
    board, ids = await people.board_with_pins(count)
    chooser = random.Random(count)
    for base in (1, 10**37):
        packed = {pin_id: base + place for place, pin_id in enumerate(reversed(ids))}
        # First out of the way of each other, then side by side without a gap.
        await people.set_sequences(board, {pin_id: 10**36 + s for pin_id, s in packed.items()})
        await people.set_sequences(board, packed)
        for _ in range(scaled(12, 40)):
            moved, anchor = chooser.sample(ids, 2)
            below = chooser.random() < 0.5
            ids.remove(moved)
            ids.insert(ids.index(anchor) + below, moved)
            anchors = (anchor, None) if below else (None, anchor)
            await writes.reorder_pin(
                stores, board.owner_id, board.id, moved, *anchors, spacing=spacing
            )
            assert await people.list(ON_BOARD, board.id) == ids


@pytest.mark.parametrize("adversary", ["same side", "alternating", "smallest gap"])
async def test_an_adversary_finds_room_for_ever_and_few_rows_are_rewritten(
    stores: Stores, people: People, adversary: str
) -> None:
    board, ids = await people.board_with_pins(12)
    written = worst = 0
    rows = await _all_rows(stores, board)
    moves = scaled(120, 300)
    for number in range(moves):
        if adversary == "smallest gap":
            gaps = {rows[at].sequence - rows[at + 1].sequence: at for at in range(len(rows) - 1)}
            place = gaps[min(gaps)]
        else:
            place = 5 if adversary == "same side" or number % 2 else 6
        before = rows[place].to_id
        moved = rows[-1].to_id if before != rows[-1].to_id else rows[0].to_id
        await writes.reorder_pin(stores, board.owner_id, board.id, moved, before)
        after = await _all_rows(stores, board)
        changed = len(set(after) - set(rows))
        written, worst, rows = written + changed, max(worst, changed), after
        ids.remove(moved)
        ids.insert(ids.index(before) + 1, moved)
        assert [row.to_id for row in rows] == ids
    assert written <= 2 * moves
    assert worst <= SPACING.rows + 1


async def test_the_bottom_of_a_board_has_room_below_the_lowest_sequence(
    stores: Stores, people: People
) -> None:
    board, ids = await people.board_with_pins(4)
    await people.set_sequences(board, {ids[3]: 2})
    for _ in range(6):
        moved = ids.pop(0)
        await writes.reorder_pin(stores, board.owner_id, board.id, moved, ids[-1])
        ids.append(moved)
        assert await people.list(ON_BOARD, board.id) == ids
    assert all(0 < r.sequence <= order.HIGHEST for r in await _all_rows(stores, board))


async def test_a_reordered_pin_can_still_be_deleted_and_edited(
    stores: Stores, people: People
) -> None:
    board, ids = await people.board_with_pins(3)
    interest = await people.interest()
    await writes.reorder_pin(stores, board.owner_id, board.id, ids[2], after_pin_id=ids[0])
    change = writes.PinChange(interest_ids=(interest.id,))
    pin: Pin = await writes.update_pin(stores, board.owner_id, ids[2], change)
    assert await people.list(ON_BOARD, board.id) == [ids[2], ids[0], ids[1]]
    await writes.delete_pin(stores, board.owner_id, pin.id)
    assert await people.list(ON_BOARD, board.id) == [ids[0], ids[1]]
