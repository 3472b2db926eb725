"""Circuits of caches: when reads pass a server by, and how they return to it.

A read that waits for a hung server waits for its whole deadline, although the shards could answer
it at once. So after a few failures reads leave the server. Probes, which no request waits for, find
out when it answers again; then a growing share of the reads returns.

    well        every read asks the server. A failure adds 1 to a doubt, an answer takes 0.1 away,
                so a server that fails more than one call in eleven is avoided, too, at 3.
    avoided     reads fail at once. Probes follow each other after 0.1 s, and after up to 1 s while
                they fail. After three good probes in a row reads begin to return.
    returning   1/8 of the reads ask, then 1/4, 1/2, and all. The first failure is a relapse: reads
                leave again, and twice as many good probes are needed.

A removal (a writer's drop or move) has no alternative to the server: a write is acknowledged only
if its removals were confirmed after its commit, whatever the circuit says. So removals fail at once
only while the server's last failure was a timeout. Even then one removal a second asks the server,
with its own deadline, because the timeouts may be the fault of this process or of a busy machine.
From the first good probe or removal on, every removal asks. A refused connection is no timeout: it
answers at once.

No reader gets a value that is older than an acknowledged write, because that write's removal was
confirmed. A removal that failed belongs to a write that was not acknowledged. Its keys are owed:
this process looks them up in the shards until a removal that began later was confirmed, and sends
such a removal itself with the first good probe. So a process never shows a write that failed so,
and then, from a cache that came back, the value before it. Other processes may show that value
until then, as long as the write is not acknowledged.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import count, islice
from math import inf
from typing import Any, Generic, NamedTuple, TypeVar

from datasources.errors import Refused, StoreError, StoreTimeout, StoreUnavailable
from datasources.outages import Outages
from datasources.protocols import Stores

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
log = logging.getLogger("pinway.stores")

LIMIT, ANSWER = 3.0, 0.1
"""The doubt at which reads leave, in failures; and the part of a failure that an answer offsets."""
GOOD_PROBES, MOST_GOOD_PROBES = 3, 48
"""The probes in a row that must be answered before reads return; and after relapses, at most."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between two probes: after an answer, and at most after failures."""
TRY_PAUSE = 1.0
"""Seconds between two removals that ask a server that hangs."""
FIRST_SHARE, STEP = 1 / 8, 0.25
"""The share of the reads that return first, and the seconds after which it doubles."""
RELAPSE = 30.0
"""Seconds after a return in which leaving again is a relapse."""
MOST_OWED = 100_000
"""Owed keys of a server. The oldest keys beyond it are left to the relay of the outbox."""
AT_ONCE = 500  # owed keys in one removal
CALM = 10.0
"""Seconds without a failure after which the log calls an outage over."""


class Mode(StrEnum):
    WELL = "well"
    AVOIDED = "avoided"
    RETURNING = "returning"


class CircuitState(NamedTuple):
    """The present state of one server's circuit, and its counts since the start of the process."""

    server: str
    mode: Mode
    reason: str
    """The last failure of an avoided server; empty in the mode `well`."""
    openings: int
    """Times that reads left the server."""
    passed: int
    """Reads that did not ask the server."""
    refused: int
    """Removals that failed at once, because the server hung."""
    owed: int
    """Keys whose removal failed, and is still to be made."""


def circuits(stores: Stores) -> Iterator[tuple[str, CircuitState]]:
    """The circuits of the caches' servers, with the names of the caches. A cache in this process
    has none."""
    caches: dict[str, Any] = {
        "object_cache": stores.object_cache,
        "mapping_cache": stores.mapping_cache,
    }
    for name, cache in caches.items():
        states = getattr(cache, "circuits", None)
        if states is not None:
            yield from ((name, state) for state in states())


class Circuit(Generic[K]):
    """The circuit of one server. `name`: the server, for messages; `server`: for labels.

    `probe` asks the server anything, and `remove` removes some keys; both have a deadline of their
    own and raise StoreError. `refused_is_empty`: a removal is done if no server listens. `clock`
    gives seconds, and `draw` a number in [0, 1) that decides whether a read returns.
    """

    def __init__(
        self,
        name: str,
        server: str,
        *,
        probe: Callable[[], Awaitable[None]],
        remove: Callable[[list[K]], Awaitable[None]],
        refused_is_empty: bool,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._name, self._server = name, server
        self._probe, self._remove = probe, remove
        self._refused_is_empty = refused_is_empty
        self._clock, self._draw = clock, draw
        self._outages = Outages(log, "{} fails, and shards are read instead", clock, calm=CALM)
        self._mode, self._since, self._returned = Mode.WELL, 0.0, -inf
        self._doubt, self._good_probes = 0.0, GOOD_PROBES
        self._hangs, self._tried, self._reason = False, -inf, ""
        self._openings = self._passed = self._refused = 0
        self._order = count()
        self._owed: dict[K, int] = {}  # key → when its removal failed, in order
        self._probing: asyncio.Task[None] | None = None

    async def read(self, call: Callable[[], Awaitable[T]]) -> T:
        """The answer of a read. Raises the call's StoreError, or StoreUnavailable at once if this
        read passes the server by."""
        if self.mode is not Mode.WELL and self._draw() >= self._share():
            self._passed += 1
            raise StoreUnavailable(f"{self._name} is passed by, after: {self._reason}")
        return await self._counted(call)

    async def fill(self, call: Callable[[], Awaitable[T]]) -> T:
        """The answer of a fill. The fill of each read that asked the server asks it, too, unless
        reads have left in between: a lease that is not filled keeps other readers from filling."""
        if self._mode is Mode.AVOIDED:
            raise StoreUnavailable(f"{self._name} is passed by, after: {self._reason}")
        return await self._counted(call)

    async def removal(self, keys: Sequence[K], call: Callable[[], Awaitable[object]]) -> None:
        """Make a removal of these keys. Raises StoreError if it is uncertain whether they are
        removed; at once while the server hangs."""
        began = next(self._order)
        try:
            if self._mode is Mode.AVOIDED and self._hangs and not self._tries():
                self._refused += 1
                raise StoreUnavailable(f"{self._name} is not asked, after: {self._reason}")
            await self._counted(call)
        except BaseException as error:
            if not (self._refused_is_empty and isinstance(error, Refused)):
                self._owe(keys)
                raise
        self._forgive(keys, began)

    def readable(self, keys: Iterable[K]) -> list[K]:
        """The keys whose removal is not owed."""
        owed = self._owed
        return [key for key in keys if key not in owed] if owed else list(keys)

    def owes(self, key: K) -> bool:
        """Whether the key's entry may be older than a write of this process."""
        return key in self._owed

    def is_reached(self) -> bool:
        """Whether the server answers, and nothing is owed."""
        return self._mode is not Mode.AVOIDED and not self._owed

    def state(self) -> CircuitState:
        """The present state."""
        return CircuitState(
            self._server,
            self.mode,
            self._reason,
            self._openings,
            self._passed,
            self._refused,
            len(self._owed),
        )

    async def close(self) -> None:
        """End the probes."""
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)

    @property
    def mode(self) -> Mode:
        """The present mode."""
        if self._mode is Mode.RETURNING and self._share() >= 1:
            self._mode, self._returned, self._reason = Mode.WELL, self._clock(), ""
        return self._mode

    def _share(self) -> float:
        """The share of the reads that ask the server."""
        if self._mode is Mode.RETURNING:
            return float(FIRST_SHARE * 2.0 ** ((self._clock() - self._since) // STEP))
        return 1.0 if self._mode is Mode.WELL else 0.0

    def _tries(self) -> bool:
        """Whether a removal asks a server that hangs."""
        now = self._clock()
        if now - self._tried < TRY_PAUSE:
            return False
        self._tried = now
        return True

    async def _counted(self, call: Callable[[], Awaitable[T]]) -> T:
        before = self._mode
        try:
            answer = await call()
        except (StoreTimeout, StoreUnavailable) as error:
            self._failed(error)
            if before is self._mode is Mode.AVOIDED:
                self._see(error)  # not a call that began when the server still answered
            raise
        self._answered()
        return answer

    def _answered(self) -> None:
        self._hangs = False
        if self._doubt and self._mode is not Mode.AVOIDED:
            self._doubt = max(0.0, self._doubt - ANSWER)
        self._outages.well(self._name)

    def _failed(self, error: Exception) -> None:
        self._outages.failed(self._name, StoreUnavailable(self._told(error)))
        if self._mode is Mode.AVOIDED:
            return
        self._doubt += 1
        if self._doubt < LIMIT:
            return
        relapse = self._mode is Mode.RETURNING or self._clock() - self._returned < RELAPSE
        more = min(2 * self._good_probes, MOST_GOOD_PROBES)
        self._good_probes = more if relapse else GOOD_PROBES
        self._mode, self._openings = Mode.AVOIDED, self._openings + 1
        self._see(error)
        self._start_probes()

    def _see(self, error: Exception) -> None:
        self._hangs, self._reason = isinstance(error, StoreTimeout), self._told(error)

    def _told(self, error: Exception) -> str:
        """The error's message without the name of the server."""
        return str(error).removeprefix(f"{self._name}: ") or type(error).__name__

    def _owe(self, keys: Iterable[K]) -> None:
        for key in keys:
            self._owed.pop(key, None)  # the latest failure comes last
            self._owed[key] = next(self._order)
        for key in list(islice(self._owed, max(0, len(self._owed) - MOST_OWED))):
            del self._owed[key]
        self._start_probes()

    def _forgive(self, keys: Iterable[K], began: int) -> None:
        """Keys are removed by a removal that began after the failure of their last removal."""
        if self._owed:
            for key in keys:
                if self._owed.get(key, began) < began:
                    del self._owed[key]

    def _start_probes(self) -> None:
        if self._probing is None or self._probing.done():
            self._probing = asyncio.get_running_loop().create_task(
                self._probe_until_well(), name=f"probes of {self._name}"
            )

    async def _probe_until_well(self) -> None:
        """Probe until reads return, and nothing is owed."""
        good, pause = 0, FIRST_PAUSE
        while self._mode is Mode.AVOIDED or self._owed:
            try:
                await self._probe_once()
            except Exception as error:
                if not isinstance(error, StoreError):
                    log.exception("a probe of %s failed", self._name)  # and is made again
                good, pause = 0, min(2 * pause, LONGEST_PAUSE)
                self._failed(error)
                self._see(error)
            else:
                good, pause = good + 1, FIRST_PAUSE
                self._answered()
                if self._mode is Mode.AVOIDED and good >= self._good_probes:
                    self._mode, self._since = Mode.RETURNING, self._clock()
                    self._doubt = LIMIT - 1
            if self._mode is Mode.AVOIDED or self._owed:
                await asyncio.sleep(pause)

    async def _probe_once(self) -> None:
        began = next(self._order)
        try:
            await self._probe()
            while some := list(islice(self._owed, AT_ONCE)):
                began = next(self._order)
                await self._remove(some)
                self._forgive(some, began)
        except Refused:
            if self._refused_is_empty:
                self._forgive(list(self._owed), began)
            raise
