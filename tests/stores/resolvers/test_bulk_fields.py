"""A field that takes all parents at once gives each parent the same answer as alone, with the same
round trips, even if a server is dead."""

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, get_origin

import msgspec
import pytest
from strawberry.types.base import get_object_definition

from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping
from datasources.records import Record, decode
from datasources.topology import Topology
from loaders.bulk import Resolver, for_one
from resolvers.context import Context
from resolvers.paging import Connection
from schema.types import Board, Comment, Interest, Pin, Section, User
from tests.gateways import Gateway, gateway_on_two_servers
from tests.interests import create_interest

pytestmark = pytest.mark.anyio
TYPES = {
    Kind.PIN: Pin,
    Kind.BOARD: Board,
    Kind.USER: User,
    Kind.COMMENT: Comment,
    Kind.INTEREST: Interest,
    Kind.SECTION: Section,
}


RESOLVERS = {
    f"{kind.name.title()}.{field.python_name}": resolver
    for kind, type_ in TYPES.items()
    for field in get_object_definition(type_, strict=True).fields
    if isinstance(resolver := field.metadata.get("resolver"), Resolver)
}
FIELDS = {
    name: (Kind[name.split(".")[0].upper()], resolver.call)
    for name, resolver in RESOLVERS.items()
    if resolver.bulk
}


class World:
    """Users, boards, pins and comments on two servers, the second of which may be dead."""

    def __init__(self, gateway: Gateway, topology: Topology) -> None:
        self.gateway, self._topology = gateway, topology
        self.records: dict[Kind, list[Record]] = {}

    async def read(self) -> None:
        for kind in Kind:
            rows = await self.gateway.stores.shards.objects.list(kind, 0, 1000)
            self.records[kind] = [decode(kind, id, data) for id, data in rows]

    def context(self, viewer: str | None) -> Context:
        viewer_id = self.gateway.people[viewer] if viewer else None
        runtime = self.gateway.runtime
        return Context(runtime.stores, runtime.feeds, viewer_id, "http://pinway.test", str)

    async def forget(self) -> None:
        """Empty the caches, so that objects on a dead server can't be read."""
        ids = [record.id for records in self.records.values() for record in records]
        stores = self.gateway.stores
        await stores.object_cache.drop(ids)
        await stores.mapping_cache.drop([ListKey(mapping, id) for id in ids for mapping in Mapping])

    def use(self, second: str) -> None:
        shards = self.gateway.stores.shards
        servers = {**self._topology.servers, "two": second}
        epoch = shards.objects.topology().epoch + 1
        shards.use(msgspec.structs.replace(self._topology, epoch=epoch, servers=servers))

    def heal(self) -> None:
        self.use(self._topology.servers["two"])


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    directory: Path = tmp_path_factory.mktemp("bulk")
    async with gateway_on_two_servers(directory) as (gateway, topology):
        await fill(gateway)
        world = World(gateway, topology)
        await world.read()
        yield world


async def fill(gateway: Gateway) -> None:
    people = [f"user{number}" for number in range(8)]
    await gateway.sign_up(*people)
    interest = str((await create_interest(gateway.stores, "Birds", "birds")).id)
    pins = []
    for number, person in enumerate(people):
        board = await gateway.board(person, "Things", secret=number % 4 == 1)
        for title in ("one", "two", "three")[: number % 4]:
            pins.append(await gateway.pin(person, board, title, interestIds=[interest]))
            await gateway.mutate(
                person, "createComment", "comment { id }", pinId=pins[-1], text=title
            )
        for name in ("low", "high")[: number % 3]:
            section = await gateway.section(person, board, name)
            if number % 4:
                await gateway.mutate(
                    person, "movePinToSection", "pin { id }", pinId=pins[-1], sectionId=section
                )
        if number % 4 == 3:
            await gateway.mutate(
                person, "updateBoard", "board { id }", boardId=board, coverPinId=pins[-3]
            )
        if number % 4 != 1:
            await gateway.mutate(
                "user5",
                "followBoard" if person != "user5" else "likePin",
                "__typename",
                **({"boardId": board} if person != "user5" else {"pinId": pins[0]}),
            )
        if person != "user0":
            user = str(gateway.people[person])
            await gateway.mutate("user0", "followUser", "user { id }", userId=user)
    own = await gateway.board("user0", "Repins")
    for pin in pins:
        payload = await gateway.try_to("user0", "repin", "pin { id }", pinId=pin, boardId=own)
        if not payload["errors"]:
            await gateway.mutate("user0", "likePin", "pin { id }", pinId=pin)
    await gateway.mutate("user0", "followInterest", "__typename", interestId=interest)
    await gateway.settle()


def plain(values: Sequence[Any]) -> list[Any]:
    """The values as a client sees them: errors as messages, pages as cursors and nodes."""
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    if isinstance(value, Connection):
        info = value.page_info
        return (
            [(edge.cursor, _plain(edge.record)) for edge in value.edges],
            (info.has_next_page, info.has_previous_page, info.start_cursor, info.end_cursor),
        )
    return value


async def each_alone(resolver: Any, context: Context, parents: Sequence[Record]) -> list[Any]:
    return await asyncio.gather(
        *(for_one(resolver, context, parent) for parent in parents), return_exceptions=True
    )


@pytest.mark.parametrize("viewer", [None, "user0", "user5"])
@pytest.mark.parametrize("name", FIELDS)
async def test_all_parents_at_once_get_what_each_gets_alone(
    world: World, name: str, viewer: str | None
) -> None:
    kind, resolver = FIELDS[name]
    parents = world.records[kind] * 2
    together = await resolver(world.context(viewer), parents)
    alone = await each_alone(resolver, world.context(viewer), parents)
    assert len(together) == len(parents)
    assert plain(together) == plain(alone)
    assert not [value for value in together if isinstance(value, BaseException)]


@pytest.mark.parametrize("name", FIELDS)
async def test_a_dead_server_fails_the_same_parents_together_as_alone(
    world: World, name: str
) -> None:
    kind, resolver = FIELDS[name]
    parents = world.records[kind]
    await world.forget()
    world.use("sqlite:///nowhere/at/all")
    try:
        together = await resolver(world.context("user0"), parents)
        alone = await each_alone(resolver, world.context("user0"), parents)
    finally:
        world.heal()
    assert plain(together) == plain(alone)


def test_every_field_of_an_object_that_waits_takes_all_parents_at_once() -> None:
    def waits(call: Callable[..., Any]) -> bool:
        answers = inspect.signature(call).return_annotation
        return asyncio.iscoroutinefunction(call) or get_origin(answers) is Awaitable

    waiting = {name for name, resolver in RESOLVERS.items() if waits(resolver.call)}
    assert waiting == set(FIELDS)
    assert {"Pin.owner", "Board.pins", "Comment.author"} <= waiting


TURNS = 20  # of the loop, in which callers that got an answer make their next calls


class Rounds:
    """Answers all calls that run at the same time together, so that the stores' speed does not
    decide which keys share a batch."""

    def __init__(self) -> None:
        self._running = 0

    async def run(self, call: Awaitable[Any]) -> Any:
        self._running += 1
        try:
            return await call
        finally:
            self._running -= 1
            quiet = 0
            while quiet < TURNS:
                await asyncio.sleep(0)
                quiet = 0 if self._running else quiet + 1


class Counted:
    """A store whose calls are counted, and answered in rounds."""

    def __init__(self, store: Any, calls: Counter[str], rounds: Rounds) -> None:
        self._store, self._calls, self._rounds = store, calls, rounds

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(found):
            return found

        async def call(*given: Any) -> Any:
            self._calls[name] += 1
            return await self._rounds.run(found(*given))

        return call


@pytest.mark.parametrize("name", FIELDS)
async def test_parents_asked_for_alone_but_at_once_cost_no_more_than_together(
    world: World, name: str
) -> None:
    kind, resolver = FIELDS[name]
    costs = []
    for ask in (resolver, lambda *given: each_alone(resolver, *given)):
        calls: Counter[str] = Counter()
        rounds = Rounds()
        context, stores = world.context("user0"), world.gateway.stores

        class Shards:
            objects = Counted(stores.shards.objects, calls, rounds)
            mappings = Counted(stores.shards.mappings, calls, rounds)

        await world.forget()
        context.stores = stores._replace(
            shards=Shards(),  # type: ignore[arg-type]
            object_cache=Counted(stores.object_cache, calls, rounds),
            mapping_cache=Counted(stores.mapping_cache, calls, rounds),
        )
        context.loaders = type(context.loaders)(context.stores)
        await ask(context, world.records[kind])
        costs.append(calls)
    assert costs[0] == costs[1]
