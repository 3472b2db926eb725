"""The lists of memcached servers in the topology, and their change while gateways run.

A change has three steps, each a topology with a later epoch:

    begun    entries are read and filled by the old list, and removed by both lists.
             Then the fences of all shards are raised to this epoch: every later commit is of a
             gateway that removes by both lists.
    turned   entries are read and filled by the new list, and removed by both lists.
             Then the change waits until no process has a reader lease under the old list.
    ended    the old list is forgotten.

A change that has begun can be taken back: the new list is forgotten. Nobody has read or filled an
entry by it, so its number may be used again. A command of the change that was stopped meanwhile,
and goes on, can't save "turned", because the topology has a later epoch. A change that has turned
can't: processes read by the new list, and fewer and fewer by the old one, which never comes back.

Why no reader gets an older value than an acknowledged write:

*   An entry of the new list was read from its shard after the fences were raised. So it has the
    writes of gateways that did not know the new list, however late they remove.
*   All later writes are removed from both lists, until nobody reads the old list.
*   A gateway that is slow, hangs, or has lost ZooKeeper can't commit under the old epoch, and has
    no reader lease. Nothing waits for it.

An entry's name carries a number: the list since which the key has had this server. So an entry that
a server stored before its key went elsewhere is never read again when the key comes back. To find
the number, a list knows since which list each server is in it, and some servers that have left: a
key came from a server that has left if this server has more weight for it (`datasources.memcached`
places keys by rendezvous hashing).
"""

from collections.abc import Iterable, Sequence

import msgspec

from datasources.errors import ConfigError, StoreCorrupt
from datasources.urls import BadUrl, hosts, options, split, without_login

MOST_LEFT = 8
"""Servers that have left, and are still known. Each costs a hash for each key. Beyond it, the
servers that were there with the first of them begin with new names, so empty."""


class CacheList(msgspec.Struct, frozen=True, omit_defaults=True):
    """The servers under one number, which grows with each change. `servers`: each address
    (host:port), with the number of the list since which it is in all lists. `left`: servers that
    have left, with the number of the last list that had them."""

    number: int
    servers: dict[str, int]
    left: dict[str, int] = {}


class CacheLists(msgspec.Struct, frozen=True, omit_defaults=True):
    """The list by which entries are read and filled and, during a change, the other list, by which
    entries are removed, too. If the other list has the higher number, the change has begun;
    otherwise it has turned."""

    read: CacheList
    other: CacheList | None = None

    @property
    def wanted(self) -> CacheList:
        """The list with the highest number."""
        return max(filter(None, (self.read, self.other)), key=lambda found: found.number)

    @property
    def unwanted(self) -> CacheList:
        """The list with the lowest number."""
        return min(filter(None, (self.read, self.other)), key=lambda found: found.number)


def addresses_of(text: str) -> list[str]:
    """The addresses in `HOST:PORT[,HOST:PORT]`, in the form of a list. Raises ConfigError."""
    try:
        url = split(f"memcached://{text}")
        without_login(url, "memcached")
        options(url, ())
        if url.path:
            raise BadUrl("it must end after the last port")
        found = [address_of(host, port) for host, port in hosts(url)]
    except BadUrl as error:
        raise ConfigError(f"memcached servers {text!r}: {error}; nothing was changed") from None
    for name in found:
        if found.count(name) > 1:
            raise ConfigError(
                f"memcached servers {text!r}: {name} is there twice; nothing was changed"
            )
    return found


def address_of(host: str, port: int) -> str:
    """The name of a server in lists, hashes and messages."""
    return f"{host}:{port}"


def text_of(addresses: Iterable[str]) -> str:
    """The addresses as settings and commands have them: an IPv6 address in brackets."""
    found = [host_and_port(name) for name in addresses]
    return ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in found)


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of a server's name."""
    host, _, port = address.rpartition(":")
    return host, int(port)


def first_list(addresses: Iterable[str]) -> CacheList:
    """The list that the settings name."""
    return CacheList(1, dict.fromkeys(addresses, 1))


def next_list(current: CacheList, addresses: Sequence[str]) -> CacheList:
    """The list of other servers that follows the current one."""
    number = current.number + 1
    servers = {name: current.servers.get(name, number) for name in addresses}
    gone = {name: current.number for name in current.servers if name not in servers}
    left = {name: last for name, last in current.left.items() if name not in servers} | gone
    while True:
        # A server that came after another one had left has none of its keys.
        left = {name: last for name, last in left.items() if last >= min(servers.values())}
        if len(left) <= MOST_LEFT:
            return CacheList(number, servers, left)
        oldest = min(left.values())
        servers = {name: number if since <= oldest else since for name, since in servers.items()}


def begun(current: CacheList, addresses: Sequence[str]) -> CacheLists:
    """The first step of a change."""
    return CacheLists(current, next_list(current, addresses))


def turned(lists: CacheLists) -> CacheLists:
    """The second step of a change that has begun."""
    assert lists.other is not None
    return CacheLists(lists.other, lists.read)


def check_lists(lists: CacheLists) -> None:
    """Raises StoreCorrupt for lists that no change makes."""
    for found in filter(None, (lists.read, lists.other)):
        where = f"topology: caches: list {found.number}"
        numbers = [*found.servers.values(), *found.left.values()]
        if found.number < 1 or not all(1 <= number <= found.number for number in numbers):
            raise StoreCorrupt(f"{where}: numbers must be from 1 to the number of their list")
        if not found.servers:
            raise StoreCorrupt(f"{where}: it has no servers")
        if both := found.servers.keys() & found.left.keys():
            raise StoreCorrupt(f"{where}: {min(both)} is in it, and has left it")
        for name in found.servers:
            host, _, port = name.rpartition(":")
            if not (host and port.isdecimal() and 0 < int(port) < 65536):
                raise StoreCorrupt(f"{where}: server {name!r} must be host:port")
    if lists.other is not None and abs(lists.other.number - lists.read.number) != 1:
        raise StoreCorrupt("topology: caches: the numbers of the two lists must follow each other")


def check_next_lists(current: CacheLists | None, found: CacheLists | None) -> None:
    """Raises StoreCorrupt for lists that must not follow the current ones: gateways would read
    entries that other gateways don't remove."""
    if current is not None and (found is None or found.read.number < current.read.number):
        raise StoreCorrupt(
            "topology: caches: the list of memcached servers went back; `pinway cache servers` "
            "changes it"
        )
