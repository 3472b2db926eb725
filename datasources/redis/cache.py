"""A MappingCache in Redis or Valkey. A call is one script and one round trip, whatever its size.

Leases: a script that finds no entry stores the caller's token in the entry's place. A fill replaces
exactly that token, a drop removes whatever is there, and a token lives 10 s. So however a slow
reader and a writer interleave, the reader's fill finds its token only if no drop came after its
request.

A server that does not answer is passed by (`datasources.circuit`).
"""

import secrets
import struct
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from random import Random

from datasources.circuit import Circuit, CircuitState
from datasources.errors import StoreCorrupt
from datasources.lifetimes import lifetime
from datasources.mappings import Edge, ListHead, ListKey, ListMove, PageRequest, Position
from datasources.places import PoolState
from datasources.protocols import Generations, Lease, Window
from datasources.redis.connection import Argument, Connection
from datasources.redis.scripts import NO_GENERATION
from datasources.removals import remove

WINDOW = 500
LEASE_MS = 10_000
TIME_TO_LIVE_MS = 24 * 3600 * 1000  # at most
SEQUENCE_DIGITS, ID_DIGITS = 38, 19
PATIENCE = 4  # deadlines that a writer waits, because it has no alternative
ROW = struct.Struct(f"{SEQUENCE_DIGITS}sx{ID_DIGITS}s")
ROW_CHARS = ROW.size
SERVER = "mapping_cache"
"""The server's name among the generations, whatever its address."""


class RedisMappingCache:
    """A MappingCache at `redis://host:port/db` or `redis+unix:///path?db=N`. `deadline`: seconds
    for a call. Windows keep the newest `window` rows.

    `refused_is_empty`: while no server listens, nothing is cached. A server that starts later has
    another run id, so entries of an earlier run are never read. With `generations`, a server that
    refuses is shut instead, as if it hung. `rng` spreads the times at which entries expire.
    """

    def __init__(
        self,
        url: str,
        *,
        deadline: float = 0.25,
        window: int = WINDOW,
        connections: int = 32,
        refused_is_empty: bool = True,
        generations: Generations | None = None,
        rng: Random | None = None,
    ) -> None:
        self._rng = rng or Random()
        self._generations = generations
        self.window = window
        self._redis = Connection(url, deadline, connections)
        self._circuit: Circuit[ListKey] = Circuit(
            self._redis.name,
            self._redis.address,
            probe=self.ping,
            remove=self._unlink,
            refused_is_empty=refused_is_empty and generations is None,
        )
        if generations is not None:
            generations.follow(SERVER, self._circuit.is_reached)
        self._tokens = (f"{nonce}{n:x}" for nonce in (secrets.token_hex(8),) for n in count())

    async def pages(self, requests: Sequence[PageRequest]) -> list[list[Edge] | Lease | None]:
        generation = self._generation()
        asked = [request for request in requests if not self._circuit.owes(request.key)]
        if generation is None or not asked:
            return [None] * len(requests)
        token = self._token(generation)
        arguments: list[Argument] = [token, LEASE_MS]
        for request in asked:
            arguments += (request.limit, _below(request.after))
        keys = [_window(request.key) for request in asked]
        answers = await self._circuit.read(
            lambda: self._redis.script(lambda s: s.pages, keys, arguments)
        )
        if len(asked) < len(requests):
            left = iter(answers)
            owed = {request.key for request in requests} - {request.key for request in asked}
            answers = [b"-" if request.key in owed else next(left) for request in requests]
        return [
            _page(request.key, token, answer)
            for request, answer in zip(requests, answers, strict=True)
        ]

    async def heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead | Lease]:
        generation = self._generation()
        keys = self._circuit.readable(dict.fromkeys(keys))
        if generation is None or not keys:
            return {}
        token, names = self._token(generation), [_head(key) for key in keys]
        answers = await self._circuit.read(
            lambda: self._redis.script(lambda s: s.heads, names, [token, LEASE_MS])
        )
        found: dict[ListKey, ListHead | Lease] = {}
        for key, answer in zip(keys, answers, strict=True):
            if answer == b"L":
                found[key] = Lease(key, token)
            elif answer != b"-":
                size, version = answer[1:].split(b":")
                found[key] = ListHead(int(size), int(version))
        return found

    async def fill_pages(self, windows: Sequence[tuple[Lease, Window]]) -> None:
        if not windows:
            return
        arguments: list[Argument] = [ROW_CHARS]
        for lease, window in windows:
            kept = window.edges[: self.window]
            complete = window.complete and len(kept) == len(window.edges)
            rows = "".join(_row(edge.sequence, edge.to_id) for edge in kept)
            era = f"{kept[0].era if kept else 0}:{window.version}"
            arguments += (self._life(), lease.token, "C" if complete else "P", era, rows)
        keys = [_window(_key_of(lease)) for lease, _ in windows]
        await self._circuit.fill(
            lambda: self._redis.script(lambda s: s.fill_pages, keys, arguments)
        )

    async def fill_heads(self, heads: Sequence[tuple[Lease, ListHead]]) -> None:
        if not heads:
            return
        arguments: list[Argument] = []
        for lease, head in heads:
            arguments += (self._life(), lease.token, f"{head.size}:{head.version}")
        keys = [_head(_key_of(lease)) for lease, _ in heads]
        await self._circuit.fill(
            lambda: self._redis.script(lambda s: s.fill_heads, keys, arguments)
        )

    async def drop(self, keys: Sequence[ListKey]) -> None:
        if keys:
            await self._remove(keys, lambda: self._unlink(keys))

    async def move(self, moves: Sequence[ListMove]) -> None:
        if not moves:
            return
        arguments: list[Argument] = [self.window]
        for move in moves:
            arguments += (move.version - 1, move.version)
            arguments += (_row(move.old, move.to_id), _row(move.new, move.to_id))
        generation = self._generation()
        arguments.append(NO_GENERATION if generation is None else f"{generation:08x}")
        keys = [_window(move.key) for move in moves]
        await self._remove(
            [move.key for move in moves],
            lambda: self._redis.script(lambda s: s.move, keys, arguments, patience=PATIENCE),
        )

    async def take(
        self, bucket: str, least: int, most: int, *, burst: int, refill: int
    ) -> tuple[int, float]:
        keys, arguments = [f"pinway:rate:{bucket}"], [least, most, burst, refill]
        taken, wait = await self._circuit.read(
            lambda: self._redis.script(lambda s: s.take, keys, arguments)
        )
        return int(taken), int(wait) / 1000

    async def ping(self) -> None:
        await self._redis.command("PING")

    def pools(self) -> list[PoolState]:
        """The state of the pool of connections."""
        return [self._redis.pool_state()]

    def circuits(self) -> list[CircuitState]:
        """The state of the server's circuit."""
        return [self._circuit.state()]

    async def close(self) -> None:
        await self._circuit.close()
        await self._redis.close()

    async def _unlink(self, keys: Sequence[ListKey]) -> None:
        # A writer has no alternative; a late reader goes to the shards.
        names = [name(key) for key in keys for name in (_window, _head)]
        await self._redis.command("UNLINK", *names, patience=PATIENCE)

    async def _remove(self, keys: Sequence[ListKey], call: Callable[[], Awaitable[object]]) -> None:
        await remove(self._circuit, keys, call, self._generations, SERVER)

    def _generation(self) -> int | None:
        """The generation to read; None without a reader lease."""
        return 0 if self._generations is None else self._generations.readable(SERVER)

    def _token(self, generation: int) -> str:
        return f"{generation:08x}{next(self._tokens)}"

    def _life(self) -> int:
        return lifetime(TIME_TO_LIVE_MS, self._rng)


def _window(key: ListKey) -> str:
    return f"pinway:{{{key.mapping.code}:{key.from_id}}}:w"


def _head(key: ListKey) -> str:
    return f"pinway:{{{key.mapping.code}:{key.from_id}}}:h"


def _key_of(lease: Lease) -> ListKey:
    assert isinstance(lease.key, ListKey)
    return lease.key


def _row(sequence: int, to_id: int) -> str:
    return f"{sequence:0{SEQUENCE_DIGITS}d}:{to_id:0{ID_DIGITS}d}"


def _below(after: Position | None) -> str:
    return "+" if after is None else f"({_row(after.sequence, after.to_id)}"


def _page(key: ListKey, token: str, answer: bytes) -> list[Edge] | Lease | None:
    if answer == b"L":
        return Lease(key, token)
    if answer == b"-":
        return None
    place, _, rows = answer[1:].partition(b"|")
    era = place.partition(b":")[0]
    if len(rows) % ROW_CHARS:
        raise StoreCorrupt(f"mapping cache: the window of {key} has rows of a wrong length")
    from_id, number = key.from_id, int(era or 0)
    return [
        Edge(from_id, int(to_id), int(sequence), 0, True, number)
        for sequence, to_id in ROW.iter_unpack(rows)
    ]
