"""An ObjectCache in memcached, with leases: a slow reader can't overwrite a newer value with an old
one.

A lease is an item with the reader's token as its value; it lives 10 s. An item's flags are twice
its generation (`datasources.protocols.generations`), and 1 more for a lease. An item of an earlier
generation counts as missing: a reader replaces it with its lease by cas.

    reader   gets the keys; for missing keys: adds a lease, then gets the keys again, in one trip.
             It holds the lease if the token found is its own; the lease is the item's cas id.
    fill     cas with that id: memcached stores the value only if the key was not written since.
    drop     deletes the item, whatever it is.

Interleavings:

*   A reader asks, a writer drops, the reader fills: the item is gone, cas answers NOT_FOUND.
*   ... and another reader asked in between: its lease has another cas id, cas answers EXISTS.
*   Two readers: one add is stored; the other reader finds a foreign token, and fills nothing.
*   A lease expires, or is evicted: NOT_FOUND, or EXISTS as above.
*   A fill that the reader gave up on arrives late: cas is checked when it arrives.
*   An idle connection dies during a call and the call is repeated: an add finds its own token, a
    cas finds EXISTS, a delete NOT_FOUND.
*   The server restarts: it is empty, and counts cas ids from the start again, so an old lease might
    match a new item. A lease names the server's run (a random mark that the run's first client
    stored), and is filled only over a connection to that run; a connection does not outlive a run.
*   The generation rises: a late fill has the generation of its lease, under which nobody reads.

A server that does not answer is passed by (`datasources.circuit`): its keys are absent from the
answer of `get`, as if another reader were filling them, and all other keys are found.

All gateways must have the same list of servers, because the list determines which server has a key.
After a change of the list, flush the servers that stay.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import count
from random import Random

from datasources.circuit import Circuit, CircuitState
from datasources.errors import Refused, StoreError, StoreTimeout, StoreUnavailable
from datasources.lifetimes import lifetime
from datasources.memcached.connection import Connect, Connection
from datasources.memcached.items import Item, ProtocolError
from datasources.memcached.node import Node, by_node
from datasources.places import PoolState
from datasources.protocols import Generations, Lease
from datasources.refusals import is_refusal
from datasources.removals import remove
from datasources.together import together

LEASED = 1  # the lowest bit of a lease's flags
LEASE_SECONDS = 10
TIME_TO_LIVE = 24 * 3600  # seconds, at most

Found = dict[int, bytes | Lease]


class MemcachedObjectCache:
    """An ObjectCache on servers (host, port). `deadline`: seconds for a call.

    `refused_is_empty`: while no server listens at an address, nothing is cached there. With
    `generations`, a server that refuses is shut instead, as every server from which an entry can't
    be removed. `rng` spreads the times at which entries expire. `connect` opens a connection.
    """

    def __init__(
        self,
        servers: Sequence[tuple[str, int]],
        *,
        deadline: float = 0.25,
        refused_is_empty: bool = True,
        generations: Generations | None = None,
        rng: Random | None = None,
        connect: Connect = asyncio.open_connection,
    ) -> None:
        self._rng = rng or Random()
        self._nodes = [Node(host, port, connect) for host, port in servers]
        self._deadline = deadline
        self._generations = generations
        empty = refused_is_empty and generations is None
        self._circuits = {node: self._circuit(node, empty) for node in self._nodes}
        if generations is not None:
            for node, circuit in self._circuits.items():
                generations.follow(_server(node), circuit.is_reached)
        self._tokens = (f"{nonce}{n:x}" for nonce in (secrets.token_hex(8),) for n in count())

    @property
    def local(self) -> None:
        return None

    async def get(self, ids: Sequence[int]) -> Found:
        found: Found = {}

        async def ask(generation: int, connection: Connection, keys: list[bytes]) -> None:
            flags = 2 * generation
            items = await connection.gets(keys)
            if missing := {
                k: items.get(k) for k in keys if k not in items or items[k].flags < flags
            }:
                token = next(self._tokens).encode()
                items |= await connection.lease(missing, token, flags | LEASED, LEASE_SECONDS)
                found.update(_leases(connection.run, token, flags, missing, items))
            found.update({_id(k): it.value for k, it in items.items() if it.flags == flags})

        failures: list[StoreError] = []

        async def read(node: Node, keys: list[bytes]) -> None:
            circuit, generation = self._circuits[node], self._generation(node)
            if generation is not None and (keys := circuit.readable(keys)):
                try:
                    await circuit.read(lambda: self._run(node, partial(ask, generation), keys))
                except StoreError as error:
                    failures.append(error)

        shares = self._shares(map(_key, dict.fromkeys(ids)))
        await together(read(node, keys) for node, keys in shares.items())
        if failures and len(failures) == len(shares):
            raise failures[0]
        return found

    async def fill(self, values: Sequence[tuple[Lease, bytes]]) -> None:
        by_key = {_key(lease.key): (lease.token, value) for lease, value in values}

        async def store(connection: Connection, keys: list[bytes]) -> None:
            stored = []
            for key in keys:
                token, value = by_key[key]
                run, cas, flags = token.split(":")
                if run == connection.run:
                    life = lifetime(TIME_TO_LIVE, self._rng)
                    stored.append((key, int(cas), int(flags), value, life))
            await connection.cas(stored)

        await together(
            self._circuits[node].fill(partial(self._run, node, store, keys))
            for node, keys in self._shares(by_key).items()
        )

    async def drop(self, ids: Sequence[int]) -> None:
        await together(
            remove(
                self._circuits[node],
                keys,
                partial(self._delete, node, keys),
                self._generations,
                _server(node),
            )
            for node, keys in self._shares(map(_key, dict.fromkeys(ids))).items()
        )

    async def ping(self) -> None:
        for node in self._nodes:
            await self._ping(node)

    def pools(self) -> list[PoolState]:
        """The states of the pools of connections."""
        return [node.state() for node in self._nodes]

    def circuits(self) -> list[CircuitState]:
        """The states of the servers' circuits."""
        return [circuit.state() for circuit in self._circuits.values()]

    async def close(self) -> None:
        for circuit in self._circuits.values():
            await circuit.close()
        for node in self._nodes:
            node.close()

    def _circuit(self, node: Node, refused_is_empty: bool) -> Circuit[bytes]:
        return Circuit(
            f"object cache {node.name}",
            node.name,
            probe=partial(self._ping, node),
            remove=partial(self._delete, node),
            refused_is_empty=refused_is_empty,
        )

    def _generation(self, node: Node) -> int | None:
        """The generation to read on a server; None without a reader lease."""
        return 0 if self._generations is None else self._generations.readable(_server(node))

    def _shares(self, keys: Iterable[bytes]) -> dict[Node, list[bytes]]:
        """The keys of each server that has some."""
        return {node: share for node, share in by_node(self._nodes, keys).items() if share}

    async def _ping(self, node: Node) -> None:
        await self._run(node, lambda connection, keys: connection.gets(keys), [b"ping"])

    async def _delete(self, node: Node, keys: list[bytes]) -> None:
        await self._run(node, lambda connection, keys: connection.delete(keys), keys)

    async def _run(
        self,
        node: Node,
        work: Callable[[Connection, list[bytes]], Awaitable[object]],
        keys: list[bytes],
    ) -> None:
        """Run `work` on one server, within the deadline."""
        name = f"object cache {node.name}"
        try:
            async with asyncio.timeout(self._deadline):
                await node.run(lambda connection: work(connection, keys))
        except TimeoutError as error:
            raise StoreTimeout(f"{name}: no answer within {self._deadline} s") from error
        except (OSError, ProtocolError) as error:
            kind = Refused if is_refusal(error) else StoreUnavailable
            raise kind(f"{name}: {error}") from error


def _server(node: Node) -> str:
    """The server's name among the generations."""
    return f"object_cache-{node.name}"


def _key(id: object) -> bytes:
    assert isinstance(id, int)
    return b"pinway:%d" % id


def _id(key: bytes) -> int:
    return int(key[7:])


def _leases(
    run: str, token: bytes, flags: int, keys: Iterable[bytes], items: dict[bytes, Item]
) -> dict[int, Lease]:
    """The leases for the keys whose item is the caller's own token. A fill has these flags."""
    return {
        _id(key): Lease(_id(key), f"{run}:{item.cas}:{flags}")
        for key in keys
        if (item := items.get(key)) is not None
        and item.flags == flags | LEASED
        and item.value == token
    }
