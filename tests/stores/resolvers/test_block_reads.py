"""How often a request reads its viewer's blocks, and what it does while they can't be read."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.errors import StoreUnavailable
from datasources.mappings import PageRequest
from feed_engine.transactions import blocks
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
BOARD = """query($id: ID!) { board(id: $id) { name owner { username }
  pins { edges { node { title owner { username } comments { edges { node { text } } } } } } } }"""
HOME = "{ homeFeed(first: 10) { edges { node { title board { name } owner { username } } } } }"


class Reads:
    """A store of lists that notes the reads of blocks, or fails them."""

    def __init__(self, store: Any) -> None:
        self._store, self.count, self.fail = store, 0, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def pages(self, requests: Sequence[PageRequest]) -> Any:
        self._note(requests)
        return await self._store.pages(requests)

    def _note(self, requests: Sequence[PageRequest]) -> None:
        if any(request.key.mapping in blocks.LISTS for request in requests):
            if self.fail:
                raise StoreUnavailable("lost")
            self.count += 1


class World:
    gateway: Gateway
    shards: Reads
    board: str

    async def reads(self, query: str, viewer: str | None, **given: Any) -> int:
        """How often an operation reads blocks from shards."""
        self.shards.count = 0
        await self.gateway.data(query, viewer, **given)
        return self.shards.count


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Ann follows Bob, who has a board, and blocks Cat, who has a board, too."""
    async with embedded_gateway(tmp_path) as gateway:
        world = World()
        await gateway.sign_up("ann", "bob", "cat")
        world.board = await gateway.board("bob", "open")
        for title in ("one", "two"):
            pin = await gateway.pin("bob", world.board, title)
            await gateway.mutate("bob", "createComment", "comment { id }", pinId=pin, text="hm")
        await gateway.board("cat", "plans")
        for field, name in (("followUser", "bob"), ("blockUser", "cat")):
            await gateway.mutate("ann", field, "", userId=str(gateway.people[name]))
        await gateway.settle()
        stores, feeds = gateway.stores, gateway.runtime.feeds
        world.gateway = gateway
        world.shards = Reads(stores.shards.mappings)
        shards: Any = SimpleNamespace(
            objects=stores.shards.objects,
            mappings=world.shards,
            outbox=stores.shards.outbox,
            visits=stores.shards.visits,
            mod=stores.shards.mod,
        )
        stores = stores._replace(shards=shards)
        gateway.runtime = replace(
            gateway.runtime, stores=stores, feeds=replace(feeds, stores=stores)
        )
        yield world


async def test_a_request_reads_them_once_and_the_cache_has_them_for_later_ones(
    world: World,
) -> None:
    assert await world.reads(BOARD, "ann", id=world.board) == 1
    assert await world.reads(BOARD, "ann", id=world.board) == 0


async def test_the_home_feed_reads_them_with_the_preferences(world: World) -> None:
    for _ in range(2):
        assert await world.reads(HOME, "ann") == 1


async def test_a_request_without_a_viewer_reads_none(world: World) -> None:
    assert await world.reads(BOARD, None, id=world.board) == 0
    assert await world.reads(HOME, None) == 0


@pytest.mark.parametrize("viewer", ["ann", "cat"])
async def test_what_the_cache_has_is_dropped_by_a_block_and_an_unblock(
    world: World, viewer: str
) -> None:
    other = {"ann": "cat", "cat": "ann"}[viewer]
    query = "query($name: String!) { user(username: $name) { username } }"

    async def sees() -> bool:
        for _ in range(2):  # the second answer comes from the cache
            found = await world.gateway.data(query, viewer, name=other)
        return found["user"] is not None

    cat = str(world.gateway.people["cat"])
    for field, seen in (("unblockUser", True), ("blockUser", False), ("unblockUser", True)):
        assert await sees() is not seen
        await world.gateway.mutate("ann", field, "", userId=cat)
        assert await sees() is seen


async def test_a_slow_reader_fills_the_cache_with_nothing_older_than_a_block(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, cat = world.gateway.people["ann"], world.gateway.people["cat"]
    await world.gateway.mutate("ann", "unblockUser", "", userId=str(cat))
    read = blocks.read

    async def slow(stores: Any, viewer_id: int) -> blocks.Blocks:
        found = await read(stores, viewer_id)
        await world.gateway.mutate("ann", "blockUser", "", userId=str(cat))
        return found

    query = "query($id: ID!) { user(id: $id) { username } }"
    with monkeypatch.context() as patched:
        patched.setattr(blocks, "read", slow)
        await world.gateway.data(query, "cat", id=str(ann))
    assert (await world.gateway.data(query, "cat", id=str(ann)))["user"] is None


async def test_while_they_cannot_be_read_those_that_the_process_knows_hold(world: World) -> None:
    query = '{ user(username: "cat") { username } }'
    await world.gateway.data(HOME, "ann")
    world.shards.fail = True
    await world.gateway.stores.object_cache.drop(
        [blocks.cache_key(id) for id in world.gateway.people.values()]
    )
    assert (await world.gateway.data(query, "ann"))["user"] is None
    assert (await world.gateway.data(query, "bob"))["user"] is not None
