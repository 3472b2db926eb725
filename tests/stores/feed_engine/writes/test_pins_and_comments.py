"""Making, changing, deleting and repinning pins, and commenting on them."""

import pytest

from datasources.errors import BadInput, Forbidden, NotFound
from datasources.ids import shard_of
from datasources.mappings import SEQUENCE_STEP, Mapping
from datasources.protocols import Stores
from datasources.records import Image
from feed_engine import writes
from feed_engine.outbox.change import PinPublished, decode
from tests.people import People

pytestmark = pytest.mark.anyio

ON_BOARD, PINS, PUBLIC = (
    Mapping.BOARD_HAS_PINS,
    Mapping.USER_HAS_PINS,
    Mapping.USER_HAS_PUBLIC_PINS,
)
BY_INTEREST, COMMENTS = Mapping.INTEREST_HAS_PINS, Mapping.PIN_HAS_COMMENTS


async def test_a_pin_lies_on_its_boards_shard_and_in_every_list(
    stores: Stores, people: People
) -> None:
    owner, interest = await people.user(), await people.interest()
    board = await people.board(owner)
    new = writes.NewPin(
        board_id=board.id,
        title=" A kite ",
        description="red",
        link="https://example.org/kite?a=1#b",
        image=Image(url="https://example.org/kite.png", width=10, height=20),
        interest_ids=(interest.id, interest.id),
    )
    written = await writes.create_pin(stores, owner.id, new, at=1_700_000_000_000)
    pin = written.pin
    assert (pin.title, pin.interest_ids, pin.owner_id) == ("A kite", (interest.id,), owner.id)
    assert shard_of(pin.id) == shard_of(board.id)
    assert written.edge.sequence == 1_700_000_000_000 * SEQUENCE_STEP
    assert await people.rows(ON_BOARD, board.id) == [written.edge]
    for mapping, from_id in ((PINS, owner.id), (PUBLIC, owner.id), (BY_INTEREST, interest.id)):
        [row] = await people.rows(mapping, from_id)
        assert (row.to_id, row.sequence) == (pin.id, written.edge.sequence)


async def test_pins_of_one_millisecond_or_a_clock_that_steps_back_go_on_top(
    stores: Stores, people: People
) -> None:
    board = await people.board(await people.user())
    ids = []
    for at in (1000, 1000, 1000, 10, 1000, 2000):
        new = writes.NewPin(board_id=board.id)
        ids.append((await writes.create_pin(stores, board.owner_id, new, at=at)).pin.id)
    assert await people.list(ON_BOARD, board.id) == ids[::-1]


async def test_a_secret_boards_pin_is_in_no_public_list_and_no_feed(
    stores: Stores, people: People
) -> None:
    owner, interest = await people.user(), await people.interest()
    board = await people.board(owner, secret=True)
    pin = await people.pin(board, interest)
    for row in await stores.shards.outbox.pending(2**62, 100):
        assert not [t for t in decode(row.payload).tasks if isinstance(t, PinPublished)]
    assert await people.list(PINS, owner.id) == [pin.id]
    assert await people.list(PUBLIC, owner.id) == []
    assert await people.list(BY_INTEREST, interest.id) == []


def _image(**fields: object) -> Image:
    return Image(**{"url": "https://a.example/b.png", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"title": "t" * 501}, "title"),
        ({"description": "d" * 5001}, "description"),
        ({"link": "javascript:alert(1)"}, "link"),
        ({"link": "example.org/kite"}, "link"),
        ({"link": "https://"}, "link"),
        ({"link": "https://exa mple.org/"}, "link"),
        ({"link": "http://[broken/"}, "link"),
        ({"link": "https://example.org/" + "a" * 2048}, "link"),
        ({"link": "https://example.org/\ud800"}, "link"),
        ({"image": _image(url="file:///etc/passwd")}, "image.url"),
        ({"image": _image(url="/images/../secrets")}, "image.url"),
        ({"image": _image(url="/etc/passwd")}, "image.url"),
        ({"image": _image(url="  ")}, "image.url"),
        ({"image": _image(width=0)}, "image.width"),
        ({"image": _image(height=100_001)}, "image.height"),
        ({"image": _image(color="red")}, "image.dominantColor"),
        ({"interest_ids": tuple(range(1, 22))}, "interestIds"),
        ({"interest_ids": (5,)}, "interestIds"),
    ],
)
async def test_a_bad_pin_is_refused_by_field(
    stores: Stores, people: People, fields: dict[str, object], field: str
) -> None:
    board = await people.board(await people.user())
    with pytest.raises(BadInput) as refused:
        await writes.create_pin(
            stores,
            board.owner_id,
            writes.NewPin(board_id=board.id, **fields),  # type: ignore[arg-type]
        )
    assert refused.value.field == field
    assert await people.list(ON_BOARD, board.id) == []


async def test_an_interest_that_does_not_exist_is_refused(stores: Stores, people: People) -> None:
    board, interest = await people.board(await people.user()), await people.interest()
    new = writes.NewPin(board_id=board.id, interest_ids=(interest.id, interest.id + 1000))
    with pytest.raises(BadInput, match=f"no interest {interest.id + 1000}"):
        await writes.create_pin(stores, board.owner_id, new)


async def test_an_edit_of_a_pin_keeps_what_is_absent_and_clears_what_is_null(
    stores: Stores, people: People
) -> None:
    board = await people.board(await people.user())
    new = writes.NewPin(board_id=board.id, title="a", link="https://a.example/")
    pin = (await writes.create_pin(stores, board.owner_id, new)).pin
    change = writes.PinChange(description="b", link=None)
    after = await writes.update_pin(stores, board.owner_id, pin.id, change)
    assert (after.title, after.description, after.link) == ("a", "b", None)


async def test_a_pins_interests_can_change_back_and_forth(stores: Stores, people: People) -> None:
    board = await people.board(await people.user())
    one, two = await people.interest(), await people.interest()
    pin = await people.pin(board, one)
    for interests in ([two], [one, two], [], [one], [two, one]):
        change = writes.PinChange(interest_ids=tuple(i.id for i in interests))
        await writes.update_pin(stores, board.owner_id, pin.id, change)
        for interest in (one, two):
            expected = [pin.id] if interest in interests else []
            assert await people.list(BY_INTEREST, interest.id) == expected


async def test_a_deleted_pin_leaves_every_list(stores: Stores, people: People) -> None:
    owner, interest = await people.user(), await people.interest()
    board = await people.board(owner)
    kept, gone = await people.pin(board, interest), await people.pin(board, interest)
    after = await writes.delete_pin(stores, owner.id, gone.id)
    assert (after.id, after.active) == (gone.id, False)
    for mapping, from_id in (
        (ON_BOARD, board.id),
        (PINS, owner.id),
        (PUBLIC, owner.id),
        (BY_INTEREST, interest.id),
    ):
        assert await people.list(mapping, from_id) == [kept.id]
    with pytest.raises(NotFound):
        await writes.delete_pin(stores, owner.id, gone.id)


async def test_only_the_owner_changes_pins_and_a_secret_pin_does_not_exist_for_others(
    stores: Stores, people: People
) -> None:
    owner, stranger = await people.user(), await people.user()
    shown = await people.pin(await people.board(owner))
    hidden = await people.pin(await people.board(owner, secret=True))
    own = await people.board(stranger)
    absent = hidden.id + 10_000

    async def refusals(pin_id: int) -> list[str]:
        found = []
        for attempt in (
            lambda: writes.update_pin(stores, stranger.id, pin_id, writes.PinChange(title="x")),
            lambda: writes.delete_pin(stores, stranger.id, pin_id),
            lambda: writes.like_pin(stores, stranger.id, pin_id),
            lambda: writes.unlike_pin(stores, stranger.id, pin_id),
            lambda: writes.repin(stores, stranger.id, pin_id, own.id),
            lambda: writes.create_comment(
                stores, stranger.id, writes.NewComment(pin_id=pin_id, text="hi")
            ),
        ):
            with pytest.raises(NotFound) as refused:
                await attempt()
            found.append(refused.value.message.replace(str(pin_id), "ID"))
        return found

    assert await refusals(hidden.id) == await refusals(absent)
    for attempt in (
        lambda: writes.update_pin(stores, stranger.id, shown.id, writes.PinChange(title="x")),
        lambda: writes.delete_pin(stores, stranger.id, shown.id),
    ):
        with pytest.raises(Forbidden):
            await attempt()


async def test_a_repin_copies_the_pin_and_names_its_source(stores: Stores, people: People) -> None:
    owner, interest = await people.user(), await people.interest()
    other = await people.user(away_from=owner.id)
    source = await people.pin(await people.board(owner), interest)
    board = await people.board(other)
    written = await writes.repin(stores, other.id, source.id, board.id, key="again")
    pin = written.pin
    assert (pin.title, pin.interest_ids, pin.source_id) == (
        source.title,
        source.interest_ids,
        source.id,
    )
    assert (pin.board_id, pin.owner_id) == (board.id, other.id)
    await writes.delete_pin(stores, owner.id, source.id)
    assert await writes.repin(stores, other.id, source.id, board.id, key="again") == written
    with pytest.raises(NotFound):
        await writes.repin(stores, other.id, source.id, board.id)


async def test_comments_come_and_go(stores: Stores, people: People) -> None:
    owner, author, stranger = [await people.user() for _ in range(3)]
    pin = await people.pin(await people.board(owner))
    made = [
        await writes.create_comment(
            stores, author.id, writes.NewComment(pin_id=pin.id, text=f" nice {n} "), at=n
        )
        for n in (1, 2, 3)
    ]
    ids = [written.comment.id for written in made]
    assert made[0].comment.text == "nice 1"
    assert shard_of(ids[0]) == shard_of(pin.id)
    assert await people.list(COMMENTS, pin.id) == ids[::-1]
    with pytest.raises(Forbidden):
        await writes.delete_comment(stores, stranger.id, ids[0])
    assert (await writes.delete_comment(stores, author.id, ids[0])).active is False
    await writes.delete_comment(stores, owner.id, ids[2])
    assert await people.list(COMMENTS, pin.id) == [ids[1]]
    with pytest.raises(NotFound):
        await writes.delete_comment(stores, author.id, ids[0])
    with pytest.raises(BadInput, match="text is empty"):
        await writes.create_comment(stores, author.id, writes.NewComment(pin_id=pin.id, text=" "))


async def test_a_comment_under_a_pin_that_became_secret_is_its_authors_to_delete_alone(
    stores: Stores, people: People
) -> None:
    owner, author, stranger = [await people.user() for _ in range(3)]
    board = await people.board(owner)
    pin = await people.pin(board)
    comment = (
        await writes.create_comment(
            stores, author.id, writes.NewComment(pin_id=pin.id, text="mine")
        )
    ).comment
    await writes.update_board(stores, owner.id, board.id, writes.BoardChange(secret=True))
    with pytest.raises(NotFound):
        await writes.delete_comment(stores, stranger.id, comment.id)
    assert (await writes.delete_comment(stores, author.id, comment.id)).active is False
