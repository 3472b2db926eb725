"""The causes of a home feed's edges: the follows that brought a picture or a repin of it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateways import Gateway, embedded_gateway
from tests.interests import create_interest

pytestmark = pytest.mark.anyio
FOLLOWED = "__typename ... on User { username } ... on Board { name } ... on Interest { slug }"
HOME = (
    "query($visit: ID) { homeFeed(visit: $visit) { visitId edges { reason node { id } causes { "
    f"reason followed {{ {FOLLOWED} }} pin {{ id board {{ name }} }} }} }} }} }}"
)


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as opened:
        await opened.sign_up("ann", "bob", "cleo", "dan")
        yield opened


async def repin(gateway: Gateway, viewer: str, board: str, pin: str) -> str:
    payload = await gateway.mutate(viewer, "repin", "pin { id }", pinId=pin, boardId=board)
    return str(payload["pin"]["id"])


async def causes(gateway: Gateway, **variables: Any) -> tuple[str, list[dict[str, Any]]]:
    """The visit, and the causes of the page's only edge."""
    page = (await gateway.data(HOME, "ann", **variables))["homeFeed"]
    [edge] = page["edges"]
    return page["visitId"], edge["causes"]


async def test_a_card_names_all_that_brought_its_picture_and_the_pins_which_they_brought(
    gateway: Gateway,
) -> None:
    boards = {name: await gateway.board(name, f"of {name}") for name in ("bob", "cleo", "dan")}
    tea = await create_interest(gateway.stores, "Tea", "tea")
    await gateway.mutate("ann", "followUser", "user { id }", userId=str(gateway.people["bob"]))
    await gateway.mutate("ann", "followBoard", "board { id }", boardId=boards["cleo"])
    await gateway.mutate("ann", "followInterest", "interest { id }", interestId=str(tea.id))
    picture = await gateway.pin("dan", boards["dan"], "a pot", interestIds=[str(tea.id)])
    pins = {name: await repin(gateway, name, boards[name], picture) for name in ("bob", "cleo")}
    await gateway.settle()

    visit, found = await causes(gateway)
    by_followed = {
        cause["followed"].get("username") or cause["followed"].get("name"): cause
        for cause in found
        if cause["followed"]["__typename"] != "Interest"
    }
    assert by_followed["bob"] == {
        "reason": "FOLLOWED_USER",
        "followed": {"__typename": "User", "username": "bob"},
        "pin": {"id": pins["bob"], "board": {"name": "of bob"}},
    }
    assert by_followed["of cleo"] == {
        "reason": "FOLLOWED_BOARD",
        "followed": {"__typename": "Board", "name": "of cleo"},
        "pin": {"id": pins["cleo"], "board": {"name": "of cleo"}},
    }
    [interest] = [cause for cause in found if cause["reason"] == "FOLLOWED_INTEREST"]
    assert interest["followed"] == {"__typename": "Interest", "slug": "tea"}
    assert interest["pin"]["id"] in {picture, *pins.values()}
    assert await causes(gateway, visit=visit) == (visit, found)

    [gone, *_] = [name for name, pin in pins.items() if pin != found[0]["pin"]["id"]]
    await gateway.mutate(gone, "updateBoard", "board { id }", boardId=boards[gone], secret=True)
    _, left = await causes(gateway, visit=visit)
    assert left == [cause for cause in found if cause["pin"]["id"] != pins[gone]]


async def test_popular_pins_and_pins_shown_before_have_no_causes(gateway: Gateway) -> None:
    await gateway.pin("dan", await gateway.board("dan", "of dan"), "popular")
    await gateway.settle()
    assert (await causes(gateway))[1] == []
    [edge] = (await gateway.data(HOME, "ann"))["homeFeed"]["edges"]
    assert (edge["reason"], edge["causes"]) == ("SHOWN_BEFORE", [])
