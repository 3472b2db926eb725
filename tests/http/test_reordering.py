"""Dragging pins, as a client with a cache of its own sees it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
WHERE = "pin { id } pinEdge { cursor } abovePin { id } belowPin { id } orderVersion"
PAGE = """query($board: ID!, $first: Int!, $after: String) { board(id: $board) {
    pins(first: $first, after: $after) { edges { node { id } } pageInfo { endCursor } } } }"""


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def board_of(gateway: Gateway, count: int, **input: Any) -> tuple[str, list[str]]:
    """A board and its pins from the top down."""
    board = await gateway.board("ann", "Plans", **input)
    pins = [await gateway.pin("ann", board, f"pin {number}") for number in range(count)]
    return board, pins[::-1]


async def page(
    gateway: Gateway, board: str, first: int = 100, after: str | None = None
) -> tuple[list[str], str | None]:
    """Ids of a page, and the cursor at its end."""
    read = await gateway.data(PAGE, "ann", board=board, first=first, after=after)
    pins = read["board"]["pins"]
    return [edge["node"]["id"] for edge in pins["edges"]], pins["pageInfo"]["endCursor"]


def where(payload: dict[str, Any]) -> tuple[str | None, str | None]:
    above, below = payload["abovePin"], payload["belowPin"]
    return above and above["id"], below and below["id"]


async def test_the_payload_says_where_a_pin_ended(gateway: Gateway) -> None:
    board, [a, b, c, d] = await board_of(gateway, 4)
    moved = await gateway.mutate(
        "ann", "reorderPin", WHERE, boardId=board, pinId=d, beforePinId=a, afterPinId=c
    )
    assert where(moved) == (a, b)
    assert (await page(gateway, board))[0] == [a, d, b, c]
    assert (await page(gateway, board, after=moved["pinEdge"]["cursor"]))[0] == [b, c]
    on_top = await gateway.mutate("ann", "reorderPin", WHERE, boardId=board, pinId=c, afterPinId=a)
    assert where(on_top) == (None, a)
    assert int(on_top["orderVersion"]) == int(moved["orderVersion"]) + 1


async def test_a_conflict_says_where_the_pin_stands_and_changes_nothing(gateway: Gateway) -> None:
    board, [a, b, c, d] = await board_of(gateway, 4)
    refused = await gateway.try_to(
        "ann", "reorderPin", WHERE, boardId=board, pinId=b, beforePinId=d, afterPinId=c
    )
    [error] = refused["errors"]
    assert (error["code"], error["field"]) == ("CONFLICT", "beforePinId")
    assert f"pin {a}" in error["message"]
    assert f"pin {c}" in error["message"]
    assert refused["pinEdge"] is None
    assert refused["pin"]["id"] == b
    assert where(refused) == (a, c)
    assert (await page(gateway, board))[0] == [a, b, c, d]


async def test_drags_in_one_document_run_in_their_order(gateway: Gateway) -> None:
    board, [a, b, c, d] = await board_of(gateway, 4)
    moves = [(d, a), (c, a), (b, a)]
    fields = " ".join(
        f'm{n}: reorderPin(input: {{boardId: "{board}", pinId: "{pin}", beforePinId: "{before}"}})'
        " { orderVersion errors { message } }"
        for n, (pin, before) in enumerate(moves)
    )
    done = await gateway.data(f"mutation {{ {fields} }}", "ann")
    versions = [int(done[f"m{n}"]["orderVersion"]) for n in range(3)]
    assert versions == sorted(set(versions))
    assert (await page(gateway, board))[0] == [a, b, c, d]
