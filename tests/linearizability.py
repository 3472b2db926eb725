"""A check that boards are linearizable: a model of two boards in memory replays a history.

Concurrent clients drag, save, delete, move and sort at random. Each transaction that locked a board
is recorded with the board's version at its end. The model does the same calls in the order of these
versions (of both boards' versions for calls on both boards). Then every answer, the rows that each
transaction left (including rows of removed pins, which a sort may use), every page that was read
meanwhile, and the end must agree with the model, and the order must not contradict real time.

Several gateways may serve the clients, over stores that fail now and then. A call that fails is
sent again with its idempotency key until it is answered.
"""

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from datasources.errors import (
    BadInput,
    NotFound,
    StoreConflict,
    StoreError,
    StoreTimeout,
    StoreUnavailable,
)
from datasources.mappings import EdgeKey, ListKey, Mapping, PageRequest
from datasources.protocols import Job, ShardTx, Stores
from datasources.records import Board
from feed_engine import writes
from feed_engine.ordering import arrange
from feed_engine.ordering.order import HIGHEST
from feed_engine.outbox.change import Respace
from feed_engine.outbox.completion import change_of, settle
from feed_engine.outbox.jobs import run_job
from feed_engine.transactions import hold
from feed_engine.writes import PinMoved, Reordered
from loaders import Loaders
from tests.faulty import with_part
from tests.people import People

ON_BOARD = Mapping.BOARD_HAS_PINS
PINS = 8  # on each board at the start
MOST = 1000  # rows of a board, including rows of removed pins
Lists = dict[int, list[int]]
"""The pins of each board, from the top down."""
Shown = tuple[int, bool]
"""A row's pin, and whether it is on the board."""


@dataclass
class Call:
    """A client's request with its start, its end, and its answer."""

    kind: str
    board: int
    pins: Sequence[int] = ()
    before: int | None = None
    after: int | None = None
    began: int = 0
    ended: int | None = None
    answer: Any = None
    done: int = 0  # pins of a sort that the model has placed
    key: str | None = None


@dataclass
class Step:
    """A transaction: the versions and rows of its boards at its end, and whether it changed
    them."""

    call: Call
    versions: dict[int, int]
    rows: dict[int, list[Shown]]
    changed: bool
    reached: int | None = None  # for a sort


@dataclass
class Read:
    """Both boards as a reader saw them, with the start and the end of the read."""

    began: int
    ended: int
    lists: Lists


class State(NamedTuple):
    """A board after a number of moves between the boards, and the call that produced this state."""

    pins: list[int]
    moves: int
    call: Call | None


_CALL: ContextVar[Call] = ContextVar("call")


class _Tx:
    """A transaction that records which boards it touches."""

    def __init__(self, tx: ShardTx, pause: Callable[[], Awaitable[None]]) -> None:
        self._tx, self._pause = tx, pause
        self.boards = set[int]()
        self.changed = False
        self.reached: int | None = None
        self.sorts: list[int] = []  # the outbox rows of the sorts that it begins

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._tx, name)
        if not callable(found):
            return found

        async def call(*args: Any) -> Any:
            if isinstance(args[0], ListKey | EdgeKey) and args[0].mapping is ON_BOARD:
                self.boards.add(args[0].from_id)
            if name == "put_edge" and args[0] is ON_BOARD:
                self.boards.add(args[1].from_id)
                self.changed = True
            if name == "advance":
                self.reached = int(args[1])
            await self._pause()
            result = await found(*args)
            if name == "post" and args[0] == arrange.KIND:
                self.sorts.append(result)
            return result

        return call


class _Objects:
    def __init__(self, history: "History", objects: Any) -> None:
        self._history, self._objects = history, objects

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    async def transact(self, shard: int, work: Callable[[Any], Awaitable[Any]]) -> Any:
        steps: list[Step] = []

        async def noted(tx: ShardTx) -> Any:
            steps.clear()
            noting = _Tx(tx, self._history.pause)
            result = await work(noting)
            self._history.sorts |= {(shard, id): _CALL.get() for id in noting.sorts}
            heads = {id: await tx.head(ListKey(ON_BOARD, id)) for id in sorted(noting.boards)}
            versions = {id: head.version for id, head in heads.items()}
            if versions:
                call = _CALL.get()
                rows = {id: await _rows(tx, id) for id in versions}
                steps.append(Step(call, versions, rows, noting.changed, noting.reached))
            return result

        result = await self._objects.transact(shard, noted)
        self._history.steps += steps
        return result


@dataclass
class History:
    """Two boards of one user, and the concurrent calls of clients."""

    people: People
    chooser: random.Random
    gateways: Sequence[Stores] = ()
    """The stores of gateways that may fail. Empty: the stores of `people`, which don't."""
    boards: list[Board] = field(default_factory=list)
    start: Lists = field(default_factory=dict)
    pins: list[int] = field(default_factory=list)  # all pins that ever existed
    steps: list[Step] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    sorts: dict[tuple[int, int], Call] = field(default_factory=dict)
    """Sorts by (shard, outbox row)."""
    reads: list[Read] = field(default_factory=list)
    refused: int = 0
    repeated: int = 0
    others: set[Job] = field(default_factory=set)
    """Rows of the outbox that other tests left in the same shards."""
    _time: int = 0

    async def begin(self) -> None:
        left = await self.people.stores.shards.outbox.pending(2**62, 1000)
        self.others = {Job(row.shard, row.id) for row in left}
        user = await self.people.user()
        self.boards = [await self.people.board(user) for _ in range(2)]
        for board in self.boards:
            ids = [(await self.people.pin(board)).id for _ in range(PINS)]
            self.start[board.id] = ids[::-1]
            self.pins += ids
        await settle()
        await self.people.pack(self.boards[0], self.start[self.boards[0].id], gap=5)
        self._noting = [
            with_part(stores, "objects", _Objects(self, stores.shards.objects))
            for stores in self.gateways or [self.people.stores]
        ]
        self.me = user.id

    @property
    def stores(self) -> Stores:
        """The stores of some gateway."""
        return self._noting[0] if len(self._noting) == 1 else self.chooser.choice(self._noting)

    async def run(self, clients: int, calls: int) -> None:
        """Run a sort, a save, and `clients` clients, each with `calls` calls one after the
        other."""
        clients_calls = (self._client(calls) for _ in range(clients))
        await asyncio.gather(self._sort(), self._save(), *clients_calls)
        await settle()

    async def _client(self, calls: int) -> None:
        chooser = self.chooser
        actions = [
            *[self._drag] * 6,
            *[self._move] * 4,
            *[self._save] * 2,
            *[self._read] * 4,
            self._delete,
            self._sort,
            self._work,
        ]
        for _ in range(calls):
            await chooser.choice(actions)()

    async def pause(self) -> None:
        for _ in range(self.chooser.choice((0, 0, 1, 3))):
            await asyncio.sleep(0)

    async def _do(self, call: Call, work: Callable[[Stores], Awaitable[Any]]) -> None:
        if self.gateways:
            call.key = secrets.token_hex(10)
        call.began = self._tick()
        self.calls.append(call)
        token = _CALL.set(call)
        try:
            call.answer = await self._answered(work)
        except (BadInput, NotFound):  # a pin has been deleted, or is on the other board
            self.refused += 1
        except StoreConflict:  # jobs of `_work` gave up the holds of each of a move's attempts
            self.refused += 1
        finally:
            _CALL.reset(token)
        call.ended = self._tick()

    async def _answered(self, work: Callable[[Stores], Awaitable[Any]]) -> Any:
        """The answer of a call, which is sent to some gateway until one answers."""
        while True:
            try:
                return await work(self.stores)
            except (StoreTimeout, StoreUnavailable):
                if not self.gateways:
                    raise
                self.repeated += 1
            await asyncio.sleep(0.05)

    def _tick(self) -> int:
        self._time += 1
        return self._time

    def _board(self) -> int:
        return self.chooser.choice(self.boards).id

    def _anchors(self, others: int) -> list[int | None]:
        anchors: list[int | None] = [others, None]
        self.chooser.shuffle(anchors)
        return anchors

    async def _drag(self) -> None:
        board = self._board()
        here = await self.people.list(ON_BOARD, board)
        if len(here) < 2:
            return
        moved, other = self.chooser.sample(here, 2)
        call = Call("drag", board, [moved], *self._anchors(other))
        ends = call.before, call.after
        await self._do(
            call,
            lambda stores: writes.reorder_pin(
                stores, self.me, call.board, moved, *ends, key=call.key
            ),
        )

    async def _move(self) -> None:
        one, other = self.chooser.sample([board.id for board in self.boards], 2)
        here, there = [await self.people.list(ON_BOARD, id) for id in (one, other)]
        if not here or not there:
            return
        moved = self.chooser.choice(here)
        ends = self.chooser.choice(([None, None], self._anchors(self.chooser.choice(there))))
        call = Call("move", other, [moved], *ends)
        await self._do(
            call,
            lambda stores: writes.move_pin(stores, self.me, moved, call.board, *ends, key=call.key),
        )

    async def _save(self) -> None:
        call = Call("save", self._board())
        new = writes.NewPin(board_id=call.board)
        await self._do(call, lambda stores: writes.create_pin(stores, self.me, new, key=call.key))
        self.pins.append(call.answer.pin.id)

    async def _delete(self) -> None:
        call = Call("delete", 0, [self.chooser.choice(self.pins)])
        await self._do(
            call,
            lambda stores: writes.delete_pin(stores, self.me, call.pins[0], key=call.key),
        )

    async def _sort(self) -> None:
        board = self.chooser.choice(self.boards)
        here = await self.people.list(ON_BOARD, board.id)
        if len(here) < 2:
            return
        *pins, other = self.chooser.sample(here, self.chooser.randint(2, len(here)))
        ends = self.chooser.choice(([None, None], self._anchors(other)))
        call = Call("sort", board.id, pins, *ends)
        await self._do(
            call,
            lambda stores: writes.reorder_pins(
                stores, self.me, board.id, pins, *ends, key=call.key
            ),
        )

    async def _work(self) -> None:
        """Run jobs at the same time as the clients: respace rows, complete writes that are still
        running, and give up their holds."""
        for row in await self.stores.shards.outbox.pending(2**62, 1000):
            if Job(row.shard, row.id) in self.others:
                continue
            if row.kind == arrange.KIND:
                call = self.sorts[row.shard, row.id]
            elif row.kind == hold.KIND or any(
                isinstance(task, Respace) for task in change_of(row).tasks
            ):
                call = Call("work", 0)
            else:
                continue
            token = _CALL.set(call)
            try:
                await run_job(self.stores, Job(row.shard, row.id))
            except StoreError:
                if not self.gateways:
                    raise
            finally:
                _CALL.reset(token)

    async def _read(self) -> None:
        began = self._tick()
        keys = [ListKey(ON_BOARD, board.id) for board in self.boards]
        load = Loaders(self.stores).pages.load
        pages = await asyncio.gather(*(load(PageRequest(key, 100)) for key in keys))
        lists = {key.from_id: [row.to_id for row in p] for key, p in zip(keys, pages, strict=True)}
        self.reads.append(Read(began, self._tick(), lists))

    # ------------------------------------------------------------------ the model

    async def check(self) -> None:
        """Raises AssertionError if the history is impossible for two boards."""
        model = {id: Rows(list(pins)) for id, pins in self.start.items()}
        order, moves = self._ordered(), 0
        states = {board: [State(rows.shown(), 0, None)] for board, rows in model.items()}
        for step in order:
            _replay(model, step)
            assert {id: model[id].all() for id in step.versions} == step.rows
            moves += len(step.versions) > 1
            for board in step.versions:
                states[board].append(State(model[board].shown(), moves, step.call))
        for board in self.boards:
            assert await self.people.list(ON_BOARD, board.id) == model[board.id].shown()
        self._check_time(order)
        for read in self.reads:
            # As of one moment: the same number of moves on both boards.
            assert set.intersection(
                *(_moments(states[board], read, pins) for board, pins in read.lists.items())
            )

    def _ordered(self) -> list[Step]:
        """The transactions in an order that agrees with all boards' versions."""
        queues = [
            sorted(
                (step for step in self.steps if board.id in step.versions),
                key=lambda s, id=board.id: (s.versions[id], not s.changed),  # type: ignore[misc]
            )
            for board in self.boards
        ]
        for board, queue in zip(self.boards, queues, strict=True):
            changed = [step.versions[board.id] for step in queue if step.changed]
            assert len(set(changed)) == len(changed)
        order: list[Step] = []
        while any(queues):
            heads = [queue[0] for queue in queues if queue]
            step = next(
                s for s in heads if all(s is q[0] for q in queues if any(s is it for it in q))
            )
            order.append(step)
            for queue in queues:
                if queue and queue[0] is step:
                    queue.pop(0)
        return order

    def _check_time(self, order: list[Step]) -> None:
        """Check real time: a request that was answered before another began must come before it, if
        a board shows their order."""
        for board in self.boards:
            touched = [s for s in order if board.id in s.versions and s.changed]
            for at, step in enumerate(touched):
                for later in touched[at + 1 :]:
                    assert (later.call.ended or 2**62) > step.call.began


@dataclass
class Rows:
    """A board's rows from the top down. Pins that were deleted or moved away keep their places,
    because they may be the anchor of a running sort."""

    ids: list[int]
    gone: set[int] = field(default_factory=set)

    def all(self) -> list[Shown]:
        return [(id, id not in self.gone) for id in self.ids]

    def shown(self) -> list[int]:
        return [id for id in self.ids if id not in self.gone]

    def holds(self, pin: int) -> bool:
        return pin in self.ids and pin not in self.gone

    def put(self, pin: int, below: int | None) -> None:
        """Put a pin directly below another row, or on top."""
        if pin in self.ids:
            self.ids.remove(pin)
        self.gone.discard(pin)
        self.ids.insert(0 if below is None else self.ids.index(below) + 1, pin)

    def above(self, pin: int, without: Sequence[int] = ()) -> int | None:
        """The next row above a row, ignoring the given rows."""
        rows = reversed(self.ids[: self.ids.index(pin)])
        return next((id for id in rows if id not in without), None)


def _moments(states: list[State], read: Read, pins: list[int]) -> set[int]:
    """The numbers of moves between the boards after which a read may have happened: not before
    calls that were answered when the read began, and not after calls that began after its end."""
    answered = [n for n, s in enumerate(states) if s.call and (s.call.ended or 2**62) < read.began]
    asked = [n for n, s in enumerate(states) if s.call and s.call.began < read.ended]
    some = states[max(answered, default=0) : max(asked, default=0) + 1]
    return {state.moves for state in some if state.pins == pins}


Model = dict[int, Rows]


def _replay(model: Model, step: Step) -> None:
    call = step.call
    if call.kind == "save":
        model[call.board].put(call.answer.pin.id, None)
    elif call.kind == "delete":
        model[_home(model, call.pins[0])].gone.add(call.pins[0])
    elif call.kind == "drag":
        assert isinstance(call.answer, Reordered)
        assert model[call.board].holds(call.pins[0])
        _drop(model[call.board], call)
        _check_neighbors(model[call.board], call, call.answer)
    elif call.kind == "move":
        assert isinstance(call.answer, PinMoved)
        home = _home(model, call.pins[0])
        assert call.answer.from_id == home
        if home != call.board or call.before or call.after:
            _drop(model[call.board], call)
        if home != call.board:
            model[home].gone.add(call.pins[0])
        _check_neighbors(model[call.board], call, call.answer.placed)
    elif call.kind == "sort" and step.reached is not None:
        _sort(model[call.board], call, step.reached)
    else:
        assert call.kind in ("work", "sort")


def _home(model: Model, pin: int) -> int:
    [board] = [id for id, rows in model.items() if rows.holds(pin)]
    return board


def _drop(rows: Rows, call: Call) -> None:
    """Drop a pin. If it is already shown there, it stays, even with rows of removed pins in
    between."""
    [pin], below = call.pins, call.before
    if below is None and call.after is not None:
        assert rows.holds(call.after)
        below = rows.above(call.after, [*rows.gone, pin])
    assert below is None or rows.holds(below)
    if not rows.holds(pin) or rows.above(pin, list(rows.gone)) != below:
        rows.put(pin, below)


def _check_neighbors(rows: Rows, call: Call, placed: Reordered) -> None:
    pins = rows.shown()
    at = pins.index(call.pins[0])
    assert placed.above_id == (pins[at - 1] if at else None)
    assert placed.below_id == (pins[at + 1] if at + 1 < len(pins) else None)


def _sort(rows: Rows, call: Call, reached: int) -> None:
    """Place each pin directly below the pin before it, and the first pin at the requested place."""
    for number in range(call.done, reached):
        if not rows.holds(call.pins[number]):
            continue
        below = next((it for it in reversed(call.pins[:number]) if rows.holds(it)), call.before)
        if below is None and call.after is not None:
            below = rows.above(call.after, call.pins)
        rows.put(call.pins[number], below)
    call.done = reached


async def _rows(tx: ShardTx, board_id: int) -> list[Shown]:
    """All rows of a board, from the top down."""
    rows = await tx.rows_below(ListKey(ON_BOARD, board_id), HIGHEST, MOST)
    assert len(rows) < MOST
    return [(row.to_id, row.active) for row in rows]
