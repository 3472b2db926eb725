"""The most expensive operations that an anonymous client may send make a bounded number of store
calls."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bench.abuse.attacks.shapes import COMMENTS_OF_COMMENTS, counts, pages_of_pins, times
from bench.call_counts import Counts
from feed_engine.feeds.settings import Feeds
from gateway.settings.profiles import PUBLIC
from gateway.site.runtime import Runtime
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
CALLS = 2_000
ROOTS, ALIASES = PUBLIC.query_root_fields, PUBLIC.query_aliases


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


def nested(depth: int) -> str:
    """Covers of boards of covers, with a source and a count for each."""
    inner = "id"
    for _ in range(depth):
        inner = f"likeCount source {{ id }} board {{ cover {{ {inner} }} }}"
    return inner


FEED = "homeFeed(first: 100) { edges { node { title } } }"
DEAREST = {
    "pages of pins": pages_of_pins(ROOTS),
    "home feeds": f"{{ {times(7, FEED)} }}",
    "counts": counts(ALIASES),
    "pages of each size": "{ users(first: 20) { edges { node { "
    + " ".join(f"a{n}: likedPins(first: {n}) {{ edges {{ node {{ id }} }} }}" for n in range(1, 15))
    + " } } } }",
    "sorted boards and pins": "{ users(first: 1) { edges { node { boards(first: 10, orderBy: PINS) "
    "{ edges { node { pins(first: 5, orderBy: LIKES) { edges { node { id } } } } } } } } } }",
    "comments of comments": COMMENTS_OF_COMMENTS,
    "a chain": f"{{ pins(first: 20) {{ edges {{ node {{ {nested(6)} }} }} }} }}",
}


@pytest.mark.parametrize("name", DEAREST)
async def test_it_makes_a_bounded_number_of_calls(world: tuple[Gateway, Counts], name: str) -> None:
    gateway, calls = world
    calls.clear()
    response: dict[str, Any] = await gateway.ask(DEAREST[name])
    assert "errors" not in response, response["errors"][0]
    assert calls.calls.total() <= CALLS
