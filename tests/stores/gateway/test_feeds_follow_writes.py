"""The contents of feeds once the jobs of a write have run."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest

pytestmark = pytest.mark.anyio
FOLLOWING = "{ followingFeed(first: 100) { edges { node { title } } } }"
HOME = "{ homeFeed(first: 50) { edges { reason node { title } } } }"


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def test_a_board_that_becomes_public_brings_all_its_pins_to_its_owners_followers(
    gateway: Gateway,
) -> None:
    ann = str(gateway.people["ann"])
    await gateway.mutate("bob", "followUser", "user { id }", userId=ann)
    board = await gateway.board("ann", "Plans", secret=True)
    titles = {f"pin {n}" for n in range(30)}
    for title in titles:
        await gateway.pin("ann", board, title)
    await gateway.settle()
    assert await gateway.data(FOLLOWING, "bob") == {"followingFeed": {"edges": []}}
    await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=False)
    await gateway.settle()
    feed = (await gateway.data(FOLLOWING, "bob"))["followingFeed"]["edges"]
    assert {edge["node"]["title"] for edge in feed} == titles
    assert len(feed) == len(titles)


async def test_a_pin_given_an_interest_later_reaches_the_interests_followers(
    gateway: Gateway,
) -> None:
    interest = str((await create_interest(gateway.stores, "Cats", "cats")).id)
    await gateway.mutate("bob", "followInterest", "interest { id }", interestId=interest)
    pin = await gateway.pin("ann", await gateway.board("ann", "Pets"), "a cat")
    await gateway.settle()
    await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, interestIds=[interest])
    await gateway.settle()
    feed = (await gateway.data(HOME, "bob"))["homeFeed"]["edges"]
    assert feed == [{"reason": "FOLLOWED_INTEREST", "node": {"title": "a cat"}}]
