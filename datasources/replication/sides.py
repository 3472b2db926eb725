"""The interface of a live move to its two servers, and to its records in ZooKeeper."""

from collections.abc import Collection, Sequence
from enum import Enum, auto
from typing import NamedTuple, Protocol

from datasources.replication.moves import Move, Owners
from datasources.replication.steps import Progress
from datasources.topology import Topology


class Flow(Enum):
    """The state of a channel."""

    ALIVE = auto()  # and less than a second behind
    LATE = auto()
    LOST = auto()  # there is none, or it can't go on


class Channel(NamedTuple):
    flow: Flow
    told: str = ""  # a text that describes the fault


class Difference(NamedTuple):
    """A row that differs between two sides, or is only on one side."""

    shard: int
    table: str
    key: str
    fault: str  # missing, extra, or other


class Report(NamedTuple):
    """The result of a comparison."""

    rows: int
    seconds: float
    differences: Sequence[Difference]
    repaired: bool


class Sides(Protocol):
    """The two servers of a move. Each call may be repeated. All calls raise StoreError.

    "The channel to B from A" is on B, and applies A's changes of the move's shards there.
    """

    async def owners(self, server: str, shards: Collection[int]) -> Owners:
        """The servers that the fences on `server` name, by shard."""

    async def copy(
        self, source: str, target: str, shards: Collection[int], progress: Progress
    ) -> None:
        """Replace the target's copies of shards, none of which it owns, and create the channel that
        continues from there. The target does not pass the copied rows on to a channel from it."""

    async def connect(self, source: str, target: str, shards: Collection[int]) -> None:
        """Create the channel to the target, from the source's present position."""

    async def follow(self, source: str, target: str) -> None:
        """Start the channel to the target, if there is one."""

    async def channel(self, source: str, target: str) -> Channel: ...

    async def stop(self, source: str, target: str) -> None:
        """Stop applying on the target. Afterwards nothing more is applied there."""

    async def leave(self, source: str, target: str) -> None:
        """Remove the channel to the target, with its received events."""

    async def verify(
        self, source: str, target: str, shards: Collection[int], progress: Progress, *, repair: bool
    ) -> Report:
        """Compare both sides as of one position of the source."""

    async def hand(self, source: str, target: str, shards: Collection[int], epoch: int) -> bool:
        """Change the source's fences to the target, all or none. Returns False if writers kept them
        locked too long. Afterwards, readers with an earlier epoch are refused."""

    async def take_back(
        self, source: str, target: str, shards: Collection[int], epoch: int
    ) -> None:
        """Change the source's fences that name the target back to the source."""

    async def drop(self, server: str, shards: Collection[int]) -> None:
        """Delete a server's copies of shards that it does not own."""


class Records(Protocol):
    """The move's record and the topology. Both are replaced by compare-and-set."""

    async def save(self, move: Move) -> None: ...

    async def topology(self) -> Topology: ...

    async def replace(self, topology: Topology, *, expected_epoch: int) -> None: ...
