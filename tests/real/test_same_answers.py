"""The same content and the same operations give the same answers on embedded and on real stores."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.stack import Stack
from gateway.operate.imports.report import ImportOptions
from tests.gateways import Gateway
from tests.importing.files import import_file
from tests.importing.worlds import large
from tests.real.configurations import both

pytestmark = pytest.mark.anyio
PINS = 3000
CARD = "id title link createdAt likeCount board { id name } owner { id username }"
PAGE = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
READS = {
    "users": f"{{ users(first: 40) {{ edges {{ cursor node {{ id username boardCount pinCount "
    f"followerCount followingCount }} }} {PAGE} }} }}",
    "boards": f"{{ boards(first: 100) {{ edges {{ node {{ id name pinCount cover {{ id }} }} }} "
    f"{PAGE} }} }}",
    "pins": f"{{ pins(first: 100) {{ edges {{ cursor node {{ {CARD} }} }} {PAGE} }} }}",
    "interests": f"{{ interests {{ edges {{ node {{ id name pins(first: 30) "
    f"{{ edges {{ node {{ {CARD} }} }} {PAGE} }} }} }} }} }}",
    "one user": f"query($name: String!) {{ user(username: $name) {{ id fullName createdAt "
    f"boards(first: 50) {{ edges {{ cursor node {{ id name secret followerCount pins(first: 40) "
    f"{{ edges {{ cursor node {{ {CARD} comments {{ edges {{ node {{ text author {{ id }} }} }} }} "
    f"source {{ id }} interests {{ slug }} }} }} {PAGE} }} }} }} }} "
    f"likedPins(first: 50) {{ edges {{ cursor node {{ {CARD} }} }} {PAGE} }} "
    f"followers {{ edges {{ node {{ username viewerFollows }} }} }} "
    f"followingBoards {{ edges {{ node {{ name viewerFollows }} }} }} }} }}",
    "orders and secrecy": f"query($name: String!) {{ user(username: $name) {{ "
    f"byName: followingBoards(orderBy: NAME) {{ edges {{ cursor node {{ name }} }} {PAGE} }} "
    f"byPins: followingBoards(last: 2, orderBy: PINS) {{ edges {{ node {{ id }} }} {PAGE} }} "
    f"oldest: boards(orderBy: OLDEST, secret: false) {{ edges {{ cursor node {{ id }} }} }} }} "
    f"viewer {{ boards(first: 2, secret: true) {{ edges {{ node {{ name }} }} {PAGE} }} "
    f"last: boards(last: 2, orderBy: NAME, secret: true) {{ edges {{ node {{ name }} }} }} }} }}",
    "home feed": f"query($visit: ID) {{ homeFeed(first: 40, visitId: $visit) {{ visitId edges "
    f"{{ cursor reason node {{ {CARD} viewerHasLiked }} }} {PAGE} "
    f"health {{ pools materialized mayBeStale }} }} }}",
    "popular": f"query($visit: ID) {{ homeFeed(first: 40, visitId: $visit) "
    f"{{ edges {{ reason node {{ {CARD} }} }} }} }}",
    "following feed": f"{{ followingFeed(first: 60) {{ edges {{ cursor node {{ {CARD} }} }} "
    f"{PAGE} health {{ store mayBeStale }} }} }}",
    "wrong input": '{ node(id: "nonsense") { id } user { id } pin(id: "12") { id } }',
}


@pytest.fixture(scope="module")
async def gateways(
    stack: Stack, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Gateway, Gateway]]:
    directory: Path = tmp_path_factory.mktemp("same")
    # Names and slugs are unique across all shards, so each run needs its own on servers that are
    # kept.
    run = secrets.token_hex(3)
    world = directory / "world.jsonl"
    with world.open("wb") as file:
        for line in large(PINS):
            line = line.replace(b'"user_', f'"{run}_'.encode())
            file.write(line.replace(b'"interest-', f'"{run}-'.encode()) + b"\n")
    async with both(stack, directory) as gateways:
        for gateway in gateways:
            report = await import_file(
                gateway.stores, world, options=ImportOptions(), progress=lambda step: None
            )
            assert report.bad == [], report.bad[:3]
            found = await gateway.stores.shards.mod.find("username", [f"{run}_0", f"{run}_1"])
            gateway.people = {"zero": found[f"{run}_0"], "one": found[f"{run}_1"]}
        yield gateways


@pytest.mark.parametrize("viewer", ["zero", "one", None])
@pytest.mark.parametrize("name", READS)
async def test_a_query_answers_the_same(
    gateways: tuple[Gateway, Gateway], name: str, viewer: str | None
) -> None:
    embedded, _ = gateways
    names = await embedded.data("{ users(first: 3) { edges { node { username } } } }")
    given: dict[str, Any] = {
        "name": names["users"]["edges"][-1]["node"]["username"],
        "visit": f"visit-{name}",
    }
    given = {key: value for key, value in given.items() if f"${key}" in READS[name]}
    cold = [await gateway.ask(READS[name], viewer, **given) for gateway in gateways]
    warm = [await gateway.ask(READS[name], viewer, **given) for gateway in gateways]
    assert cold[0] == cold[1]
    assert warm[0] == warm[1] == cold[0]


async def test_writes_leave_the_same_behind(gateways: tuple[Gateway, Gateway]) -> None:
    answers = [await write_all(gateway) for gateway in gateways]
    assert answers[0] == answers[1]


async def write_all(gateway: Gateway) -> list[Any]:
    """Write some objects of each kind. Returns the answers, without times and cursors."""
    mutate, seen = gateway.mutate, list[Any]()
    board = await gateway.board("zero", "New board", description="of the test")
    pins = [await gateway.pin("zero", board, f"pin {n}") for n in range(5)]
    seen += [board, pins]
    seen.append(await mutate("one", "followBoard", "board { followerCount }", boardId=board))
    seen.append(await mutate("one", "likePin", "pin { likeCount viewerHasLiked }", pinId=pins[0]))
    seen.append(
        await mutate(
            "zero",
            "reorderPin",
            "board { pins { edges { node { id } } } }",
            boardId=board,
            pinId=pins[0],
            afterPinId=pins[4],
        )
    )
    seen.append(await mutate("zero", "updatePin", "pin { title link }", pinId=pins[1], title=None))
    seen.append(
        await mutate(
            "one", "createComment", "comment { id } pin { commentCount }", pinId=pins[2], text="hi"
        )
    )
    seen.append(await mutate("zero", "deletePin", "board { pinCount }", pinId=pins[3]))
    seen.append(await gateway.try_to("one", "deletePin", "board { id }", pinId=pins[1]))
    seen.append(await gateway.try_to("zero", "createBoard", "board { id }", name=""))
    await gateway.settle()
    feed = "{ followingFeed(first: 5) { edges { node { id title } } } }"
    seen.append(await gateway.data(feed, "one"))
    home = '{ homeFeed(first: 30, visit: "after") { edges { reason node { id } } } }'
    seen.append(await gateway.data(home, "one"))
    return seen
