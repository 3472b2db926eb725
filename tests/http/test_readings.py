"""A request that reads boards one after the other while a pin moves between them: its answer is as
of one moment, its effects happen once, and if that is impossible, the answer says so."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.protocols import Stores
from feed_engine.outbox.completion import settle
from feed_engine.transactions import access
from resolvers import readings
from tests.gateways import Gateway
from tests.http.test_moving import Scene, gateway, on, scene
from tests.pauses import Pause

__all__ = ["gateway", "scene"]
pytestmark = pytest.mark.anyio
PINS = "pins(first: 50) { edges { node { id } } }"
BOARDS = f"{PINS} owner {{ boards(first: 40) {{ edges {{ node {{ id {PINS} }} }} }} }}"
BOARD = f"board(id: $one) {{ {BOARDS} }}"
PAYLOAD = f"{{ pin {{ id }} board {{ {BOARDS} }} errors {{ message }} }}"
SAVE = f'createPin(input: {{boardId: $one, title: "New"}}) {PAYLOAD}'


def reads_of(pause: Pause, stores: Stores) -> Stores:
    """The stores with a pause in all calls, except in transactions, in which other callers would
    wait."""
    paused: Any = pause.of(stores)
    shards: Any = SimpleNamespace(**{**vars(paused.shards), "objects": stores.shards.objects})
    return stores._replace(
        shards=shards, object_cache=paused.object_cache, mapping_cache=paused.mapping_cache
    )


def shown(board: Any, other: str) -> list[str]:
    """The pins of the board that is shown first, and of the other board, which is shown later."""
    later = {edge["node"]["id"]: edge["node"] for edge in board["owner"]["boards"]["edges"]}
    return [edge["node"]["id"] for at in (board, later[other]) for edge in at["pins"]["edges"]]


async def at_each_seam(
    scene: Scene, query: str, check: Callable[[dict[str, Any]], Awaitable[None]]
) -> None:
    """Send the operation repeatedly, each time stopped at its next seam while the pin moves:
    alternately to the board that is read early, and to the board that is read late."""
    stores = scene.gateway.stores
    boards = scene.one, scene.other
    torn, number = 0, 0
    while True:
        here, there = boards[number % 2], boards[1 - number % 2]
        await scene.move(stores, here)
        await settle()
        await scene.cache("both")
        pause = Pause(number // 2)
        asking = asyncio.ensure_future(
            on(scene.gateway, reads_of(pause, stores)).data(query, "ann", one=scene.one)
        )
        reached = await pause.reached(asking)
        if reached:
            await scene.move(stores, there)
            torn += 1
        pause.go()  # pass the seams of background work, too
        await check(await asking)
        await settle()
        if not reached:
            break
        number += 1
    assert torn > 12


async def test_a_mutations_payload_is_of_one_moment_and_its_write_done_once(scene: Scene) -> None:
    async def check(data: dict[str, Any]) -> None:
        saved = data["createPin"]["pin"]["id"]
        pins = shown(data["createPin"]["board"], scene.other)
        assert {saved, scene.pin} <= set(pins)
        assert len(set(pins)) == len(pins) == scene.pins + 1
        await scene.gateway.mutate("ann", "deletePin", "deletedPinId", pinId=saved)

    await at_each_seam(scene, f"mutation($one: ID!) {{ {SAVE} }}", check)


async def test_each_payload_of_a_document_is_read_before_the_next_mutation(scene: Scene) -> None:
    async def check(data: dict[str, Any]) -> None:
        for number, name in enumerate("ab", 1):
            pins = shown(data[name]["board"], scene.other)
            assert data[name]["pin"]["id"] in pins
            assert len(set(pins)) == len(pins) == scene.pins + number
        for name in "ab":
            saved = data[name]["pin"]["id"]
            await scene.gateway.mutate("ann", "deletePin", "deletedPinId", pinId=saved)

    await at_each_seam(scene, f"mutation($one: ID!) {{ a: {SAVE} b: {SAVE} }}", check)


async def test_a_query_with_home_feeds_is_of_one_moment_and_begins_one_visit(
    scene: Scene,
) -> None:
    ann, visits = scene.gateway.people["ann"], scene.gateway.stores.shards.visits
    theirs = await scene.gateway.board("bob", "Theirs")
    await scene.gateway.mutate("ann", "followBoard", "board { id }", boardId=theirs)
    await scene.gateway.settle()
    feeds = "homeFeed(first: 1) { visitId edges { node { id } } pageInfo { hasNextPage } }"
    generation = max((visit.generation for visit in await visits.recent(ann, 1)), default=0)

    async def check(data: dict[str, Any]) -> None:
        nonlocal generation
        pins = shown(data["board"], scene.other)
        assert len(set(pins)) == len(pins) == scene.pins
        (begun,) = await visits.recent(ann, 1)
        assert {begun.visit} == {data[name]["visitId"] for name in "ab"}
        generation += 1
        assert begun.generation == generation
        for name in "ab":
            again = await scene.gateway.data(
                f"query($visit: ID!) {{ {feeds.replace('first: 1', 'first: 1, visit: $visit')} }}",
                "ann",
                visit=data[name]["visitId"],
            )
            assert again["homeFeed"] == data[name]
        await scene.gateway.pin("bob", theirs, "For the next visit")
        await scene.gateway.settle()

    await at_each_seam(scene, f"query($one: ID!) {{ a: {feeds} {BOARD} b: {feeds} }}", check)


class Restless:
    """The cache of lists. Whenever boards are read from it, a pin moves from one board to the
    other."""

    def __init__(self, scene: Scene) -> None:
        self._scene, self._lists = scene, scene.gateway.stores.mapping_cache
        self.moves = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lists, name)

    async def pages(self, requests: Any) -> Any:
        found = await self._lists.pages(requests)
        if any(request.key.mapping.ordered for request in requests):
            to = (self._scene.other, self._scene.one)[self.moves % 2]
            await self._scene.move(self._scene.gateway.stores, to)
            self.moves += 1
        return found


def restless(scene: Scene) -> tuple[Gateway, Restless]:
    lists: Any = Restless(scene)
    return on(scene.gateway, scene.gateway.stores._replace(mapping_cache=lists)), lists


async def test_what_is_read_again_is_whole_however_often_pins_are_moved(scene: Scene) -> None:
    gateway, lists = restless(scene)
    data = await gateway.data(f"query($one: ID!) {{ {BOARD} }}", "ann", one=scene.one)
    assert lists.moves == 3  # between its first two readings of boards, then once
    pins = shown(data["board"], scene.other)
    assert len(set(pins)) == len(pins) == scene.pins


@pytest.mark.parametrize("compiled", [True, False])
async def test_an_answer_that_is_of_several_moments_says_so(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    """Each reading requests other boards. graphql-core reads only once."""
    query = f"query($one: ID!) {{ {BOARD} }} # {compiled}"
    if compiled:
        monkeypatch.setattr(readings, "READINGS", 1)
    else:
        operation: Any = scene.gateway.executor.documents.get(query).operation(None)
        operation.plan.fallback = "a test"
    gateway, _ = restless(scene)
    answer = await gateway.ask(query, "ann", one=scene.one)
    pins = shown(answer["data"]["board"], scene.other)
    assert pins.count(scene.pin) != 1
    [error] = answer["errors"]
    assert error["extensions"]["code"] == "CONFLICT"
    assert "path" not in error


async def test_a_mutation_whose_payload_is_of_several_moments_is_done_all_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "READINGS", 1)
    gateway, _ = restless(scene)
    answer = await gateway.ask(f"mutation($one: ID!) {{ {SAVE} }}", "ann", one=scene.one)
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["CONFLICT"]
    saved = int(answer["data"]["createPin"]["pin"]["id"])
    here = await access.read(scene.gateway.stores, access.Pin, [saved])
    assert [str(pin.board_id) for pin in here.values()] == [scene.one]
