"""Random histories of writes, with their work repeated, late and out of order: all data must agree
at the end."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from datasources.errors import RequestError
from datasources.ids import Kind, kind_of
from datasources.protocols import Job, OutboxRow, Stores
from datasources.records import Interest, User
from feed_engine import writes
from feed_engine.outbox.completion import change_of, fulfill, settle
from feed_engine.outbox.jobs import run_job
from tests.people import People
from tests.scale import seeds

pytestmark = pytest.mark.anyio


class History:
    """Writes by a few users to each other's objects, each chosen at random."""

    def __init__(self, people: People, chooser: random.Random) -> None:
        self.people, self.stores, self.chooser = people, people.stores, chooser
        self.users: list[User] = []
        self.interests: list[Interest] = []
        self.boards: dict[int, int] = {}  # id -> owner
        self.pins: dict[int, int] = {}
        self.comments: dict[int, int] = {}
        self.refused = self.done = 0

    async def begin(self) -> None:
        self.users = [await self.people.user() for _ in range(3)]
        self.interests = [await self.people.interest() for _ in range(3)]
        for user in self.users * 2:
            board = await self.people.board(user, secret=self.chooser.random() < 0.3)
            self.boards[board.id] = user.id
            for _ in range(2):
                self.pins[(await self.people.pin(board)).id] = user.id

    async def step(self) -> None:
        actions: list[Callable[[], Awaitable[object]]] = [
            *[self.save] * 3,
            *[self.flip] * 3,
            *[self.edge] * 4,
            *[self.refile] * 2,
            *[self.drag] * 2,
            *[self.move] * 4,
            self.delete,
            self.delete_board,
            self.repin,
            self.comment,
            self.uncomment,
        ]
        try:
            await self.chooser.choice(actions)()
            self.done += 1
        except RequestError:
            self.refused += 1

    def any(self, ids: dict[int, int]) -> tuple[int, int]:
        id = self.chooser.choice(sorted(ids) or [1])
        return id, ids.get(id, self.users[0].id)

    def some_interests(self) -> tuple[int, ...]:
        return tuple(i.id for i in self.interests if self.chooser.random() < 0.5)

    async def save(self) -> None:
        board, owner = self.any(self.boards)
        new = writes.NewPin(board_id=board, interest_ids=self.some_interests())
        self.pins[(await writes.create_pin(self.stores, owner, new)).pin.id] = owner

    async def flip(self) -> None:
        board, owner = self.any(self.boards)
        change = writes.BoardChange(secret=self.chooser.random() < 0.5)
        await writes.update_board(self.stores, owner, board, change)

    async def edge(self) -> None:
        viewer = self.chooser.choice(self.users).id
        target = self.chooser.choice(
            [*self.pins, *self.boards, *(it.id for it in [*self.users, *self.interests])]
        )
        wanted = self.chooser.random() < 0.6
        if kind_of(target) is Kind.PIN:
            await (writes.like_pin if wanted else writes.unlike_pin)(self.stores, viewer, target)
        else:
            await (writes.follow if wanted else writes.unfollow)(self.stores, viewer, target)

    async def refile(self) -> None:
        pin, owner = self.any(self.pins)
        change = writes.PinChange(interest_ids=self.some_interests())
        await writes.update_pin(self.stores, owner, pin, change)

    async def drag(self) -> None:
        board, owner = self.any(self.boards)
        (moved, _), (anchor, _) = self.any(self.pins), self.any(self.pins)
        await writes.reorder_pin(self.stores, owner, board, moved, anchor)

    async def move(self) -> None:
        pin, owner = self.any(self.pins)
        board = self.chooser.choice([id for id, of in self.boards.items() if of == owner] or [1])
        await writes.move_pin(self.stores, owner, pin, board)

    async def delete(self) -> None:
        pin, owner = self.any(self.pins)
        await writes.delete_pin(self.stores, owner, pin)

    async def delete_board(self) -> None:
        if len(self.boards) > 3:
            board, owner = self.any(self.boards)
            del self.boards[board]
            await writes.delete_board(self.stores, owner, board)

    async def repin(self) -> None:
        (source, _), (board, owner) = self.any(self.pins), self.any(self.boards)
        written = await writes.repin(self.stores, owner, source, board)
        self.pins[written.pin.id] = owner

    async def comment(self) -> None:
        (pin, _), author = self.any(self.pins), self.chooser.choice(self.users).id
        new = writes.NewComment(pin_id=pin, text="hm")
        written = await writes.create_comment(self.stores, author, new)
        self.comments[written.comment.id] = author

    async def uncomment(self) -> None:
        comment, author = self.any(self.comments)
        await writes.delete_comment(self.stores, author, comment)


async def _disturb(stores: Stores, chooser: random.Random, seen: dict[Job, OutboxRow]) -> None:
    """Run some unfinished work, and some work that was finished before: late, twice, and
    partially."""
    await settle()
    pending = await stores.shards.outbox.pending(2**62, 1000)
    seen |= {Job(row.shard, row.id): row for row in pending}
    for job, row in chooser.sample(sorted(seen.items()), min(4, len(seen))):
        await fulfill(stores, change_of(row))
        task = asyncio.ensure_future(run_job(stores, job))
        for _ in range(chooser.randrange(120)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("seed", seeds(3, 30))
async def test_whatever_the_order_of_work_all_agrees_when_it_is_done(
    stores: Stores, people: People, seed: int
) -> None:
    chooser = random.Random(seed)
    history, seen = History(people, chooser), dict[Job, OutboxRow]()
    await history.begin()
    for _ in range(40):
        await asyncio.gather(*(history.step() for _ in range(chooser.randint(1, 4))))
        await _disturb(stores, chooser, seen)
    assert history.done > history.refused
    late = list(seen.values())
    chooser.shuffle(late)
    for row in late:
        await fulfill(stores, change_of(row))  # the fixture compares everything then
