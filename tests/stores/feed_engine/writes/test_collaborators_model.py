"""A model of invitations and memberships in random schedules, with crashes between the shards,
repeated writes, jobs and late steps: the board's record, its lists and the users' lists agree, a
refused write changed nothing, and nobody is a member whom a block keeps from the owner."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from random import Random
from typing import ClassVar

import pytest

from datasources.errors import RequestError, StoreError
from datasources.mappings import Mapping
from datasources.protocols import Job, OutboxRow, Stores
from datasources.records import Board, User
from feed_engine import writes
from feed_engine.outbox.completion import change_of, fulfill, settle
from feed_engine.outbox.jobs import run_job
from feed_engine.transactions import access, blocks
from tests.embedded_stores import drain
from tests.people import People
from tests.scale import seeds
from tests.seams import Killed, Steps
from tests.stores.feed_engine.writes.test_user_names import people, stores

__all__ = ["people", "stores"]
pytestmark = pytest.mark.anyio


class Model:
    """Two owners with boards, and users whom they invite."""

    def __init__(self, stores: Stores, random: Random) -> None:
        self.stores, self.random = stores, random
        self.owners: list[User] = []
        self.users: list[User] = []
        self.boards: list[Board] = []
        self.rows: dict[tuple[int, int], OutboxRow] = {}
        self.done = 0
        self._sent: list[tuple[str, Board, User, str]] = []

    async def begin(self, people: People) -> None:
        self.owners = [await people.user() for _ in range(2)]
        self.users = [await people.user(away_from=self.owners[0].id) for _ in range(3)]
        self.boards = [await people.board(owner, secret=True) for owner in self.owners * 2]

    async def step(self, gated: Stores) -> None:
        """A random write, an earlier one with its key, or a job."""
        random = self.random
        if random.random() < 0.3 and self.rows:
            row = random.choice([*self.rows.values()])
            await fulfill(gated, change_of(row))
            await run_job(gated, Job(row.shard, row.id))
            return
        if self._sent and random.random() < 0.2:
            name, board, user, key = random.choice(self._sent)
        else:
            name, key = random.choice([*self._writes]), f"key {len(self._sent)}"
            board, user = random.choice(self.boards), random.choice(self.users)
            self._sent.append((name, board, user, key))
        await self._writes[name](self, gated, board, user, key)
        self.done += 1

    async def _invite(self, gated: Stores, board: Board, user: User, key: str) -> None:
        await writes.invite_collaborator(gated, board.owner_id, board.id, user.id, key=key)

    async def _accept(self, gated: Stores, board: Board, user: User, key: str) -> None:
        await writes.accept_invitation(gated, user.id, board.id, key=key)

    async def _decline(self, gated: Stores, board: Board, user: User, key: str) -> None:
        await writes.decline_invitation(gated, user.id, board.id, key=key)

    async def _leave(self, gated: Stores, board: Board, user: User, key: str) -> None:
        await writes.leave_board(gated, user.id, board.id, key=key)

    async def _remove(self, gated: Stores, board: Board, user: User, key: str) -> None:
        await writes.remove_collaborator(gated, board.owner_id, board.id, user.id, key=key)

    async def _block(self, gated: Stores, board: Board, user: User, key: str) -> None:
        await writes.block_user(gated, board.owner_id, user.id, key=key)

    async def _unblock(self, gated: Stores, board: Board, user: User, key: str) -> None:
        await writes.unblock_user(gated, board.owner_id, user.id, key=key)

    _writes: ClassVar[dict[str, Callable[["Model", Stores, Board, User, str], Awaitable[None]]]] = {
        "invite": _invite,
        "invite again": _invite,
        "accept": _accept,
        "accept again": _accept,
        "decline": _decline,
        "leave": _leave,
        "remove": _remove,
        "block": _block,
        "unblock": _unblock,
    }

    async def look(self) -> None:
        """Note the rows that wait."""
        await settle()
        for row in await self.stores.shards.outbox.pending(2**62, 1000):
            self.rows.setdefault((row.shard, row.id), row)

    async def check(self, people: People) -> None:
        """Check all states. No work is left."""
        for board in self.boards:
            now = await access.recall(self.stores, Board, board.id)
            for user in self.users:
                states = [user.id in now.invited, user.id in now.collaborators]
                assert states != [True, True], "invited, and a collaborator"
                lists = (Mapping.USER_INVITED_TO_BOARDS, Mapping.USER_COLLABORATES_ON_BOARDS)
                assert states == [board.id in await people.list(it, user.id) for it in lists]
                if any(states):
                    assert not await blocks.holds(self.stores, user.id, board.owner_id)


@pytest.mark.parametrize("seed", seeds(3, 200))
async def test_records_and_lists_agree_and_no_member_is_blocked(
    stores: Stores, people: People, seed: int
) -> None:
    random = Random(seed)
    model = Model(stores, random)
    await model.begin(people)
    for _ in range(25):
        steps = Steps(random, random.choice([0, 0.1, 0.3]))
        gated = steps.of(stores)

        async def run(gated: Stores = gated) -> None:
            with contextlib.suppress(Killed, RequestError, StoreError):
                await model.step(gated)

        await steps.run([asyncio.create_task(run()) for _ in range(random.randint(1, 4))])
        await model.look()
    assert model.done > 5
    await drain(stores)
    await model.check(people)
    for row in model.rows.values():  # all rows again, late
        await fulfill(stores, change_of(row))
    await model.check(people)
