"""The errors of invalid inputs: a message and the field, and nothing is changed."""

from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from typing import Any

import pytest

from datasources.clocks import now_ms
from feed_engine.transactions.inputs import NewUser
from feed_engine.writes.users import sign_up
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann")
        yield gateway


def wrong(payload: Any) -> list[tuple[str, str]]:
    return [(error["code"], error["field"]) for error in payload["errors"]]


async def test_an_empty_cover_is_refused_and_the_board_can_still_be_read(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Plans")
    payload = await gateway.try_to(
        "ann", "updateBoard", "board { id }", boardId=board, coverPinId=""
    )
    assert wrong(payload) == [("BAD_USER_INPUT", "coverPinId")]
    read = await gateway.data("query($id: ID!) { board(id: $id) { cover { id } } }", id=board)
    assert read == {"board": {"cover": None}}


async def test_an_empty_anchor_is_refused_rather_than_taken_for_none(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Plans")
    pins = [await gateway.pin("ann", board, title) for title in ("one", "two")]
    for anchors, field in (
        ({"beforePinId": "", "afterPinId": pins[1]}, "beforePinId"),
        ({"beforePinId": pins[1], "afterPinId": ""}, "afterPinId"),
    ):
        payload = await gateway.try_to(
            "ann", "reorderPin", "pin { id }", boardId=board, pinId=pins[0], **anchors
        )
        assert wrong(payload) == [("BAD_USER_INPUT", field)]


@pytest.mark.parametrize("cursor", [f"l:5:5:{10**38}", f"l:{10**38}:{10**38}", "l:5:5:7"])
async def test_a_cursor_of_numbers_that_no_list_has_is_no_fault_of_the_server(
    gateway: Gateway, cursor: str
) -> None:
    board = await gateway.board("ann", "Plans")
    await gateway.pin("ann", board, "one")
    after = urlsafe_b64encode(cursor.encode()).rstrip(b"=").decode()
    query = (
        "query($id: ID!, $after: String!) "
        "{ board(id: $id) { pins(after: $after) { pageInfo { hasNextPage } } } }"
    )
    response = await gateway.ask(query, id=board, after=after)
    codes = {error["extensions"]["code"] for error in response.get("errors", [])}
    assert codes <= {"BAD_USER_INPUT"}


@pytest.mark.parametrize(
    ("mutation", "field"),
    [("updateBoard", "boardId"), ("deleteBoard", "boardId"), ("updatePin", "pinId")],
)
async def test_an_id_of_another_type_is_told_by_the_inputs_own_field(
    gateway: Gateway, mutation: str, field: str
) -> None:
    user = str(gateway.people["ann"])
    payload = await gateway.try_to("ann", mutation, "__typename", **{field: user})
    assert wrong(payload) == [("BAD_USER_INPUT", field)]
    assert "id of a user, not of a" in payload["errors"][0]["message"]


async def test_the_words_for_an_interest_are_english(gateway: Gateway) -> None:
    user = str(gateway.people["ann"])
    payload = await gateway.try_to("ann", "followInterest", "__typename", interestId=user)
    assert payload["errors"][0]["message"] == f"{user} is the id of a user, not of an interest"


async def test_an_old_sign_up_sent_again_gets_its_user_and_no_new_token(gateway: Gateway) -> None:
    now = now_ms()
    for age, has_token in ((60_000, True), (3_600_000, False)):
        name = f"hand{age}"
        await sign_up(
            gateway.stores, NewUser(username=name), key="once and never again", at=now - age
        )
        payload = await gateway.data(
            "mutation($name: String!) { signUp(input: {username: $name, idempotencyKey: "
            '"once and never again"}) { user { username } token errors { code } } }',
            name=name,
        )
        assert payload["signUp"]["user"] == {"username": name}
        assert payload["signUp"]["errors"] == []
        assert (payload["signUp"]["token"] is not None) is has_token


async def test_what_is_somebody_elses_is_told_by_the_inputs_own_field(gateway: Gateway) -> None:
    await gateway.sign_up("bob", "eve")
    board = await gateway.board("bob", "Bob's")
    pin, other = [await gateway.pin("bob", board, title) for title in ("one", "two")]
    said = await gateway.mutate("bob", "createComment", "comment { id }", pinId=pin, text="mine")
    given: list[tuple[str, dict[str, Any], str]] = [
        ("updateBoard", {"boardId": board, "name": "Eve's"}, "boardId"),
        ("deleteBoard", {"boardId": board}, "boardId"),
        ("createPin", {"boardId": board, "title": "hers"}, "boardId"),
        ("repin", {"boardId": board, "pinId": pin}, "boardId"),
        ("reorderPin", {"boardId": board, "pinId": pin, "beforePinId": other}, "boardId"),
        ("updatePin", {"pinId": pin, "title": "hers"}, "pinId"),
        ("deletePin", {"pinId": pin}, "pinId"),
        ("deleteComment", {"commentId": said["comment"]["id"]}, "commentId"),
    ]
    for mutation, input, field in given:
        payload = await gateway.try_to("eve", mutation, "__typename", **input)
        assert wrong(payload) == [("FORBIDDEN", field)], mutation
