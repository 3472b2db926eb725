"""A viewer's request for an object of a user who blocks the viewer, or whom the viewer blocks,
makes the calls of a request for an absent object, and gets the same answer."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from bench.call_counts import Counts
from datasources.ids import Kind
from feed_engine.transactions import blocks
from tests.gateways import embedded_gateway
from tests.security.test_hidden_and_absent import FIELDS, ID, WRITES, World, own_board

pytestmark = pytest.mark.anyio
OF_USERS = ("user(id: $id) { id }", "node(id: $id) { id }", "nodes(ids: [$id]) { id }")
ALL_FIELDS = {**FIELDS, Kind.USER: OF_USERS}
ALL_WRITES: tuple[tuple[Kind, str, str, dict[str, Any]], ...] = (
    *WRITES,
    (Kind.USER, "followUser", "FollowUser", {"userId": ID}),
    (Kind.USER, "unfollowUser", "FollowUser", {"userId": ID}),
    (Kind.USER, "seeLess", "FeedPreference", {"id": ID}),
    (Kind.USER, "report", "Report", {"id": ID, "reason": "SPAM"}),
)


@pytest.fixture(scope="module", params=["blocked by the owner", "who blocks the owner"])
async def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    """The hidden objects are public, and the stranger blocks their owner, or is blocked."""
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("owner", "stranger")
        board = await gateway.board("owner", "Plans")
        pin = await gateway.pin("owner", board, "surprise")
        made = await gateway.mutate(
            "owner", "createComment", "comment { id }", pinId=pin, text="shh"
        )
        section = await gateway.section("owner", board, "cakes")
        mine = await own_board(gateway)
        pair = ["owner", "stranger"]
        blocking, blocked = pair if request.param == "blocked by the owner" else pair[::-1]
        await gateway.mutate(blocking, "blockUser", "", userId=str(gateway.people[blocked]))
        await gateway.settle()
        counts = Counts()
        gateway.runtime = replace(gateway.runtime, stores=counts.of(gateway.stores))
        hidden = {
            Kind.BOARD: board,
            Kind.PIN: pin,
            Kind.COMMENT: made["comment"]["id"],
            Kind.SECTION: section,
            Kind.USER: str(gateway.people["owner"]),
        }
        yield World(gateway, counts, hidden, mine)


@pytest.fixture(params=[False, True], ids=["known blocks", "more blocks than are known"])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the viewer has more blocks than a request reads."""
    if request.param:
        monkeypatch.setattr(blocks, "READ", 1)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("kind", ALL_FIELDS)
async def test_hidden_and_absent_ids_make_the_same_calls(world: World, kind: Kind) -> None:
    for field in ALL_FIELDS[kind]:
        await world.calls(field, "stranger", world.absent(kind))  # the blocks are in the cache
        absent = await world.calls(field, "stranger", world.absent(kind))
        assert absent == await world.calls(field, "stranger", world.absent(kind))
        await world.forget()
        cold = await world.calls(field, "stranger", world.hidden[kind])
        again = await world.calls(field, "stranger", world.hidden[kind])
        await world.remember()
        warm = await world.calls(field, "stranger", world.hidden[kind])
        assert cold == again == warm == absent, field


async def test_a_hidden_and_an_absent_name_make_the_same_calls(world: World) -> None:
    field = 'user(username: "{}") {{ id }}'
    for prepare in (world.forget, world.remember):
        absent = await world.calls(field.format("nobody"), "stranger")
        await prepare()
        assert await world.calls(field.format("owner"), "stranger") == absent


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(("kind", "field", "type_", "given"), ALL_WRITES)
async def test_writes_to_hidden_and_to_absent_ids_are_refused_alike(
    world: World, kind: Kind, field: str, type_: str, given: dict[str, Any]
) -> None:
    absent, cold, warm = await world.refusals(kind, field, type_, given)
    assert cold == warm == absent
