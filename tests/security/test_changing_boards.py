"""Pins that were on a board only while it was secret reach no other user, wherever a reader is
between two reads when the board becomes secret or public."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from datasources.errors import NotFound
from datasources.protocols import Stores
from feed_engine import writes
from feed_engine.outbox.completion import settle
from gateway.site.runtime import Runtime
from tests.gateways import Gateway, embedded_gateway
from tests.pauses import Pause

pytestmark = pytest.mark.anyio
HIDDEN = "the surprise party"


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("owner", "stranger")
        yield gateway


class Scene:
    """A board of the owner, and a pin with the hidden title on it."""

    def __init__(self, gateway: Gateway, board: str, pin: str, drawer: str) -> None:
        self.gateway, self.board, self.pin, self.drawer = gateway, board, pin, drawer
        self.section: str | None = None

    async def ask(self, stores: Stores, query: str) -> str:
        feeds = replace(self.gateway.runtime.feeds, stores=stores)
        there = Gateway(Runtime(stores, feeds), self.gateway.executor, self.gateway.people)
        return str(await there.ask(query, "stranger", pin=self.pin, board=self.board))

    async def own(self, field: str, **input: Any) -> None:
        await self.gateway.mutate("owner", field, "errors { code }", **input)

    async def secret(self, secret: bool) -> None:
        await self.own("updateBoard", boardId=self.board, secret=secret)

    async def clear(self) -> None:
        ids = [int(self.pin), int(self.board)]
        await self.gateway.stores.object_cache.drop(ids)


async def secret_scene(gateway: Gateway, flips: int) -> Scene:
    board = await gateway.board("owner", "Plans", secret=True)
    drawer = await gateway.board("owner", "Drawer", secret=True)
    scene = Scene(gateway, board, await gateway.pin("owner", board, HIDDEN), drawer)
    for number in range(flips):
        await scene.secret(number % 2 == 1)
    return scene


async def public_scene(gateway: Gateway) -> Scene:
    board = await gateway.board("owner", "Plans")
    pin = await gateway.pin("owner", board, "a pin")
    return Scene(gateway, board, pin, "")


async def move_away(scene: Scene) -> None:
    await scene.own("movePin", pinId=scene.pin, boardId=scene.drawer)


async def delete(scene: Scene) -> None:
    await scene.own("deletePin", pinId=scene.pin)


async def rename(scene: Scene) -> None:
    await scene.own("updatePin", pinId=scene.pin, title="a cake")


async def add(scene: Scene) -> None:
    await scene.own("createPin", boardId=scene.board, title=HIDDEN)


async def rename_to_hidden(scene: Scene) -> None:
    await scene.own("updatePin", pinId=scene.pin, title=HIDDEN)


async def move_in(scene: Scene) -> None:
    drawer = await scene.gateway.board("owner", "Drawer", secret=True)
    pin = await scene.gateway.pin("owner", drawer, HIDDEN)
    await scene.own("movePin", pinId=pin, boardId=scene.board)


async def at_each_seam(
    make: Callable[[], Awaitable[Scene]],
    read: Callable[[Scene, Stores], Awaitable[str]],
    change: Callable[[Scene], Awaitable[None]],
) -> list[str]:
    """The answers of readers that stopped at their first seam, their second, and so on, while the
    whole change was made."""
    answers: list[str] = []
    while True:
        scene, pause = await make(), Pause(len(answers))
        await scene.clear()
        reader = asyncio.create_task(read(scene, pause.of(scene.gateway.stores)))
        if not await pause.reached(reader):
            return answers
        await change(scene)
        pause.go()
        answers.append(await reader)
        await settle()


READS = {
    "pin": "query($pin: ID!) { pin(id: $pin) { title } }",
    "node": "query($pin: ID!) { node(id: $pin) { ... on Pin { title } } }",
    "all pins": "{ pins(first: 100) { edges { node { title } } } }",
}


@pytest.mark.parametrize("leave", [move_away, delete, rename])
@pytest.mark.parametrize("query", READS)
@pytest.mark.parametrize("flips", [0, 2])
async def test_what_left_a_secret_board_before_it_became_public_is_not_seen(
    gateway: Gateway, query: str, leave: Callable[[Scene], Awaitable[None]], flips: int
) -> None:
    async def change(scene: Scene) -> None:
        await leave(scene)
        await scene.secret(False)

    answers = await at_each_seam(
        lambda: secret_scene(gateway, flips),
        lambda scene, stores: scene.ask(stores, READS[query]),
        change,
    )
    assert len(answers) > 2
    assert not [at for at, answer in enumerate(answers) if HIDDEN in answer]


async def add_section(scene: Scene) -> None:
    await scene.gateway.section("owner", scene.board, HIDDEN)


async def rename_section_to_hidden(scene: Scene) -> None:
    assert scene.section is not None
    await scene.own("renameSection", sectionId=scene.section, name=HIDDEN)


@pytest.mark.parametrize("come", [add_section, rename_section_to_hidden])
@pytest.mark.parametrize("read", ["the board's", "by id"])
async def test_a_section_named_after_the_board_became_secret_is_not_seen(
    gateway: Gateway, come: Callable[[Scene], Awaitable[None]], read: str
) -> None:
    pin = (await public_scene(gateway)).pin

    async def make() -> Scene:
        scene = Scene(gateway, await gateway.board("owner", "Plans"), pin, "")
        scene.section = await gateway.section("owner", scene.board, "a part")
        await gateway.stores.object_cache.drop([int(scene.section)])
        return scene

    async def ask(scene: Scene, stores: Stores) -> str:
        if read == "by id":
            query = f'{{ node(id: "{scene.section}") {{ ... on Section {{ name }} }} }}'
        else:
            query = (
                "query($board: ID!) { board(id: $board) { sections { edges { node { name } } } } }"
            )
        return await scene.ask(stores, query)

    async def change(scene: Scene) -> None:
        await scene.secret(True)
        await come(scene)

    answers = await at_each_seam(make, ask, change)
    assert len(answers) > 2
    assert not [at for at, answer in enumerate(answers) if HIDDEN in answer]


@pytest.mark.parametrize("come", [add, rename_to_hidden, move_in])
async def test_what_came_to_a_board_after_it_became_secret_is_not_seen(
    gateway: Gateway, come: Callable[[Scene], Awaitable[None]]
) -> None:
    async def change(scene: Scene) -> None:
        await scene.secret(True)
        await come(scene)

    query = "query($board: ID!) { board(id: $board) { pins { edges { node { title } } } } }"
    answers = await at_each_seam(
        lambda: public_scene(gateway), lambda scene, stores: scene.ask(stores, query), change
    )
    assert len(answers) > 2
    assert not [at for at, answer in enumerate(answers) if HIDDEN in answer]


async def test_a_comment_made_after_the_board_became_secret_is_not_seen(gateway: Gateway) -> None:
    async def change(scene: Scene) -> None:
        await scene.secret(True)
        await scene.own("createComment", pinId=scene.pin, text=HIDDEN)

    query = "query($pin: ID!) { pin(id: $pin) { comments { edges { node { text } } } } }"
    answers = await at_each_seam(
        lambda: public_scene(gateway), lambda scene, stores: scene.ask(stores, query), change
    )
    assert len(answers) > 2
    assert not [at for at, answer in enumerate(answers) if HIDDEN in answer]


async def test_a_comment_deleted_before_its_board_became_public_is_not_seen(
    gateway: Gateway,
) -> None:
    comment = ""

    async def make() -> Scene:
        nonlocal comment
        scene = await secret_scene(gateway, 0)
        made = await gateway.mutate(
            "owner", "createComment", "comment { id }", pinId=scene.pin, text=HIDDEN
        )
        comment = made["comment"]["id"]
        await gateway.stores.object_cache.drop([int(comment)])
        return scene

    async def change(scene: Scene) -> None:
        await scene.own("deleteComment", commentId=comment)
        await scene.secret(False)

    async def read(scene: Scene, stores: Stores) -> str:
        return await scene.ask(
            stores, f'{{ node(id: "{comment}") {{ ... on Comment {{ text }} }} }}'
        )

    answers = await at_each_seam(make, read, change)
    assert len(answers) > 2
    assert not [at for at, answer in enumerate(answers) if HIDDEN in answer]


async def test_what_left_a_secret_board_before_it_became_public_is_not_copied(
    gateway: Gateway,
) -> None:
    me = gateway.people["stranger"]
    own = int(await gateway.board("stranger", "Copies"))

    async def copy(scene: Scene, stores: Stores) -> str:
        try:
            return (await writes.repin(stores, me, int(scene.pin), own)).pin.title
        except NotFound as error:
            return error.message

    async def change(scene: Scene) -> None:
        await move_away(scene)
        await scene.secret(False)

    answers = await at_each_seam(lambda: secret_scene(gateway, 0), copy, change)
    assert len(answers) > 2
    assert not [at for at, answer in enumerate(answers) if HIDDEN in answer]


async def test_what_is_on_a_board_that_became_public_is_seen(gateway: Gateway) -> None:
    scene = await secret_scene(gateway, 1)
    for query in READS.values():
        assert HIDDEN in await scene.ask(gateway.stores, query)
