"""Writes sent again with the same key, after an answer, before it, and at the same time."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.mappings import Mapping
from datasources.protocols import Stores
from datasources.records import Board, Pin, User
from feed_engine import writes
from tests.embedded_stores import drain
from tests.people import People

pytestmark = pytest.mark.anyio

Write = Callable[[str | None], Awaitable[Any]]


async def _every_write(stores: Stores, people: People) -> dict[str, Write]:
    """Each mutation on its own objects, by name, to be sent with a key."""
    viewer, other = await people.user(), await people.user()
    board, spare, doomed = [await people.board(viewer) for _ in range(3)]
    pins = [await people.pin(board) for _ in range(4)]
    foreign = await people.pin(await people.board(other))
    new_section = writes.NewSection(board_id=board.id, name="s")
    sections = [
        (await writes.create_section(stores, viewer.id, new_section)).section.id for _ in range(3)
    ]
    comment = (
        await writes.create_comment(
            stores, viewer.id, writes.NewComment(pin_id=foreign.id, text="mine")
        )
    ).comment
    me = viewer.id
    new_user = writes.NewUser(username=f"{viewer.username}_again")
    return {
        "signUp": lambda key: writes.sign_up(stores, new_user, key=key),
        "createBoard": lambda key: writes.create_board(
            stores, me, writes.NewBoard(name="b"), key=key
        ),
        "updateBoard": lambda key: writes.update_board(
            stores, me, spare.id, writes.BoardChange(secret=True), key=key
        ),
        "deleteBoard": lambda key: writes.delete_board(stores, me, doomed.id, key=key),
        "createPin": lambda key: writes.create_pin(
            stores, me, writes.NewPin(board_id=board.id, title="new"), key=key
        ),
        "updatePin": lambda key: writes.update_pin(
            stores, me, pins[0].id, writes.PinChange(title="changed"), key=key
        ),
        "deletePin": lambda key: writes.delete_pin(stores, me, pins[1].id, key=key),
        "repin": lambda key: writes.repin(stores, me, foreign.id, board.id, key=key),
        "like": lambda key: writes.like_pin(stores, me, foreign.id, key=key),
        "unlike": lambda key: writes.unlike_pin(stores, me, foreign.id, key=key),
        "createComment": lambda key: writes.create_comment(
            stores, me, writes.NewComment(pin_id=foreign.id, text="hi"), key=key
        ),
        "deleteComment": lambda key: writes.delete_comment(stores, me, comment.id, key=key),
        "follow": lambda key: writes.follow(stores, me, other.id, key=key),
        "unfollow": lambda key: writes.unfollow(stores, me, other.id, key=key),
        "reorderPin": lambda key: writes.reorder_pin(
            stores, me, board.id, pins[3].id, after_pin_id=pins[0].id, key=key
        ),
        "createSection": lambda key: writes.create_section(stores, me, new_section, key=key),
        "renameSection": lambda key: writes.rename_section(stores, me, sections[0], "t", key=key),
        "reorderSection": lambda key: writes.reorder_section(
            stores, me, sections[0], after_section_id=sections[1], key=key
        ),
        "movePinToSection": lambda key: writes.move_pin_to_section(
            stores, me, pins[0].id, sections[0], key=key
        ),
        "deleteSection": lambda key: writes.delete_section(stores, me, sections[2], key=key),
        "movePin": lambda key: writes.move_pin(stores, me, pins[2].id, spare.id, key=key),
    }


async def _content(stores: Stores) -> dict[int, bytes]:
    listed = [await stores.shards.objects.list(kind, 0, 10**6) for kind in Kind]
    return {id: raw for found in listed for id, raw in found}


async def test_every_write_sent_again_does_nothing_twice_and_answers_the_same(
    stores: Stores, people: People
) -> None:
    for name, write in (await _every_write(stores, people)).items():
        first = await write(f"the key of {name}")
        await drain(stores)
        before = await _content(stores)
        assert await write(f"the key of {name}") == first, name
        assert await _content(stores) == before, name
        assert await stores.shards.outbox.pending(2**62, 10) == [], name


async def test_every_write_sent_many_times_at_once_has_one_effect_and_one_answer(
    stores: Stores, people: People
) -> None:
    for name, write in (await _every_write(stores, people)).items():
        answers: list[Any] = []

        async def send(name: str = name, write: Write = write, to: list[Any] = answers) -> None:
            to.append(await write(f"sent at once: {name}"))

        before = await _content(stores)
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(send)
        assert answers == [answers[0]] * 6, name
        assert len(await _content(stores)) <= len(before) + 1, name


async def test_a_key_is_bound_to_its_input_and_its_viewer(stores: Stores, people: People) -> None:
    one, two = await people.user(), await people.user()
    made = await writes.create_board(stores, one.id, writes.NewBoard(name="a"), key="k")
    with pytest.raises(BadInput) as refused:
        await writes.create_board(stores, one.id, writes.NewBoard(name="b"), key="k")
    assert refused.value.field == "idempotencyKey"
    with pytest.raises(BadInput):
        await writes.update_board(
            stores, one.id, made.board.id, writes.BoardChange(name="a"), key="k"
        )
    other = await writes.create_board(stores, two.id, writes.NewBoard(name="a"), key="k")
    assert other.board.id != made.board.id
    assert len(await people.list(Mapping.USER_HAS_BOARDS, one.id)) == 1


@pytest.mark.parametrize("key", ["", "k" * 256, "half \ud83d"])
async def test_a_bad_key_is_refused(stores: Stores, people: People, key: str) -> None:
    viewer = await people.user()
    for write in (
        lambda: writes.create_board(stores, viewer.id, writes.NewBoard(name="a"), key=key),
        lambda: writes.sign_up(stores, writes.NewUser(username="bad_key"), key=key),
    ):
        with pytest.raises(BadInput) as refused:
            await write()
        assert refused.value.field == "idempotencyKey"


async def test_keys_that_differ_in_case_or_trailing_space_are_different(
    stores: Stores, people: People
) -> None:
    viewer = await people.user()
    keys = ["key", "KEY", "key ", "kéy", "ke\u0301y", "k" * 255]
    new = writes.NewBoard(name="a")
    made = [await writes.create_board(stores, viewer.id, new, key=key) for key in keys]
    assert len({written.board.id for written in made}) == len(keys)


async def test_an_answer_outlives_what_it_was_given_by(stores: Stores, people: People) -> None:
    """The answer of a write that was done is repeated, even if the write would be refused now."""
    viewer, owner = await people.user(), await people.user()
    board = await people.board(owner)
    pin = await people.pin(board)
    edge = await writes.like_pin(stores, viewer.id, pin.id, key="k")
    await writes.update_board(stores, owner.id, board.id, writes.BoardChange(secret=True))
    assert await writes.like_pin(stores, viewer.id, pin.id, key="k") == edge
    await writes.unlike_pin(stores, viewer.id, pin.id)
    assert await writes.like_pin(stores, viewer.id, pin.id, key="k") == edge
    assert await people.list(Mapping.USER_LIKES_PINS, viewer.id) == []


async def test_a_write_that_found_nothing_to_do_stays_done_under_its_key(
    stores: Stores, people: People
) -> None:
    viewer = await people.user()
    pin = await people.pin(await people.board(viewer))
    await writes.like_pin(stores, viewer.id, pin.id)
    edge = await writes.like_pin(stores, viewer.id, pin.id, key="k")
    await writes.unlike_pin(stores, viewer.id, pin.id)
    assert await writes.like_pin(stores, viewer.id, pin.id, key="k") == edge
    assert await people.list(Mapping.USER_LIKES_PINS, viewer.id) == []


async def test_objects_in_a_repeated_answer_are_as_they_are_by_then(
    stores: Stores, people: People
) -> None:
    viewer: User = await people.user()
    board: Board = await people.board(viewer)
    new = writes.NewPin(board_id=board.id, title="first")
    pin: Pin = (await writes.create_pin(stores, viewer.id, new, key="k")).pin
    await writes.update_pin(stores, viewer.id, pin.id, writes.PinChange(title="second"))
    again = await writes.create_pin(stores, viewer.id, new, key="k")
    assert (again.pin.id, again.pin.title) == (pin.id, "second")
