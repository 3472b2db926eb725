"""Changes the list of memcached servers while gateways run (`datasources.cache_lists`).

The topology has the step that was reached. So a command that was killed is run again, with the same
list, and goes on. A change that has only begun can be taken back instead.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec.structs import replace

from datasources.cache_lists import (
    CacheList,
    CacheLists,
    addresses_of,
    begun,
    first_list,
    text_of,
    turned,
)
from datasources.errors import ConfigError, StoreConflict, StoreError
from datasources.factory import open_generations
from datasources.protocols import TopologySource
from datasources.replication.steps import Tell
from datasources.sql.router import databases
from datasources.together import together
from datasources.topology import Topology
from gateway.operate.failover.work import Work
from gateway.settings import Settings
from gateway.site.embedded_stores import topology_url

SCHEME = "memcached://"
BEGUN, TURNED = "begun", "turned"


@dataclass(frozen=True)
class Change:
    """The means of a change. `settings`: the servers that the settings name. `followed` gives
    the servers that any gateway has used. `reach` gives a server's mark; it raises StoreError for a
    server that does not answer, and ConfigError for a name of several servers. `raise_fences`
    raises the fences of all shards to a topology's epoch, and `end_lists` ends the reader leases
    under earlier lists."""

    source: TopologySource
    settings: Sequence[str]
    followed: Callable[[], Awaitable[set[str]]]
    reach: Callable[[str], Awaitable[str]]
    raise_fences: Callable[[Topology], Awaitable[None]]
    end_lists: Callable[[int], Awaitable[None]]
    tell: Tell

    async def run(self, addresses: Sequence[str], *, force: bool = False) -> None:
        """Change to these servers, or continue a change to them. Servers that come in must
        answer, unless `force`. Raises ConfigError, StoreError."""
        topology = await self.source.load()
        if topology.caches is None:
            await self._check_settings()
        lists = topology.caches or CacheLists(first_list(self.settings))
        if lists.other is None:
            if lists.read.servers.keys() == set(addresses):
                self.tell("these are the servers already: nothing was changed")
                return
            await self._check(addresses, lists.read, force=force)
            topology = await self._save(topology, begun(lists.read, addresses))
            self.tell(f"1 of 3: all gateways will remove entries by list {lists.read.number + 1}")
        elif lists.wanted.servers.keys() != set(addresses):
            raise ConfigError(
                f"a change of the memcached servers from {text_of(lists.unwanted.servers)} to "
                f"{text_of(lists.wanted.servers)} has {step_of(lists)}: {next_commands(lists)}; "
                "nothing was changed"
            )
        else:
            self.tell(f"the change to list {lists.wanted.number} goes on")
        try:
            await self._go_on(topology)
        except StoreError:
            self.tell("the change has not ended: run the command again, with the same list")
            raise

    async def rollback(self) -> None:
        """Take a change that has begun back: the old list alone is in use. Does nothing without a
        change. Raises ConfigError for a change that has turned, StoreError."""
        topology = await self.source.load()
        lists = topology.caches
        if lists is None or lists.other is None:
            self.tell("no change goes on: nothing was changed")
            return
        if step_of(lists) == TURNED:
            raise ConfigError(
                f"gateways read by list {lists.read.number} already: end the change with "
                f"`{command_to(lists.read)}`, then change back with `{command_to(lists.other)}`; "
                "nothing was changed"
            )
        # No fence and no wait: nobody has read or filled an entry by the new list.
        await self._save(topology, CacheLists(lists.read))
        self.tell(f"the change was taken back: list {lists.read.number} alone is in use")

    async def _go_on(self, topology: Topology) -> None:
        assert topology.caches is not None
        lists = topology.caches
        if lists.wanted is not lists.read:
            self.tell("raising the fences of all shards")
            await self.raise_fences(topology)
            lists = turned(lists)
            topology = await self._save(topology, lists)
            self.tell(f"2 of 3: gateways read by list {lists.read.number}")
        self.tell("waiting until no gateway reads by the earlier list")
        await self.end_lists(lists.read.number)
        await self._save(topology, CacheLists(lists.read))
        self.tell(f"3 of 3: list {lists.read.number} alone is in use")

    async def _check_settings(self) -> None:
        """Raises ConfigError if the settings, which name the list of the first change, name a
        server that gateways do not use: gateways would read by another list at once."""
        followed = await self.followed()
        if followed and (others := [name for name in self.settings if name not in followed]):
            raise ConfigError(
                f"the setting stores.object_cache names {text_of(others)}, which no gateway has "
                f"used; gateways have used {text_of(sorted(followed))}. Before the first change, "
                "name the servers that gateways use now; nothing was changed"
            )

    async def _check(self, addresses: Sequence[str], known: CacheList, *, force: bool) -> None:
        """Raises ConfigError for a server that comes in and does not answer, unless `force`; for a
        name of several servers; and for a server with two names."""
        marks: dict[str, str] = {}
        for address in addresses:
            try:
                mark = await self.reach(address)
            except ConfigError as error:
                raise ConfigError(f"{error}; nothing was changed") from None
            except StoreError as error:
                if force or address in known.servers:
                    continue
                raise ConfigError(
                    f"{error}; nothing was changed: start it, mend its address, or add --force"
                ) from None
            if (other := marks.setdefault(mark, address)) != address:
                raise ConfigError(
                    f"{other} and {address} are one server: name it once; nothing was changed"
                )

    async def _save(self, topology: Topology, lists: CacheLists) -> Topology:
        following = replace(topology, epoch=topology.epoch + 1, caches=lists)
        try:
            await self.source.save(following, expected_epoch=topology.epoch)
        except StoreConflict as error:
            raise StoreConflict(
                f"{error}: somebody else changed the topology; look at `pinway cache show`"
            ) from error
        return following


def addresses_in(settings: Settings) -> list[str]:
    """The memcached servers that the settings name. Raises ConfigError."""
    url = settings.stores.object_cache
    if not url.startswith(SCHEME):
        raise ConfigError("the setting stores.object_cache names no memcached servers")
    return addresses_of(url.removeprefix(SCHEME))


def check(settings: Settings) -> None:
    """Raises ConfigError for settings under which readers have no leases that a change can wait
    for."""
    addresses_in(settings)
    if not settings.stores.topology.startswith("zookeeper://"):
        raise ConfigError(
            "the list can be changed with the topology in ZooKeeper alone: otherwise stop all "
            "gateways, change stores.object_cache, empty the servers, and start the gateways"
        )
    if not settings.stores.cache_generations:
        raise ConfigError(
            "the list can be changed with stores.cache_generations = true alone, in all gateways: "
            "without it, gateways read caches without a lease"
        )


async def change(work: Work, addresses: Sequence[str], *, force: bool) -> None:
    """Change the list of the servers. Raises ConfigError, StoreError."""
    if work.topology.moving:
        raise ConfigError("shards are being moved: end the move first; nothing was changed")
    async with _change(work) as found:
        await found.run(addresses, force=force)


async def rollback(work: Work) -> None:
    """Take a change that has begun back. Raises ConfigError, StoreError."""
    async with _change(work) as found:
        await found.rollback()


@asynccontextmanager
async def _change(work: Work) -> AsyncIterator[Change]:
    from datasources.memcached.cache import followed_addresses

    generations = open_generations(topology_url(work.settings))
    assert generations is not None  # see `check`
    try:
        yield Change(
            source=work.source,
            settings=addresses_in(work.settings),
            followed=partial(followed_addresses, generations),
            reach=_reach,
            raise_fences=lambda topology: _raise_fences(work, topology),
            end_lists=generations.end_lists,
            tell=work.tell,
        )
    finally:
        await generations.close()


def shown(topology: Topology, settings: Settings) -> dict[str, Any]:
    """The state of the list: its servers, the servers that a change brings, and the settings'
    servers."""
    lists = topology.caches
    known = lists.read if lists is not None else first_list(addresses_in(settings))
    other = lists.other if lists is not None else None
    return {
        "epoch": topology.epoch,
        "from": "settings" if lists is None else "topology",
        "list": known.number,
        "servers": list(known.servers),
        "step": step_of(lists),
        "next": None if lists is None or other is None else next_commands(lists),
        "other": None if other is None else _as_dict(other),
        "settings": addresses_in(settings),
    }


def step_of(lists: CacheLists | None) -> str | None:
    """The step of the change that goes on: BEGUN or TURNED."""
    if lists is None or lists.other is None:
        return None
    return TURNED if lists.wanted is lists.read else BEGUN


def next_commands(lists: CacheLists) -> str:
    """The commands that end a change that goes on."""
    end = f"end it with `{command_to(lists.wanted)}`"
    if step_of(lists) == BEGUN:
        return f"{end}, or take it back with `pinway cache rollback`"
    return f"{end}, before another change"


def command_to(known: CacheList) -> str:
    """The command that changes to a list, or continues a change to it."""
    return f"pinway cache servers {text_of(known.servers)}"


def _as_dict(known: CacheList) -> dict[str, Any]:
    return {"list": known.number, "servers": list(known.servers)}


async def _reach(address: str) -> str:
    from datasources.memcached.reach import reach

    return await reach(address)


async def _raise_fences(work: Work, topology: Topology) -> None:
    from datasources.mysql.replication.fences import raise_fences

    def progress(server: str, done: int, total: int) -> None:
        if done == total:
            work.tell(f"  {server}: {total:,} shards")

    await together(
        raise_fences(
            work.admin(server),
            names,
            topology.epoch,
            lambda done, total, server=server: progress(server, done, total),  # type: ignore[misc]
        )
        for server, names in sorted(databases(topology).items())
    )
