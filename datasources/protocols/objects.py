"""Objects as JSON by id, and the transactions that write them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from datasources.errors import StoreError
from datasources.ids import Kind
from datasources.protocols.transactions import ShardTx
from datasources.topology import Topology

T = TypeVar("T")

Listed = tuple[int, bytes | StoreError]
"""An object's id and JSON; or an error in place of objects that could not be read."""


class ObjectStore(Protocol):
    """Objects as JSON by id, including deleted ones (active: false); transactions on a shard."""

    def topology(self) -> Topology:
        """The topology in use, for placing new objects."""

    async def get(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The JSON of the objects that exist. An id on a shard that is not open has none. One round
        trip for each server."""

    async def list(self, kind: Kind, after_id: int, limit: int) -> list[tuple[int, bytes]]:
        """Up to `limit` objects of a kind with ids above `after_id` (0: from the first), in order
        of id, over all shards."""

    async def list_reachable(self, kind: Kind, after_id: int, limit: int) -> Sequence[Listed]:
        """List objects as `list` does, but with one entry in place of all objects of a failing
        server: its error, with the last id that these objects could have at this point of the
        order. A failing server is asked once in a call."""

    async def transact(self, shard: int, work: Callable[[ShardTx], Awaitable[T]]) -> T:
        """Run `work` in a transaction on the shard's master, and commit. `work` runs again after a
        deadlock, so it must have no effects outside the transaction. Raises StaleTopology if the
        shard is not, or no longer, on that server; StoreConflict when the attempts run out. An
        exception of `work` rolls the transaction back and passes through."""
