"""Public bug reports of ordered lists and of pages, tried on boards. `reports.md` says what each
report was."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
PAGE = """query($board: ID!, $first: Int!, $after: String) { board(id: $board) { pinCount
    pins(first: $first, after: $after) { edges { cursor node { id } }
      pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }"""


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann")
        yield gateway


async def new_board(gateway: Gateway, count: int) -> tuple[str, list[str]]:
    """A board, and its pins from the top down."""
    board = await gateway.board("ann", "Plans")
    return board, [await gateway.pin("ann", board, f"pin {n}") for n in range(count)][::-1]


async def page(gateway: Gateway, board: str, first: int = 100, after: str | None = None) -> Any:
    read = await gateway.data(PAGE, "ann", board=board, first=first, after=after)
    return read["board"]["pins"]


def ids(pins: Any) -> list[str]:
    return [edge["node"]["id"] for edge in pins["edges"]]


async def order(gateway: Gateway, board: str) -> list[str]:
    return ids(await page(gateway, board))


async def move(gateway: Gateway, pin: str, board: str, **place: str) -> None:
    await gateway.mutate("ann", "movePin", "pin { id }", pinId=pin, boardId=board, **place)


async def drag(gateway: Gateway, pin: str, board: str, **place: str) -> Any:
    return await gateway.try_to(
        "ann", "reorderPin", "pin { id }", pinId=pin, boardId=board, **place
    )


# -- order


async def test_a_pin_that_moves_to_another_list_leaves_no_gap_and_takes_no_place(
    gateway: Gateway,
) -> None:
    """brendon/acts_as_list#370, #345, #19, #78; rails/acts_as_list#8; pixeltrix/sortifiable#1."""
    (one, [a, b]), (two, [c]) = await new_board(gateway, 2), await new_board(gateway, 1)
    await move(gateway, a, two)
    assert await order(gateway, one) == [b]
    assert sorted(await order(gateway, two)) == sorted([a, c])
    await move(gateway, a, one)
    assert sorted(await order(gateway, one)) == sorted([a, b])
    assert await order(gateway, two) == [c]


async def test_a_pin_moves_to_a_place_in_another_list_with_one_call(gateway: Gateway) -> None:
    """brendon/acts_as_list#374 and #400."""
    (one, [a, b]), (two, [c, d]) = await new_board(gateway, 2), await new_board(gateway, 2)
    await move(gateway, a, two, beforePinId=c, afterPinId=d)
    assert await order(gateway, two) == [c, a, d]
    await move(gateway, b, two, beforePinId=d)
    assert await order(gateway, two) == [c, a, d, b]
    assert await order(gateway, one) == []


async def test_drags_at_the_same_time_lose_no_pin_and_repeat_none(gateway: Gateway) -> None:
    """brendon/acts_as_list#76, #235 and #377; hummingbird-me/kitsu-server#157."""
    board, pins = await new_board(gateway, 6)
    await asyncio.gather(
        *(drag(gateway, pin, board, afterPinId=pins[0]) for pin in pins[1:]),
        *(drag(gateway, pin, board, beforePinId=pins[-1]) for pin in pins[1:-1]),
    )
    assert sorted(await order(gateway, board)) == sorted(pins)


async def test_pins_that_are_made_at_the_same_time_have_places_of_their_own(
    gateway: Gateway,
) -> None:
    """brendon/acts_as_list#254 and #337."""
    board = await gateway.board("ann", "Plans")
    made = await asyncio.gather(*(gateway.pin("ann", board, f"pin {n}") for n in range(8)))
    assert sorted(await order(gateway, board)) == sorted(made)
    first = await page(gateway, board, first=3)
    rest = await page(gateway, board, after=first["pageInfo"]["endCursor"])
    assert ids(first) + ids(rest) == await order(gateway, board)


async def test_one_step_up_or_down_takes_one_call(gateway: Gateway) -> None:
    """brendon/acts_as_list#340."""
    board, [a, b, c] = await new_board(gateway, 3)
    assert (await drag(gateway, a, board, beforePinId=b, afterPinId=c))["errors"] == []
    assert await order(gateway, board) == [b, a, c]
    assert (await drag(gateway, a, board, afterPinId=b))["errors"] == []
    assert await order(gateway, board) == [a, b, c]


async def test_the_last_place_of_a_list_with_gaps_is_its_end(gateway: Gateway) -> None:
    """brendon/acts_as_list#416: pins left the list before, so that numbers of places have gaps."""
    (board, [a, b, c, d, e]), (other, _) = await new_board(gateway, 5), await new_board(gateway, 0)
    for pin in (b, d):
        await move(gateway, pin, other)
    await drag(gateway, a, board, beforePinId=e)
    assert await order(gateway, board) == [c, e, a]


async def test_lists_that_exchange_a_pin_keep_their_constraint(gateway: Gateway) -> None:
    """brendon/acts_as_list#372: two pins in the same place of two lists change lists."""
    (one, [a, b]), (two, [c, d]) = await new_board(gateway, 2), await new_board(gateway, 2)
    await asyncio.gather(move(gateway, a, two), move(gateway, c, one))
    assert sorted(await order(gateway, one)) == sorted([b, c])
    assert sorted(await order(gateway, two)) == sorted([a, d])


# -- pages


async def test_pages_continue_when_the_pin_at_the_cursor_is_deleted(gateway: Gateway) -> None:
    """encode/django-rest-framework#6504, laravel/framework#42962, prisma/prisma-engines#1050,
    get-convex/convex-test#45, expo/entity#453."""
    board, pins = await new_board(gateway, 6)
    first = await page(gateway, board, first=3)
    await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pins[2])
    after = first["pageInfo"]["endCursor"]
    assert ids(await page(gateway, board, after=after)) == pins[3:]
    for pin in (*pins[:2], *pins[3:]):
        await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pin)
    empty = await page(gateway, board, after=after)
    assert empty["edges"] == []
    assert empty["pageInfo"]["hasNextPage"] is False


async def test_new_pins_on_top_do_not_shift_the_next_page(gateway: Gateway) -> None:
    """mastodon/mastodon#3473 and #10245, sk22/megalodon#335 and #707."""
    board, pins = await new_board(gateway, 6)
    first = await page(gateway, board, first=3)
    for n in range(4):
        await gateway.pin("ann", board, f"newer {n}")
    second = await page(gateway, board, first=10, after=first["pageInfo"]["endCursor"])
    assert ids(first) + ids(second) == pins


async def test_pages_of_one_give_each_pin_once(gateway: Gateway) -> None:
    """tokio-rs/toasty#1141, nuwave/lighthouse#90, stom79's mastodon/mastodon#5588."""
    board, pins = await new_board(gateway, 5)
    found, after = list[str](), None
    while True:
        read = await page(gateway, board, first=1, after=after)
        found += ids(read)
        if not read["pageInfo"]["hasNextPage"]:
            break
        after = read["pageInfo"]["endCursor"]
    assert found == pins


async def test_page_info_says_what_is_before_and_after(gateway: Gateway) -> None:
    """graphcool/api-bugs#46, graphql-python/graphene#796, kiwicom/graphql#38,
    reindexio/graphql-relay-mongodb-pagination#5, ghostdogpr/caliban#1307,
    PalisadoesFoundation/talawa-api#3447."""
    board, _ = await new_board(gateway, 4)
    first = await page(gateway, board, first=2)
    cursors = [edge["cursor"] for edge in first["edges"]]
    assert first["pageInfo"] == {
        "startCursor": cursors[0],
        "endCursor": cursors[1],
        "hasNextPage": True,
        "hasPreviousPage": False,
    }
    last = (await page(gateway, board, first=2, after=cursors[1]))["pageInfo"]
    assert (last["hasNextPage"], last["hasPreviousPage"]) == (False, True)


@pytest.mark.parametrize("first", [-1, 0, 101, -(2**31)])
async def test_a_number_of_entries_that_no_page_has_is_refused(
    gateway: Gateway, first: int
) -> None:
    """graphql/graphql-spec#104, facebook/relay#735, graphql-java/graphql-java#840,
    wp-graphql/wp-graphql#95."""
    board, _ = await new_board(gateway, 1)
    read = await gateway.ask(PAGE, "ann", board=board, first=first)
    [error] = read["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert "first" in error["message"]


@pytest.mark.parametrize("after", ["", "YXJyYXljb25uZWN0aW9uOjM=", "nonsense", "💥", "a" * 5_000])
async def test_a_cursor_that_no_page_gave_is_refused(gateway: Gateway, after: str) -> None:
    """estuary/flow#3449."""
    board, _ = await new_board(gateway, 1)
    read = await gateway.ask(PAGE, "ann", board=board, first=5, after=after)
    [error] = read["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"


# -- documents

CYCLES = {
    "rmosolgo/graphql-ruby#620": "query { ...f } fragment f on Query { __typename } "
    "fragment f on Query { ...f }",
    "exograph/exograph#404": "{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }",
    "caraus-ecms/graphql#22": "{ ...a } fragment a on Query { viewer { id } ...a }",
    "hayes/pothos#1793": "{ ...f0 } "
    + " ".join(f"fragment f{n} on Query {{ ...f{n + 1} ...f{n + 1} }}" for n in range(40))
    + " fragment f40 on Query { ...f0 }",
}


@pytest.mark.parametrize("name", CYCLES)
async def test_a_fragment_that_contains_itself_is_refused(gateway: Gateway, name: str) -> None:
    read = await gateway.ask(CYCLES[name])
    assert "data" not in read
    assert {error["extensions"]["code"] for error in read["errors"]} == {
        "GRAPHQL_VALIDATION_FAILED"
    }


async def test_a_query_that_nests_followers_without_end_is_refused(gateway: Gateway) -> None:
    """sourcegraph/sourcegraph-public-snapshot#10129, graphprotocol/graph-node#2595."""
    query = "{ viewer { " + "followers { edges { node { " * 60 + "id" + " } } }" * 60 + " } }"
    read = await gateway.ask(query, "ann")
    assert "data" not in read
    assert read["errors"][0]["extensions"]["code"] in (
        "GRAPHQL_VALIDATION_FAILED",
        "GRAPHQL_PARSE_FAILED",
        "COST_EXCEEDED",
    )
