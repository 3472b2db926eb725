"""A shard server that does not answer: its cards are blank, and the rest of the page is shown."""

import gc
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from datasources.errors import StoreUnavailable
from datasources.ids import shard_of
from datasources.topology import ModShards, ShardRange, Topology, dump
from gateway.site.runtime import Runtime
from tests.gateways import Gateway, embedded_gateway, gateway_on_two_servers

pytestmark = pytest.mark.anyio
DEAD = range(8, 16)


class Cut:
    """A real store. Calls that need a shard of the dead server fail."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found) or name == "topology":
            return found

        async def call(*given: Any, **named: Any) -> Any:
            if any(_shard(key) in DEAD for key in _keys(given[0])):
                raise StoreUnavailable(f"no answer to {name}")
            return await found(*given, **named)

        return call


class CutShards:
    """The real shards of two servers, one of which is dead."""

    def __init__(self, shards: Any) -> None:
        self.objects, self.mappings = Cut(shards.objects), Cut(shards.mappings)
        self.outbox, self.visits, self.mod = shards.outbox, Cut(shards.visits), shards.mod


@dataclass
class World:
    """A reader on the living server who follows users of both servers, and the pins' ids by
    owner."""

    before: Gateway
    after: Gateway
    pins: dict[str, str]
    living: set[str]


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    directory: Path = tmp_path_factory.mktemp("two")
    async with gateway_on_two_servers(directory) as (gateway, _):
        names = [f"user{number}" for number in range(10)]
        await gateway.sign_up(*names)
        living = {name for name in names if shard_of(gateway.people[name]) not in DEAD}
        gateway.people["reader"] = gateway.people[reader := min(living)]
        pins = {}
        for name in names:
            board = await gateway.board(name, "Things")
            pins[name] = await gateway.pin(name, board, f"pin of {name}")
            if name != reader:
                user = str(gateway.people[name])
                await gateway.mutate("reader", "followUser", "user { id }", userId=user)
        await gateway.settle()
        await gateway.data("{ followingFeed { edges { node { board { id } } } } }", "reader")
        stores = gateway.stores._replace(shards=cast(Any, CutShards(gateway.stores.shards)))
        feeds = replace(gateway.runtime.feeds, stores=stores)
        cut = Gateway(Runtime(stores, feeds), gateway.executor, gateway.people)
        del pins[reader]
        yield World(gateway, cut, pins, living)


class Severed:
    """A gateway on three servers. The directory of the middle server exists, or is missing."""

    def __init__(self, gateway: Gateway, topology: Topology) -> None:
        self.gateway, self._topology = gateway, topology

    def cut(self) -> None:
        self._use("sqlite:///nowhere/at/all")

    def heal(self) -> None:
        self._use(self._topology.servers["two"])

    def _use(self, address: str) -> None:
        shards = self.gateway.stores.shards
        servers = {**self._topology.servers, "two": address}
        epoch = shards.objects.topology().epoch + 1
        shards.use(msgspec.structs.replace(self._topology, epoch=epoch, servers=servers))


@pytest.fixture(scope="module")
async def severed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Severed]:
    directory: Path = tmp_path_factory.mktemp("three")
    topology = Topology(
        epoch=1,
        servers={name: f"sqlite://{directory}/{name}" for name in ("one", "two", "three")},
        shards=(
            ShardRange((0, 7), "one"),
            ShardRange((8, 15), "two"),
            ShardRange((16, 23), "three"),
        ),
        mod=ModShards(4, (ShardRange((0, 3), "one"),)),
    )
    (directory / "topology.json").write_bytes(dump(topology))
    async with embedded_gateway(
        directory / "data", {"stores.topology": f"file://{directory}/topology.json"}
    ) as gateway:
        names = [f"user{number}" for number in range(12)]
        await gateway.sign_up(*names)
        for name in names:
            await gateway.pin(name, await gateway.board(name, "Things"), f"pin of {name}")
        assert {shard_of(id) // 8 for id in gateway.people.values()} == {0, 1, 2}
        yield Severed(gateway, topology)


def _keys(given: Any) -> Any:
    return given if isinstance(given, list | tuple) and not hasattr(given, "from_id") else [given]


def _shard(key: Any) -> int:
    key = getattr(key, "key", key)
    return shard_of(getattr(key, "from_id", key))


@pytest.mark.parametrize("feed", ["homeFeed", "followingFeed"])
@pytest.mark.parametrize("count", ["likeCount", "commentCount"])
async def test_a_count_that_cannot_be_read_takes_its_pin_out_of_a_feed_and_no_other(
    world: World, feed: str, count: str
) -> None:
    query = (
        f"{{ {feed} {{ edges {{ node {{ id ...Card }} }} }} }} fragment Card on Pin {{ {count} }}"
    )
    response = await world.after.ask(query, "reader")
    shown = {edge["node"]["id"] for edge in response["data"][feed]["edges"]}
    assert shown == {pin for name, pin in world.pins.items() if name in world.living}


async def test_a_cached_pin_of_a_dead_server_stays_in_a_feed_that_asks_for_no_count(
    world: World,
) -> None:
    response = await world.after.data(
        "{ followingFeed { edges { node { id title board { name } } } health { mayBeStale } } }",
        "reader",
    )
    feed = response["followingFeed"]
    assert {edge["node"]["id"] for edge in feed["edges"]} == set(world.pins.values())
    assert feed["health"] == {"mayBeStale": False}


@pytest.mark.parametrize("feed", ["homeFeed", "followingFeed"])
async def test_a_feed_that_had_to_leave_a_pin_out_says_that_something_may_be_missing(
    world: World, feed: str
) -> None:
    query = f"{{ {feed} {{ edges {{ node {{ likeCount }} }} health {{ mayBeStale }} }} }}"
    before = (await world.before.data(query, "reader"))[feed]["health"]
    after = (await world.after.data(query, "reader"))[feed]["health"]
    assert (before, after) == ({"mayBeStale": False}, {"mayBeStale": True})


async def test_a_mutation_that_fails_leaves_the_others_answers(world: World) -> None:
    dead = next(name for name in world.pins if name not in world.living)
    response = await world.after.ask(
        'mutation($pin: ID!) { made: createBoard(input: {name: "New"}) { board { name } }'
        " liked: likePin(input: {pinId: $pin}) { pin { id } } }",
        "reader",
        pin=world.pins[dead],
    )
    assert response["data"] == {"made": {"board": {"name": "New"}}, "liked": None}
    assert [error["extensions"]["code"] for error in response["errors"]] == ["UNAVAILABLE"]


async def test_a_viewer_of_a_dead_shard_gets_a_feed_that_says_so_and_nothing_is_left_behind(
    world: World, recwarn: pytest.WarningsRecorder
) -> None:
    dead = next(name for name in world.pins if name not in world.living)
    feed = await world.after.data(
        "{ homeFeed { edges { node { id } } health { pools mayBeStale } } }", dead
    )
    assert feed["homeFeed"]["health"] == {"pools": None, "mayBeStale": True}
    gc.collect()
    assert not list(recwarn)


LISTS = {
    "users": "users(first: $first, after: $after) { %s }",
    "boards": "boards(first: $first, after: $after) { %s }",
    "pins": "pins(first: $first, after: $after) { %s }",
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("first", [1, 2, 3, 100])
async def test_a_list_of_all_objects_goes_on_past_a_server_that_is_dead_and_says_where(
    severed: Severed, name: str, first: int
) -> None:
    page = "edges { cursor node { id } } pageInfo { hasNextPage endCursor }"
    query = f"query($first: Int, $after: String) {{ {LISTS[name] % page} }}"
    severed.heal()
    whole = (await severed.gateway.data(query, first=100))[name]["edges"]
    severed.cut()
    seen, lost, after = [], [], None
    while True:
        response = await severed.gateway.ask(query, first=first, after=after)
        edges = response["data"][name]["edges"]
        blank = [number for number, edge in enumerate(edges) if edge["node"] is None]
        errors = [(e["path"], e["extensions"]["code"]) for e in response.get("errors", [])]
        assert errors == [([name, "edges", number, "node"], "UNAVAILABLE") for number in blank]
        seen += edges
        lost += blank
        info = response["data"][name]["pageInfo"]
        if not info["hasNextPage"]:
            break
        assert len(edges) == first
        after = info["endCursor"]
    assert len(lost) == 1
    living = [edge for edge in whole if shard_of(int(edge["node"]["id"])) not in DEAD]
    assert 0 < len(living) < len(whole)
    assert [edge for edge in seen if edge["node"]] == living
    # The cursor before the blank card reads the missing pin again.
    severed.heal()
    at = next(number for number, edge in enumerate(seen) if edge["node"] is None)
    before = seen[at - 1]["cursor"] if at else None
    again = await severed.gateway.data(query, first=100, after=before)
    assert again[name]["edges"] == whole[len(seen[:at]) :]
