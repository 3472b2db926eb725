"""The shard configuration: which server holds which range of shards, under which epoch.

JSON as in the published text, with servers' addresses beside the ranges:
`{"epoch": 1, "servers": {name: url}, "shards": [{"range": [0, 511], "master": name,
"slave": name}], "mod": {"count": 4096, "ranges": [...]}}`; ranges are inclusive.
"""

import hashlib
from bisect import bisect_right
from functools import cached_property

import msgspec

from datasources.errors import StoreCorrupt
from datasources.ids import MAX_SHARD


class ShardRange(msgspec.Struct, frozen=True, omit_defaults=True):
    """Shards `range[0]` to `range[1]`, both included, on server `master`."""

    range: tuple[int, int]
    master: str
    slave: str | None = None


class ModShards(msgspec.Struct, frozen=True):
    """Mod shards 0 to `count` - 1."""

    count: int
    ranges: tuple[ShardRange, ...]


class Topology(msgspec.Struct, frozen=True, dict=True):
    """One version of the configuration; immutable, and looked up without I/O."""

    epoch: int
    servers: dict[str, str]
    shards: tuple[ShardRange, ...]
    mod: ModShards

    @cached_property
    def open_shards(self) -> list[int]:
        """Every shard that exists, ascending."""
        return [s for r in self.shards for s in range(r.range[0], r.range[1] + 1)]

    @cached_property
    def _starts(self) -> list[int]:
        return [r.range[0] for r in self.shards]

    def master_of(self, shard: int) -> str:
        """The server that holds a shard. Raises KeyError for a shard that is not open."""
        found = self.shards[bisect_right(self._starts, shard) - 1] if self.shards else None
        if found is None or not found.range[0] <= shard <= found.range[1]:
            raise KeyError(f"shard {shard} is not open")
        return found.master

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
        """The shard for a new object that belongs beside no other, by a stable hash of a key."""
        digest = hashlib.md5(key.encode()).digest()
        return self.open_shards[int.from_bytes(digest, "big") % len(self.open_shards)]


def parse(data: bytes | str) -> Topology:
    """A checked topology from its JSON. Raises StoreCorrupt that names what is wrong."""
    try:
        topology = msgspec.json.decode(data, type=Topology)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"topology: {error}") from error
    _check("shards", topology.shards, topology, MAX_SHARD)
    _check("mod", topology.mod.ranges, topology, topology.mod.count - 1)
    if sum(r.range[1] - r.range[0] + 1 for r in topology.mod.ranges) != topology.mod.count:
        raise StoreCorrupt(f"topology: mod ranges don't cover all {topology.mod.count} mod shards")
    return topology


def dump(topology: Topology) -> bytes:
    return msgspec.json.format(msgspec.json.encode(topology), indent=2)


def _check(name: str, ranges: tuple[ShardRange, ...], topology: Topology, highest: int) -> None:
    if not ranges:
        raise StoreCorrupt(f"topology: {name} has no range")
    last = -1
    for r in ranges:
        low, high = r.range
        if not last < low <= high <= highest:
            raise StoreCorrupt(
                f"topology: {name} range [{low}, {high}] must ascend, not overlap, end by {highest}"
            )
        for server in filter(None, (r.master, r.slave)):
            if server not in topology.servers:
                raise StoreCorrupt(f"topology: {name} range [{low}, {high}]: no server {server!r}")
        last = high
