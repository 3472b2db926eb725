"""The number of round trips to stores in the main operations: the same for 50 pins as for 5."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from datasources.ids import shard_of
from datasources.mappings import ListKey, Mapping
from datasources.mysql import MySqlShards
from datasources.protocols import Sides, Stores
from datasources.topology import parse
from deploy.stack import Stack
from feed_engine.feeds.settings import Feeds
from feed_engine.speculation import Race
from feed_engine.transactions.blocks import cache_key
from gateway.site.runtime import Runtime
from tests.gateways import Gateway, gateway_on
from tests.real.configurations import MOST, first_shard, real_settings

pytestmark = pytest.mark.anyio
PEOPLE, PINS = 60, 60
CARD = "id title board { id name owner { id username } } owner { id username }"


class Counted:
    """A store whose calls are counted under a name."""

    def __init__(self, store: Any, name: str, trips: Counter[str]) -> None:
        self._store, self._name, self._trips = store, name, trips

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._store, attribute)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self._trips[f"{self._name}.{attribute}"] += 1
            return found(*args, **kwargs)

        return call


@dataclass
class World:
    gateway: Gateway
    trips: Counter[str]
    board: str
    forget: Callable[[], Any]

    async def spend(self, query: str, viewer: str | None, **given: Any) -> dict[str, int]:
        """The round trips of one operation, by store."""
        self.trips.clear()
        await self.gateway.data(query, viewer, **given)
        return dict(sorted(self.trips.items()))


@pytest.fixture(scope="module")
async def world(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """60 users on two servers alternately, each with a board and a pin; "reader" likes all pins."""
    directory: Path = tmp_path_factory.mktemp("trips")
    first = first_shard(stack)
    settings = real_settings(stack, directory, first, shards=MOST)
    trips: Counter[str] = Counter()
    async with gateway_on(settings) as gateway:
        stores = gateway.stores
        shards = MySqlShards(
            parse((directory / "real.json").read_bytes()),
            user=settings.mysql.user,
            password=settings.mysql.password,
            observe=lambda server, operation: trips.update(["MySQL"]),
        )
        counted = stores._replace(
            shards=shards,
            object_cache=Counted(stores.object_cache, "memcached", trips),
            mapping_cache=Counted(stores.mapping_cache, "redis", trips),
        )
        races = [
            Race(Sides(*(Counted(side, "hbase", trips) for side in sides)), cutoff=60, deadline=120)
            for sides in (stores.pools, stores.feeds)
        ]
        gateway.runtime = Runtime(counted, Feeds(counted, *races))
        try:
            yield await fill(gateway, trips, f"p{first}")
        finally:
            await shards.close()


async def fill(gateway: Gateway, trips: Counter[str], prefix: str) -> World:
    await gateway.sign_up("reader_" + prefix, *(f"{prefix}_{n}" for n in range(2 * PEOPLE)))
    gateway.people["reader"] = gateway.people.pop("reader_" + prefix)
    people = on_servers_in_turn(gateway)[:PEOPLE]
    pins = []
    for person in people:
        board = await gateway.board(person, "Board")
        pins.append(await gateway.pin(person, board, "Pin"))
        await gateway.mutate("reader", "likePin", "pin { id }", pinId=pins[-1])
        await gateway.mutate(
            "reader", "followUser", "user { id }", userId=str(gateway.people[person])
        )
    own = await gateway.board("reader", "Own")
    repins = [
        await gateway.mutate("reader", "repin", "pin { id }", pinId=pin, boardId=own)
        for pin in pins
    ]
    await gateway.settle()
    assert len(people) == PEOPLE
    assert len({shard_of(int(pin)) for pin in pins[:50]}) >= 20

    async def forget() -> None:
        ids = [*pins, *(repin["pin"]["id"] for repin in repins)]
        await forget_all(gateway.stores, [int(id) for id in ids], gateway)

    return World(gateway, trips, own, forget)


def on_servers_in_turn(gateway: Gateway) -> list[str]:
    """The users in an order in which their shards alternate between the two servers, so that a few
    successive users are on both. A cost that grows needlessly is then visible with five pins as
    well as with fifty."""
    topology = gateway.stores.shards.objects.topology()
    servers = defaultdict(list)
    for name, id in gateway.people.items():
        if name != "reader":
            servers[topology.master_of(shard_of(id))].append(name)
    return [name for pair in zip(*servers.values(), strict=False) for name in pair]


async def forget_all(stores: Stores, pins: list[int], gateway: Gateway) -> None:
    """Remove everything that the operations read from the caches."""
    boards = await gateway.data("{ boards(first: 100) { edges { node { id } } } }")
    ids = [int(edge["node"]["id"]) for edge in boards["boards"]["edges"]]
    people = list(gateway.people.values())
    blocks = map(cache_key, people)
    await stores.object_cache.drop([*pins, *ids, *people, *blocks])
    for from_ids in (people, ids, pins):
        await stores.mapping_cache.drop(
            [ListKey(mapping, id) for id in from_ids for mapping in Mapping]
        )


LIKED = (
    "query($first: Int) { viewer { likedPins(first: $first) "
    f"{{ edges {{ node {{ {CARD} }} }} }} }} }}"
)
BOARD = (
    "query($first: Int, $board: ID!) { board(id: $board) { pins(first: $first) { edges { node { "
    f"{CARD} likeCount viewerHasLiked source {{ id owner {{ id }} }} }} }} }} }} }}"
)
HOME = (
    "query($first: Int, $visit: ID) { homeFeed(first: $first, visit: $visit) "
    f"{{ edges {{ node {{ {CARD} }} }} }} }}"
)
FOLLOWING = (
    f"query($first: Int) {{ followingFeed(first: $first) {{ edges {{ node {{ {CARD} }} }} }} }}"
)
# The viewer and, at the same time, the viewer's blocks; the list, its pins, their boards, and the
# owners of both; one fill for each batch.
LIKED_COLD = {
    "MySQL": 9,
    "memcached.fill": 5,
    "memcached.get": 5,
    "redis.fill_pages": 1,
    "redis.pages": 1,
}
LIKED_WARM = {"memcached.get": 5, "redis.pages": 1}
# As above, and for each pin its likes, the viewer's own like, its source and the source's owner.
BOARD_COLD = {
    "MySQL": 13,
    "memcached.fill": 7,
    "memcached.get": 7,
    "redis.fill_heads": 1,
    "redis.fill_pages": 1,
    "redis.heads": 1,
    "redis.pages": 1,
}
BOARD_WARM = {"MySQL": 1, "memcached.get": 7, "redis.heads": 1, "redis.pages": 1}


@pytest.mark.parametrize("first", [5, 50])
@pytest.mark.parametrize(
    ("query", "cold", "warm"),
    [(LIKED, LIKED_COLD, LIKED_WARM), (BOARD, BOARD_COLD, BOARD_WARM)],
    ids=["liked pins", "a board"],
)
async def test_a_list_of_pins_costs_the_same_whatever_its_length(
    world: World, query: str, cold: dict[str, int], warm: dict[str, int], first: int
) -> None:
    given = {"board": world.board} if query is BOARD else {}
    await world.forget()
    assert await world.spend(query, "reader", first=first, **given) == cold
    assert await world.spend(query, "reader", first=first, **given) == warm


# A known visit: the shard and the shown pins are read at once; then as above.
HOME_COLD = {"MySQL": 8, "hbase.read": 1, "memcached.fill": 3, "memcached.get": 3}
HOME_WARM = {"MySQL": 2, "hbase.read": 1, "memcached.get": 3}
# The row; and, at the same time as its pins, the viewer's blocks and mutes, and whether the causes
# of the pins are still followed.
FOLLOWING_COLD = {"MySQL": 9, "hbase.read": 1, "memcached.fill": 4, "memcached.get": 4}
FOLLOWING_WARM = {"MySQL": 2, "hbase.read": 1, "memcached.get": 4}


@pytest.mark.parametrize("first", [5, 50])
async def test_a_feed_costs_the_same_whatever_its_length(world: World, first: int) -> None:
    visit = f"first {first}"
    await world.spend(HOME, "reader", first=first, visit=visit)
    for query, given, cold, warm in (
        (HOME, {"visit": visit}, HOME_COLD, HOME_WARM),
        (FOLLOWING, {}, FOLLOWING_COLD, FOLLOWING_WARM),
    ):
        await world.forget()
        assert await world.spend(query, "reader", first=first, **given) == cold
        assert await world.spend(query, "reader", first=first, **given) == warm


SECTIONS = (
    "query($first: Int, $board: ID!) { board(id: $board) { sections(first: $first) { edges { "
    "node { name pinCount pins(first: 5) { edges { node { "
    f"{CARD} section {{ name }} }} }} }} }} }} }} }} }}"
)
MEMBERS = (
    "query($first: Int, $board: ID!) { board(id: $board) { viewerRole "
    "collaborators(first: $first) { edges { node { username } } } "
    "invitedUsers(first: $first) { edges { node { username } } } } }"
)
# The board and, at the same time, the viewer's blocks; the sections; their sizes and, at the same
# time, their pins; the users who added the pins, on two servers, and the board's owner.
SECTIONS_COLD = {
    "MySQL": 10,
    "memcached.fill": 6,
    "memcached.get": 6,
    "redis.fill_heads": 1,
    "redis.fill_pages": 2,
    "redis.heads": 1,
    "redis.pages": 2,
}
SECTIONS_WARM = {"memcached.get": 6, "redis.heads": 1, "redis.pages": 2}
# The board and the blocks; both lists at once; all users at once, on two servers.
MEMBERS_COLD = {
    "MySQL": 5,
    "memcached.fill": 3,
    "memcached.get": 3,
    "redis.fill_pages": 1,
    "redis.pages": 1,
}
MEMBERS_WARM = {"memcached.get": 3, "redis.pages": 1}


async def arrange(world: World) -> tuple[str, list[int]]:
    """A board of the reader with 50 collaborators, each of whom added a pin in a section of its
    own, and 50 invited users. Returns the board, and the ids of what is on it."""
    gateway, made = world.gateway, list[int]()
    board = await gateway.board("reader", "Parts")
    for number, name in enumerate(on_servers_in_turn(gateway)[:100]):
        user = str(gateway.people[name])
        await gateway.mutate("reader", "inviteCollaborator", "", boardId=board, userId=user)
        if number % 4 < 2:  # of both servers
            await gateway.mutate(name, "acceptInvitation", "", boardId=board)
            section = await gateway.section("reader", board, name)
            pin = await gateway.pin(name, board, name, sectionId=section)
            made += [int(section), int(pin)]
    await gateway.settle()
    return board, [int(board), *made]


async def test_a_board_with_sections_and_members_costs_the_same_whatever_their_number(
    world: World,
) -> None:
    board, made = await arrange(world)
    for query, cold, warm in (
        (SECTIONS, SECTIONS_COLD, SECTIONS_WARM),
        (MEMBERS, MEMBERS_COLD, MEMBERS_WARM),
    ):
        for first in (5, 50):
            await world.forget()
            await world.gateway.stores.object_cache.drop(made)
            lists = [ListKey(mapping, id) for id in made for mapping in Mapping]
            await world.gateway.stores.mapping_cache.drop(lists)
            assert await world.spend(query, "reader", first=first, board=board) == cold
            assert await world.spend(query, "reader", first=first, board=board) == warm


NOTIFICATIONS = """query($first: Int) { notifications(first: $first) { edges { node {
  type otherCount actor { username } savedPin { title } subject { ... on Pin { title }
    ... on Board { name } ... on Comment { text pin { title } } } } } } }"""
COUNT = "{ unreadNotificationCount }"
# The blocks; the actors, boards, pins and comments; the comments' pins; the boards of pins.
NOTIFIED_BATCHES = 7


async def notify(world: World) -> list[int]:
    """Each person does one kind of act for the reader, in turn, so that a page has all kinds.
    Returns the ids of the new pins and comments."""
    made = list[int]()
    gateway = world.gateway
    query = "query($id: ID!) { board(id: $id) { pins(first: 100) { edges { node { id } } } } }"
    found = await gateway.data(query, "reader", id=world.board)
    pins = [edge["node"]["id"] for edge in found["board"]["pins"]["edges"]]
    user = str(gateway.people["reader"])
    for number, (name, pin) in enumerate(zip(on_servers_in_turn(gateway), pins, strict=False)):
        if number % 5 == 0:
            await gateway.mutate(name, "followUser", "", userId=user)
        elif number % 5 == 1:
            await gateway.mutate(name, "followBoard", "", boardId=world.board)
        elif number % 5 == 2:
            to = await gateway.board(name, "Saved")
            payload = await gateway.mutate(name, "repin", "pin { id }", pinId=pin, boardId=to)
            made.append(int(payload["pin"]["id"]))
        elif number % 5 == 3:
            await gateway.mutate(name, "likePin", "", pinId=pin)
        else:
            said = await gateway.mutate(
                name, "createComment", "comment { id }", pinId=pin, text="hm"
            )
            made.append(int(said["comment"]["id"]))
        await gateway.settle()  # so that the notifications come in this order
    return made


async def test_notifications_cost_the_same_whatever_their_number(world: World) -> None:
    made = await notify(world)
    cold, warm = list[dict[str, int]](), list[dict[str, int]]()
    for first in (20, 50):  # both with saves by people of both servers
        await world.forget()
        await world.gateway.stores.object_cache.drop(made)
        cold.append(await world.spend(NOTIFICATIONS, "reader", first=first))
        warm.append(await world.spend(NOTIFICATIONS, "reader", first=first))
    assert cold[0] == cold[1]
    assert cold[0]["memcached.get"] <= NOTIFIED_BATCHES
    # The notifications with the mark, the mutes and, if the cache has nothing, the batches on each
    # of two servers.
    assert cold[0]["MySQL"] <= 2 + 2 * NOTIFIED_BATCHES
    assert warm == [{"MySQL": 2, "memcached.get": cold[0]["memcached.get"]}] * 2
    await world.gateway.mutate("reader", "markNotificationsRead", "")
    await world.gateway.settle()
    assert await world.spend(COUNT, "reader") == {"MySQL": 2, "memcached.get": 1}
