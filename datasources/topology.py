"""The shard configuration: which server has which range of shards, under which epoch.

It is JSON as in Pinterest's description, with the servers' addresses beside the ranges: `{"epoch":
1, "servers": {name: url}, "shards": [{"range": [0, 511], "master": name, "slave": name}], "mod":
{"count": 4096, "ranges": [...]}}`. Ranges are inclusive. While shards are being handed over to
another server, `"moving": [{"range": [64, 127], "to": name, "epoch": 7}]` names it. `"caches"` has
the lists of memcached servers, once they were changed (`datasources.cache_lists`).
"""

import hashlib
import os
from bisect import bisect_right
from functools import cached_property

import msgspec

from datasources.cache_lists import CacheLists, check_lists, check_next_lists
from datasources.errors import Damaged, StoreCorrupt
from datasources.ids import MAX_SHARD
from datasources.urls import BadUrl, mask, split

MAX_NAME = 64  # bytes of a server's name: the size of a fence's column


class ShardRange(msgspec.Struct, frozen=True, omit_defaults=True):
    """The shards from `range[0]` to `range[1]`, both included, on server `master`."""

    range: tuple[int, int]
    master: str
    slave: str | None = None


class Moving(msgspec.Struct, frozen=True):
    """Shards that are on their master or on `to`, as each shard's fence says. Fences that were
    handed over have `epoch`, the epoch of the first topology that named the move."""

    range: tuple[int, int]
    to: str
    epoch: int


class ModShards(msgspec.Struct, frozen=True):
    """The mod shards 0 to `count` - 1."""

    count: int
    ranges: tuple[ShardRange, ...]


class Topology(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """One version of the configuration. It is immutable, and needs no I/O."""

    epoch: int
    servers: dict[str, str]
    shards: tuple[ShardRange, ...]
    mod: ModShards
    moving: tuple[Moving, ...] = ()
    caches: CacheLists | None = None
    """The memcached servers; None as long as the settings name them."""

    @cached_property
    def open_shards(self) -> list[int]:
        """Every shard that exists, ascending."""
        return [s for r in self.shards for s in range(r.range[0], r.range[1] + 1)]

    @cached_property
    def shards_of_masters(self) -> dict[str, list[int]]:
        """The open shards of each server, ascending."""
        found: dict[str, list[int]] = {}
        for r in self.shards:
            found.setdefault(r.master, []).extend(range(r.range[0], r.range[1] + 1))
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [r.range[0] for r in self.shards]

    def master_of(self, shard: int) -> str:
        """The server that holds a shard. Raises KeyError for a shard that is not open."""
        return self.range_of(shard).master

    def range_of(self, shard: int) -> ShardRange:
        """The range with a shard. Raises KeyError for a shard that is not open."""
        found = self.shards[bisect_right(self._starts, shard) - 1] if self.shards else None
        if found is None or not found.range[0] <= shard <= found.range[1]:
            raise KeyError(f"shard {shard} is not open")
        return found

    def moving_of(self, shard: int) -> Moving | None:
        """The move that a shard is in."""
        for moving in self.moving:
            if moving.range[0] <= shard <= moving.range[1]:
                return moving
        return None

    def mod_shard_of(self, key: str) -> int:
        """md5(key) % count, of the bare string."""
        return int.from_bytes(hashlib.md5(key.encode()).digest(), "big") % self.mod.count

    def mod_master_of(self, mod_shard: int) -> str:
        """The server that holds a mod shard."""
        for r in self.mod.ranges:
            if r.range[0] <= mod_shard <= r.range[1]:
                return r.master
        raise KeyError(f"mod shard {mod_shard} is not open")

    def place(self, key: str) -> int:
        """The shard for a new object without a parent, by a stable hash of a key."""
        digest = hashlib.md5(key.encode()).digest()
        return self.open_shards[int.from_bytes(digest, "big") % len(self.open_shards)]


def parse(data: bytes | str) -> Topology:
    """A checked topology from its JSON. Raises StoreCorrupt that names the fault."""
    try:
        topology = msgspec.json.decode(data, type=Topology)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"topology: {error}") from error
    if topology.epoch < 1:
        raise StoreCorrupt(f"topology: epoch {topology.epoch} is not a number from 1 on")
    _check_servers(topology.servers)
    _check("shards", topology.shards, topology, MAX_SHARD)
    _check("mod", topology.mod.ranges, topology, topology.mod.count - 1)
    if sum(r.range[1] - r.range[0] + 1 for r in topology.mod.ranges) != topology.mod.count:
        raise StoreCorrupt(f"topology: mod ranges don't cover all {topology.mod.count} mod shards")
    _check_moving(topology)
    if topology.caches is not None:
        check_lists(topology.caches)
    return topology


def missing(place: str | os.PathLike[str]) -> Damaged:
    """The error for a place (a file or a node) without a topology."""
    return Damaged(
        f"topology: there is none at {place}; `pinway init` makes it of the "
        "file that the setting stores.topology_seed names"
    )


def dump(topology: Topology) -> bytes:
    return msgspec.json.format(msgspec.json.encode(topology), indent=2)


def check_next(current: Topology, found: Topology) -> bool:
    """Whether a topology replaces the current one; False for an equal topology. Raises StoreCorrupt
    for a topology that must not: with an earlier epoch, with other content under the same epoch, or
    with a change that would hide stored objects."""
    if found == current:
        return False
    if found.epoch < current.epoch:
        raise StoreCorrupt(f"topology: the epoch went back from {current.epoch} to {found.epoch}")
    if found.epoch == current.epoch:
        raise StoreCorrupt(
            f"topology: its content was changed under the same epoch {found.epoch}: "
            f"each change needs a higher epoch, here {found.epoch + 1}"
        )
    if found.mod.count != current.mod.count:
        raise StoreCorrupt(
            f"topology: mod.count was {current.mod.count} and is {found.mod.count}: it must never "
            "change, since names are found on shard md5(name) % count"
        )
    still_open = set(found.open_shards)
    closed = [shard for shard in current.open_shards if shard not in still_open]
    if closed:
        raise StoreCorrupt(
            f"topology: shard {closed[0]} is open in epoch {current.epoch} and missing in epoch "
            f"{found.epoch}, {len(closed)} such shards: their objects could not be found"
        )
    check_next_lists(current.caches, found.caches)
    return True


def _check_servers(servers: dict[str, str]) -> None:
    seen: dict[tuple[str, str, int], str] = {}
    for name, url in servers.items():
        if not 0 < len(name.encode()) <= MAX_NAME:
            raise StoreCorrupt(
                f"topology: server name {name!r} must have 1 to {MAX_NAME} bytes in UTF-8"
            )
        address = _address(name, url)
        other = seen.setdefault(address, name)
        if other != name:
            raise StoreCorrupt(
                f"topology: servers {other!r} and {name!r} have the same address; one server has "
                "one name, or its shards would belong to two"
            )


def _address(name: str, url: str) -> tuple[str, str, int]:
    """The part of an address that identifies a server."""
    where = f"topology: server {name!r}"
    try:
        parts = split(url)
        host, port = parts.hostname or "", parts.port
    except BadUrl as error:
        raise StoreCorrupt(f"{where}: its address {mask(url)!r}: {error}") from None
    except ValueError:
        raise StoreCorrupt(
            f"{where}: its address is not a URL: the port must be a number from 1 to 65535"
        ) from None
    if parts.query or parts.fragment:
        raise StoreCorrupt(f"{where}: its address must end before a ? or #")
    if parts.scheme == "sqlite":
        if parts.netloc or not parts.path.startswith("/"):
            raise StoreCorrupt(f"{where}: an absolute path is missing, as in sqlite:///var/shards")
        return parts.scheme, os.path.normpath(parts.path), 0
    if not parts.scheme or not host or port == 0 or parts.path.strip("/"):
        raise StoreCorrupt(f"{where}: its address must be like mysql://HOST:PORT")
    return parts.scheme, host, port or 3306


def _check_moving(topology: Topology) -> None:
    for at, moving in enumerate(topology.moving):
        low, high = moving.range
        where = f"topology: moving range [{low}, {high}]"
        if moving.to not in topology.servers:
            raise StoreCorrupt(f"{where}: no server {moving.to!r}")
        if not (topology.shards[0].range[0] <= low <= high <= topology.shards[-1].range[1]):
            raise StoreCorrupt(f"{where}: not all of these shards are open")
        if not 1 <= moving.epoch <= topology.epoch:
            raise StoreCorrupt(f"{where}: its epoch {moving.epoch} is not 1 to {topology.epoch}")
        if any(low <= o.range[1] and o.range[0] <= high for o in topology.moving[:at]):
            raise StoreCorrupt(f"{where}: it overlaps another move")


def _check(name: str, ranges: tuple[ShardRange, ...], topology: Topology, highest: int) -> None:
    if not ranges:
        raise StoreCorrupt(f"topology: {name} has no range")
    last = -1
    for r in ranges:
        low, high = r.range
        if last >= 0 and low > last + 1:
            raise StoreCorrupt(
                f"topology: {name} {last + 1} to {low - 1} are missing: a hole between two ranges"
            )
        if not last < low <= high <= highest:
            raise StoreCorrupt(
                f"topology: {name} range [{low}, {high}] must ascend, not overlap, end by {highest}"
            )
        for server in filter(None, (r.master, r.slave)):
            if server not in topology.servers:
                raise StoreCorrupt(f"topology: {name} range [{low}, {high}]: no server {server!r}")
        last = high
