"""An export of an import is the import, as a set of canonical lines."""

import json

import msgspec
import pytest
from hypothesis import HealthCheck

from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.protocols import Stores
from datasources.records import Board, User, decode
from feed_engine import writes
from tests.audit import audit
from tests.embedded_stores import drain
from tests.generated import given, settings
from tests.importing.conftest import Fresh
from tests.importing.files import board, give, pin, take, user
from tests.importing.worlds import canonical_set, large, worlds
from tests.scale import scaled

pytestmark = pytest.mark.anyio


@settings(
    max_examples=scaled(8, 25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(world=worlds())
async def test_a_world_comes_back_as_it_went_in(fresh: Fresh, world: list[bytes]) -> None:
    async with fresh() as stores:
        report = await take(stores, *world)
        assert report.bad == []
        assert canonical_set(await give(stores)) == canonical_set(b"\n".join(world))
        assert await audit(stores) == []


@settings(
    max_examples=scaled(4, 10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(world=worlds())
async def test_an_export_brings_the_same_world_up_elsewhere(
    fresh: Fresh, world: list[bytes]
) -> None:
    async with fresh() as stores:
        await take(stores, *world)
        first, order = await give(stores), await boards_in_order(stores)
    async with fresh() as stores:
        assert (await take(stores, first)).bad == []
        assert canonical_set(await give(stores)) == canonical_set(first)
        assert await boards_in_order(stores) == order


async def test_a_large_world_comes_back_as_it_went_in(stores: Stores) -> None:
    world = b"\n".join(large(3000))
    report = await take(stores, world)
    assert report.bad == []
    assert report.loaded["pin"] == 3000
    assert canonical_set(await give(stores)) == canonical_set(world)
    assert await audit(stores) == []


async def test_what_people_made_and_moved_themselves_comes_back_elsewhere(fresh: Fresh) -> None:
    async with fresh() as stores:
        ann = await writes.sign_up(stores, writes.NewUser(username="ann"))
        made = await writes.create_board(stores, ann.id, writes.NewBoard(name="Mine"))
        pins = [
            (
                await writes.create_pin(
                    stores, ann.id, writes.NewPin(board_id=made.board.id, title=f"pin {n}")
                )
            ).pin
            for n in range(5)
        ]
        await writes.reorder_pin(stores, ann.id, made.board.id, pins[0].id, pins[3].id, pins[2].id)
        new = writes.NewSection(board_id=made.board.id, name="Part")
        parts = [(await writes.create_section(stores, ann.id, new)).section.id for _ in range(3)]
        await writes.reorder_section(stores, ann.id, parts[0], None, parts[1])
        await writes.delete_section(stores, ann.id, parts[2])
        for pin in pins[:4]:
            await writes.move_pin_to_section(stores, ann.id, pin.id, parts[0])
        await writes.delete_pin(stores, ann.id, pins[1].id)
        await drain(stores)
        first, order = await give(stores), await boards_in_order(stores)
        assert order == {"Mine": ["pin 4", "pin 3", "pin 0", "pin 2"]}
    async with fresh() as stores:
        assert (await take(stores, first)).bad == []
        assert await boards_in_order(stores) == order
        assert await give(stores) == first


async def test_the_members_of_boards_and_the_pins_that_they_added_come_back_elsewhere(
    fresh: Fresh,
) -> None:
    async with fresh() as stores:
        ann, bob, cleo, dan = [
            (await writes.sign_up(stores, writes.NewUser(username=name))).id
            for name in ("ann", "bob", "cleo", "dan")
        ]
        new = writes.NewBoard(name="Ours", secret=True)
        board = (await writes.create_board(stores, ann, new)).board.id
        for number, user_id in enumerate((bob, cleo, dan), 1):
            at = 1_700_000_000_000 + number
            await writes.invite_collaborator(stores, ann, board, user_id, at=at)
        for user_id in (bob, cleo):
            await writes.accept_invitation(
                stores, user_id, board, at=1_700_000_001_000 + user_id % 9
            )
            pin = writes.NewPin(board_id=board, title="theirs")
            await writes.create_pin(stores, user_id, pin)
        await writes.create_pin(stores, ann, writes.NewPin(board_id=board, title="own"))
        await writes.leave_board(stores, cleo, board)
        await drain(stores)
        first = await give(stores)
    kinds = [json.loads(line) for line in first.splitlines()]
    owners = {line["key"]: line.get("owner") for line in kinds if line["type"] == "pin"}
    assert sorted(owner or "" for owner in owners.values()) == sorted(["", str(bob), str(cleo)])
    async with fresh() as stores:
        assert (await take(stores, first)).bad == []
        await drain(stores)
        assert await give(stores) == first
        assert await audit(stores) == []
        [(id, data)] = await stores.shards.objects.list(Kind.BOARD, 0, 2)
        users = {
            user.username: user.id
            for id, data in await stores.shards.objects.list(Kind.USER, 0, 9)
            if isinstance(user := decode(Kind.USER, id, data), User)
        }
        stored = decode(Kind.BOARD, id, data)
        assert isinstance(stored, Board)
        assert (stored.collaborators, stored.invited) == ((users["bob"],), (users["dan"],))
        page = [PageRequest(ListKey(Mapping.USER_HAS_PINS, users["bob"]), 9)]
        assert [len(rows) for rows in await stores.shards.mappings.pages(page)] == [1]
        # An import of the same file changes nothing that people have decided since.
        await writes.remove_collaborator(stores, users["ann"], id, users["bob"])
        await writes.accept_invitation(stores, users["dan"], id)
        await drain(stores)
        assert (await take(stores, first)).bad == []
        await drain(stores)
        stored = decode(Kind.BOARD, id, (await stores.shards.objects.get([id]))[id])
        assert isinstance(stored, Board)
        assert (stored.collaborators, stored.invited) == ((users["dan"],), ())
        assert await audit(stores) == []


async def test_objects_of_two_files_with_the_same_keys_keep_apart(stores: Stores) -> None:
    for name in ("ann", "bob"):
        lines = (
            user("1", username=name),
            board("1", "1"),
            pin("1", "1"),
            pin("2", "1", source="1"),
        )
        assert (await take(stores, *lines)).bad == []
    exported = await give(stores)
    assert len(exported.splitlines()) == 8
    assert len(canonical_set(exported)) == 8
    assert await audit(stores) == []


async def test_a_pin_that_moves_to_a_new_board_during_an_export_is_left_out(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await writes.sign_up(stores, writes.NewUser(username="ann"))
    first = await writes.create_board(stores, ann.id, writes.NewBoard(name="First"))
    new = [writes.NewPin(board_id=first.board.id, title=title) for title in ("stays", "moves")]
    pins = [(await writes.create_pin(stores, ann.id, it)).pin for it in new]
    listed, has_moved = stores.shards.objects.list, False

    async def moving(kind: Kind, after: int, limit: int) -> list[tuple[int, bytes]]:
        nonlocal has_moved
        if (
            kind is Kind.COMMENT and not has_moved
        ):  # between the walk for keys and the walk for lines
            has_moved = True
            later = await writes.create_board(stores, ann.id, writes.NewBoard(name="Later"))
            await writes.move_pin(stores, ann.id, pins[1].id, later.board.id)
        return await listed(kind, after, limit)

    monkeypatch.setattr(stores.shards.objects, "list", moving)
    lines = [json.loads(line) for line in (await give(stores)).splitlines()]
    assert has_moved
    assert [it["title"] for it in lines if it["type"] == "pin"] == ["stays"]
    assert [it["name"] for it in lines if it["type"] == "board"] == ["First"]


async def boards_in_order(stores: Stores) -> dict[str, list[str]]:
    """Each board's name, and its pins' titles or keys from the first to the last."""
    found: dict[str, list[str]] = {}
    for id, data in await stores.shards.objects.list(Kind.BOARD, 0, 10**6):
        made = msgspec.json.decode(data)
        if not made.get("active", True):
            continue
        request = PageRequest(ListKey(Mapping.BOARD_HAS_PINS, id), 10**6)
        (page,) = await stores.shards.mappings.pages([request])
        pins = await stores.shards.objects.get([edge.to_id for edge in page])
        decoded = [msgspec.json.decode(pins[edge.to_id]) for edge in page]
        found[made["name"]] = [it.get("title") or it.get("key") for it in decoded]
    return found
