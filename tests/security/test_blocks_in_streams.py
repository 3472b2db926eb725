"""From the acknowledgement of a block on, a stream shows nothing of the other user. It ends if its
object belongs to the other user."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateways import Gateway, embedded_gateway
from tests.security.test_live import BOARD, PIN

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob", "friend")
        yield gateway


async def block(gateway: Gateway, viewer: str, user: str) -> None:
    id = str(gateway.people[user])
    await gateway.mutate(viewer, "blockUser", "blockedUser { id }", userId=id)


@pytest.mark.parametrize("blocker", ["ann", "bob"])
async def test_the_streams_of_the_other_users_objects_end(gateway: Gateway, blocker: str) -> None:
    board = await gateway.board("ann", "open")
    pin = await gateway.pin("ann", board, "first")
    async with (
        gateway.subscribed(BOARD, "bob", id=board) as of_board,
        gateway.subscribed(PIN, "bob", id=pin) as of_pin,
    ):
        assert (await of_board.next())["kind"] == (await of_pin.next())["kind"] == "STARTED"
        await block(gateway, blocker, "bob" if blocker == "ann" else "ann")
        await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="second")
        assert await of_board.response() is None
        assert await of_pin.response() is None


async def test_a_comment_of_the_other_user_is_no_event(gateway: Gateway) -> None:
    pin = await gateway.pin("friend", await gateway.board("friend", "open"), "shared")
    await block(gateway, "ann", "bob")
    async with (
        gateway.subscribed(PIN, "ann", id=pin) as of_ann,
        gateway.subscribed(PIN, None, id=pin) as of_all,
    ):
        assert (await of_ann.next())["kind"] == (await of_all.next())["kind"] == "STARTED"
        for name in ("bob", "friend"):
            await gateway.mutate(
                name, "createComment", "comment { id }", pinId=pin, text=f"words by {name}"
            )
        assert (await of_ann.next())["comment"] == {"text": "words by friend"}
        for name in ("bob", "friend"):
            assert (await of_all.next())["comment"] == {"text": f"words by {name}"}


async def test_pins_of_the_other_user_do_not_wait_for_the_home_feed(gateway: Gateway) -> None:
    board = await gateway.board("ann", "open")
    await gateway.mutate("bob", "followUser", "user { id }", userId=str(gateway.people["ann"]))
    await gateway.settle()
    query = "subscription { homeFeedUpdated { waiting } }"
    async with gateway.subscribed(query, "bob") as stream:
        assert await stream.next() == {"waiting": 0}
        await gateway.pin("ann", board, "one")
        await gateway.settle()
        assert await stream.next() == {"waiting": 1}
        await block(gateway, "ann", "bob")
        await gateway.settle()
        await gateway.mutate(
            "bob", "followUser", "user { id }", userId=str(gateway.people["friend"])
        )
        await gateway.pin("friend", await gateway.board("friend", "open"), "two")
        await gateway.pin("friend", await gateway.board("friend", "open"), "three")
        await gateway.settle()
        while (waiting := (await stream.next())["waiting"]) != 2:
            assert waiting < 2
