"""New users, boards and pins for tests."""

import itertools
from collections.abc import AsyncIterator

import pytest

from datasources.ids import shard_of
from datasources.mappings import Edge, ListKey, Mapping, PageRequest
from datasources.protocols import Stores
from datasources.records import Board, Interest, Pin, User
from feed_engine import writes
from tests.audit import audit
from tests.embedded import drain

_NUMBERS = itertools.count(1)


class People:
    """Creates a test's objects through the real writes."""

    def __init__(self, stores: Stores, prefix: str = "user") -> None:
        """`prefix` is the start of the users' names. Other tests may use the same servers."""
        self.stores, self._prefix = stores, prefix

    async def user(self, *, away_from: int | None = None) -> User:
        """A new user, on another shard than the object `away_from`."""
        while True:
            name = f"{self._prefix}{next(_NUMBERS)}"
            place = self.stores.shards.objects.topology().place(name)
            if away_from is None or place != shard_of(away_from):
                return await writes.sign_up(self.stores, writes.NewUser(username=name))

    async def board(self, owner: User, *, secret: bool = False) -> Board:
        new = writes.NewBoard(name=f"board {next(_NUMBERS)}", secret=secret)
        return (await writes.create_board(self.stores, owner.id, new)).board

    async def pin(self, board: Board, *interests: Interest) -> Pin:
        new = writes.NewPin(
            board_id=board.id,
            title=f"pin {next(_NUMBERS)}",
            interest_ids=tuple(interest.id for interest in interests),
        )
        return (await writes.create_pin(self.stores, board.owner_id, new)).pin

    async def interest(self) -> Interest:
        number = next(_NUMBERS)
        return await writes.create_interest(self.stores, f"Interest {number}", f"interest-{number}")

    async def rows(self, mapping: Mapping, from_id: int) -> list[Edge]:
        """The active rows of a list, from its shard."""
        request = PageRequest(ListKey(mapping, from_id), 10_000)
        return (await self.stores.shards.mappings.pages([request]))[0]

    async def list(self, mapping: Mapping, from_id: int) -> list[int]:
        """The ids in a list, read from its shard."""
        return [edge.to_id for edge in await self.rows(mapping, from_id)]


@pytest.fixture
async def people(stores: Stores) -> AsyncIterator[People]:
    """After each test, checks that all stored data is consistent."""
    yield People(stores)
    await drain(stores)
    assert await audit(stores) == []
