"""Dragging pins, as a client with a cache of its own sees it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from datasources.ids import shard_of
from datasources.mappings import EdgeKey, ListKey, Mapping, PageRequest
from datasources.protocols import ShardTx
from feed_engine.writes import reorder_pin
from resolvers.cursors import OF_THIS_PROCESS, CursorKind
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
    """A board, and its pins from the top down."""
    board = await gateway.board("ann", "Plans", **input)
    pins = [await gateway.pin("ann", board, f"pin {number}") for number in range(count)]
    return board, pins[::-1]


async def page(
    gateway: Gateway, board: str, first: int = 100, after: str | None = None
) -> tuple[list[str], str | None]:
    """The ids of a page, and the cursor at its end."""
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


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("gone", [None, "moved", "deleted"])
async def test_pages_go_on_where_they_were_when_the_board_was_respaced_between_them(
    gateway: Gateway, size: int, gone: str | None
) -> None:
    """After each page, drags of another pin use up all the room around the cursor."""
    board, pins = await board_of(gateway, 12)
    still, dragged = pins[:-2], pins[-2:]
    key = ListKey(Mapping.BOARD_HAS_PINS, int(board))
    await pack(gateway, board, pins)
    seen, cursor = list[str](), None
    lost = set[str]()
    while True:
        ids, after = await page(gateway, board, size, cursor)
        if not ids:
            break
        seen += [id for id in ids if id in still]
        cursor = after
        if gone and ids[-1] in still[1:] and len(lost) < 2:
            lost.add(ids[-1])
            if gone == "moved":
                await gateway.mutate(
                    "ann", "reorderPin", WHERE, boardId=board, pinId=ids[-1], afterPinId=still[0]
                )
            else:
                await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=ids[-1])
        following = [id for id in still if id not in seen and id not in lost]
        if following and ids[-1] in still:  # only pins that are not dragged ahead again
            await crowd(gateway, board, following[0], dragged)
    assert [id for id in seen if id not in lost] == [id for id in still if id not in lost]
    assert len([id for id in seen if id in lost]) >= len(lost)
    assert (await gateway.stores.shards.mappings.pages([PageRequest(key, 1)]))[0][0].era > 0


async def pack(gateway: Gateway, board: str, pins: list[str]) -> None:
    """Leave hardly any room between the pins."""
    key = ListKey(Mapping.BOARD_HAS_PINS, int(board))

    async def write(tx: ShardTx) -> None:
        for place, pin in enumerate(reversed(pins)):
            row = await tx.edge(EdgeKey(*key, int(pin)))
            assert row is not None
            row = row._replace(sequence=10**37 + 3 * place, version=row.version + 1)
            await tx.put_edge(key.mapping, row)

    await gateway.stores.shards.objects.transact(shard_of(int(board)), write)
    await gateway.stores.mapping_cache.drop([key])


async def crowd(gateway: Gateway, board: str, below: str, dragged: list[str]) -> None:
    """Use up the gap above a pin by drags, so that its neighbors are respaced."""
    me = gateway.people["ann"]
    for number in range(4):
        moved = int(dragged[number % 2])
        await reorder_pin(gateway.stores, me, int(board), moved, None, int(below))
    await gateway.settle()


async def test_a_cursor_that_names_no_era_of_the_board_is_refused(gateway: Gateway) -> None:
    board, _ = await board_of(gateway, 2)
    forged = OF_THIS_PROCESS.encode(CursorKind.LIST, 1, 1, 7)
    response = await gateway.ask(PAGE, "ann", board=board, first=1, after=forged)
    assert response["data"] == {"board": {"pins": {"edges": [], "pageInfo": {"endCursor": None}}}}
    high = OF_THIS_PROCESS.encode(CursorKind.LIST, 1, 10**38 - 1, 7)
    response = await gateway.ask(PAGE, "ann", board=board, first=1, after=high)
    assert response["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
