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
The settings name the first list. `datasources.cache_lists` says how it is changed.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from random import Random
from typing import NamedTuple

from datasources.cache_lists import CacheLists, address_of, first_list, host_and_port
from datasources.circuit import Circuit, CircuitState
from datasources.errors import Refused, StoreError, StoreTimeout, StoreUnavailable
from datasources.lifetimes import lifetime
from datasources.memcached.connection import Connect, Connection
from datasources.memcached.items import Item, ProtocolError
from datasources.memcached.node import Node
from datasources.memcached.placement import Placement
from datasources.places import PoolState
from datasources.protocols import Generations, Lease
from datasources.refusals import is_refusal
from datasources.removals import remove
from datasources.together import together
from datasources.topology import Topology

LEASED = 1  # the lowest bit of a lease's flags
LEASE_SECONDS = 10
TIME_TO_LIVE = 24 * 3600  # seconds, at most
PREFIX = "object_cache-"
"""The start of the servers' names among the generations."""

Found = dict[int, bytes | Lease]


class _Lists(NamedTuple):
    """The list by which entries are read, and all lists by which they are removed."""

    read: Placement
    removed: tuple[Placement, ...]


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
        self._connect = connect
        self._deadline = deadline
        self._generations = generations
        self._refused_is_empty = refused_is_empty and generations is None
        self._nodes: dict[str, Node] = {}
        self._circuits: dict[Node, Circuit[bytes]] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._tokens = (f"{nonce}{n:x}" for nonce in (secrets.token_hex(8),) for n in count())
        self._epoch = 0
        if generations is not None:
            generations.follow_list()
        self._use(CacheLists(first_list(address_of(*server) for server in servers)))

    @property
    def local(self) -> None:
        return None

    def use(self, topology: Topology) -> None:
        if topology.epoch > self._epoch:
            self._epoch = topology.epoch
            if topology.caches is not None and topology.caches != self.lists:
                self._use(topology.caches)

    async def get(self, ids: Sequence[int]) -> Found:
        found: Found = {}
        placement = self._lists.read
        if self._generations is not None and not self._generations.reads_list(placement.number):
            return found

        async def ask(
            generation: int, connection: Connection, keys: list[bytes], of_keys: dict[bytes, int]
        ) -> None:
            flags = 2 * generation
            items = await connection.gets(keys)
            if missing := {
                k: items.get(k) for k in keys if k not in items or items[k].flags < flags
            }:
                token = next(self._tokens).encode()
                items |= await connection.lease(missing, token, flags | LEASED, LEASE_SECONDS)
                for key, fill in _fills(connection.run, token, flags, missing, items).items():
                    found[of_keys[key]] = Lease(of_keys[key], fill)
            found.update({of_keys[k]: it.value for k, it in items.items() if it.flags == flags})

        failures: list[StoreError] = []

        async def read(node: Node, of_keys: dict[bytes, int]) -> None:
            circuit, generation = self._circuits[node], self._generation(node)
            if generation is not None and (keys := circuit.readable(of_keys)):
                work = partial(ask, generation, of_keys=of_keys)
                try:
                    await circuit.read(lambda: self._run(node, work, keys))
                except StoreError as error:
                    failures.append(error)

        shares = self._shares(placement, dict.fromkeys(ids))
        with self._using(shares):
            await together(read(node, keys) for node, keys in shares.items())
        if failures and len(failures) == len(shares):
            raise failures[0]
        return found

    async def fill(self, values: Sequence[tuple[Lease, bytes]]) -> None:
        of_ids = {_id(lease): (lease.token, value) for lease, value in values}

        async def store(
            connection: Connection, keys: list[bytes], of_keys: dict[bytes, int]
        ) -> None:
            stored = []
            for key in keys:
                token, value = of_ids[of_keys[key]]
                run, cas, flags = token.split(":")
                # A lease of another list is for another server's run, or for another name.
                if run == connection.run:
                    life = lifetime(TIME_TO_LIVE, self._rng)
                    stored.append((key, int(cas), int(flags), value, life))
            await connection.cas(stored)

        shares = self._shares(self._lists.read, of_ids)
        with self._using(shares):
            await together(
                self._circuits[node].fill(
                    partial(self._run, node, partial(store, of_keys=of_keys), list(of_keys))
                )
                for node, of_keys in shares.items()
            )

    async def drop(self, ids: Sequence[int]) -> None:
        shares: dict[Node, dict[bytes, int]] = {}
        for placement in self._lists.removed:
            for node, keys in self._shares(placement, dict.fromkeys(ids)).items():
                shares.setdefault(node, {}).update(keys)
        with self._using(shares):
            await together(
                remove(
                    self._circuits[node],
                    list(keys),
                    partial(self._delete, node, list(keys)),
                    self._generations,
                    _server(node),
                )
                for node, keys in shares.items()
            )

    @property
    def unread(self) -> set[str]:
        """The servers of the other list of a change, from which nothing is read."""
        return self._nodes.keys() - {*self._lists.read.addresses}

    async def ping(self) -> None:
        for address in self._lists.read.addresses:
            await self._ping(self._nodes[address])

    def pools(self) -> list[PoolState]:
        """The states of the pools of connections."""
        return [node.state() for node in self._circuits]

    def circuits(self) -> list[CircuitState]:
        """The states of the servers' circuits."""
        return [circuit.state() for circuit in self._circuits.values()]

    async def close(self) -> None:
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)
        for node, circuit in self._circuits.items():
            await circuit.close()
            node.close()

    def _use(self, lists: CacheLists) -> None:
        """Use these lists from the next call on. Servers that are in none of them are closed when
        their calls have ended."""
        self.lists = lists
        placements = [Placement(known) for known in (lists.read, lists.other) if known is not None]
        self._lists = _Lists(placements[0], tuple(placements))
        wanted = list(dict.fromkeys(name for it in placements for name in it.addresses))
        for address in wanted:
            if address in self._nodes:
                continue
            node = Node(*host_and_port(address), self._connect)
            self._nodes[address] = node
            self._circuits[node] = circuit = self._circuit(node)
            if self._generations is not None:
                self._generations.follow(_server(node), circuit.is_reached)
        for address in self._nodes.keys() - set(wanted):
            node = self._nodes.pop(address)
            task = asyncio.get_running_loop().create_task(
                self._leave(node), name=f"end of object cache {node.name}"
            )
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def _leave(self, node: Node) -> None:
        await node.unused()
        circuit = self._circuits.pop(node)
        if self._generations is not None and node.name not in self._nodes:
            self._generations.forget(_server(node))
        await circuit.close()
        node.close()

    @contextmanager
    def _using(self, nodes: Iterable[Node]) -> Iterator[None]:
        """Keep the servers open during a call, also if they leave the lists meanwhile."""
        kept = list(nodes)
        for node in kept:
            node.users += 1
        try:
            yield
        finally:
            for node in kept:
                node.users -= 1

    def _circuit(self, node: Node) -> Circuit[bytes]:
        return Circuit(
            f"object cache {node.name}",
            node.name,
            probe=partial(self._ping, node),
            remove=partial(self._delete, node),
            refused_is_empty=self._refused_is_empty,
        )

    def _generation(self, node: Node) -> int | None:
        """The generation to read on a server; None without a reader lease."""
        return 0 if self._generations is None else self._generations.readable(_server(node))

    def _shares(self, placement: Placement, ids: Iterable[int]) -> dict[Node, dict[bytes, int]]:
        """The entries' names on each server that has some, with their ids."""
        found: dict[Node, dict[bytes, int]] = {}
        for id in ids:
            address, key = placement.place(id)
            found.setdefault(self._nodes[address], {})[key] = id
        return found

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
    return f"{PREFIX}{node.name}"


async def followed_addresses(generations: Generations) -> set[str]:
    """The addresses that any process has followed as servers of the cache of objects. Raises
    StoreError."""
    names = await generations.servers()
    return {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}


def _id(lease: Lease) -> int:
    assert isinstance(lease.key, int)
    return lease.key


def _fills(
    run: str, token: bytes, flags: int, keys: Iterable[bytes], items: dict[bytes, Item]
) -> dict[bytes, str]:
    """The tokens of leases for the keys whose item is the caller's own token. A fill has these
    flags."""
    return {
        key: f"{run}:{item.cas}:{flags}"
        for key in keys
        if (item := items.get(key)) is not None
        and item.flags == flags | LEASED
        and item.value == token
    }
