"""Creations after an absence that was read or cached: all gateways see the new name, object, list
row, head, edge, block or subject as soon as its write is acknowledged."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.ids import Kind, compose, local_of, shard_of
from datasources.mappings import EdgeKey, ListKey, Mapping, PageRequest
from datasources.memcached import MemcachedObjectCache
from datasources.protocols import Lease, Stores
from datasources.records import Board, Pin, User
from datasources.redis import RedisMappingCache
from feed_engine import writes
from feed_engine.transactions.inputs import NameChange, NewUser, SubjectChange
from feed_engine.transactions.key_kinds import subject_key
from gateway.http.auth import Token
from gateway.http.subjects import Subjects
from loaders import Loaders
from resolvers import blocks
from tests.embedded_stores import PATIENT, stores
from tests.faults.memcached_server import memcached, until_it_answers
from tests.faults.redis_server import valkey_at
from tests.people import People
from tests.pinway_process import free_port

__all__ = ["stores"]
pytestmark = pytest.mark.anyio
NEXT = 3
"""The number of ids after the newest id that are read as absent: the next object gets an id among
them."""


@dataclass
class Site:
    """Two gateways over the same caches and shards, with a user, who has a board with a pin and an
    empty board, and another user."""

    gateways: list[Stores]
    user: User
    other: User
    board: Board
    empty: Board
    pin: Pin


@pytest.fixture(scope="module")
def ports() -> Iterator[tuple[int, int]]:
    one, two = free_port(), free_port()
    with memcached(one), valkey_at(two):
        yield one, two


@pytest.fixture
async def here(stores: Stores, ports: tuple[int, int]) -> AsyncIterator[Site]:
    gateways = []
    for _ in range(2):
        objects = MemcachedObjectCache([("127.0.0.1", ports[0])], deadline=PATIENT)
        await until_it_answers(objects, ports[0])
        lists = RedisMappingCache(f"redis://127.0.0.1:{ports[1]}/0", deadline=PATIENT)
        gateways.append(stores._replace(object_cache=objects, mapping_cache=lists))
    people = People(gateways[0], prefix=f"u{secrets.token_hex(4)}_")
    user, other = await people.user(), await people.user()
    board = await people.board(user)
    empty = await people.board(user)
    yield Site(gateways, user, other, board, empty, await people.pin(board))
    for gateway in gateways:
        await gateway.object_cache.close()
        await gateway.mapping_cache.close()


Read = Callable[[Stores], Awaitable[object]]
Case = Callable[[Site], tuple[Read, Callable[[], Awaitable[object]]]]
"""A read of something absent (through a gateway), and the write that creates it. The read's answer
is then another one."""


def of_name(site: Site) -> tuple[Read, Callable[[], Awaitable[object]]]:
    name = f"n{secrets.token_hex(6)}"
    return (
        lambda stores: Loaders(stores).user_ids.load(name),
        lambda: writes.sign_up(site.gateways[0], NewUser(username=name)),
    )


def of_renaming(site: Site) -> tuple[Read, Callable[[], Awaitable[object]]]:
    name = f"n{secrets.token_hex(6)}"
    return (
        lambda stores: Loaders(stores).user_ids.load(name),
        lambda: writes.change_user_name(site.gateways[0], site.user.id, NameChange(username=name)),
    )


def of_object(site: Site) -> tuple[Read, Callable[[], Awaitable[object]]]:
    last = site.pin.id
    ids = [
        compose(shard_of(last), Kind.PIN, local_of(last) + 1 + further) for further in range(NEXT)
    ]

    async def read(stores: Stores) -> object:
        found = await Loaders(stores).pins.many(ids)
        return [getattr(pin, "id", None) for pin in found]

    new = writes.NewPin(board_id=site.board.id, title="new")
    return read, lambda: writes.create_pin(site.gateways[0], site.user.id, new)


def of_list(mapping: Mapping, key: Callable[[Site], int], write: Callable[[Site], Any]) -> Case:
    def case(site: Site) -> tuple[Read, Callable[[], Awaitable[object]]]:
        request = PageRequest(ListKey(mapping, key(site)), 50)

        async def read(stores: Stores) -> object:
            loaders = Loaders(stores)
            page, head = await asyncio.gather(
                loaders.pages.load(request), loaders.heads.load(request.key)
            )
            return [edge.to_id for edge in page], head.size

        return read, lambda: write(site)

    return case


def of_edge(site: Site) -> tuple[Read, Callable[[], Awaitable[object]]]:
    key = EdgeKey(Mapping.USER_LIKES_PINS, site.other.id, site.pin.id)
    return (
        lambda stores: Loaders(stores).edges.load(key),
        lambda: writes.like_pin(site.gateways[0], site.other.id, site.pin.id),
    )


def of_blocks(site: Site) -> tuple[Read, Callable[[], Awaitable[object]]]:
    return (
        lambda stores: blocks._read(stores, site.other.id),
        lambda: writes.block_user(site.gateways[0], site.user.id, site.other.id),
    )


def of_subject(site: Site) -> tuple[Read, Callable[[], Awaitable[object]]]:
    subject = subject_key("https://issuer.example", secrets.token_hex(6))
    token = Token(None, 0.0, 0.0, subject=subject)
    kept: dict[int, Subjects] = {}

    async def read(stores: Stores) -> object:
        subjects = kept.setdefault(id(stores), Subjects(stores))
        return (await subjects.named(token)).viewer_id

    return read, lambda: writes.change_subject(
        site.gateways[0], site.user.id, SubjectChange(subject=subject)
    )


CASES: dict[str, Case] = {
    "name": of_name,
    "name of a renaming": of_renaming,
    "object": of_object,
    "pins of a board": of_list(
        Mapping.BOARD_HAS_PINS,
        lambda site: site.empty.id,
        lambda site: writes.create_pin(
            site.gateways[0], site.user.id, writes.NewPin(board_id=site.empty.id, title="new")
        ),
    ),
    "boards of a user": of_list(
        Mapping.USER_HAS_BOARDS,
        lambda site: site.other.id,
        lambda site: writes.create_board(
            site.gateways[0], site.other.id, writes.NewBoard(name="new")
        ),
    ),
    "likes of a pin": of_list(
        Mapping.PIN_LIKED_BY_USERS,
        lambda site: site.pin.id,
        lambda site: writes.like_pin(site.gateways[0], site.other.id, site.pin.id),
    ),
    "comments of a pin": of_list(
        Mapping.PIN_HAS_COMMENTS,
        lambda site: site.pin.id,
        lambda site: writes.create_comment(
            site.gateways[0], site.other.id, writes.NewComment(pin_id=site.pin.id, text="new")
        ),
    ),
    "sections of a board": of_list(
        Mapping.BOARD_HAS_SECTIONS,
        lambda site: site.board.id,
        lambda site: writes.create_section(
            site.gateways[0], site.user.id, writes.NewSection(board_id=site.board.id, name="new")
        ),
    ),
    "followers": of_list(
        Mapping.USER_FOLLOWED_BY_USERS,
        lambda site: site.user.id,
        lambda site: writes.follow(site.gateways[0], site.other.id, site.user.id),
    ),
    "edge": of_edge,
    "blocks": of_blocks,
    "subject": of_subject,
}


@pytest.mark.parametrize("name", CASES)
async def test_a_creation_after_a_cached_absence_is_seen_at_once_by_all_gateways(
    here: Site, name: str
) -> None:
    read, write = CASES[name](here)
    for _ in range(2):  # the second time from the caches
        before = [await read(stores) for stores in here.gateways]
    assert before[0] == before[1]
    await write()
    after = [await read(stores) for stores in here.gateways]
    assert after[0] == after[1] != before[0]


class LateFills:
    """A gateway whose fills wait. `waiting` is their number."""

    def __init__(self, stores: Stores) -> None:
        self.gate, self.waiting = asyncio.Event(), 0
        self.stores = stores._replace(
            object_cache=self._late(stores.object_cache, "fill"),
            mapping_cache=self._late(stores.mapping_cache, "fill_pages", "fill_heads"),
        )

    def _late(self, cache: Any, *fills: str) -> Any:
        def held(fill: str) -> Callable[[Any], Awaitable[None]]:
            async def call(values: list[tuple[Lease, Any]]) -> None:
                self.waiting += 1
                await self.gate.wait()
                await getattr(cache, fill)(values)

            return call

        names = ("get", "pages", "heads", "drop", "move", "local", "window")
        kept = {name: getattr(cache, name) for name in names if hasattr(cache, name)}
        return SimpleNamespace(**kept, **{fill: held(fill) for fill in fills})


@pytest.mark.parametrize("name", CASES)
async def test_a_reader_that_found_nothing_fills_nothing_after_the_creation(
    here: Site, name: str
) -> None:
    """The reader has read its shard before the creation, and fills the caches after it."""
    read, write = CASES[name](here)
    late = LateFills(here.gateways[1])

    async def read_late() -> object:
        return await read(late.stores)

    reading = asyncio.create_task(read_late())
    fills = 1 if name == "blocks" else 2  # the window and the head of a list
    while not reading.done() and late.waiting < fills:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    await write()
    late.gate.set()
    absent = await reading
    after = [await read(stores) for stores in here.gateways]
    assert after[0] == after[1] != absent
