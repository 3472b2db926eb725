"""Many concurrent writers on one list: sizes, both directions, and the order of a board's pins."""

import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import anyio
import pytest

from datasources.errors import BadInput, NotFound
from datasources.mappings import Edge, ListKey, Mapping
from datasources.protocols import Stores
from datasources.records import Board
from feed_engine import writes
from feed_engine.writes import Reordered
from tests.people import People

pytestmark = pytest.mark.anyio

WRITERS = 32
ON_BOARD = Mapping.BOARD_HAS_PINS


class _List(NamedTuple):
    """An ordered list: how one entry is dragged to its anchors, and how a new entry comes on
    top."""

    key: ListKey
    drag: Callable[[int, int | None, int | None], Awaitable[Reordered]]
    add: Callable[[], Awaitable[Edge]]


async def _pins_of_a_board(stores: Stores, board: Board) -> _List:
    me = board.owner_id

    async def drag(moved: int, before: int | None, after: int | None) -> Reordered:
        return await writes.reorder_pin(stores, me, board.id, moved, before, after)

    async def add() -> Edge:
        return (await writes.create_pin(stores, me, writes.NewPin(board_id=board.id))).edge

    return _List(ListKey(ON_BOARD, board.id), drag, add)


async def _sections_of_a_board(stores: Stores, board: Board) -> _List:
    me, new = board.owner_id, writes.NewSection(board_id=board.id, name="a")

    async def drag(moved: int, before: int | None, after: int | None) -> Reordered:
        return (await writes.reorder_section(stores, me, moved, before, after)).placed

    async def add() -> Edge:
        return (await writes.create_section(stores, me, new)).edge

    return _List(ListKey(Mapping.BOARD_HAS_SECTIONS, board.id), drag, add)


async def _pins_of_a_section(stores: Stores, board: Board) -> _List:
    me, new = board.owner_id, writes.NewSection(board_id=board.id, name="a")
    section, other = [(await writes.create_section(stores, me, new)).section for _ in range(2)]

    async def drag(moved: int, before: int | None, after: int | None) -> Reordered:
        done = await writes.move_pin_to_section(stores, me, moved, section.id, before, after)
        assert done.placed is not None
        return done.placed

    async def add() -> Edge:
        pin = (await writes.create_pin(stores, me, writes.NewPin(board_id=board.id))).pin
        await writes.move_pin_to_section(stores, me, pin.id, other.id)
        done = await writes.move_pin_to_section(stores, me, pin.id, section.id)
        assert done.placed is not None
        return done.placed.edge

    return _List(ListKey(Mapping.SECTION_HAS_PINS, section.id), drag, add)


class _Step(NamedTuple):
    """A move that was acknowledged."""

    moved: int
    anchor: int
    below: bool
    done: Reordered

    def row(self) -> tuple[int, int]:
        return self.moved, self.done.edge.version

    def replay(self, model: list[int]) -> None:
        model.remove(self.moved)
        model.insert(model.index(self.anchor) + self.below, self.moved)
        at = model.index(self.moved)
        assert self.done.above_id == (model[at - 1] if at else None)
        assert self.done.below_id == (model[at + 1] if at + 1 < len(model) else None)


async def _all_at_once(*work: Callable[[], Awaitable[object]]) -> None:
    async with anyio.create_task_group() as group:
        for one in work:
            group.start_soon(one)


async def test_likes_by_many_are_all_counted(stores: Stores, people: People) -> None:
    pin = await people.pin(await people.board(await people.user()))
    viewers = [await people.user() for _ in range(WRITERS)]
    await _all_at_once(*(lambda v=v: writes.like_pin(stores, v.id, pin.id) for v in viewers))
    liked_by = ListKey(Mapping.PIN_LIKED_BY_USERS, pin.id)
    assert (await stores.shards.mappings.heads([liked_by]))[liked_by].size == WRITERS
    await _all_at_once(*(lambda v=v: writes.unlike_pin(stores, v.id, pin.id) for v in viewers[::2]))
    assert set(await people.list(*liked_by)) == {viewer.id for viewer in viewers[1::2]}


async def test_one_viewers_likes_and_unlikes_end_in_one_state_on_both_sides(
    stores: Stores, people: People
) -> None:
    viewer = await people.user()
    pin = await people.pin(await people.board(await people.user(away_from=viewer.id)))
    await _all_at_once(
        *(
            lambda like=number % 2: (writes.like_pin if like else writes.unlike_pin)(
                stores, viewer.id, pin.id
            )
            for number in range(WRITERS)
        )
    )
    forward = await people.rows(Mapping.USER_LIKES_PINS, viewer.id)
    reverse = await people.rows(Mapping.PIN_LIKED_BY_USERS, pin.id)
    assert [row.reversed() for row in forward] == reverse


async def test_follows_and_unfollows_by_many_agree_on_both_sides(
    stores: Stores, people: People
) -> None:
    users = [await people.user() for _ in range(8)]
    board, interest = await people.board(users[0]), await people.interest()
    targets = [users[0].id, users[1].id, board.id, interest.id]
    chooser = random.Random(7)

    async def act() -> None:
        for _ in range(4):
            viewer, target = chooser.choice(users[2:]), chooser.choice(targets)
            follow = writes.follow if chooser.random() < 0.6 else writes.unfollow
            await follow(stores, viewer.id, target)

    await _all_at_once(*[act] * WRITERS)  # the fixture compares all rows


async def test_pins_saved_at_once_stand_in_one_order_and_each_once(
    stores: Stores, people: People
) -> None:
    board = await people.board(await people.user())
    made: list[writes.PinWritten] = []

    async def save() -> None:
        new = writes.NewPin(board_id=board.id)
        made.append(await writes.create_pin(stores, board.owner_id, new, at=1000))

    await _all_at_once(*[save] * WRITERS)
    rows = await people.rows(ON_BOARD, board.id)
    assert rows == sorted((it.edge for it in made), key=lambda edge: -edge.sequence)
    assert len({row.sequence for row in rows}) == WRITERS


@pytest.mark.parametrize(
    ("listed", "seed"),
    [
        *((_pins_of_a_board, seed) for seed in range(3)),
        (_sections_of_a_board, 3),
        (_pins_of_a_section, 4),
    ],
)
async def test_reorders_and_new_entries_at_once_have_an_order_that_explains_every_answer(
    stores: Stores,
    people: People,
    listed: Callable[[Stores, Board], Awaitable[_List]],
    seed: int,
) -> None:
    """A list in memory replays the acknowledged history in the order of the list's versions."""
    chooser = random.Random(seed)
    ordered = await listed(stores, await people.board(await people.user()))
    key = ordered.key
    for _ in range(8):
        await ordered.add()
    start = await people.list(*key)
    first = (await stores.shards.mappings.heads([key]))[key].version
    moves: list[tuple[int, int, bool, Reordered]] = []
    saves: list[Edge] = []

    async def drag() -> None:
        for _ in range(4):
            moved, anchor = chooser.sample(start, 2)
            below = chooser.random() < 0.5
            anchors = (anchor, None) if below else (None, anchor)
            done = await ordered.drag(moved, *anchors)
            moves.append((moved, anchor, below, done))

    async def save() -> None:
        saves.append(await ordered.add())

    await _all_at_once(*[drag] * (WRITERS - 6), *[save] * 6)

    # A row's version tells a move that changed something from the later ones that did not.
    changed: dict[tuple[int, int], int] = {}
    for moved, _, _, done in sorted(moves, key=lambda move: move[3].version):
        if done.edge.version > 1:
            changed.setdefault((moved, done.edge.version), done.version)
    taken = set(changed.values())
    last = (await stores.shards.mappings.heads([key]))[key].version
    model, history = list(start), {version: list[_Step]() for version in range(first, last + 1)}
    for moved, anchor, below, done in moves:
        history[done.version].append(_Step(moved, anchor, below, done))
    # The versions that no move has are the saves', which went on top in the order of sequences.
    new = sorted(saves, key=lambda it: it.sequence)
    for version in range(first, last + 1):
        if version not in taken and version > first:
            model.insert(0, new.pop(0).to_id)
        # The move that made this version comes before the moves that found nothing to change in it.
        made = {key for key, since in changed.items() if since == version}
        for step in sorted(history[version], key=lambda step: step.row() not in made):
            step.replay(model)
    assert new == []
    assert model == await people.list(*key)


async def test_saves_moves_and_deletes_at_once_leave_a_whole_board(
    stores: Stores, people: People
) -> None:
    chooser = random.Random(11)
    board = await people.board(await people.user())
    me = board.owner_id
    ids = [(await people.pin(board)).id for _ in range(12)]
    doomed = ids[::3]

    async def drag() -> None:
        for _ in range(3):
            moved, anchor = chooser.sample(ids, 2)
            try:
                await writes.reorder_pin(stores, me, board.id, moved, anchor)
            except BadInput:
                assert {moved, anchor} & set(doomed)

    async def delete(pin_id: int) -> None:
        await writes.delete_pin(stores, me, pin_id)
        with pytest.raises(NotFound):
            await writes.delete_pin(stores, me, pin_id)

    async def save() -> None:
        await people.pin(board)

    await _all_at_once(
        *[drag] * 20, *[save] * 8, *(lambda pin_id=pin_id: delete(pin_id) for pin_id in doomed)
    )
    left = await people.list(ON_BOARD, board.id)
    assert len(left) == 12 - len(doomed) + 8
    assert not set(left) & set(doomed)


async def test_a_board_flipped_while_pins_come_and_go_ends_as_its_last_flip(
    stores: Stores, people: People
) -> None:
    board, interest = await people.board(await people.user()), await people.interest()
    me = board.owner_id
    pins = [await people.pin(board, interest) for _ in range(6)]

    async def flip(secret: bool) -> None:
        await writes.update_board(stores, me, board.id, writes.BoardChange(secret=secret))

    async def save() -> None:
        await people.pin(board, interest)

    await _all_at_once(
        *(lambda secret=bool(number % 2): flip(secret) for number in range(8)),
        *[save] * 8,
        *(lambda pin=pin: writes.delete_pin(stores, me, pin.id) for pin in pins[:3]),
    )
    await flip(True)  # the fixture runs the jobs and compares lists with the boards' states
