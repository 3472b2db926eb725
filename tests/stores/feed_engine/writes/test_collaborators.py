"""Collaborators on boards: who may invite, accept and leave, what a collaborator may do, and how a
membership ends."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from datasources.errors import BadInput, Forbidden, NotFound, RequestError
from datasources.ids import shard_of
from datasources.mappings import Mapping
from datasources.protocols import NotificationKind, Stores
from datasources.records import Board, Pin, User
from feed_engine import writes
from feed_engine.outbox.change import MembershipChanged
from feed_engine.outbox.tasks import HANDLERS
from feed_engine.transactions import access
from feed_engine.writes import collaborators, members
from tests.embedded_stores import drain
from tests.people import People

pytestmark = pytest.mark.anyio
OF_BOARD, OF_USER = Mapping.BOARD_HAS_COLLABORATORS, Mapping.USER_COLLABORATES_ON_BOARDS
INVITED, INVITATIONS = Mapping.BOARD_INVITES_USERS, Mapping.USER_INVITED_TO_BOARDS


async def pair(people: People, *, secret: bool = True) -> tuple[User, User, Board]:
    """An owner and a user on another shard, and the owner's board."""
    ann = await people.user()
    return ann, await people.user(away_from=ann.id), await people.board(ann, secret=secret)


async def join(stores: Stores, board: Board, user: User) -> None:
    await writes.invite_collaborator(stores, board.owner_id, board.id, user.id)
    await writes.accept_invitation(stores, user.id, board.id)


async def state(stores: Stores, people: People, board: Board, user: User) -> str:
    """The role of a user on a board: the board's record and all lists must agree about it."""
    now = await access.recall(stores, Board, board.id)
    found = {
        "invited": (now.invited, INVITED, INVITATIONS),
        "collaborator": (now.collaborators, OF_BOARD, OF_USER),
    }
    states = []
    for name, (ids, of_board, of_user) in found.items():
        assert list(ids) == (await people.list(of_board, board.id))[::-1], "record and list"
        assert (board.id in await people.list(of_user, user.id)) == (user.id in ids)
        states += [name] * (user.id in ids)
    return " ".join(states) or "nothing"


async def add(stores: Stores, user: User, board: Board, **fields: Any) -> Pin:
    new = writes.NewPin(board_id=board.id, title="added", **fields)
    return (await writes.create_pin(stores, user.id, new)).pin


async def test_a_user_is_invited_accepts_and_leaves(stores: Stores, people: People) -> None:
    ann, bob, board = await pair(people)
    assert await state(stores, people, board, bob) == "nothing"
    after = await writes.invite_collaborator(stores, ann.id, board.id, bob.id)
    assert (after.invited, after.collaborators) == ((bob.id,), ())
    assert await state(stores, people, board, bob) == "invited"
    after = await writes.accept_invitation(stores, bob.id, board.id)
    assert (after.invited, after.collaborators) == ((), (bob.id,))
    assert await state(stores, people, board, bob) == "collaborator"
    await writes.leave_board(stores, bob.id, board.id)
    assert await state(stores, people, board, bob) == "nothing"
    await join(stores, board, bob)
    await writes.remove_collaborator(stores, ann.id, board.id, bob.id)
    assert await state(stores, people, board, bob) == "nothing"


async def test_an_invitation_is_declined_or_taken_back(stores: Stores, people: People) -> None:
    ann, bob, board = await pair(people)
    await writes.invite_collaborator(stores, ann.id, board.id, bob.id)
    await writes.decline_invitation(stores, bob.id, board.id)
    assert await state(stores, people, board, bob) == "nothing"
    await writes.invite_collaborator(stores, ann.id, board.id, bob.id)
    await writes.remove_collaborator(stores, ann.id, board.id, bob.id)
    with pytest.raises(NotFound, match="There is no invitation"):
        await writes.accept_invitation(stores, bob.id, board.id)
    assert await state(stores, people, board, bob) == "nothing"


async def test_repeated_writes_change_nothing(stores: Stores, people: People) -> None:
    ann, bob, board = await pair(people)

    async def twice(write: Callable[[], Awaitable[Board]]) -> None:
        await write()
        rows = [await people.rows(it, board.id) for it in (INVITED, OF_BOARD)]
        await write()
        assert [await people.rows(it, board.id) for it in (INVITED, OF_BOARD)] == rows

    await twice(lambda: writes.invite_collaborator(stores, ann.id, board.id, bob.id))
    await twice(lambda: writes.accept_invitation(stores, bob.id, board.id))
    await twice(lambda: writes.invite_collaborator(stores, ann.id, board.id, bob.id))
    await twice(lambda: writes.decline_invitation(stores, bob.id, board.id))
    assert await state(stores, people, board, bob) == "collaborator"
    await twice(lambda: writes.leave_board(stores, bob.id, board.id))
    await twice(lambda: writes.remove_collaborator(stores, ann.id, board.id, bob.id))
    assert await state(stores, people, board, bob) == "nothing"


async def test_a_repeated_write_completes_the_first(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob, board = await pair(people)
    with monkeypatch.context() as broken:
        apply = stores.shards.mappings.apply

        async def fail(edges: Any) -> None:
            raise RequestError("the process died here")

        broken.setattr(stores.shards.mappings, "apply", fail)
        with pytest.raises(RequestError):
            await writes.invite_collaborator(stores, ann.id, board.id, bob.id)
        broken.setattr(stores.shards.mappings, "apply", apply)
        assert await people.list(INVITATIONS, bob.id) == []
        await writes.invite_collaborator(stores, ann.id, board.id, bob.id)
        assert await people.list(INVITATIONS, bob.id) == [board.id]


@pytest.mark.parametrize("secret", [True, False])
async def test_only_the_owner_invites_removes_and_edits(
    stores: Stores, people: People, secret: bool
) -> None:
    ann, bob, board = await pair(people, secret=secret)
    cat = await people.user()
    await join(stores, board, bob)
    for attempt in (
        writes.invite_collaborator(stores, bob.id, board.id, cat.id),
        writes.remove_collaborator(stores, bob.id, board.id, cat.id),
        writes.update_board(stores, bob.id, board.id, writes.BoardChange(name="mine")),
        writes.update_board(stores, bob.id, board.id, writes.BoardChange(secret=not secret)),
        writes.delete_board(stores, bob.id, board.id),
    ):
        with pytest.raises(Forbidden):
            await attempt
    for attempt in (
        writes.invite_collaborator(stores, ann.id, board.id, ann.id),
        writes.remove_collaborator(stores, ann.id, board.id, ann.id),
        writes.leave_board(stores, ann.id, board.id),
    ):
        with pytest.raises(BadInput):
            await attempt
    with pytest.raises(NotFound, match="There is no user"):
        await writes.invite_collaborator(stores, ann.id, board.id, cat.id + 1000)
    now = await access.recall(stores, Board, board.id)
    assert (now.name, now.secret, now.collaborators) == (board.name, secret, (bob.id,))


async def test_somebody_who_was_never_invited_learns_nothing(
    stores: Stores, people: People
) -> None:
    _, bob, board = await pair(people)
    absent = board.id + 1000
    for write in (writes.accept_invitation, writes.decline_invitation, writes.leave_board):
        messages = []
        for id in (board.id, absent):
            with pytest.raises(NotFound) as refused:
                await write(stores, bob.id, id)
            messages.append(refused.value.message.replace(str(id), "ID"))
        assert messages[0] == messages[1]


async def test_a_collaborator_adds_orders_changes_and_deletes_their_own_pins(
    stores: Stores, people: People
) -> None:
    ann, bob, board = await pair(people)
    anns = await people.pin(board)
    await join(stores, board, bob)
    first, second = [await add(stores, bob, board) for _ in range(2)]
    assert (first.owner_id, shard_of(first.id)) == (bob.id, shard_of(board.id))
    source = await people.pin(await people.board(ann))
    copy = (await writes.repin(stores, bob.id, source.id, board.id)).pin
    on_board = [copy.id, second.id, first.id, anns.id]
    assert await people.list(Mapping.BOARD_HAS_PINS, board.id) == on_board
    assert await people.list(Mapping.USER_HAS_PINS, bob.id) == [copy.id, second.id, first.id]
    await writes.reorder_pin(stores, bob.id, board.id, anns.id, second.id, first.id)
    await writes.reorder_pins(stores, bob.id, board.id, [anns.id, first.id])
    assert (await people.list(Mapping.BOARD_HAS_PINS, board.id))[:2] == [anns.id, first.id]
    changed = await writes.update_pin(stores, bob.id, first.id, writes.PinChange(title="mine"))
    assert changed.title == "mine"
    await writes.delete_pin(stores, bob.id, first.id)
    for attempt in (
        writes.update_pin(stores, bob.id, anns.id, writes.PinChange(title="mine")),
        writes.delete_pin(stores, bob.id, anns.id),
        writes.update_pin(stores, ann.id, second.id, writes.PinChange(title="mine")),
    ):
        with pytest.raises(Forbidden):
            await attempt
    await writes.delete_pin(stores, ann.id, second.id)
    assert await people.list(Mapping.USER_HAS_PINS, bob.id) == [copy.id]


async def test_pins_move_between_boards_of_one_owner_only(stores: Stores, people: People) -> None:
    ann, bob, board = await pair(people)
    other, bobs = await people.board(ann), await people.board(bob)
    await join(stores, board, bob)
    anns, added = await people.pin(board), await add(stores, bob, board)
    for mover, pin, to in (
        (bob, added, bobs),  # of another owner
        (bob, added, other),  # not a member there
        (ann, added, bobs),
    ):
        with pytest.raises(Forbidden):
            await writes.move_pin(stores, mover.id, pin.id, to.id)
    await join(stores, other, bob)
    with pytest.raises(Forbidden):
        await writes.move_pin(stores, bob.id, anns.id, other.id)
    await writes.move_pin(stores, bob.id, added.id, other.id)
    await writes.move_pin(stores, ann.id, added.id, board.id)
    await writes.move_pin(stores, bob.id, anns.id, board.id, added.id)  # orders it
    assert await people.list(Mapping.BOARD_HAS_PINS, board.id) == [added.id, anns.id]
    assert await people.list(Mapping.BOARD_HAS_PINS, other.id) == []
    assert await people.list(Mapping.USER_HAS_PUBLIC_PINS, bob.id) == []


@pytest.mark.parametrize("secret", [True, False])
async def test_who_left_may_not_write_any_more(
    stores: Stores, people: People, secret: bool
) -> None:
    _, bob, board = await pair(people, secret=secret)
    await join(stores, board, bob)
    pin = await add(stores, bob, board)
    await writes.leave_board(stores, bob.id, board.id)
    refused = NotFound if secret else Forbidden
    for attempt in (
        add(stores, bob, board),
        writes.repin(stores, bob.id, pin.id, board.id),
        writes.update_pin(stores, bob.id, pin.id, writes.PinChange(title="mine")),
        writes.reorder_pins(stores, bob.id, board.id, [pin.id]),
        writes.move_pin(stores, bob.id, pin.id, board.id),
    ):
        with pytest.raises(refused):
            await attempt
    if secret:
        with pytest.raises(NotFound):
            await writes.delete_pin(stores, bob.id, pin.id)
    else:  # the pin is shown under the user's name
        await writes.delete_pin(stores, bob.id, pin.id)


async def test_pins_of_all_members_become_public_and_secret_with_their_board(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("feed_engine.writes.board_tasks.CHUNK", 2)
    ann, bob, board = await pair(people)
    interest = await people.interest()
    await join(stores, board, bob)
    added = [await add(stores, bob, board, interest_ids=(interest.id,)) for _ in range(3)]
    await people.pin(board, interest)
    await writes.leave_board(stores, bob.id, board.id)
    for secret in (False, True):
        await writes.update_board(stores, ann.id, board.id, writes.BoardChange(secret=secret))
        await drain(stores)
        shown = set(await people.list(Mapping.USER_HAS_PUBLIC_PINS, bob.id))
        assert shown == (set() if secret else {pin.id for pin in added})
        in_interest = await people.list(Mapping.INTEREST_HAS_PINS, interest.id)
        assert len(in_interest) == (0 if secret else 4)


async def test_a_board_has_at_most_so_many_members_and_a_user_so_many_boards(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collaborators, "MOST", 2)
    ann, bob, board = await pair(people)
    cat, dan = await people.user(), await people.user()
    await join(stores, board, bob)
    await writes.invite_collaborator(stores, ann.id, board.id, cat.id)
    with pytest.raises(BadInput, match="at most 2"):
        await writes.invite_collaborator(stores, ann.id, board.id, dan.id)
    await writes.remove_collaborator(stores, ann.id, board.id, cat.id)
    await writes.invite_collaborator(stores, ann.id, board.id, dan.id)
    monkeypatch.setattr(collaborators, "MOST_BOARDS", 1)
    second = await people.board(ann)
    with pytest.raises(BadInput, match="1 invitations"):
        await writes.invite_collaborator(stores, ann.id, second.id, dan.id)
    await writes.invite_collaborator(stores, ann.id, second.id, bob.id)
    with pytest.raises(BadInput, match="more than 1 boards"):
        await writes.accept_invitation(stores, bob.id, second.id)


@pytest.mark.parametrize("blocker", ["owner", "user"])
async def test_a_block_ends_the_membership_before_it_is_acknowledged(
    stores: Stores, people: People, blocker: str
) -> None:
    ann, bob, board = await pair(people)
    cats = await people.board(await people.user())
    invited = await people.board(ann, secret=True)
    for one in (board, cats):
        await join(stores, one, bob)
    await writes.invite_collaborator(stores, ann.id, invited.id, bob.id)
    pin = await add(stores, bob, board)
    one, other = (ann, bob) if blocker == "owner" else (bob, ann)
    await writes.block_user(stores, one.id, other.id)
    assert await state(stores, people, board, bob) == "nothing"
    assert await state(stores, people, invited, bob) == "nothing"
    assert await state(stores, people, cats, bob) == "collaborator"
    with pytest.raises(NotFound):
        await add(stores, bob, board)
    with pytest.raises(NotFound, match="There is no user"):
        await writes.invite_collaborator(stores, ann.id, board.id, bob.id)
    found, _ = await access.find_pin(stores, ann.id, pin.id)
    assert found == pin, "the owner may delete it"
    await writes.unblock_user(stores, one.id, other.id)
    assert await state(stores, people, board, bob) == "nothing"


@pytest.mark.parametrize("blocker", ["owner", "user"])
async def test_an_acceptance_at_the_same_time_as_a_block_ends_soon(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch, blocker: str
) -> None:
    """The block and its job have ended memberships before the acceptance commits."""
    ann, bob, board = await pair(people)
    blocking, blocked = (ann, bob) if blocker == "owner" else (bob, ann)
    await writes.invite_collaborator(stores, ann.id, board.id, bob.id)
    await drain(stores)
    check = collaborators._check_size

    async def block_after(*given: Any) -> None:
        async def nothing(*_: Any) -> None:
            """Ends nothing: the user is no member yet."""

        await check(*given)
        with monkeypatch.context() as during:
            during.setattr(members, "end_between", nothing)
            await writes.block_user(stores, blocking.id, blocked.id)
            await drain(stores)

    with monkeypatch.context() as racing:
        racing.setattr(collaborators, "_check_size", block_after)
        await writes.accept_invitation(stores, bob.id, board.id)
    assert await state(stores, people, board, bob) == "collaborator"
    await drain(stores)
    assert await state(stores, people, board, bob) == "nothing"


async def test_a_deleted_board_has_no_members(stores: Stores, people: People) -> None:
    ann, bob, board = await pair(people)
    cat = await people.user()
    await join(stores, board, bob)
    await writes.invite_collaborator(stores, ann.id, board.id, cat.id)
    await writes.delete_board(stores, ann.id, board.id)
    for attempt in (
        writes.accept_invitation(stores, cat.id, board.id),
        add(stores, bob, board),
    ):
        with pytest.raises(NotFound):
            await attempt
    await drain(stores)
    assert await people.list(OF_USER, bob.id) == await people.list(INVITATIONS, cat.id) == []
    assert await state(stores, people, board, bob) == "nothing"


async def notified(stores: Stores, user: User) -> list[tuple[NotificationKind, int, int]]:
    inbox = await stores.shards.notifications.of_user(user.id, 100)
    return [(it.kind, it.subject_id, it.actor_id) for it in inbox.notifications]


async def test_the_user_is_notified_of_the_invitation_and_the_owner_of_its_acceptance(
    stores: Stores, people: People
) -> None:
    ann, bob, board = await pair(people)
    await writes.invite_collaborator(stores, ann.id, board.id, bob.id)
    await drain(stores)
    assert await notified(stores, bob) == [(NotificationKind.INVITED, board.id, ann.id)]
    assert await notified(stores, ann) == []
    await writes.accept_invitation(stores, bob.id, board.id)
    await drain(stores)
    assert await notified(stores, bob) == []
    assert await notified(stores, ann) == [(NotificationKind.JOINED_BOARD, board.id, bob.id)]
    await writes.leave_board(stores, bob.id, board.id)
    await drain(stores)
    assert await notified(stores, ann) == []
    task = MembershipChanged(board_id=board.id, user_id=bob.id)

    async def advance(_: bytes) -> None:
        pass

    for _ in range(2):
        await HANDLERS["MembershipChanged"](stores, task, None, advance)
    assert await notified(stores, ann) == await notified(stores, bob) == []


async def test_invitations_acceptances_and_removals_at_once_end_in_one_state(
    stores: Stores, people: People
) -> None:
    ann, bob, board = await pair(people)
    cat = await people.user(away_from=ann.id)

    async def act(number: int) -> None:
        user = (bob, cat)[number % 2]
        writes_of = (
            lambda: writes.invite_collaborator(stores, ann.id, board.id, user.id),
            lambda: writes.accept_invitation(stores, user.id, board.id),
            lambda: writes.leave_board(stores, user.id, board.id),
            lambda: writes.remove_collaborator(stores, ann.id, board.id, user.id),
            lambda: writes.decline_invitation(stores, user.id, board.id),
        )
        with contextlib.suppress(NotFound):
            await writes_of[number // 2 % 5]()

    await asyncio.gather(*(act(number) for number in range(40)))
    await drain(stores)
    for user in (bob, cat):
        assert await state(stores, people, board, user) in ("nothing", "invited", "collaborator")
