"""Moving pins between boards, as readers see it: at any moment each pin is on one board."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores
from feed_engine import writes
from feed_engine.ordering import arrange
from feed_engine.outbox.completion import settle
from gateway.site.runtime import Runtime
from tests.faulty import with_part
from tests.gateways import Gateway, embedded_gateway
from tests.pauses import Pause
from tests.scale import scaled

pytestmark = pytest.mark.anyio
ON_BOARD = Mapping.BOARD_HAS_PINS
SIDE = """ { pinCount cover { id board { id } }
    pins(first: 50) { edges { node { id board { id } } } } } """
BOTH = (
    "query($one: ID!, $other: ID!) "
    f"{{ one: board(id: $one) {SIDE} other: board(id: $other) {SIDE} }}"
)
MOVED = """pin { id board { id } } pinEdge { cursor node { id } } abovePin { id } belowPin { id }
    fromBoard { id pinCount } toBoard { id pinCount } removedPinId
    fromOrderVersion toOrderVersion"""


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


def on(gateway: Gateway, stores: Stores) -> Gateway:
    """The gateway on other stores."""
    feeds = replace(gateway.runtime.feeds, stores=stores)
    return Gateway(Runtime(stores, feeds), gateway.executor, gateway.people)


@dataclass
class Scene:
    """Two boards of ann, and a pin that is on one of them."""

    gateway: Gateway
    one: str
    other: str
    pin: str
    pins: int

    async def read(self, stores: Stores, viewer: str | None = None) -> Any:
        there = on(self.gateway, stores)
        return await there.data(BOTH, viewer, one=self.one, other=self.other)

    async def move(self, stores: Stores, board: str) -> None:
        me = self.gateway.people["ann"]
        await writes.move_pin(stores, me, int(self.pin), int(board))

    async def cache(self, state: str) -> None:
        """Prepare the caches for the boards that a reader reads."""
        stores = self.gateway.stores
        keys = [ListKey(ON_BOARD, int(board)) for board in (self.one, self.other)]
        await self.read(stores)
        gone = {"both": [], "one": keys[1:], "other": keys[:1], "neither": keys}[state]
        await stores.mapping_cache.drop(gone)
        if state == "neither":
            await stores.object_cache.drop([int(self.pin), int(self.one), int(self.other)])

    def check(self, read: Any) -> None:
        counted = Counter(
            edge["node"]["id"]
            for board in (read["one"], read["other"])
            for edge in board["pins"]["edges"]
        )
        assert counted[self.pin] == 1
        assert set(counted.values()) == {1}
        assert len(counted) == self.pins
        assert read["one"]["pinCount"] + read["other"]["pinCount"] == self.pins
        for id, board in ((self.one, read["one"]), (self.other, read["other"])):
            nodes = [edge["node"] for edge in board["pins"]["edges"]]
            assert {node["board"]["id"] for node in nodes} <= {id}
            assert (board["cover"] or {"board": {"id": id}})["board"]["id"] == id


@pytest.fixture
async def scene(gateway: Gateway) -> Scene:
    one, other = [await gateway.board("ann", name) for name in ("One", "Other")]
    for board in (one, other, one):
        pin = await gateway.pin("ann", board, "A pin")
    return Scene(gateway, one, other, pin, 3)


async def _seams(run: Any) -> int:
    """The number of seams in a call."""
    pause = Pause(10**6)
    await run(pause)
    return 10**6 - pause._left


@pytest.mark.parametrize("cached", ["both", "one", "other", "neither"])
async def test_a_reader_sees_a_moved_pin_on_one_board_wherever_reader_and_writer_are(
    scene: Scene, cached: str
) -> None:
    """The reader stops at each of its seams in turn. Meanwhile the writer stops at each of its own
    seams, `make test`'s at every third; then the reader continues."""
    stores = scene.gateway.stores

    async def reading(pause: Pause) -> None:
        await scene.read(pause.of(stores))

    async def writing(pause: Pause) -> None:
        await scene.move(pause.of(stores), scene.other)
        await settle()

    await scene.cache(cached)
    readers = await _seams(reading)
    writers = await _seams(writing)
    assert readers > 3
    assert writers > 12
    here, there, step = scene.other, scene.one, scaled(3, 1)
    for read_to in range(readers):
        for written_to in range(read_to % step, writers, step):
            await scene.cache(cached)
            reader, writer = Pause(read_to), Pause(written_to)
            read = asyncio.ensure_future(scene.read(reader.of(stores)))
            if await reader.reached(read):
                write = asyncio.ensure_future(scene.move(writer.of(stores), there))
                await writer.reached(write)
                reader.go()
                scene.check(await read)
                again = await scene.read(stores)
                writer.go()
                scene.check(again)
                await write
                here, there = there, here
                await settle()
            scene.check(await read)
    scene.check(await scene.read(stores))


@pytest.mark.parametrize("cached", ["both", "one", "other", "neither"])
@pytest.mark.parametrize("is_early", [False, True], ids=["to the early board", "to the late"])
async def test_a_moved_pin_is_on_one_of_two_boards_that_a_query_reads_one_after_the_other(
    scene: Scene, cached: str, is_early: bool
) -> None:
    """One board is read at once, the other after a user and a list; the pin moves in between."""
    stores = scene.gateway.stores
    query = (
        "query($one: ID!) { board(id: $one) { pins { edges { node { id } } } "
        "owner { boards(first: 100) { edges { node { id pins { edges { node { id } } } } } } } } }"
    )
    here, there = (scene.one, scene.other) if is_early else (scene.other, scene.one)

    async def read(pause: Pause) -> list[str]:
        """The pins on the board that is shown first, and on the other board."""
        gateway = on(scene.gateway, pause.of(stores))
        board = (await gateway.data(query, "ann", one=scene.one))["board"]
        later = {it["node"]["id"]: it["node"] for it in board["owner"]["boards"]["edges"]}
        shown = [board["pins"], later[scene.other]["pins"]]
        return [edge["node"]["id"] for pins in shown for edge in pins["edges"]]

    seams = await _seams(read)
    torn = 0
    for read_to in range(seams):
        await scene.move(stores, here)
        await settle()
        await scene.cache(cached)
        pause = Pause(read_to)
        reading = asyncio.ensure_future(read(pause))
        if await pause.reached(reading):
            await scene.move(stores, there)
            pause.go()
            torn += 1
        pins = await reading
        assert pins.count(scene.pin) == 1
        assert len(set(pins)) == len(pins) == scene.pins
    assert torn > 3


async def test_the_payload_is_what_a_clients_cache_needs(gateway: Gateway, scene: Scene) -> None:
    bottom = (await scene.read(gateway.stores))["other"]["pins"]["edges"][0]["node"]["id"]
    moved = await gateway.mutate(
        "ann", "movePin", MOVED, pinId=scene.pin, boardId=scene.other, beforePinId=bottom
    )
    assert moved["pin"] == {"id": scene.pin, "board": {"id": scene.other}}
    assert moved["pinEdge"]["node"]["id"] == moved["removedPinId"] == scene.pin
    assert (moved["abovePin"], moved["belowPin"]) == ({"id": bottom}, None)
    assert moved["fromBoard"] == {"id": scene.one, "pinCount": 1}
    assert moved["toBoard"] == {"id": scene.other, "pinCount": 2}
    after = await gateway.data(
        "query($id: ID!, $after: String) "
        "{ board(id: $id) { pins(after: $after) { edges { node { id } } } } }",
        id=scene.other,
        after=moved["pinEdge"]["cursor"],
    )
    assert after["board"]["pins"]["edges"] == []
    stayed = await gateway.mutate("ann", "movePin", MOVED, pinId=scene.pin, boardId=scene.other)
    assert stayed["removedPinId"] is None
    assert stayed["toOrderVersion"] == stayed["fromOrderVersion"] == moved["toOrderVersion"]
    for viewer, code in (("bob", "FORBIDDEN"),):
        refused = await gateway.try_to(viewer, "movePin", MOVED, pinId=scene.pin, boardId=scene.one)
        assert [error["code"] for error in refused["errors"]] == [code]
        assert refused["pin"] is None


async def test_pages_of_a_board_go_on_behind_a_pin_that_left_it(gateway: Gateway) -> None:
    one, other = [await gateway.board("ann", name) for name in ("One", "Other")]
    pins = [await gateway.pin("ann", one, str(number)) for number in range(6)][::-1]
    query = (
        "query($id: ID!, $after: String) { board(id: $id) { pins(first: 2, after: $after) "
        "{ edges { node { id } } pageInfo { endCursor hasNextPage } } } }"
    )
    seen, after, more = list[str](), None, True
    while more:
        page = (await gateway.data(query, id=one, after=after))["board"]["pins"]
        seen += [edge["node"]["id"] for edge in page["edges"]]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        await gateway.mutate("ann", "movePin", "pin { id }", pinId=seen[-1], boardId=other)
        await gateway.mutate("ann", "movePin", "pin { id }", pinId=seen[0], boardId=other)
    assert seen == pins


async def test_many_pins_are_put_in_order_in_one_call(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Long")
    pins = [await gateway.pin("ann", board, str(number)) for number in range(7)]
    query = "board { pins { edges { node { id } } } } orderVersion"
    done = await gateway.mutate("ann", "reorderPins", query, boardId=board, pinIds=pins)
    assert [edge["node"]["id"] for edge in done["board"]["pins"]["edges"]] == pins
    again = await gateway.mutate("ann", "reorderPins", query, boardId=board, pinIds=pins)
    assert again == done
    refused = await gateway.try_to(
        "ann", "reorderPins", query, boardId=board, pinIds=[*pins, pins[2]]
    )
    [error] = refused["errors"]
    assert (error["code"], error["field"]) == ("BAD_USER_INPUT", "pinIds")
    assert pins[2] in error["message"]


@pytest.mark.parametrize("size", [1, 3])
async def test_pages_that_are_read_while_pins_are_put_in_order_have_all_others_once(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """A page is read after each part of the sort."""
    monkeypatch.setattr(arrange, "CHUNK", 2)
    board = await gateway.board("ann", "Long")
    pins = [await gateway.pin("ann", board, str(number)) for number in range(20)][::-1]
    named = pins[1::2][::-1]
    query = (
        "query($id: ID!, $first: Int!, $after: String) { board(id: $id) { "
        "pins(first: $first, after: $after) { edges { node { id } } pageInfo { endCursor } } } }"
    )
    seen, after = list[str](), None

    async def read() -> None:
        nonlocal after
        page = await gateway.data(query, id=board, first=size, after=after)
        seen.extend(edge["node"]["id"] for edge in page["board"]["pins"]["edges"])
        after = page["board"]["pins"]["pageInfo"]["endCursor"] or after

    class Objects:
        def __getattr__(self, name: str) -> Any:
            return getattr(gateway.stores.shards.objects, name)

        async def transact(self, *args: Any) -> Any:
            await read()
            return await gateway.stores.shards.objects.transact(*args)

    stores = with_part(gateway.stores, "objects", Objects())
    me = gateway.people["ann"]
    await writes.reorder_pins(stores, me, int(board), [int(pin) for pin in named], int(pins[10]))
    for _ in pins:
        await read()
    others = [pin for pin in pins if pin not in named]
    assert [pin for pin in seen if pin in others] == others
    whole = await gateway.data(query, id=board, first=50)
    assert [edge["node"]["id"] for edge in whole["board"]["pins"]["edges"]] == [
        *others[:6],
        *named,
        *others[6:],
    ]
