"""Moves of pins between boards: where the pins end, who may move them, and the work afterwards."""

import pytest

from datasources.errors import BadInput, Conflict, Forbidden, NotFound
from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.protocols import Stores
from datasources.records import Board, Pin, User
from feed_engine import writes
from feed_engine.transactions import access
from tests.embedded_stores import drain
from tests.faulty import Interrupted, with_part
from tests.people import People

pytestmark = pytest.mark.anyio
ON_BOARD = Mapping.BOARD_HAS_PINS
SECRET, PUBLIC = writes.BoardChange(secret=True), writes.BoardChange(secret=False)


async def _boards(people: People, *secrets: bool) -> tuple[User, list[Board]]:
    user = await people.user()
    return user, [await people.board(user, secret=secret) for secret in secrets]


async def _pins(people: People, board: Board, count: int) -> list[int]:
    """Ids of new pins from the top down."""
    return [(await people.pin(board)).id for _ in range(count)][::-1]


async def test_a_moved_pin_is_on_top_of_its_new_board_and_not_on_its_old_one(
    stores: Stores, people: People
) -> None:
    me, [one, other] = await _boards(people, False, False)
    (a, b), (c, d) = await _pins(people, one, 2), await _pins(people, other, 2)
    moved = await writes.move_pin(stores, me.id, b, other.id)
    assert await people.list(ON_BOARD, one.id) == [a]
    assert await people.list(ON_BOARD, other.id) == [b, c, d]
    assert (moved.from_id, moved.pin.board_id) == (one.id, other.id)
    assert (moved.placed.above_id, moved.placed.below_id) == (None, c)
    assert moved.placed.edge in await people.rows(ON_BOARD, other.id)
    keys = [ListKey(ON_BOARD, board.id) for board in (one, other)]
    heads = await stores.shards.mappings.heads(keys)
    assert [head.size for head in heads.values()] == [1, 3]
    assert [head.version for head in heads.values()] == [moved.from_version, moved.placed.version]
    assert await people.list(Mapping.USER_HAS_PINS, me.id) == [c, d, a, b]


@pytest.mark.parametrize(
    ("before", "after", "ends"),
    [(0, None, 1), (None, 0, 0), (0, 1, 1), (1, 2, 2), (2, None, 3), (None, 2, 2), (0, 2, 1)],
)
async def test_a_moved_pin_goes_to_its_anchors(
    stores: Stores, people: People, before: int | None, after: int | None, ends: int
) -> None:
    me, [one, other] = await _boards(people, False, False)
    [a], ids = await _pins(people, one, 1), await _pins(people, other, 3)
    anchors = [None if number is None else ids[number] for number in (before, after)]
    await writes.move_pin(stores, me.id, a, other.id, *anchors)
    assert await people.list(ON_BOARD, other.id) == [*ids[:ends], a, *ids[ends:]]


async def test_a_pin_comes_back_to_a_board_as_often_as_it_likes(
    stores: Stores, people: People
) -> None:
    me, boards = await _boards(people, False, False, False)
    [a], ids = await _pins(people, boards[0], 1), await _pins(people, boards[1], 3)
    for number in range(1, 13):
        board = boards[number % 3]
        anchor = ids[number % 3] if board is boards[1] else None
        await writes.move_pin(stores, me.id, a, board.id, anchor)
        on = [a in await people.list(ON_BOARD, it.id) for it in boards]
        assert on == [it is board for it in boards]
    assert await people.list(ON_BOARD, boards[1].id) == ids


async def test_an_earlier_place_on_the_board_takes_no_room_from_the_pin(
    stores: Stores, people: People
) -> None:
    me, [one, other] = await _boards(people, False, False)
    [a, b, c] = await _pins(people, one, 3)
    for _ in range(90):  # more often than a gap could be halved
        await writes.move_pin(stores, me.id, b, other.id)
        await writes.move_pin(stores, me.id, b, one.id, a, c)
    assert await people.list(ON_BOARD, one.id) == [a, b, c]
    [window] = await stores.shards.mappings.windows([PageRequest(ListKey(ON_BOARD, one.id), 1)])
    assert window.edges[0].era == 0


async def test_a_pin_that_is_on_the_board_already_stays_or_goes_to_its_anchors(
    stores: Stores, people: People
) -> None:
    me, [one] = await _boards(people, False)
    a, b, c = ids = await _pins(people, one, 3)
    key = ListKey(ON_BOARD, one.id)
    before = await stores.shards.mappings.heads([key])
    moved = await writes.move_pin(stores, me.id, b, one.id)
    assert (moved.placed.above_id, moved.placed.below_id) == (a, c)
    assert await people.list(ON_BOARD, one.id) == ids
    assert await stores.shards.mappings.heads([key]) == before
    moved = await writes.move_pin(stores, me.id, b, one.id, c)
    assert await people.list(ON_BOARD, one.id) == [a, c, b]
    assert (moved.from_id, moved.from_version) == (one.id, moved.placed.version)


async def test_anchors_must_be_right_for_the_board_that_the_pin_goes_to(
    stores: Stores, people: People
) -> None:
    me, [one, other] = await _boards(people, False, False)
    (a, b), (c, d) = await _pins(people, one, 2), await _pins(people, other, 2)
    for anchors, field in (
        ((b, None), "beforePinId"),
        ((None, b), "afterPinId"),
        ((a, None), "beforePinId"),
        ((c, c), "afterPinId"),
    ):
        with pytest.raises(BadInput) as refused:
            await writes.move_pin(stores, me.id, a, other.id, *anchors)
        assert refused.value.field == field
    with pytest.raises(Conflict):
        await writes.move_pin(stores, me.id, a, other.id, d, c)
    assert await people.list(ON_BOARD, one.id) == [a, b]
    assert await people.list(ON_BOARD, other.id) == [c, d]


async def test_only_its_owner_moves_a_pin_and_only_to_a_board_of_their_own(
    stores: Stores, people: People
) -> None:
    me, [one, secret] = await _boards(people, False, True)
    them, [theirs, their_secret] = await _boards(people, False, True)
    [pin], [hidden] = await _pins(people, one, 1), await _pins(people, secret, 1)
    for mover, moved, board, error in (
        (them, pin, theirs, Forbidden),
        (them, pin, one, Forbidden),
        (me, pin, theirs, Forbidden),
        (me, pin, their_secret, NotFound),
        (them, hidden, theirs, NotFound),
        (them, pin, secret, NotFound),
    ):
        with pytest.raises(error):
            await writes.move_pin(stores, mover.id, moved, board.id)
    await writes.delete_board(stores, me.id, secret.id)
    with pytest.raises(NotFound):
        await writes.move_pin(stores, me.id, pin, secret.id)
    with pytest.raises(NotFound):
        await writes.move_pin(stores, me.id, hidden, one.id)


async def test_public_lists_follow_a_pin_to_a_secret_board_and_back(
    stores: Stores, people: People
) -> None:
    me, [one, secret] = await _boards(people, False, True)
    interest = await people.interest()
    pin = (await people.pin(one, interest)).id
    public = (Mapping.USER_HAS_PUBLIC_PINS, me.id), (Mapping.INTEREST_HAS_PINS, interest.id)
    for board in (secret, one) * 3:
        await writes.move_pin(stores, me.id, pin, board.id)
        for of in public:
            assert await people.list(*of) == ([pin] if board is one else [])
        # Jobs of flips that come later than the move go by the pin's new place.
        await writes.update_board(stores, me.id, one.id, SECRET)
        await writes.update_board(stores, me.id, one.id, PUBLIC)
    await drain(stores)


@pytest.mark.parametrize("made_secret", [True, False])
async def test_what_a_flip_of_the_old_board_owed_is_done_by_the_move(
    stores: Stores, people: People, made_secret: bool
) -> None:
    """The flip's own job comes too late for the pin."""
    me, [one, other] = await _boards(people, not made_secret, made_secret)
    interest = await people.interest()
    pin = (await people.pin(one, interest)).id
    await drain(stores)
    await writes.update_board(stores, me.id, one.id, SECRET if made_secret else PUBLIC)
    await writes.move_pin(stores, me.id, pin, other.id)
    shown = [] if made_secret else [pin]
    assert await people.list(Mapping.USER_HAS_PUBLIC_PINS, me.id) == shown
    assert await people.list(Mapping.INTEREST_HAS_PINS, interest.id) == shown
    await drain(stores)
    assert await people.list(Mapping.INTEREST_HAS_PINS, interest.id) == shown


async def test_a_board_gives_up_the_cover_that_moves_away(stores: Stores, people: People) -> None:
    me, [one, other] = await _boards(people, False, False)
    a, b = await _pins(people, one, 2)
    await writes.update_board(stores, me.id, one.id, writes.BoardChange(cover_pin_id=b))
    await writes.move_pin(stores, me.id, a, other.id)
    assert (await access.recall(stores, Board, one.id)).cover_pin_id == b
    await writes.move_pin(stores, me.id, b, other.id)
    assert (await access.recall(stores, Board, one.id)).cover_pin_id is None


async def test_a_move_sent_again_is_done_once_and_answered_the_same(
    stores: Stores, people: People
) -> None:
    me, [one, other] = await _boards(people, False, False)
    [pin] = await _pins(people, one, 1)
    first = await writes.move_pin(stores, me.id, pin, other.id, key="k")
    await writes.move_pin(stores, me.id, pin, one.id)
    again = await writes.move_pin(stores, me.id, pin, other.id, key="k")
    assert (again.placed, again.from_id) == (first.placed, first.from_id)
    assert again.from_version == first.from_version
    assert await people.list(ON_BOARD, one.id) == [pin]
    with pytest.raises(BadInput):
        await writes.move_pin(stores, me.id, pin, one.id, key="k")


@pytest.mark.parametrize(("write", "reads"), [("move", 3), ("update", 2), ("delete", 1)])
@pytest.mark.parametrize("leaves", [False, True])
async def test_a_write_that_a_move_overtook_goes_by_the_pins_new_board(
    stores: Stores, people: People, write: str, reads: int, leaves: bool
) -> None:
    """The pin moves to a secret board (and its old board is deleted) after the write has read the
    pin's place, and before it locks anything."""
    me, [one, secret, third] = await _boards(people, False, True, False)
    interest = await people.interest()
    pin = (await people.pin(one)).id

    async def overtake() -> None:
        await writes.move_pin(stores, me.id, pin, secret.id)
        if leaves:
            await writes.delete_board(stores, me.id, one.id)

    interrupted = Interrupted(stores.shards.objects, "get", overtake, after=reads)
    late = with_part(stores, "objects", interrupted)
    if write == "move":
        moved = await writes.move_pin(late, me.id, pin, third.id)
        assert moved.from_id == secret.id
        assert await people.list(ON_BOARD, third.id) == [pin]
    elif write == "update":
        filed = writes.PinChange(interest_ids=(interest.id,))
        await writes.update_pin(late, me.id, pin, filed)
        assert await people.list(Mapping.INTEREST_HAS_PINS, interest.id) == []
    else:
        await writes.delete_pin(late, me.id, pin)
        assert await people.list(ON_BOARD, secret.id) == []
    assert (await access.recall(stores, Pin, pin)).active == (write != "delete")
