"""Sections of boards: their order, the pins in them, who may change them, and what ends them."""

import random
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import anyio
import pytest
from msgspec import UNSET

from datasources.errors import BadInput, Conflict, Forbidden, NotFound
from datasources.ids import Kind, compose, shard_of
from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores
from datasources.records import Board, Pin, Section, User
from feed_engine import writes
from feed_engine.ordering.spacing import Spacing
from feed_engine.transactions import access
from feed_engine.transactions.hold import Hold
from feed_engine.writes import section_tasks, sections
from tests.embedded_stores import drain
from tests.faulty import Interrupted, with_part
from tests.people import People
from tests.scale import scaled

pytestmark = pytest.mark.anyio
ON_BOARD, IN_SECTION = Mapping.BOARD_HAS_SECTIONS, Mapping.SECTION_HAS_PINS


async def _new(stores: Stores, board: Board, name: str = "a") -> int:
    new = writes.NewSection(board_id=board.id, name=name)
    return (await writes.create_section(stores, board.owner_id, new)).section.id


async def _sections(stores: Stores, board: Board, count: int) -> list[int]:
    """The ids of new sections, from the top down."""
    return [await _new(stores, board) for _ in range(count)][::-1]


async def _pins(people: People, board: Board, count: int) -> list[int]:
    return [(await people.pin(board)).id for _ in range(count)][::-1]


async def _fill(stores: Stores, board: Board, section_id: int, pin_ids: list[int]) -> None:
    """Move pins into a section, which then has them from the top down."""
    for pin_id in reversed(pin_ids):
        await writes.move_pin_to_section(stores, board.owner_id, pin_id, section_id)


async def _section_of(stores: Stores, pin_id: int) -> int | None:
    return (await access.recall(stores, Pin, pin_id)).section_id


async def test_new_sections_come_on_top_and_are_dragged_like_pins(
    stores: Stores, people: People
) -> None:
    board = await people.board(await people.user())
    made = [await writes.create_section(stores, board.owner_id, new) for new in _drafts(board)]
    a, b, c = [it.section.id for it in made][::-1]
    assert await people.list(ON_BOARD, board.id) == [a, b, c]
    assert [it.section.name for it in made] == ["one", "two", "three"]
    assert made[2].edge in await people.rows(ON_BOARD, board.id)
    me = board.owner_id
    moved = await writes.reorder_section(stores, me, c, after_section_id=a)
    assert await people.list(ON_BOARD, board.id) == [c, a, b]
    assert (moved.placed.above_id, moved.placed.below_id) == (None, a)
    moved = await writes.reorder_section(stores, me, c, a, b)
    assert (moved.placed.above_id, moved.placed.below_id) == (a, b)
    assert await people.list(ON_BOARD, board.id) == [a, c, b]
    with pytest.raises(Conflict, match=rf"Section {b} stands below section {a} now"):
        await writes.reorder_section(stores, me, c, b, a)


def _drafts(board: Board) -> list[writes.NewSection]:
    names = ("  one ", "two", "three")
    return [writes.NewSection(board_id=board.id, name=name) for name in names]


@pytest.mark.parametrize("name", ["", " ", "n" * 181, "two\nlines"])
async def test_a_name_is_one_line_as_a_boards_name(
    stores: Stores, people: People, name: str
) -> None:
    board = await people.board(await people.user())
    section = await _new(stores, board)
    with pytest.raises(BadInput) as refused:
        await _new(stores, board, name)
    assert refused.value.field == "name"
    with pytest.raises(BadInput):
        await writes.rename_section(stores, board.owner_id, section, name)
    assert await people.list(ON_BOARD, board.id) == [section]


async def test_a_board_has_a_bounded_number_of_sections(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sections, "MOST", 3)
    board = await people.board(await people.user())
    ids = await _sections(stores, board, 3)
    with pytest.raises(BadInput, match="more than 3 sections: delete one first"):
        await _new(stores, board)
    await writes.delete_section(stores, board.owner_id, ids[1])
    await _new(stores, board)
    assert len(await people.list(ON_BOARD, board.id)) == 3


async def test_a_pin_is_in_one_section_at_a_time_and_keeps_its_place_on_the_board(
    stores: Stores, people: People
) -> None:
    board = await people.board(await people.user())
    me, (one, two) = board.owner_id, await _sections(stores, board, 2)
    pins = await _pins(people, board, 4)
    a, b, c, d = pins
    await _fill(stores, board, one, [a, b, c])
    moved = await writes.move_pin_to_section(stores, me, b, two)
    assert (moved.from_id, moved.pin.section_id) == (one, two)
    assert await people.list(IN_SECTION, one) == [a, c]
    assert await people.list(IN_SECTION, two) == [b]
    moved = await writes.move_pin_to_section(stores, me, d, one, a)
    assert moved.from_id is None
    assert moved.placed is not None
    assert (moved.placed.above_id, moved.placed.below_id) == (a, c)
    assert await people.list(IN_SECTION, one) == [a, d, c]
    await writes.move_pin_to_section(stores, me, b, one, after_pin_id=a)  # an earlier place
    assert await people.list(IN_SECTION, one) == [b, a, d, c]
    await writes.move_pin_to_section(stores, me, b, one, c)
    assert await people.list(IN_SECTION, one) == [a, d, c, b]
    await writes.move_pin_to_section(stores, me, d, one)  # it stays
    assert await people.list(IN_SECTION, one) == [a, d, c, b]
    moved = await writes.move_pin_to_section(stores, me, a, None)
    assert (moved.from_id, moved.placed, moved.pin.section_id) == (one, None, None)
    assert (await writes.move_pin_to_section(stores, me, a, None)).from_id is None
    assert await people.list(IN_SECTION, one) == [d, c, b]
    assert await people.list(Mapping.BOARD_HAS_PINS, board.id) == pins


async def test_wrong_sections_and_anchors_change_nothing(stores: Stores, people: People) -> None:
    user = await people.user()
    board, other = await people.board(user), await people.board(user)
    far = await people.board(await people.user(away_from=user.id))
    me, (one, two) = board.owner_id, await _sections(stores, board, 2)
    foreign, elsewhere = await _new(stores, other), await _new(stores, far)
    gone = await _new(stores, board)
    await writes.delete_section(stores, me, gone)
    a, b, c = await _pins(people, board, 3)
    await _fill(stores, board, one, [a, b])
    absent = compose(shard_of(board.id), Kind.SECTION, 10**6)
    for pin, section, anchors, field in (
        (a, foreign, (None, None), "sectionId"),
        (a, elsewhere, (None, None), "sectionId"),
        (c, elsewhere, (None, None), "sectionId"),
        (a, absent, (None, None), "sectionId"),
        (a, gone, (None, None), "sectionId"),
        (a, None, (b, None), "sectionId"),
        (a, two, (b, None), "beforePinId"),
        (c, one, (None, c), "afterPinId"),
        (a, one, (None, c), "afterPinId"),
        (c, one, (b, b), "afterPinId"),
    ):
        with pytest.raises(BadInput) as refused:
            await writes.move_pin_to_section(stores, me, pin, section, *anchors)
        assert refused.value.field == field
    with pytest.raises(NotFound):
        await writes.move_pin_to_section(stores, me, a, board.id)
    with pytest.raises(Conflict):
        await writes.move_pin_to_section(stores, me, c, one, b, a)
    for anchors, field in (
        ((None, None), "beforeSectionId"),
        ((one, None), "beforeSectionId"),
        ((foreign, None), "beforeSectionId"),
        ((None, gone), "afterSectionId"),
        ((two, two), "afterSectionId"),
    ):
        with pytest.raises(BadInput) as refused:
            await writes.reorder_section(stores, me, one, *anchors)
        assert refused.value.field == field
    assert await people.list(IN_SECTION, one) == [a, b]
    assert await people.list(IN_SECTION, two) == []
    heads = await stores.shards.mappings.heads([ListKey(IN_SECTION, it) for it in (one, foreign)])
    assert not any(head.held for head in heads.values())


async def test_new_and_saved_pins_go_on_top_of_the_section_that_is_named(
    stores: Stores, people: People
) -> None:
    user, them = await people.user(), await people.user()
    board, theirs = await people.board(user), await people.board(them)
    [one] = await _sections(stores, board, 1)
    source = await people.pin(theirs)
    first = await writes.create_pin(stores, user.id, _pin_for(board, one), key="k")
    second = await writes.repin(stores, user.id, source.id, board.id, one, key="l")
    plain = await writes.repin(stores, user.id, source.id, board.id)
    ids = [second.pin.id, first.pin.id]
    assert await people.list(IN_SECTION, one) == ids
    assert await people.list(Mapping.BOARD_HAS_PINS, board.id) == [plain.pin.id, *ids]
    assert [await _section_of(stores, id) for id in (plain.pin.id, *ids)] == [None, one, one]
    assert [second.section_edge, first.section_edge] == await people.rows(IN_SECTION, one)
    assert plain.section_edge is None
    assert await writes.create_pin(stores, user.id, _pin_for(board, one), key="k") == first
    assert await writes.repin(stores, user.id, source.id, board.id, one, key="l") == second
    for repeat in (_pin_for(board, None), _pin_for(board, await _new(stores, board))):
        with pytest.raises(BadInput, match="idempotencyKey was used for another input"):
            await writes.create_pin(stores, user.id, repeat, key="k")
    # The answer stays when the pin has left the section, or the section is gone.
    await writes.move_pin_to_section(stores, user.id, first.pin.id, None)
    await writes.delete_section(stores, user.id, one)
    again = await writes.create_pin(stores, user.id, _pin_for(board, one), key="k")
    assert (again.pin.id, again.edge, again.section_edge) == (first.pin.id, first.edge, None)
    again = await writes.repin(stores, user.id, source.id, board.id, one, key="l")
    assert again.pin.id == second.pin.id


def _pin_for(board: Board, section_id: int | None) -> writes.NewPin:
    return writes.NewPin(board_id=board.id, section_id=section_id or UNSET)


async def test_a_pin_for_a_section_that_is_not_on_the_board_is_not_made(
    stores: Stores, people: People
) -> None:
    user = await people.user()
    board, other = await people.board(user), await people.board(user, secret=True)
    far = await people.board(await people.user(away_from=user.id))
    foreign, elsewhere, gone = [await _new(stores, it) for it in (other, far, board)]
    await writes.delete_section(stores, user.id, gone)
    absent = compose(shard_of(board.id), Kind.SECTION, 10**6)
    source = await people.pin(far)
    for section in (foreign, elsewhere, gone, absent):
        for write in (
            writes.create_pin(stores, user.id, _pin_for(board, section)),
            writes.repin(stores, user.id, source.id, board.id, section),
        ):
            with pytest.raises(BadInput, match=f"no section {section} on the board") as refused:
                await write
            assert refused.value.field == "sectionId"
    for write in (
        writes.create_pin(stores, user.id, _pin_for(board, other.id)),
        writes.repin(stores, user.id, source.id, board.id, other.id),
    ):
        with pytest.raises(NotFound, match="no section"):
            await write
    assert await people.list(Mapping.BOARD_HAS_PINS, board.id) == []
    assert await people.list(Mapping.USER_HAS_PINS, user.id) == []


async def test_pins_saved_while_their_section_is_deleted_are_in_it_or_not_made(
    stores: Stores, people: People
) -> None:
    user = await people.user()
    board = await people.board(user)
    [one] = await _sections(stores, board, 1)
    source, made = await people.pin(await people.board(await people.user())), list[int]()
    refused, some_made = 0, anyio.Event()

    async def save(number: int) -> None:
        nonlocal refused
        await anyio.sleep(number * 0.002)
        try:
            if number % 2:
                written = await writes.create_pin(stores, user.id, _pin_for(board, one))
            else:
                written = await writes.repin(stores, user.id, source.id, board.id, one)
        except BadInput:
            refused += 1
            return
        assert (written.pin.section_id, written.section_edge is not None) == (one, True)
        made.append(written.pin.id)
        if len(made) == 4:
            some_made.set()

    async def delete() -> None:
        await some_made.wait()
        await writes.delete_section(stores, user.id, one)
        left = set(await people.list(IN_SECTION, one))
        assert left >= set(made)  # the job that empties the section has not run yet

    async with anyio.create_task_group() as group:
        for number in range(16):
            group.start_soon(save, number)
        group.start_soon(delete)
    assert refused + len(made) == 16
    assert sorted(await people.list(Mapping.BOARD_HAS_PINS, board.id)) == sorted(made)
    assert sorted(await people.list(IN_SECTION, one)) == sorted(made)
    await drain(stores)
    assert await people.list(IN_SECTION, one) == []
    assert {await _section_of(stores, pin) for pin in made} == {None}
    with pytest.raises(BadInput):
        await writes.create_pin(stores, user.id, _pin_for(board, one))


async def test_only_who_may_change_the_board_changes_its_sections(
    stores: Stores, people: People
) -> None:
    me, them = await people.user(), await people.user()
    boards = [await people.board(me, secret=secret) for secret in (False, True)]
    theirs = await people.board(them)
    their_section = await _new(stores, theirs)
    for board, error in zip(boards, (Forbidden, NotFound), strict=True):
        (one, two), (pin, _) = await _sections(stores, board, 2), await _pins(people, board, 2)
        await _fill(stores, board, one, [pin])
        new = writes.NewSection(board_id=board.id, name="b")
        for write, field in (
            (writes.create_section(stores, them.id, new), "boardId"),
            (writes.rename_section(stores, them.id, one, "b"), "sectionId"),
            (writes.reorder_section(stores, them.id, one, two), "sectionId"),
            (writes.delete_section(stores, them.id, one), "sectionId"),
            (writes.move_pin_to_section(stores, them.id, pin, two), "pinId"),
            (writes.move_pin_to_section(stores, them.id, pin, their_section), "pinId"),
            (writes.move_pin_to_section(stores, them.id, pin, None), "pinId"),
            (writes.create_pin(stores, them.id, _pin_for(board, two)), "boardId"),
        ):
            with pytest.raises(error) as refused:
                await write
            assert refused.value.field == field
        assert await people.list(ON_BOARD, board.id) == [one, two]
        assert await people.list(IN_SECTION, one) == [pin]
    await writes.block_user(stores, me.id, them.id)
    section = (await people.list(ON_BOARD, boards[0].id))[0]
    with pytest.raises(NotFound):
        await writes.rename_section(stores, them.id, section, "b")


async def test_a_move_that_another_move_overtook_holds_the_sections_that_it_changes(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = await people.board(await people.user())
    me, (one, two, three) = board.owner_id, await _sections(stores, board, 3)
    [pin] = await _pins(people, board, 1)
    held, take = list[list[int]](), Hold.take

    async def taking(hold: Hold, lists: Sequence[ListKey]) -> None:
        held.append([key.from_id for key in lists])
        await take(hold, lists)

    monkeypatch.setattr(Hold, "take", taking)
    for start, over, expected in (
        (None, one, [[one, two]]),
        (three, one, [[three, two], [three, one], [one, two]]),
    ):
        await writes.move_pin_to_section(stores, me, pin, None)
        await writes.move_pin_to_section(stores, me, pin, start)
        held.clear()
        overtake = partial(writes.move_pin_to_section, stores, me, pin, over)
        late = with_part(stores, "objects", Interrupted(stores.shards.objects, "get", overtake))
        await writes.move_pin_to_section(late, me, pin, two)
        assert sorted(held) == sorted(expected)
        assert await people.list(IN_SECTION, two) == [pin]
    heads = await stores.shards.mappings.heads([ListKey(IN_SECTION, it) for it in (one, two)])
    assert not any(head.held for head in heads.values())


async def test_the_pins_of_a_deleted_section_stay_on_the_board(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(section_tasks, "CHUNK", 2)
    board = await people.board(await people.user())
    me, (one, two) = board.owner_id, await _sections(stores, board, 2)
    pins = await _pins(people, board, 6)
    await _fill(stores, board, one, pins[:5])
    deleted = await writes.delete_section(stores, me, one)
    assert not deleted.active
    assert await access.read(stores, Section, [one]) == {}
    # before the job: a pin moves on, another pin leaves, a third is deleted
    await writes.move_pin_to_section(stores, me, pins[0], two)
    await writes.move_pin_to_section(stores, me, pins[1], None)
    await writes.delete_pin(stores, me, pins[2])
    await drain(stores)
    assert [await _section_of(stores, pin) for pin in pins] == [two, *[None] * 5]
    assert await people.list(IN_SECTION, one) == []
    assert await people.list(Mapping.BOARD_HAS_PINS, board.id) == [*pins[:2], *pins[3:]]
    with pytest.raises(NotFound):
        await writes.delete_section(stores, me, one)


async def test_a_pin_leaves_its_section_with_its_board_and_comes_back_without_one(
    stores: Stores, people: People
) -> None:
    user = await people.user()
    board, other = await people.board(user), await people.board(user)
    section = await _new(stores, board)
    a, b = await _pins(people, board, 2)
    await _fill(stores, board, section, [a, b])
    moved = await writes.move_pin(stores, user.id, a, other.id)
    assert moved.pin.section_id is None
    assert await people.list(IN_SECTION, section) == [b]
    await writes.move_pin(stores, user.id, b, board.id, None, None)  # it is there already
    assert await _section_of(stores, b) == section
    await writes.move_pin(stores, user.id, a, board.id)
    assert await people.list(IN_SECTION, section) == [b]
    await writes.move_pin_to_section(stores, user.id, a, section)
    await writes.delete_pin(stores, user.id, a)
    assert await people.list(IN_SECTION, section) == [b]
    copy = (await writes.repin(stores, user.id, b, board.id)).pin
    assert copy.section_id is None


async def test_the_sections_of_a_deleted_board_end_with_it(stores: Stores, people: People) -> None:
    board = await people.board(await people.user())
    ids = await _sections(stores, board, 3)
    await _fill(stores, board, ids[0], await _pins(people, board, 2))
    await writes.delete_board(stores, board.owner_id, board.id)
    for write in (
        writes.rename_section(stores, board.owner_id, ids[0], "b"),
        writes.delete_section(stores, board.owner_id, ids[0]),
    ):
        with pytest.raises(NotFound):
            await write
    await drain(stores)
    assert await access.read(stores, Section, ids) == {}
    assert await people.list(ON_BOARD, board.id) == []
    assert await people.list(IN_SECTION, ids[0]) == []


async def test_a_crowded_section_and_crowded_sections_are_respaced(
    stores: Stores, people: People
) -> None:
    """Each drag halves the same gap: the job and, at the end, the drag itself make room."""
    board = await people.board(await people.user())
    me, spacing = board.owner_id, Spacing(threshold=78)
    ids = await _sections(stores, board, 3)
    pins = await _pins(people, board, 3)
    await _fill(stores, board, ids[0], pins)
    for turn in range(scaled(60, 300)):
        moved, anchor = pins[1 + turn % 2], pins[0]
        await writes.move_pin_to_section(stores, me, moved, ids[0], anchor, spacing=spacing)
        assert await people.list(IN_SECTION, ids[0]) == [anchor, moved, pins[2 - turn % 2]]
        moved, anchor = ids[1 + turn % 2], ids[0]
        await writes.reorder_section(stores, me, moved, anchor, spacing=spacing)
        assert await people.list(ON_BOARD, board.id) == [anchor, moved, ids[2 - turn % 2]]
    await drain(stores)
    for key in (ListKey(IN_SECTION, ids[0]), ListKey(ON_BOARD, board.id)):
        assert await stores.shards.mappings.respacings(key, 0), key


async def test_a_section_sent_again_is_made_once(stores: Stores, people: People) -> None:
    board = await people.board(await people.user())
    new = writes.NewSection(board_id=board.id, name="a")
    first = await writes.create_section(stores, board.owner_id, new, key="k")
    assert await writes.create_section(stores, board.owner_id, new, key="k") == first
    [a] = await _pins(people, board, 1)
    put = await writes.move_pin_to_section(stores, board.owner_id, a, first.section.id, key="p")
    out = await writes.move_pin_to_section(stores, board.owner_id, a, None, key="o")
    again = await writes.move_pin_to_section(stores, board.owner_id, a, first.section.id, key="p")
    assert (again.placed, again.from_id) == (put.placed, None)
    again = await writes.move_pin_to_section(stores, board.owner_id, a, None, key="o")
    assert (again.placed, again.from_id) == (None, out.from_id) == (None, first.section.id)
    assert await people.list(IN_SECTION, first.section.id) == []


class _Model:
    """A user's two boards with sections and pins, as lists in memory. `act` does one random write
    to the stores and to the lists."""

    def __init__(self, people: People, user: User, boards: list[Board], seed: int) -> None:
        self.people, self.stores, self.me = people, people.stores, user.id
        self.random, self.boards = random.Random(seed), [board.id for board in boards]
        self.sections: dict[int, list[int]] = {id: [] for id in self.boards}
        self.pins: dict[int, list[int]] = {}
        self.board_of: dict[int, int] = {}

    async def act(self) -> None:
        acts: list[Callable[[], Awaitable[Any]]] = [
            self._new_section,
            self._new_pin,
            *[self._drag_section, self._put_pin, self._put_pin, self._put_pin] * 2,
            self._take_out,
            self._move_away,
            self._delete_pin,
            self._delete_section,
        ]
        await self.random.choice(acts)()

    async def check(self) -> None:
        for board, ids in self.sections.items():
            assert await self.people.list(ON_BOARD, board) == ids
        for section, pins in self.pins.items():
            assert await self.people.list(IN_SECTION, section) == pins

    def _pick(self, among: list[int]) -> int | None:
        return self.random.choice(among) if among else None

    def _place(self, among: list[int], moved: int) -> tuple[int | None, int | None, int]:
        """Anchors among other entries, and the index that they name."""
        others = [it for it in among if it != moved]
        at = self.random.randrange(len(others) + 1)
        above = others[at - 1] if at else None
        below = others[at] if at < len(others) else None
        if above is not None and self.random.random() < 0.5:
            below = None
        elif below is not None and self.random.random() < 0.5:
            above = None
        return above, below, at

    def _remove(self, pin: int) -> None:
        for pins in self.pins.values():
            if pin in pins:
                pins.remove(pin)

    async def _new_section(self) -> None:
        board = self.random.choice(self.boards)
        new = writes.NewSection(board_id=board, name="a")
        section = (await writes.create_section(self.stores, self.me, new)).section.id
        self.sections[board].insert(0, section)
        self.pins[section] = []

    async def _new_pin(self) -> None:
        board = self.random.choice(self.boards)
        section = self.random.choice([None, *self.sections[board]])
        new = writes.NewPin(board_id=board, section_id=section or UNSET)
        pin = (await writes.create_pin(self.stores, self.me, new)).pin.id
        self.board_of[pin] = board
        if section is not None:
            self.pins[section].insert(0, pin)

    async def _drag_section(self) -> None:
        ids = self.sections[self.random.choice(self.boards)]
        if len(ids) < 2:
            return
        moved = self.random.choice(ids)
        above, below, at = self._place(ids, moved)
        await writes.reorder_section(self.stores, self.me, moved, above, below)
        ids.remove(moved)
        ids.insert(at, moved)

    async def _put_pin(self) -> None:
        pin = self._pick(list(self.board_of))
        section = None if pin is None else self._pick(self.sections[self.board_of[pin]])
        if pin is None or section is None:
            return
        above, below, at = self._place(self.pins[section], pin)
        if pin in self.pins[section] and above is None and below is None:
            at = self.pins[section].index(pin)  # it stays
        await writes.move_pin_to_section(self.stores, self.me, pin, section, above, below)
        self._remove(pin)
        self.pins[section].insert(at, pin)

    async def _take_out(self) -> None:
        if pin := self._pick(list(self.board_of)):
            await writes.move_pin_to_section(self.stores, self.me, pin, None)
            self._remove(pin)

    async def _move_away(self) -> None:
        pin, board = self._pick(list(self.board_of)), self.random.choice(self.boards)
        if pin is not None:
            await writes.move_pin(self.stores, self.me, pin, board)
            if self.board_of[pin] != board:
                self._remove(pin)
            self.board_of[pin] = board

    async def _delete_pin(self) -> None:
        if pin := self._pick(list(self.board_of)):
            await writes.delete_pin(self.stores, self.me, pin)
            self._remove(pin)
            del self.board_of[pin]

    async def _delete_section(self) -> None:
        board = self.random.choice(self.boards)
        if len(self.sections[board]) < 4:
            return
        section = self.random.choice(self.sections[board])
        await writes.delete_section(self.stores, self.me, section)
        self.sections[board].remove(section)
        del self.pins[section]


@pytest.mark.parametrize("seed", range(scaled(2, 30)))
async def test_sections_do_what_lists_in_memory_do(
    stores: Stores, people: People, seed: int
) -> None:
    user = await people.user()
    model = _Model(people, user, [await people.board(user) for _ in range(2)], seed)
    for turn in range(120):
        await model.act()
        if turn % 8 == 0:
            await model.check()
    await drain(stores)
    await model.check()


@pytest.mark.parametrize("seed", range(2))
async def test_many_writes_at_once_leave_each_pin_in_one_section_at_most(
    stores: Stores, people: People, seed: int
) -> None:
    """The fixture compares the sections with their lists."""
    chooser, user = random.Random(seed), await people.user()
    board, other = await people.board(user), await people.board(user)
    ids = await _sections(stores, board, 4)
    pins = await _pins(people, board, 6)

    async def put() -> None:
        for _ in range(4):
            section = chooser.choice([*ids, None])
            await _tried(writes.move_pin_to_section(stores, user.id, chooser.choice(pins), section))

    acts: list[Callable[[], Awaitable[Any]]] = [
        *[put] * 12,
        *(partial(writes.move_pin, stores, user.id, pin, other.id) for pin in pins[:2]),
        partial(writes.delete_pin, stores, user.id, pins[2]),
        *(partial(writes.delete_section, stores, user.id, id) for id in ids[:2]),
        *(partial(writes.reorder_section, stores, user.id, ids[3], None, id) for id in ids[:3]),
    ]
    chooser.shuffle(acts)
    async with anyio.create_task_group() as group:
        for act in acts:
            group.start_soon(_tried, act())
    assert await people.list(ON_BOARD, board.id) in (ids[2:], ids[2:][::-1])
    assert set(await people.list(Mapping.BOARD_HAS_PINS, other.id)) == set(pins[:2])


async def _tried(write: Awaitable[Any]) -> None:
    try:
        await write
    except (BadInput, NotFound):  # what it names is gone
        return
