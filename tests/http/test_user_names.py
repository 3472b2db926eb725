"""`changeUserName` over the endpoint: links by the old and the new name, for everybody at once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.embedded_stores import drain
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
NAMES = """{
    old: user(username: "ann") { id username }
    new: user(username: "Ann.Lee") { id username }
}"""
ABSENT = {"old": None, "new": None}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def test_links_by_both_names_lead_to_the_user_until_the_old_name_is_free(
    gateway: Gateway,
) -> None:
    ann = str(gateway.people["ann"])
    board = await gateway.board("ann", "Cats")
    pin = await gateway.pin("ann", board, "cat")
    of_pin = f'{{ pin(id: "{pin}") {{ owner {{ username }} }} }}'
    for viewer in (None, "bob"):  # now the caches have the old name
        found = await gateway.data(NAMES, viewer)
        assert found == {"old": {"id": ann, "username": "ann"}, "new": None}
        assert await gateway.data(of_pin, viewer) == {"pin": {"owner": {"username": "ann"}}}
    payload = await gateway.mutate("ann", "changeUserName", "user { username }", username="Ann.Lee")
    assert payload == {"user": {"username": "ann.lee"}, "errors": []}
    user = {"id": ann, "username": "ann.lee"}
    for viewer in (None, "bob", "ann"):
        assert await gateway.data(NAMES, viewer) == {"old": user, "new": user}
        assert await gateway.data(of_pin, viewer) == {"pin": {"owner": {"username": "ann.lee"}}}
    await drain(gateway.stores)
    assert await gateway.data(NAMES, "bob") == {"old": None, "new": user}


async def test_a_blocked_viewer_finds_the_user_by_no_name(gateway: Gateway) -> None:
    await gateway.mutate("ann", "changeUserName", "user { id }", username="ann.lee")
    await gateway.mutate("ann", "blockUser", "user { id }", userId=str(gateway.people["bob"]))
    assert await gateway.data(NAMES, "bob") == ABSENT


async def test_a_claimed_name_that_the_user_does_not_have_yet_finds_nobody(
    gateway: Gateway,
) -> None:
    await gateway.stores.shards.mod.claim_at("username", "ann.lee", gateway.people["ann"], 0)
    for viewer in (None, "bob"):
        found = await gateway.data(NAMES, viewer)
        assert (found["old"]["username"], found["new"]) == ("ann", None)


async def test_a_taken_name_is_refused_by_its_field(gateway: Gateway) -> None:
    payload = await gateway.try_to("ann", "changeUserName", "user { id }", username="bob")
    assert payload["user"] is None
    assert [(error["code"], error["field"]) for error in payload["errors"]] == [
        ("CONFLICT", "username")
    ]
