"""The most expensive operations that an anonymous client may send make a bounded number of store
calls."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from feed_engine.feeds.settings import Feeds
from gateway.settings import Settings
from gateway.site.runtime import Runtime
from tests.counting import Counts
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
CALLS = 2_000
ROOTS, ALIASES = Settings().max_query_root_fields, Settings().max_query_aliases


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Gateway, Counts]]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        for number in range(3):
            board = await gateway.board("ann", f"Board {number}")
            pin = await gateway.pin("ann", board, "pin")
            await gateway.mutate("bob", "likePin", "pin { id }", pinId=pin)
            await gateway.mutate(
                "bob", "createComment", "comment { id }", pinId=pin, text="a comment"
            )
        await gateway.settle()
        counts = Counts()
        stores, feeds = counts.of(gateway.stores), gateway.runtime.feeds
        gateway.runtime = Runtime(stores, Feeds(stores, feeds.pools_race, feeds.feeds_race))
        yield gateway, counts


def times(count: int, field: str) -> str:
    return " ".join(f"a{number}: {field}" for number in range(count))


def nested(depth: int) -> str:
    """Covers of boards of covers, with a source and a count for each."""
    inner = "id"
    for _ in range(depth):
        inner = f"likeCount source {{ id }} board {{ cover {{ {inner} }} }}"
    return inner


FEED = "homeFeed(first: 100) { edges { node { title } } }"
PINS = "pins(first: 50) { edges { node { board { owner { id } } } } }"
DEAREST = {
    "pages of pins": f"{{ {times(ROOTS, PINS)} }}",
    "home feeds": f"{{ {times(ROOTS - 5, FEED)} }}",
    "counts": f"{{ users(first: 100) {{ edges {{ node {{ {times(ALIASES, 'pinCount')} }} }} }} }}",
    "pages of each size": "{ users(first: 20) { edges { node { "
    + " ".join(f"a{n}: likedPins(first: {n}) {{ edges {{ node {{ id }} }} }}" for n in range(1, 15))
    + " } } } }",
    "sorted boards and pins": "{ users(first: 1) { edges { node { boards(first: 10, orderBy: PINS) "
    "{ edges { node { pins(first: 5, orderBy: LIKES) { edges { node { id } } } } } } } } } }",
    "comments of comments": "{ pins(first: 10) { edges { node { comments(first: 5) { edges { node "
    "{ pin { comments(first: 5) { edges { node { author { likedPins(first: 5) "
    "{ edges { node { board { pinCount } } } } } } } } } } } } } } } }",
    "a chain": f"{{ pins(first: 20) {{ edges {{ node {{ {nested(6)} }} }} }} }}",
}


@pytest.mark.parametrize("name", DEAREST)
async def test_it_makes_a_bounded_number_of_calls(world: tuple[Gateway, Counts], name: str) -> None:
    gateway, counts = world
    counts.clear()
    response: dict[str, Any] = await gateway.ask(DEAREST[name])
    assert "errors" not in response, response["errors"][0]
    assert counts.calls.total() <= CALLS
