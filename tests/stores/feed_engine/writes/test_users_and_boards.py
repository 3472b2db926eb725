"""Signing up, and making, changing and deleting boards."""

import contextlib
import unicodedata
from types import SimpleNamespace
from typing import Any

import anyio
import msgspec
import pytest

from datasources.errors import BadInput, Conflict, Forbidden, NotFound
from datasources.ids import Kind, kind_of, shard_of
from datasources.mappings import Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Image, User
from feed_engine import writes
from feed_engine.transactions import validation
from feed_engine.transactions.edit import edited
from tests.embedded_stores import drain
from tests.faulty import Unwell
from tests.people import People

pytestmark = pytest.mark.anyio

BOARDS, PUBLIC_BOARDS = Mapping.USER_HAS_BOARDS, Mapping.USER_HAS_PUBLIC_BOARDS


async def test_a_user_name_is_kept_in_lower_case_and_finds_its_user(
    stores: Stores, people: People
) -> None:
    new = writes.NewUser(
        username=" Ada.Lovelace ",
        full_name="Ada",
        avatar=Image(url="/images/ada.svg", width=64, height=64, color="#AABBCC"),
    )
    user = await writes.sign_up(stores, new, at=1_700_000_000_000)
    assert user.username == "ada.lovelace"
    assert user.avatar == Image(url="/images/ada.svg", width=64, height=64, color="#aabbcc")
    assert user.created == 1_700_000_000_000
    assert kind_of(user.id) is Kind.USER
    assert await stores.shards.mod.find("username", ["ada.lovelace"]) == {"ada.lovelace": user.id}


@pytest.mark.parametrize("name", ["ab", "a" * 31, "ada lovelace", "añada", "ada!", "\u212abc", ""])
async def test_a_bad_user_name_is_refused_with_what_would_do(stores: Stores, name: str) -> None:
    with pytest.raises(BadInput, match="3 to 30 of the letters a to z") as refused:
        await writes.sign_up(stores, writes.NewUser(username=name))
    assert refused.value.field == "username"


async def test_a_taken_name_is_a_conflict_whatever_its_case(stores: Stores, people: People) -> None:
    first = await people.user()
    with pytest.raises(Conflict) as refused:
        await writes.sign_up(stores, writes.NewUser(username=first.username.upper()))
    assert refused.value.field == "username"


async def test_a_sign_up_sent_again_with_its_key_answers_the_same_user(
    stores: Stores, people: People
) -> None:
    new = writes.NewUser(username="twice_sent")
    first = await writes.sign_up(stores, new, key="one key of a sign-up")
    assert await writes.sign_up(stores, new, key="one key of a sign-up") == first
    for other in ("another key of a sign-up", None):
        with pytest.raises(Conflict):
            await writes.sign_up(stores, new, key=other)
    with pytest.raises(BadInput) as refused:
        await writes.sign_up(
            stores, writes.NewUser(username="twice_sent", about="?"), key="one key of a sign-up"
        )
    assert refused.value.field == "idempotencyKey"


async def test_a_sign_up_needs_no_cache(stores: Stores) -> None:
    """A failed sign-up would keep its claim of the name, and a second attempt without a key would
    be refused."""
    without = stores._replace(object_cache=Unwell(stores.object_cache))  # type: ignore[arg-type]
    user = await writes.sign_up(without, writes.NewUser(username="uncached"))
    assert await stores.shards.mod.find("username", ["uncached"]) == {"uncached": user.id}


@pytest.mark.parametrize("key", ["1", "x" * 15, ""])
async def test_a_sign_up_needs_a_key_that_nobody_can_guess(stores: Stores, key: str) -> None:
    with pytest.raises(BadInput) as refused:
        await writes.sign_up(stores, writes.NewUser(username="guessed"), key=key)
    assert refused.value.field == "idempotencyKey"
    assert (await writes.sign_up(stores, writes.NewUser(username="guessed"), key="x" * 16)).id


@pytest.mark.parametrize("name", ["admin", "Root", "support_", "_pinway"])
async def test_names_of_the_service_are_reserved(stores: Stores, name: str) -> None:
    with pytest.raises(BadInput, match="reserved") as refused:
        await writes.sign_up(stores, writes.NewUser(username=name))
    assert refused.value.field == "username"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("a\u200bb", r"U\+200B \(ZERO WIDTH SPACE\)"),
        ("\u202egnp.exe", r"U\+202E \(RIGHT-TO-LEFT OVERRIDE\)"),
        ("a\x9fb", r"U\+009F \(a control character\)"),
        ("a\u2066b", r"U\+2066 \(LEFT-TO-RIGHT ISOLATE\)"),
        ("a\ufeffb", r"U\+FEFF"),
    ],
)
async def test_characters_that_nobody_sees_are_refused_by_name(
    stores: Stores, people: People, text: str, named: str
) -> None:
    viewer = await people.user()
    with pytest.raises(BadInput, match=f"^fullName holds {named}") as refused:
        await writes.sign_up(stores, writes.NewUser(username="unseen", full_name=text))
    assert refused.value.field == "fullName"
    with pytest.raises(BadInput, match=named):
        await writes.create_board(stores, viewer.id, writes.NewBoard(name=text))


@pytest.mark.parametrize("text", ["👩\u200d🔬", "می\u200cخواهم", "שלום\u200f (x)", "co\xadop"])
async def test_what_scripts_and_emoji_need_is_allowed(
    stores: Stores, people: People, text: str
) -> None:
    viewer = await people.user()
    new = writes.NewBoard(name=text, description=f"{text}\nin two lines")
    written = await writes.create_board(stores, viewer.id, new)
    assert (written.board.name, written.board.description) == (new.name, new.description)


async def test_texts_are_kept_in_one_form_of_unicode(stores: Stores, people: People) -> None:
    viewer = await people.user()
    written = await writes.create_board(stores, viewer.id, writes.NewBoard(name="Ame\u0301lie"))
    assert written.board.name == "Am\xe9lie"


async def test_a_long_run_of_marks_is_refused_before_it_is_put_in_order(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []

    def normalize(form: Any, text: str) -> str:
        lengths.append(len(text))
        return unicodedata.normalize(form, text)

    monkeypatch.setattr(
        validation, "unicodedata", SimpleNamespace(**vars(unicodedata) | {"normalize": normalize})
    )
    viewer = await people.user()
    for text, why in (
        ("e" + "\u0301\u0327" * 16, "more than 30 marks"),
        ("\xe9" * 200_000, "200000 characters"),
    ):
        with pytest.raises(BadInput, match=why):
            await writes.create_board(stores, viewer.id, writes.NewBoard(name=text))
    assert lengths == []
    name = "e" + "\u0301\u0327" * 15
    written = await writes.create_board(stores, viewer.id, writes.NewBoard(name=name))
    assert written.board.name == unicodedata.normalize("NFC", name)
    assert lengths == [len(name)]


async def test_of_many_who_want_one_name_exactly_one_gets_it(
    stores: Stores, people: People
) -> None:
    users: list[User] = []

    async def sign_up(number: int) -> None:
        with contextlib.suppress(Conflict):
            users.append(
                await writes.sign_up(stores, writes.NewUser(username="wanted", about=str(number)))
            )

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(sign_up, number)
    assert len(users) == 1
    assert await stores.shards.mod.find("username", ["wanted"]) == {"wanted": users[0].id}


async def test_a_board_lies_on_its_owners_shard_and_in_its_owners_lists(
    stores: Stores, people: People
) -> None:
    owner = await people.user()
    new = writes.NewBoard(name="  Kites ", description="High")
    written = await writes.create_board(stores, owner.id, new)
    secret = await people.board(owner, secret=True)
    assert (written.board.name, written.board.description) == ("Kites", "High")
    assert shard_of(written.board.id) == shard_of(owner.id)
    assert await people.list(BOARDS, owner.id) == [secret.id, written.board.id]
    assert await people.rows(PUBLIC_BOARDS, owner.id) == [written.edge]


@pytest.mark.parametrize(
    ("new", "field"),
    [
        (writes.NewBoard(name="  "), "name"),
        (writes.NewBoard(name="n" * 181), "name"),
        (writes.NewBoard(name="n", description="d" * 5001), "description"),
        (writes.NewBoard(name="half \ud83d"), "name"),
        (writes.NewBoard(name="nul \x00"), "name"),
    ],
)
async def test_a_bad_board_is_refused_by_field(
    stores: Stores, people: People, new: writes.NewBoard, field: str
) -> None:
    owner = await people.user()
    with pytest.raises(BadInput, match=field) as refused:
        await writes.create_board(stores, owner.id, new)
    assert refused.value.field == field


async def test_an_edit_keeps_what_is_absent_clears_what_is_null_and_keeps_newer_fields(
    stores: Stores, people: People
) -> None:
    owner = await people.user()
    new = writes.NewBoard(name="Kites", description="High")
    board = (await writes.create_board(stores, owner.id, new)).board

    async def from_the_future(tx: ShardTx) -> None:
        raw = await tx.get(board.id)
        assert raw is not None
        fields = msgspec.json.decode(raw) | {"mood": {"kind": "windy"}}
        await tx.update(board.id, msgspec.json.encode(fields))

    await stores.shards.objects.transact(shard_of(board.id), from_the_future)
    renamed = await writes.update_board(
        stores, owner.id, board.id, writes.BoardChange(name="Gliders")
    )
    assert (renamed.name, renamed.description) == ("Gliders", "High")
    cleared = await writes.update_board(
        stores, owner.id, board.id, writes.BoardChange(description=None)
    )
    assert (cleared.name, cleared.description) == ("Gliders", "")
    raw = (await stores.shards.objects.get([board.id]))[board.id]
    stored = msgspec.json.decode(raw)
    assert stored["mood"] == {"kind": "windy"}
    assert "description" not in stored


def test_an_edit_leaves_out_what_has_its_default() -> None:
    raw = b'{"name":"a","owner_id":1,"secret":true,"later":[1,2]}'
    assert edited(raw, {"secret": False, "name": "b"}, Board) == (
        b'{"name":"b","owner_id":1,"later":[1,2]}'
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (writes.BoardChange(name=None), "name"),
        (writes.BoardChange(secret=None), "secret"),
        (writes.BoardChange(cover_pin_id=140806207832065), "coverPinId"),
    ],
)
async def test_a_bad_edit_is_refused(
    stores: Stores, people: People, change: writes.BoardChange, field: str
) -> None:
    owner = await people.user()
    board = await people.board(owner)
    with pytest.raises(BadInput) as refused:
        await writes.update_board(stores, owner.id, board.id, change)
    assert refused.value.field == field


async def test_a_cover_has_to_be_on_the_board(stores: Stores, people: People) -> None:
    owner = await people.user()
    board, other = await people.board(owner), await people.board(owner)
    pin, foreign = await people.pin(board), await people.pin(other)
    change = writes.BoardChange(cover_pin_id=pin.id)
    after = await writes.update_board(stores, owner.id, board.id, change)
    assert after.cover_pin_id == pin.id
    with pytest.raises(BadInput, match="cover"):
        await writes.update_board(
            stores, owner.id, board.id, writes.BoardChange(cover_pin_id=foreign.id)
        )


async def test_somebody_elses_secret_board_is_answered_as_one_that_does_not_exist(
    stores: Stores, people: People
) -> None:
    owner, stranger = await people.user(), await people.user()
    secret, public = await people.board(owner, secret=True), await people.board(owner)
    absent = secret.id + 10_000

    async def refusals(board_id: int) -> list[str]:
        found = []
        for attempt in (
            lambda: writes.update_board(
                stores, stranger.id, board_id, writes.BoardChange(name="x")
            ),
            lambda: writes.delete_board(stores, stranger.id, board_id),
            lambda: writes.create_pin(stores, stranger.id, writes.NewPin(board_id=board_id)),
            lambda: writes.reorder_pin(stores, stranger.id, board_id, 1, 2),
            lambda: writes.follow(stores, stranger.id, board_id),
            lambda: writes.unfollow(stores, stranger.id, board_id),
        ):
            with pytest.raises(NotFound) as refused:
                await attempt()
            found.append(refused.value.message.replace(str(board_id), "ID"))
        return found

    assert await refusals(secret.id) == await refusals(absent)
    with pytest.raises(Forbidden):
        await writes.update_board(stores, stranger.id, public.id, writes.BoardChange(name="x"))
    with pytest.raises(Forbidden):
        await writes.delete_board(stores, stranger.id, public.id)


async def test_a_board_that_becomes_secret_leaves_public_lists_and_comes_back(
    stores: Stores, people: People
) -> None:
    owner, interest = await people.user(), await people.interest()
    board = await people.board(owner)
    pins = [await people.pin(board, interest) for _ in range(3)]
    ids = [pin.id for pin in reversed(pins)]
    for secret, expected in ((True, []), (False, ids), (True, [])):
        after = await writes.update_board(
            stores, owner.id, board.id, writes.BoardChange(secret=secret)
        )
        assert after.secret is secret
        assert await people.list(PUBLIC_BOARDS, owner.id) == [board.id] * (not secret)
        await drain(stores)
        assert await people.list(Mapping.USER_HAS_PUBLIC_PINS, owner.id) == expected
        assert await people.list(Mapping.INTEREST_HAS_PINS, interest.id) == expected
        assert await people.list(Mapping.USER_HAS_PINS, owner.id) == ids


async def test_flips_and_their_jobs_in_any_order_end_in_the_last_state(
    stores: Stores, people: People
) -> None:
    owner, interest = await people.user(), await people.interest()
    board = await people.board(owner)
    for number in range(7):
        await people.pin(board, interest)
        change = writes.BoardChange(secret=number % 2 == 0)
        await writes.update_board(stores, owner.id, board.id, change)
    await writes.update_board(stores, owner.id, board.id, writes.BoardChange(secret=False))
    await drain(stores)
    assert len(await people.list(Mapping.USER_HAS_PUBLIC_PINS, owner.id)) == 7
    assert len(await people.list(Mapping.INTEREST_HAS_PINS, interest.id)) == 7


async def test_an_edit_that_changes_nothing_writes_nothing(stores: Stores, people: People) -> None:
    owner = await people.user()
    board = await people.board(owner)
    await drain(stores)
    change = writes.BoardChange(name=board.name, secret=False)
    assert await writes.update_board(stores, owner.id, board.id, change) == board
    assert await stores.shards.outbox.pending(2**62, 10) == []


async def test_a_deleted_board_takes_its_pins_with_it(stores: Stores, people: People) -> None:
    owner, interest = await people.user(), await people.interest()
    board, other = await people.board(owner), await people.board(owner)
    for _ in range(3):
        await people.pin(board, interest)
    kept = await people.pin(other, interest)
    after = await writes.delete_board(stores, owner.id, board.id)
    assert after.active is False
    assert await people.list(BOARDS, owner.id) == [other.id]
    await drain(stores)
    assert await people.list(Mapping.BOARD_HAS_PINS, board.id) == []
    assert await people.list(Mapping.USER_HAS_PINS, owner.id) == [kept.id]
    assert await people.list(Mapping.INTEREST_HAS_PINS, interest.id) == [kept.id]
    with pytest.raises(NotFound):
        await writes.delete_board(stores, owner.id, board.id)
