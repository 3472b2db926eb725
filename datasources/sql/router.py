"""Finds each shard's place under the topology in use, and runs transactions there, checked by
fences."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TypeVar

from datasources.errors import StaleTopology, StoreConflict, StoreError
from datasources.sql.engine import (
    Contended,
    Engine,
    Fence,
    NotOwned,
    Part,
    Place,
    Row,
    Session,
    mod_place,
    object_place,
    shard_at,
)
from datasources.sql.gates import MOST_KEYS, Crowded, Entered, Free, Gates, Key, Turn
from datasources.sql.whereabouts import Search, Whereabouts
from datasources.topology import ShardRange, Topology

T = TypeVar("T")
log = logging.getLogger("pinway.topology")

Work = Callable[[Session], Awaitable[T]]
Lock = tuple[int, int]
"""A row to be locked, in the form of `Session.will_lock`."""

SHARDS_AT_A_TIME = 16  # more would only wait for the servers' connections
ATTEMPTS = 5
CROWDED_ATTEMPTS = 4  # each attempt may meet one more contended row
_FIRST_PAUSE = 0.02  # seconds; the longest pause doubles with each attempt


class Router:
    """One topology over one engine, and the clock (epoch ms) for the times of rows."""

    def __init__(self, engine: Engine, topology: Topology, clock: Callable[[], int]) -> None:
        self.engine, self.topology, self.clock = engine, topology, clock
        self.reload: Callable[[], Awaitable[None]] | None = None
        engine.confirm_with(self._confirm)
        self._gates = Gates()
        self._whereabouts = Whereabouts()

    def use(self, topology: Topology) -> None:
        self.engine.use(topology)
        self._whereabouts.use(topology)
        self.topology = topology

    def place(self, shard: int) -> Place:
        """The place of an object shard. Raises KeyError for a shard that is not open."""
        return object_place(self._whereabouts.server_of(shard, self.topology), shard)

    def mod_place(self, mod_shard: int) -> Place:
        return mod_place(self.topology.mod_master_of(mod_shard), mod_shard)

    async def read(self, operation: str, parts: Sequence[Part]) -> list[list[Row]]:
        if not parts:
            return []
        call = _Call(self)
        while True:
            try:
                rows = await self.engine.read(operation, parts)
            except StaleTopology as stale:
                if not await call.goes_on(stale):
                    raise
            else:
                call.succeeded()
                return rows
            parts = [part._replace(place=call.at(self._place_now(part.place))) for part in parts]

    async def read_reachable(
        self, operation: str, parts: Sequence[Part]
    ) -> tuple[list[list[Row] | None], dict[str, StoreError]]:
        """The rows of each part (None for parts of a failed server), and the failed servers'
        errors."""
        of_server: dict[str, list[int]] = {}
        for number, part in enumerate(parts):
            of_server.setdefault(part.place.server, []).append(number)
        answers = await asyncio.gather(
            *(self.read(operation, [parts[n] for n in some]) for some in of_server.values()),
            return_exceptions=True,
        )
        found: list[list[Row] | None] = [None] * len(parts)
        lost: dict[str, StoreError] = {}
        for (server, numbers), answer in zip(of_server.items(), answers, strict=True):
            if isinstance(answer, StoreError):
                lost[server] = answer
            elif isinstance(answer, BaseException):
                raise answer
            else:
                for number, rows in zip(numbers, answer, strict=True):
                    found[number] = rows
        return found, lost

    async def write(
        self, shard: int, operation: str, work: Work[T], *, locks: Collection[Lock] = ()
    ) -> T:
        """Run `work` in a transaction on an object shard's master; again after a deadlock, and
        again if the topology is out of date. `locks`: rows that it will lock, as far as known (see
        `Session.will_lock`). Raises StaleTopology, StoreConflict, and the exceptions of `work`."""
        return await self._write(lambda: self._open_place(shard), operation, work, locks)

    async def write_at(self, place: Place, operation: str, work: Work[T]) -> T:
        """Run `work` as `write` does, on the shard of a place, wherever the shard is now."""
        return await self._write(lambda: self._place_now(place), operation, work)

    async def _write(
        self,
        find: Callable[[], Place],
        operation: str,
        work: Work[T],
        locks: Collection[Lock] = (),
    ) -> T:
        call = _Call(self)
        while True:
            try:
                done = await self._attempts(call.at(find()), operation, work, locks)
            except StaleTopology as stale:
                if not await call.goes_on(stale):
                    raise
            else:
                call.succeeded()
                return done

    async def _attempts(
        self, place: Place, operation: str, work: Work[T], locks: Collection[Lock]
    ) -> T:
        epoch = self.topology.epoch
        awaited: set[Key] = set()
        if len(locks) <= MOST_KEYS:
            awaited |= {(place.database, *lock) for lock in locks}
        for attempt in range(1, ATTEMPTS):
            try:
                return await self._in_turn(place, epoch, operation, work, awaited)
            except Contended:
                await asyncio.sleep(random.uniform(0, _FIRST_PAUSE * 2**attempt))
        try:
            return await self._in_turn(place, epoch, operation, work, awaited)
        except Contended as error:
            raise StoreConflict(f"{error}; gave up after {ATTEMPTS} attempts") from error

    async def _in_turn(
        self, place: Place, epoch: int, operation: str, work: Work[T], awaited: set[Key]
    ) -> T:
        """Run a transaction after it has passed the gates of the rows that it locks. It announces
        these rows when it meets them."""
        for _ in range(CROWDED_ATTEMPTS):
            turn = Turn(self._gates)
            try:
                await turn.wait(awaited)
                return await self._once(place, epoch, operation, work, turn)
            except Crowded as crowded:
                awaited |= crowded.keys
            finally:
                turn.leave()
        return await self._once(place, epoch, operation, work, Free())

    async def _once(
        self, place: Place, epoch: int, operation: str, work: Work[T], turn: Entered
    ) -> T:
        async with self.engine.begin(place, operation) as session:
            session.turn = turn
            check_fence(place, session.fence, epoch)
            return await work(session)

    def _open_place(self, shard: int) -> Place:
        try:
            return self.place(shard)
        except KeyError:
            raise self._not_open(f"shard {shard}") from None

    def _place_now(self, place: Place) -> Place:
        """The place of the same shard in the topology in use."""
        is_mod, shard = shard_at(place)
        try:
            return self.mod_place(shard) if is_mod else self.place(shard)
        except KeyError:
            raise self._not_open(place.database) from None

    def _not_open(self, shard: str) -> StaleTopology:
        return StaleTopology(f"{shard} is not open in the topology of epoch {self.topology.epoch}")

    def learn(self, found: dict[int, str]) -> None:
        """Remember the servers on which shards of moves were found."""
        self._whereabouts.learn(found, self.topology)

    async def _confirm(self) -> None:
        known = self.topology
        if self.reload is not None:
            await self.reload()
        if self.topology is not known:
            raise StaleTopology(f"the topology has epoch {self.topology.epoch} by now")

    async def reloaded(self, known: Topology) -> bool:
        """Whether another topology than the known one is in use. Reads the topology again if
        necessary."""
        if self.topology is known and self.reload is not None:
            try:
                await self.reload()
            except StoreError as error:
                log.info("the topology could not be read again: %s", error)
        return self.topology is not known


class _Call:
    """One read or write, which follows its shards if they have moved: once to another topology, and
    between the two servers of a move as long as the search has time."""

    def __init__(self, router: Router) -> None:
        self._router, self._known, self._search = router, router.topology, Search()
        self._reloaded = False

    def at(self, place: Place) -> Place:
        return self._search.at(place, self._router.topology)

    async def goes_on(self, stale: StaleTopology) -> bool:
        """Whether to try again, on another server."""
        if isinstance(stale, NotOwned) and await self._search.turn(stale, self._router.topology):
            return True
        if self._reloaded or not await self._router.reloaded(self._known):
            return False
        self._reloaded = True
        return True

    def succeeded(self) -> None:
        if self._search.found:
            self._router.learn(self._search.found)


def check_fence(place: Place, fence: Fence | None, epoch: int) -> None:
    """Raises StaleTopology unless the shard belongs to the server that answers, and has not moved
    since the writer's topology."""
    shard = f"{place.database} on {place.server}"
    if fence is None:
        raise StaleTopology(f"{shard}: it has no fence, so no server owns it")
    if fence.owner != fence.server:
        message = f"{shard}: server {fence.owner} owns it, and this is {fence.server}"
        raise NotOwned(message, (place,))
    if fence.epoch > epoch:
        raise StaleTopology(f"{shard}: it moved in epoch {fence.epoch}, the writer knows {epoch}")


def places(topology: Topology) -> list[Place]:
    """Every object shard's place, then every mod shard's."""
    return [
        *(object_place(r.master, s) for r in topology.shards for s in _span(r)),
        *(mod_place(r.master, s) for r in topology.mod.ranges for s in _span(r)),
    ]


def databases(topology: Topology) -> dict[str, list[str]]:
    """The databases of all shards on each master."""
    found: dict[str, list[str]] = {}
    for place in places(topology):
        found.setdefault(place.server, []).append(place.database)
    return found


def _span(shards: ShardRange) -> range:
    low, high = shards.range
    return range(low, high + 1)
