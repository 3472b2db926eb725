"""Operators' changes of a topology. Each function returns the next topology, with the next epoch.

All functions are pure. For an impossible change they raise ConfigError, which says what is
possible.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from datasources.errors import ConfigError
from datasources.ids import MAX_SHARD
from datasources.topology import Moving, ShardRange, Topology

Span = tuple[int, int]
"""The first and the last shard of a range."""


def span_of(text: str) -> Span:
    """A range as people write it: `64-127`, or `64` for one shard."""
    low, dash, high = text.partition("-")
    if not (low.isdecimal() and (high.isdecimal() or not dash)):
        raise ConfigError(f"range {text!r}: a range is like 64-127, or 64 for one shard")
    span = int(low), int(high or low)
    if not span[0] <= span[1] <= MAX_SHARD:
        raise ConfigError(f"range {text!r}: it must ascend, and end by {MAX_SHARD}")
    return span


def check_server(topology: Topology, name: str) -> None:
    if name not in topology.servers:
        known = ", ".join(sorted(topology.servers))
        raise ConfigError(f"the topology has no server {name!r}: it has {known}")


def check_master(topology: Topology, name: str) -> None:
    check_server(topology, name)
    if name not in (known := masters(topology)):
        raise ConfigError(f"{name} is the master of no shards: masters are {', '.join(known)}")


def slave_of(topology: Topology, master: str) -> str | None:
    """The slave of a master's ranges."""
    slaves = {r.slave for r in _ranges(topology) if r.master == master}
    return slaves.pop() if len(slaves) == 1 else None


def master_over(topology: Topology, slave: str) -> str:
    """The master of a slave."""
    check_server(topology, slave)
    found = {r.master for r in _ranges(topology) if r.slave == slave}
    if len(found) != 1:
        slaves = sorted({r.slave for r in _ranges(topology) if r.slave})
        raise ConfigError(
            f"{slave} is the slave of no master, or of several: slaves are "
            f"{', '.join(slaves) or 'none'}; nothing was changed"
        )
    return found.pop()


def lone_master(topology: Topology, but: str) -> str:
    """The only master without a slave, other than `but`. Raises ConfigError if there isn't exactly
    one."""
    found = {r.master for r in _ranges(topology) if r.slave is None} - {but}
    if not found:
        raise ConfigError(
            f"every master other than {but} has a slave already: `pinway shards show` lists them; "
            "to attach it again, name its master with --to"
        )
    if len(found) > 1:
        raise ConfigError(
            f"{', '.join(sorted(found))} have no slave: say with --to which one gets {but}"
        )
    return found.pop()


def masters(topology: Topology) -> list[str]:
    return sorted({r.master for r in _ranges(topology)})


def slaves(topology: Topology) -> list[str]:
    return sorted({r.slave for r in _ranges(topology) if r.slave is not None})


def added(topology: Topology, name: str, url: str) -> Topology:
    """Add a server, which has no shards yet."""
    if topology.servers.get(name, url) != url:
        raise ConfigError(f"server {name!r} is there already, at {topology.servers[name]}")
    return _next(topology, servers={**topology.servers, name: url})


def removed(topology: Topology, name: str) -> Topology:
    """Remove a server that has no shards, and is nobody's slave."""
    check_server(topology, name)
    kinds = (("shards", topology.shards), ("mod shards", topology.mod.ranges))
    held = [
        f"{kind} {_text(r.range)}" for kind, ranges in kinds for r in ranges if r.master == name
    ]
    if held:
        raise ConfigError(
            f"{name} is the master of {', '.join(held)}: move its shards to another master, or "
            "promote its slave; nothing was changed"
        )
    over = sorted({r.master for r in _ranges(topology) if r.slave == name})
    if over:
        raise ConfigError(
            f"{name} is the slave of {', '.join(over)}: `pinway shards detach {name}` ends that, "
            "and then writes are on one server alone; nothing was changed"
        )
    if any(moving.to == name for moving in topology.moving):
        raise ConfigError(f"shards are being moved to {name}: end the move; nothing was changed")
    return _next(topology, servers={n: url for n, url in topology.servers.items() if n != name})


def opened(topology: Topology, span: Span, master: str, slave: str | None) -> Topology:
    """Add new shards after the existing shards."""
    check_server(topology, master)
    first = topology.shards[-1].range[1] + 1
    if span[0] != first:
        raise ConfigError(
            f"range {_text(span)}: new shards follow the existing shards, so the range must "
            f"begin at {first}"
        )
    shards = (*topology.shards, ShardRange(span, master, slave))
    return _next(topology, shards=merged(shards))


def promoted(topology: Topology, old: str, new: str) -> Topology:
    """Make a slave the master of all its master's shards, without a slave."""
    return _with_pair(topology, old, new, None)


def with_slave(topology: Topology, master: str, slave: str | None) -> Topology:
    """Change or remove the slave of all shards of a master."""
    return _with_pair(topology, master, master, slave)


def announced(topology: Topology, span: Span, to: str) -> Topology:
    """Announce that shards will be handed over in groups, from their master to `to`, under the new
    epoch. It replaces an earlier announcement for the same shards."""
    check_server(topology, to)
    others = tuple(moving for moving in topology.moving if moving.range != span)
    return _next(topology, moving=(*others, Moving(span, to, topology.epoch + 1)))


def settled(topology: Topology, span: Span, master: str, slave: str | None) -> Topology:
    """Record that all announced shards are on `master`."""
    others = tuple(moving for moving in topology.moving if moving.range != span)
    return replace(moved(topology, span, master, slave), moving=others)


def moved(topology: Topology, span: Span, to: str, slave: str | None) -> Topology:
    """Move a range of shards to another master."""
    check_server(topology, to)
    if span[0] < topology.shards[0].range[0] or span[1] > topology.shards[-1].range[1]:
        raise ConfigError(f"range {_text(span)}: not all of these shards are open")
    shards: list[ShardRange] = []
    for r in topology.shards:
        low, high = r.range
        first, last = max(low, span[0]), min(high, span[1])
        if first > last:
            shards.append(r)
            continue
        if low < first:
            shards.append(replace(r, range=(low, first - 1)))
        shards.append(ShardRange((first, last), to, slave))
        if last < high:
            shards.append(replace(r, range=(last + 1, high)))
    return _next(topology, shards=merged(shards))


def merged(ranges: Iterable[ShardRange]) -> tuple[ShardRange, ...]:
    """The ranges, with neighboring ranges on the same servers merged."""
    found: list[ShardRange] = []
    for r in ranges:
        before = found[-1] if found else None
        if (
            before is not None
            and (before.master, before.slave) == (r.master, r.slave)
            and before.range[1] + 1 == r.range[0]
        ):
            found[-1] = replace(before, range=(before.range[0], r.range[1]))
        else:
            found.append(r)
    return tuple(found)


def _with_pair(topology: Topology, old: str, master: str, slave: str | None) -> Topology:
    def changed(ranges: tuple[ShardRange, ...]) -> tuple[ShardRange, ...]:
        return merged(
            replace(r, master=master, slave=slave) if r.master == old else r for r in ranges
        )

    mod = replace(topology.mod, ranges=changed(topology.mod.ranges))
    moving = tuple(replace(m, to=master) if m.to == old else m for m in topology.moving)
    return _next(topology, shards=changed(topology.shards), mod=mod, moving=moving)


def _next(topology: Topology, **changes: object) -> Topology:
    return replace(topology, epoch=topology.epoch + 1, **changes)


def _ranges(topology: Topology) -> tuple[ShardRange, ...]:
    return (*topology.shards, *topology.mod.ranges)


def _text(span: Span) -> str:
    return f"{span[0]}-{span[1]}"
