"""New users, boards and pins for tests."""

import itertools
from collections.abc import AsyncIterator, Sequence

import pytest

from datasources.ids import shard_of
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping, PageRequest
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Interest, Pin, User
from feed_engine import writes
from tests.audit import audit
from tests.embedded_stores import drain
from tests.interests import create_interest

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

    async def board(self, owner: User, *, secret: bool = False, name: str | None = None) -> Board:
        new = writes.NewBoard(name=name or f"board {next(_NUMBERS)}", secret=secret)
        return (await writes.create_board(self.stores, owner.id, new)).board

    async def pin(self, board: Board, *interests: Interest) -> Pin:
        new = writes.NewPin(
            board_id=board.id,
            title=f"pin {next(_NUMBERS)}",
            interest_ids=tuple(interest.id for interest in interests),
        )
        return (await writes.create_pin(self.stores, board.owner_id, new)).pin

    async def board_with_pins(self, count: int) -> tuple[Board, list[int]]:
        """A board of a new user, and the ids of its pins from the top down."""
        board = await self.board(await self.user())
        return board, [(await self.pin(board)).id for _ in range(count)][::-1]

    async def set_sequences(self, board: Board, sequences: dict[int, int]) -> None:
        """Give pins of a board new sequences (by pin id), none of which another pin has."""

        async def write(tx: ShardTx) -> None:
            for pin_id, sequence in sequences.items():
                row = await tx.edge(EdgeKey(Mapping.BOARD_HAS_PINS, board.id, pin_id))
                assert row is not None
                row = row._replace(sequence=sequence, version=row.version + 1)
                await tx.put_edge(Mapping.BOARD_HAS_PINS, row)

        await self.stores.shards.objects.transact(shard_of(board.id), write)
        await self.stores.mapping_cache.drop([ListKey(Mapping.BOARD_HAS_PINS, board.id)])

    async def pack(self, board: Board, ids: Sequence[int], gap: int = 1, base: int = 10**37) -> int:
        """Give pins, from the top down, sequences `gap` apart above all others. Returns the lowest
        of these sequences."""
        await self.set_sequences(
            board, {pin_id: base + gap * place for place, pin_id in enumerate(reversed(ids))}
        )
        return base

    async def interest(self) -> Interest:
        number = next(_NUMBERS)
        return await create_interest(self.stores, f"Interest {number}", f"interest-{number}")

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
