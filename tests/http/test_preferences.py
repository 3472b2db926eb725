"""`hidePin`, `seeLess` and `seeMore`, and their ends, as clients send them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest

pytestmark = pytest.mark.anyio
HOME = (
    "query($visit: ID) { homeFeed(first: 25, visitId: $visit) { visitId edges { node { id } } } }"
)
HIDDEN = "pin { id } hiddenPinId unhiddenPinId"
TUNED = "target { id __typename } preference"


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as opened:
        await opened.sign_up("ann", "bob")
        yield opened


async def home(gateway: Gateway, visit: str | None = None) -> tuple[str, list[str]]:
    page = (await gateway.data(HOME, "ann", visit=visit))["homeFeed"]
    return page["visitId"], [edge["node"]["id"] for edge in page["edges"]]


async def test_a_hidden_pin_is_gone_from_the_next_request_on(gateway: Gateway) -> None:
    board = await gateway.board("bob", "Board")
    pins = [await gateway.pin("bob", board, f"pin {n}") for n in range(3)]
    await gateway.settle()
    visit, shown = await home(gateway)
    assert set(pins) <= set(shown)
    payload = await gateway.mutate("ann", "hidePin", HIDDEN, pinId=pins[0], idempotencyKey="k")
    assert payload == {
        "pin": {"id": pins[0]},
        "hiddenPinId": pins[0],
        "unhiddenPinId": None,
        "errors": [],
    }
    assert await home(gateway, visit) == (visit, [id for id in shown if id != pins[0]])
    again = await gateway.mutate("ann", "hidePin", HIDDEN, pinId=pins[0], idempotencyKey="k")
    assert again == payload
    back = await gateway.mutate("ann", "unhidePin", HIDDEN, pinId=pins[0])
    assert (back["hiddenPinId"], back["unhiddenPinId"]) == (None, pins[0])
    assert await home(gateway, visit) == (visit, shown)


async def test_a_viewer_finds_what_is_hidden_and_takes_it_back(gateway: Gateway) -> None:
    query = "{ hiddenPins(first: 2) { edges { node { id } } pageInfo { hasNextPage endCursor } } }"
    board, own = await gateway.board("bob", "Board"), await gateway.board("bob", "Own")
    pins = [await gateway.pin("bob", board, f"pin {n}") for n in range(3)]
    copy = await gateway.mutate("bob", "repin", "pin { id }", pinId=pins[0], boardId=own)
    hidden = (copy["pin"]["id"], *pins[1:])
    for pin in hidden:
        await gateway.mutate("ann", "hidePin", HIDDEN, pinId=pin)
    page = (await gateway.data(query, "ann"))["hiddenPins"]
    assert [edge["node"]["id"] for edge in page["edges"]] == [pins[2], pins[1]]
    assert page["pageInfo"]["hasNextPage"]
    await gateway.mutate("ann", "unhidePin", HIDDEN, pinId=pins[1])
    page = (await gateway.data(query, "ann"))["hiddenPins"]
    assert [edge["node"]["id"] for edge in page["edges"]] == [pins[2], pins[0]]  # the copy's first
    await gateway.mutate("ann", "unhidePin", HIDDEN, pinId=pins[0])
    await gateway.mutate("bob", "updateBoard", "board { id }", boardId=board, secret=True)
    assert (await gateway.data(query, "ann"))["hiddenPins"]["edges"] == []
    assert (await gateway.data(query, "bob"))["hiddenPins"]["edges"] == []
    [error] = (await gateway.ask(query))["errors"]
    assert error["extensions"]["code"] == "UNAUTHENTICATED"


async def test_a_viewer_finds_what_is_seen_less_and_more(gateway: Gateway) -> None:
    query = """{ less: seenLess { edges { node { __typename id } } }
      more: seenMore { edges { node { __typename id } } } }"""

    async def found() -> list[list[str]]:
        data = await gateway.data(query, "ann")
        return [
            [f"{edge['node']['__typename']} {edge['node']['id']}" for edge in data[name]["edges"]]
            for name in ("less", "more")
        ]

    bob, board = str(gateway.people["bob"]), await gateway.board("bob", "Board")
    tea = str((await create_interest(gateway.stores, "Tea", "tea")).id)
    for id in (bob, board, tea):
        await gateway.mutate("ann", "seeLess", "preference", id=id)
    assert await found() == [[f"Interest {tea}", f"Board {board}", f"User {bob}"], []]
    await gateway.mutate("ann", "seeMore", "preference", id=bob)
    await gateway.mutate("ann", "seeAsUsual", "preference", id=tea)
    assert await found() == [[f"Board {board}"], [f"User {bob}"]]
    await gateway.mutate("bob", "updateBoard", "board { id }", boardId=board, secret=True)
    assert await found() == [[], [f"User {bob}"]]


async def test_less_more_and_as_usual_answer_with_the_preference(gateway: Gateway) -> None:
    bob = str(gateway.people["bob"])
    for field, preference in (("seeLess", "LESS"), ("seeMore", "MORE"), ("seeAsUsual", "USUAL")):
        payload = await gateway.mutate("ann", field, TUNED, id=bob)
        assert payload == {
            "target": {"id": bob, "__typename": "User"},
            "preference": preference,
            "errors": [],
        }


async def test_wrong_ids_are_errors_of_the_payload(gateway: Gateway) -> None:
    board = await gateway.board("bob", "Hidden", secret=True)
    pin = await gateway.pin("bob", board, "a pin")
    bob = str(gateway.people["bob"])
    on_no_shard = [str((60_000 << 46) | (int(id) & ((1 << 46) - 1))) for id in (bob, board)]
    for field, selection, given, code in (
        *(("seeLess", TUNED, {"id": id}, "NOT_FOUND") for id in on_no_shard),
        ("hidePin", HIDDEN, {"pinId": pin}, "NOT_FOUND"),
        ("hidePin", HIDDEN, {"pinId": bob}, "BAD_USER_INPUT"),
        ("seeLess", TUNED, {"id": board}, "NOT_FOUND"),
        ("seeMore", TUNED, {"id": pin}, "BAD_USER_INPUT"),
        ("seeMore", TUNED, {"id": "x"}, "BAD_USER_INPUT"),
    ):
        payload = await gateway.try_to("ann", field, selection, **given)
        [error] = payload["errors"]
        assert (error["code"], error["field"]) == (code, *given), (field, given)


async def test_a_stranger_must_sign_in(gateway: Gateway) -> None:
    query = "mutation($input: FeedPreferenceInput!) { seeLess(input: $input) { preference } }"
    answer = await gateway.ask(query, None, input={"id": str(gateway.people["bob"])})
    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
