"""The generations of the caches' servers, in ZooKeeper beside the topology.

    PATH.caches/SERVER           data: a base; the generation is the base plus the node's version
    PATH.caches/SERVER/PROCESS   ephemeral: this process can't remove entries from the server, so
                                 the server is shut
    PATH.caches.list             data: the lowest number of a list of memcached servers by which
                                 entries may be read (`datasources.cache_lists`)

    reader   holds a lease on the versions that it knows. A transaction that only checks the
             versions renews it for LEASE_SECONDS from the moment before it was sent. Such a
             transaction needs the ensemble's majority; a plain read may come from a server that is
             behind.
    writer   can't remove an entry: creates its node and sets the data in one transaction, which
             raises the version. Then it waits until every lease on an earlier version has expired.
    opening  the last PROCESS node is gone: its process reached the server again, or died.

Why no reader gets an older value than an acknowledged write:

*   An entry carries the generation under which its reader took the right to fill it, before the
    reader read the shard. So an entry of the raised generation was read from the shard after the
    writer's commit.
*   A reader with a lease on an earlier version may read earlier entries until the lease expires.
    The writer waits for that: LEASE_SECONDS and MARGIN after the answer of its transaction.
*   While the server is shut, further writes need no removal and no wait: nobody reads. A writer
    relies on its own node only, and only for LEASE_SECONDS after a transaction that checked it.
    A reader that learns of an opening waits as long before it reads, so it reads no earlier than
    any such writer has stopped relying on the node. A process that starts does the same, unless no
    server was ever shut.
*   A raise without a node (`raise_all`) needs no such wait of readers.
*   The transaction that renews the leases also checks the version of the list's node. So when a
    lease has had the time to expire since the node's change, no process reads by an earlier list.

A reader without a lease asks the shards. Nothing here adds a round trip to a read.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from typing import Any

from kazoo.exceptions import (
    BadVersionError,
    KazooException,
    NodeExistsError,
    NoNodeError,
    RolledBackError,
    RuntimeInconsistency,
)

from datasources.clocks import lease_seconds
from datasources.errors import StoreError, StoreUnavailable
from datasources.outages import Outages
from datasources.protocols.generations import GenerationState, Reading
from datasources.zookeeper.client import Client

LEASE_SECONDS = 2.0
MARGIN = 0.5
"""Seconds added to a wait for others' leases: clocks run at slightly different rates."""
RENEWAL_SECONDS = 0.5
ATTEMPTS = 10
"""Attempts of a transaction whose nodes other processes change at the same time."""
EPOCH = 1_735_689_600
"""A new node's base is the number of minutes since this moment (2025-01-01). So it is larger than
the generation of a node that was lost, and fits the 31 bits that memcached has for it."""
log = logging.getLogger("pinway.stores")


class _Server:
    """The knowledge of one server, and this process's node below it."""

    def __init__(self, name: str, is_reached: Callable[[], bool]) -> None:
        self.name, self.is_reached = name, is_reached
        self.known = False
        self.generation = self.version = self.changes = 0
        self.shut = False
        self.leased_until = self.opens = -inf
        self.own = False
        """Whether this process's node exists, or may exist."""
        self.relied_until = -inf
        """The end of the time in which this process may rely on its own node."""
        self.settled = inf
        """The time at which every lease on a version before the last raise has expired."""
        self.turn = asyncio.Lock()
        self.raised = self.unleased = 0
        self.forgotten = False
        """Whether the server is forgotten as soon as this process's node is deleted."""


class _List:
    """The knowledge of the lowest number of a list that may be read."""

    def __init__(self) -> None:
        self.known = False
        self.number = self.version = 0
        self.leased_until = -inf


class ZooKeeperGenerations:
    """Generations below the node `path` of the ensemble `hosts` ("host:port[,host:port]"). Call
    `start` in the event loop. `clock` gives seconds."""

    def __init__(
        self,
        hosts: str,
        path: str,
        *,
        deadline: float = 1.0,
        clock: Callable[[], float] = lease_seconds,
    ) -> None:
        self._path = "/" + path.strip("/")
        self._process = secrets.token_hex(8)
        self._client = Client(hosts, deadline)
        self._clock = clock
        self._servers: dict[str, _Server] = {}
        self._list: _List | None = None
        self._renewing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to renew the leases."""
        self._renewing = asyncio.get_running_loop().create_task(
            self._renew_forever(), name="reader leases of the caches"
        )

    def follow(self, server: str, is_reached: Callable[[], bool]) -> None:
        if server in self._servers:  # with its node, if it comes back before that is deleted
            self._servers[server].is_reached = is_reached
            self._servers[server].forgotten = False
        else:
            self._servers[server] = _Server(server, is_reached)

    def forget(self, server: str) -> None:
        if (found := self._servers.get(server)) is None:
            return
        if found.own:
            found.forgotten, found.is_reached = True, lambda: True
        else:
            del self._servers[server]

    def follow_list(self) -> None:
        self._list = self._list or _List()

    def reads_list(self, number: int) -> bool:
        followed = self._list
        return (
            followed is not None
            and self._clock() < followed.leased_until
            and number >= followed.number
        )

    async def end_lists(self, before: int) -> None:
        data = b"%d" % before
        for _ in range(ATTEMPTS):
            number, version = await self._read_list()
            if number >= before:
                break
            failed, _ = await self._commit(
                [("check", self._list_node, version), ("set_data", self._list_node, data)]
            )
            if failed is None:
                break
        else:
            raise StoreUnavailable(f"caches: {self._list_node} is changed again and again")
        await asyncio.sleep(LEASE_SECONDS + MARGIN)

    def readable(self, server: str) -> int | None:
        found = self._servers[server]
        if self._reading(found) is Reading.LEASED:
            return found.generation
        found.unleased += 1
        return None

    def is_shut(self, server: str) -> bool:
        found, now = self._servers[server], self._clock()
        return found.own and found.settled <= now < found.relied_until

    async def shut(self, server: str) -> None:
        found = self._servers[server]
        async with found.turn:
            if not (found.own and self._clock() < found.relied_until):
                await self._shut(found)
            settled = found.settled
        await asyncio.sleep(max(0.0, settled - self._clock()))

    async def servers(self) -> set[str]:
        try:
            return {*await self._call(lambda zk: zk.get_children_async(self._path))}
        except NoNodeError:
            return set()

    async def raise_all(self) -> None:
        if names := await self.servers():
            await self._commit([("set_data", self._node(name), b"%d" % _base()) for name in names])
            await asyncio.sleep(LEASE_SECONDS + MARGIN)

    def states(self) -> list[GenerationState]:
        return [
            GenerationState(
                found.name, self._reading(found), found.raised, found.unleased, found.own
            )
            for found in self._servers.values()
        ]

    async def close(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        await self._client.close()

    def _reading(self, found: _Server) -> Reading:
        now = self._clock()
        if now >= found.leased_until:
            return Reading.UNKNOWN
        if found.shut:
            return Reading.SHUT
        return Reading.LEASED if now >= found.opens else Reading.OPENING

    async def _shut(self, found: _Server) -> None:
        """Create this process's node, or check that it exists, and raise the version."""
        for _ in range(ATTEMPTS):
            data = await self._data(found)
            began = self._clock()
            own = self._own(found)
            first = ("check", own, 0) if found.own else ("create", own, b"", None, True)
            if not found.own:
                # If the answer is lost, the node may exist, and must be deleted later.
                found.own, found.relied_until = True, -inf
            failed, _ = await self._commit([first, ("set_data", self._node(found.name), data)])
            if failed is None:
                now = self._clock()
                found.own, found.raised = True, found.raised + 1
                found.relied_until = began + LEASE_SECONDS
                found.settled = now + LEASE_SECONDS + MARGIN
                found.leased_until = -inf
                log.warning(
                    "%s can't be reached to remove an entry: no process reads it until it can",
                    found.name,
                )
                return
            # The answer of an earlier transaction was lost, or the session has expired.
            found.own = isinstance(failed, NodeExistsError)
        raise StoreUnavailable(f"caches: {self._node(found.name)} is changed again and again")

    async def _renew_forever(self) -> None:
        outages = Outages(log, "caches are not read without ZooKeeper")
        while True:
            began = self._clock()
            try:
                await self._renew()
            except StoreError as error:
                outages.failed("", error)
            except Exception:
                log.exception("the reader leases were not renewed")
            else:
                outages.well("")
            await asyncio.sleep(max(0.0, began + RENEWAL_SECONDS - self._clock()))

    async def _renew(self) -> None:
        for found in list(self._servers.values()):
            await self._open_again(found)
            if found.forgotten and not found.own:
                self._servers.pop(found.name, None)
        for _ in range(ATTEMPTS):
            servers = list(self._servers.values())
            for found in servers:
                if not found.known or found.shut:
                    await self._read(found)
            if self._list is not None and not self._list.known:
                await self._learn_list(self._list)
            if not servers or await self._confirmed(servers):
                return

    async def _confirmed(self, servers: Sequence[_Server]) -> bool:
        """Check all versions and own nodes in one transaction, which renews the leases."""
        own = [found for found in servers if found.own and not found.turn.locked()]
        checks = [("check", self._node(s.name), s.version) for s in servers]
        checks += [("check", self._own(s), 0) for s in own]
        followed = self._list
        if followed is not None:
            checks.append(("check", self._list_node, followed.version))
        versions = [found.version for found in servers]
        began = self._clock()
        failed, at = await self._commit(checks)
        if failed is not None:
            if at < len(servers):
                servers[at].known = False
            elif at < len(servers) + len(own):
                own[at - len(servers)].own = False
            elif followed is not None:
                followed.known = False
            return False
        if followed is not None:
            followed.leased_until = began + LEASE_SECONDS
        for found, version in zip(servers, versions, strict=True):
            if found.version == version:
                found.leased_until = began + LEASE_SECONDS
        for found in own:
            if found.relied_until > -inf:
                found.relied_until = max(found.relied_until, began + LEASE_SECONDS)
        return True

    async def _open_again(self, found: _Server) -> None:
        """Delete this process's node of a server that it reaches again."""
        if not (found.own and found.is_reached()):
            return
        async with found.turn:
            if not found.is_reached():
                return
            found.relied_until = -inf
            with suppress(NoNodeError):
                await self._call(lambda zk: zk.delete_async(self._own(found)))
            found.own = False
            log.info("%s is reached again, and opened", found.name)

    async def _read(self, found: _Server) -> None:
        """Read a server's node, which is created if it is missing."""
        node = self._node(found.name)
        try:
            data, stat = await self._call(lambda zk: zk.get_async(node))
        except NoNodeError:
            with suppress(NodeExistsError):
                await self._call(lambda zk: zk.create_async(node, b"%d" % _base(), makepath=True))
            data, stat = await self._call(lambda zk: zk.get_async(node))
        if not (found.known and stat.version == found.version):
            found.leased_until = -inf
        if stat.numChildren == 0 and stat.cversion not in (0, found.changes):
            found.opens = self._clock() + LEASE_SECONDS + MARGIN
        if stat.numChildren == 0:
            found.changes = stat.cversion
        found.generation, found.version = int(data) + stat.version, stat.version
        found.shut, found.known = stat.numChildren > 0, True

    async def _learn_list(self, followed: _List) -> None:
        number, version = await self._read_list()
        if version != followed.version:
            followed.leased_until = -inf
        followed.number, followed.version, followed.known = number, version, True

    async def _read_list(self) -> tuple[int, int]:
        """The number and the version of the list's node, which is created if it is missing."""
        node = self._list_node
        try:
            data, stat = await self._call(lambda zk: zk.get_async(node))
        except NoNodeError:
            with suppress(NodeExistsError):
                await self._call(lambda zk: zk.create_async(node, b"1", makepath=True))
            data, stat = await self._call(lambda zk: zk.get_async(node))
        return int(data), stat.version

    async def _data(self, found: _Server) -> bytes:
        if not found.known:
            await self._read(found)
        return b"%d" % (found.generation - found.version)

    async def _commit(
        self, operations: Sequence[tuple[Any, ...]]
    ) -> tuple[KazooException | None, int]:
        """Run a transaction. Returns the error of the operation that failed, and its index."""

        def begin(zk: Any) -> Any:
            transaction = zk.transaction()
            for name, *arguments in operations:
                getattr(transaction, name)(*arguments)
            return transaction.commit_async()

        for at, result in enumerate(await self._call(begin)):
            if isinstance(result, NodeExistsError | NoNodeError | BadVersionError):
                return result, at
            if isinstance(result, KazooException) and not isinstance(
                result, RolledBackError | RuntimeInconsistency
            ):
                raise _unavailable(result)
        return None, 0

    async def _call(self, begin: Callable[[Any], Any]) -> Any:
        try:
            return await self._client.call(begin)
        except (NodeExistsError, NoNodeError, BadVersionError):
            raise
        except KazooException as error:
            raise _unavailable(error) from error

    @property
    def _list_node(self) -> str:
        return f"{self._path}.list"

    def _node(self, server: str) -> str:
        return f"{self._path}/{server}"

    def _own(self, found: _Server) -> str:
        return f"{self._node(found.name)}/{self._process}"


def _base() -> int:
    return int(time.time() - EPOCH) // 60


def _unavailable(error: KazooException) -> StoreUnavailable:
    return StoreUnavailable(f"caches: {error!r}")
