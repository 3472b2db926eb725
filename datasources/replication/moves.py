"""The record of a live move, its states, and the facts about it: the fences on both sides.

A move copies shards to another master (COPYING), which follows the source (FOLLOWING). It compares
the two sides (VERIFIED) and hands the shards over in groups (HANDING): the source's fence names the
target, and this is the last change that the target applies before it has the shard. After MOVED the
source follows the target, so the shards can be handed back (ROLLING_BACK, BACK) until the move is
CLOSED.

A record may be out of date: a killed process may have done more than its record says. So each step
starts with the fences, and may be repeated.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from datasources.errors import ConfigError, Damaged
from datasources.replication import topologies
from datasources.replication.topologies import Span
from datasources.topology import Topology

GROUP = 8


class State(StrEnum):
    """The states of a move: PLANNED to MOVED are the way there, ROLLING_BACK and BACK the way
    back."""

    PLANNED = "PLANNED"
    COPYING = "COPYING"
    FOLLOWING = "FOLLOWING"
    VERIFIED = "VERIFIED"
    HANDING = "HANDING"
    MOVED = "MOVED"
    CLOSED = "CLOSED"
    ROLLING_BACK = "ROLLING_BACK"
    BACK = "BACK"


ENDED = (State.CLOSED, State.BACK)
ARRIVED = (State.MOVED, State.BACK)


class Move(msgspec.Struct, frozen=True, omit_defaults=True):
    """A move of the shards `range` from master `origin` to master `destination`."""

    range: Span
    origin: str
    destination: str
    state: State = State.PLANNED
    back: bool = False  # on the way back, the destination is the source
    size: int = GROUP  # shards that are handed over together
    groups: int = 0  # groups that were handed over on this way
    floor: int = 0  # hand-overs on this way have a higher epoch

    @property
    def id(self) -> str:
        return id_of(self.range)

    @property
    def shards(self) -> list[int]:
        return list(range(self.range[0], self.range[1] + 1))

    @property
    def source(self) -> str:
        return self.destination if self.back else self.origin

    @property
    def target(self) -> str:
        return self.origin if self.back else self.destination

    @property
    def handing(self) -> State:
        return State.ROLLING_BACK if self.back else State.HANDING

    @property
    def arrived(self) -> State:
        return State.BACK if self.back else State.MOVED


class Standing(NamedTuple):
    """Where the shards are between a source and a target."""

    left: list[int]  # on the source
    under_way: list[int]  # handed over, but not yet taken: closed on both sides
    handed: list[int]  # on the target


Owners = Mapping[int, str | None]
"""The server in each shard's fence; None if there is no fence."""


def id_of(span: Span) -> str:
    """The name of a move's record and of its channels."""
    return f"move_{span[0]}_{span[1]}"


def standing(
    shards: Iterable[int], source: str, target: str, at_source: Owners, at_target: Owners
) -> Standing:
    """The place of each shard. Raises Damaged for a shard that both sides, or a third server,
    have."""
    found = Standing([], [], [])
    for shard in shards:
        there, here = at_target.get(shard), at_source.get(shard)
        if there == target and here == source:
            raise Damaged(
                f"shard {shard} is open on {source} and on {target}: stop all writers, compare "
                "the two, and close one of them"
            )
        if there == target:
            found.handed.append(shard)
        elif here == source:
            found.left.append(shard)
        elif here == target:
            found.under_way.append(shard)
        else:
            raise Damaged(
                f"shard {shard} is neither on {source} nor on {target}: {source} says that it is "
                f"on {here or 'no server'}; nothing was changed"
            )
    return found


def groups(shards: Sequence[int], size: int) -> list[list[int]]:
    return [list(shards[at : at + size]) for at in range(0, len(shards), size)]


def planned(topology: Topology, span: Span, to: str, size: int = GROUP) -> Move:
    """A new move. Raises ConfigError for an impossible move."""
    topologies.check_server(topology, to)
    topologies.moved(topology, span, to, None)  # raises for shards that are not open
    masters = {topology.master_of(shard) for shard in range(span[0], span[1] + 1)}
    text = f"{span[0]}-{span[1]}"
    if masters == {to}:
        raise ConfigError(f"shards {text} are on {to} already")
    if len(masters) > 1:
        raise ConfigError(
            f"shards {text} are on {', '.join(sorted(masters))}: move the shards of one server at "
            "a time"
        )
    if to in topologies.slaves(topology):
        raise ConfigError(f"{to} is a slave: move shards to a master")
    if any(span[0] <= m.range[1] and m.range[0] <= span[1] for m in topology.moving):
        raise ConfigError(f"some of shards {text} are being moved")
    return Move(span, masters.pop(), to, size=size)


def check_alone(span: Span, others: Iterable[Move]) -> None:
    """Raises ConfigError if another unfinished move has some of the shards."""
    for other in others:
        low, high = other.range
        if other.range != span and low <= span[1] and span[0] <= high and not is_over(other):
            raise _unfinished(other)


def check_unused(server: str, known: Iterable[Move]) -> None:
    """Raises ConfigError if an unfinished move is from or to the server."""
    for move in known:
        if server in (move.origin, move.destination) and not is_over(move):
            raise _unfinished(move)


def _unfinished(move: Move) -> ConfigError:
    low, high = move.range
    return ConfigError(
        f"shards {low}-{high} are in a move that is {move.state}: finish it with "
        f"`pinway shards move`, `rollback` or `close`"
    )


def is_over(move: Move) -> bool:
    return move.state in ENDED


def renamed(move: Move, topology: Topology) -> Move:
    """The move with today's masters: a promotion may have replaced one of them since."""
    low, high = move.range
    master = topology.master_of(low)
    entry = next((m for m in topology.moving if m.range == (low, high)), None)
    if entry is not None:
        if move.origin == master or move.destination == entry.to:
            return replace(move, origin=master, destination=entry.to)
        if move.destination == master or move.origin == entry.to:
            return replace(move, origin=entry.to, destination=master)
        raise ConfigError(
            f"shards {low}-{high} move between {master} and {entry.to} by now, and this move is "
            f"between {move.origin} and {move.destination}"
        )
    if master in (move.origin, move.destination):
        return move
    if move.state is State.MOVED:
        return replace(move, destination=master)
    return replace(move, origin=master)


def succeeded(move: Move, old: str, new: str) -> Move:
    """The move with the successor of a server that was replaced."""
    origin, destination = (new if n == old else n for n in (move.origin, move.destination))
    return replace(move, origin=origin, destination=destination)


def announced(move: Move, topology: Topology) -> tuple[Topology, int]:
    """A topology that names both servers (the same one if it already does), and the epoch of the
    hand-over."""
    entry = next((m for m in topology.moving if m.range == move.range), None)
    if entry is not None and entry.epoch > move.floor:
        return topology, entry.epoch
    master = topology.master_of(move.range[0])
    other = move.target if master == move.source else move.source
    following = topologies.announced(topology, move.range, other)
    return following, following.epoch


def settled(move: Move, topology: Topology) -> Topology:
    """A topology with all shards on the target (the same one if they already are)."""
    named = any(m.range == move.range for m in topology.moving)
    on_target = {topology.master_of(shard) for shard in move.shards} == {move.target}
    if on_target and not named:
        return topology
    slave = topologies.slave_of(topology, move.target)
    return topologies.settled(topology, move.range, move.target, slave)


def turned(move: Move, topology: Topology) -> Move:
    """The move in the other direction."""
    entry = next((m for m in topology.moving if m.range == move.range), None)
    floor = 0 if entry is None else entry.epoch
    return replace(move, back=True, state=State.VERIFIED, groups=0, floor=floor)


def counted(count: int, what: str) -> str:
    """The number of things, as in "1 group" and "1,024 shards"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def picture(move: Move) -> str:
    """The move as a line of text."""
    name = f"shards {move.range[0]}-{move.range[1]}"
    way = f"{move.origin}  -> {move.destination}"
    done = f", {counted(move.groups, 'group')} handed over" if move.groups else ""
    return f"  {name:<24} {way}  {move.state}{', on the way back' * move.back}{done}"


def intended(move: Move) -> list[str]:
    """The remaining steps of a move, as lines of text."""
    low, high = move.range
    count = high - low + 1
    handed = len(groups(move.shards, move.size))
    lines = [f"shards {low}-{high} ({count}) go from {move.source} to {move.target}"]
    if move.state in (State.PLANNED, State.COPYING):
        lines.append(f"copy them to {move.target}, which follows {move.source} from then on")
    if move.state in (State.PLANNED, State.COPYING, State.FOLLOWING):
        lines.append("compare both sides")
    if move.state not in ARRIVED:
        lines.append(
            f"hand them over in {counted(handed, 'group')} of up to {counted(move.size, 'shard')}"
        )
    if not move.back:
        lines.append(f"then {move.source} follows {move.target}, until the move is closed")
    return lines


def encode(move: Move) -> bytes:
    return msgspec.json.encode(move)


def decode(data: bytes) -> Move:
    """The move in a record. Raises Damaged if another version wrote the record."""
    try:
        return msgspec.json.decode(data, type=Move)
    except msgspec.MsgspecError as error:
        raise Damaged(f"the record of a move can't be read: {error}") from error
