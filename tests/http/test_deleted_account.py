"""`deleteAccount` over the endpoint: what the token and everybody else get from then on."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.gateways import Gateway, embedded_gateway
from tests.http.test_admin import client, site

pytestmark = pytest.mark.anyio
PAYLOAD = "deletedUserId"
SIGN_UP = 'mutation { signUp(input: {username: "%s"}) { token } }'
DELETE = 'mutation { deleteAccount(input: {username: "ann"}) { errors { code } } }'


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def test_the_user_and_all_objects_are_absent_for_everybody_at_once(gateway: Gateway) -> None:
    ann = str(gateway.people["ann"])
    board, bobs = await gateway.board("ann", "Cats"), await gateway.board("bob", "Dogs")
    pin, bobs_pin = await gateway.pin("ann", board, "cat"), await gateway.pin("bob", bobs, "dog")
    said = await gateway.mutate("ann", "createComment", "comment { id }", pinId=bobs_pin, text="ah")
    comment = said["comment"]["id"]
    await gateway.mutate("ann", "likePin", "pin { id }", pinId=bobs_pin)
    await gateway.mutate("bob", "followUser", "user { id }", userId=ann)
    query = f"""{{
        node(id: "{ann}") {{ id }}
        nodes(ids: ["{ann}", "{board}", "{pin}", "{comment}"]) {{ id }}
        user(username: "ann") {{ id }}
        users {{ edges {{ node {{ username }} }} }}
        board(id: "{board}") {{ id }}
        pin(id: "{pin}") {{ id }}
        dog: pin(id: "{bobs_pin}") {{
            likedBy {{ edges {{ node {{ id }} }} }}
            comments {{ edges {{ node {{ text }} }} }}
        }}
        bob: user(username: "bob") {{ followingUsers {{ edges {{ node {{ id }} }} }} }}
    }}"""
    before = await gateway.data(query, "bob")  # now the caches have all of it
    assert None not in before["nodes"]
    payload = await gateway.mutate("ann", "deleteAccount", PAYLOAD, username="ann")
    assert payload == {"deletedUserId": ann, "errors": []}
    for viewer in (None, "bob"):
        assert await gateway.data(query, viewer) == {
            "node": None,
            "nodes": [None] * 4,
            "user": None,
            "users": {"edges": [{"node": {"username": "bob"}}]},
            "board": None,
            "pin": None,
            "dog": {"likedBy": {"edges": []}, "comments": {"edges": []}},
            "bob": {"followingUsers": {"edges": []}},
        }


@pytest.mark.parametrize(
    "query",
    [
        "{ viewer { username } }",
        "{ homeFeed(first: 5) { edges { node { id } } } }",
        "{ followingFeed(first: 5) { edges { node { id } } } }",
        "{ users { edges { node { id } } } }",
        "{ blockedUsers { edges { node { id } } } }",
    ],
)
async def test_a_token_of_a_deleted_account_is_refused(tmp_path: Path, query: str) -> None:
    async with site(tmp_path) as found, client(found.public) as c:

        async def post(text: str, token: str | None = None) -> httpx.Response:
            headers = {"authorization": f"Bearer {token}"} if token else {}
            return await c.post("/graphql", json={"query": text}, headers=headers)

        tokens = [
            (await post(SIGN_UP % name)).json()["data"]["signUp"]["token"]
            for name in ("ann", "bob")
        ]
        await post('mutation { createBoard(input: {name: "Dogs"}) { board { id } } }', tokens[1])
        assert (await post(query, tokens[0])).status_code == 200
        for _ in range(2):  # the second time after a lost answer
            deleted = await post(DELETE, tokens[0])
            assert deleted.json()["data"]["deleteAccount"]["errors"] == []
        refused = await post(query, tokens[0])
        assert refused.status_code == 401
        assert [it["extensions"]["code"] for it in refused.json()["errors"]] == ["UNAUTHENTICATED"]
        assert "data" not in refused.json()
        assert (await post(query, tokens[1])).status_code == 200


async def test_a_deleted_account_may_only_delete_itself_again(gateway: Gateway) -> None:
    for _ in range(2):
        payload = await gateway.mutate("ann", "deleteAccount", PAYLOAD, username="ann")
        assert payload["deletedUserId"] == str(gateway.people["ann"])
    with pytest.raises(AssertionError, match="UNAUTHENTICATED"):
        await gateway.mutate("ann", "createBoard", "board { id }", name="x")


async def test_another_name_deletes_nothing_and_is_told_by_its_field(gateway: Gateway) -> None:
    payload = await gateway.try_to("ann", "deleteAccount", PAYLOAD, username="bob")
    assert payload["deletedUserId"] is None
    assert [(error["code"], error["field"]) for error in payload["errors"]] == [
        ("BAD_USER_INPUT", "username")
    ]
    assert (await gateway.data("{ viewer { username } }", "ann"))["viewer"] == {"username": "ann"}
