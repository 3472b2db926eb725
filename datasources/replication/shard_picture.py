"""A picture of the shards as text: ranges, servers, sizes, lag."""

from dataclasses import dataclass

from datasources.topology import ShardRange, Topology


@dataclass(frozen=True)
class ServerState:
    """A server's answers about itself; `fault` if it does not answer."""

    name: str
    fault: str | None = None
    role: str = ""  # master, slave, or neither
    epoch: int = 0
    shards: int = 0  # shards that it owns
    megabytes: float = 0.0
    lag: float | None = None  # seconds behind its master; None if it does not replicate
    waits: bool = False  # whether a master's writes wait for a slave
    connections: int = 0
    max_connections: int = 0


def picture(topology: Topology, states: dict[str, ServerState]) -> list[str]:
    """Lines of text: the topology's epoch, the ranges, then the servers."""
    lines = [f"topology of epoch {topology.epoch}"]
    lines += [_range("shards", r) for r in topology.shards]
    lines += [_range("mod shards", r) for r in topology.mod.ranges]
    lines.append("")
    lines += [_server(states[name]) for name in sorted(states)]
    return lines


def _range(kind: str, shards: ShardRange) -> str:
    low, high = shards.range
    name = f"{kind} {low}-{high}"
    return f"  {name:<24} {shards.master}  <- {shards.slave or 'no slave'}"


def _server(state: ServerState) -> str:
    if state.fault is not None:
        return f"  {state.name:<12} does not answer: {state.fault.removeprefix(f'{state.name}: ')}"
    told = (
        f"  {state.name:<12} {state.role:<8} epoch {state.epoch:<5} {state.shards:>5} shards "
        f"{state.megabytes:>9.1f} MB  {state.connections} of {state.max_connections} connections"
    )
    if state.role == "slave":
        behind = "does not replicate" if state.lag is None else f"{state.lag:.0f} s behind"
        return f"{told}  {behind}"
    if state.role == "master" and not state.waits:
        return f"{told}  without a slave"
    return told
