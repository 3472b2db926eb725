"""Entries that a viewer can't see cost a bounded number of reads, and hide no entries after
them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from bench.call_counts import Counts
from gateway.site.runtime import Runtime
from resolvers.scan_limit import MOST_A_PAGE, MOST_A_REQUEST
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
HIDDEN = MOST_A_PAGE + 60
STRANGERS = ["stranger", None]


@dataclass
class World:
    """Public pins before and after `HIDDEN` pins of a secret board, all liked by a fan."""

    gateway: Gateway
    counts: Counts = field(default_factory=Counts)
    secret: str = ""
    early: str = ""
    late: str = ""

    async def spent(self, query: str, viewer: str | None, **given: Any) -> tuple[Any, int]:
        """The data, and the number of store calls."""
        self.counts.clear()
        data = await self.gateway.data(query, viewer, **given)
        return data, self.counts.reads


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        world = World(gateway)
        counted = world.counts.of(gateway.stores)
        await gateway.sign_up("owner", "stranger", "fan")
        public = await gateway.board("owner", "Public")
        world.secret = await gateway.board("owner", "Plans")
        world.early = await gateway.pin("owner", public, "early")
        pins = [world.early]
        for number in range(HIDDEN):
            pins.append(await gateway.pin("owner", world.secret, f"hidden {number}"))
        world.late = await gateway.pin("owner", public, "late")
        for pin in (*pins, world.late):
            await gateway.mutate("fan", "likePin", "pin { id }", pinId=pin)
        await gateway.mutate(
            "owner", "updateBoard", "board { secret }", boardId=world.secret, secret=True
        )
        feeds = gateway.runtime.feeds
        gateway.runtime = Runtime(counted, feeds)
        yield world


LISTS = {
    "all pins": (
        "query($first: Int!, $after: String) { list: pins(first: $first, after: $after) { %s } }",
        lambda data: data["list"],
        ["early", "late"],
    ),
    "a liker's pins": (
        'query($first: Int!, $after: String) { list: user(username: "fan") '
        "{ likedPins(first: $first, after: $after) { %s } } }",
        lambda data: data["list"]["likedPins"],
        ["late", "early"],
    ),
}
PAGE = "edges { cursor node { title } } pageInfo { hasNextPage startCursor endCursor }"


@pytest.mark.parametrize("viewer", STRANGERS)
@pytest.mark.parametrize("list", LISTS)
async def test_a_page_ends_within_entries_that_cannot_be_seen(
    world: World, list: str, viewer: str | None
) -> None:
    query, page_of, (seen, _) = LISTS[list]
    data, calls = await world.spent(query % PAGE, viewer, first=2, after=None)
    page = page_of(data)
    assert [edge["node"]["title"] for edge in page["edges"]] == [seen]
    assert page["pageInfo"]["hasNextPage"]
    assert page["pageInfo"]["endCursor"] not in (None, page["edges"][0]["cursor"])
    assert calls <= 40


@pytest.mark.parametrize("first", [1, 2, 5, 100])
@pytest.mark.parametrize("list", LISTS)
async def test_paging_goes_on_behind_them_and_skips_nothing(
    world: World, list: str, first: int
) -> None:
    query, page_of, expected = LISTS[list]
    titles, after, pages = [], None, 0
    while True:
        page = page_of(await world.gateway.data(query % PAGE, None, first=first, after=after))
        titles += [edge["node"]["title"] for edge in page["edges"]]
        pages += 1
        if not page["pageInfo"]["hasNextPage"]:
            break
        assert page["pageInfo"]["endCursor"] != after
        after = page["pageInfo"]["endCursor"]
    assert titles == expected
    assert pages <= 4


async def test_the_owner_gets_full_pages(world: World) -> None:
    query, page_of, _ = LISTS["a liker's pins"]
    page = page_of(await world.gateway.data(query % PAGE, "owner", first=100, after=None))
    assert len(page["edges"]) == 100


async def test_the_pages_of_one_request_share_what_may_be_read_further(world: World) -> None:
    pages = " ".join(
        f"p{number}: pins(first: 1, after: $after) {{ edges {{ cursor }} }}" for number in range(25)
    )
    start = await world.gateway.data("{ pins(first: 1) { pageInfo { endCursor } } }")
    after = start["pins"]["pageInfo"]["endCursor"]
    world.counts.clear()
    await world.gateway.data(f"query($after: String) {{ {pages} }}", None, after=after)
    assert world.counts.entries <= 25 * 4 + 2 * MOST_A_REQUEST
    assert world.counts.reads <= 25 * 2 + 2 * MOST_A_REQUEST // 32


async def test_a_cursor_of_a_hidden_pin_does_not_name_it(world: World) -> None:
    data = await world.gateway.data(LISTS["all pins"][0] % PAGE, None, first=2, after=None)
    cursor = data["list"]["pageInfo"]["endCursor"]
    other = "B" if cursor[0] == "A" else "A"
    for cut in (cursor[:-1], other + cursor[1:], cursor + "A", ""):
        response = await world.gateway.ask(LISTS["all pins"][0] % PAGE, None, first=2, after=cut)
        assert response["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
