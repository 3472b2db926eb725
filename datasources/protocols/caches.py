"""The caches of objects and of lists, and the leases that keep old values out of them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from datasources.mappings import Edge, ListHead, ListKey, ListMove, PageRequest
from datasources.protocols.mappings import Window
from datasources.topology import Topology


class Lease(NamedTuple):
    """The right to fill one missing entry. A later `drop`, or the lease's expiry, ends the right:
    the fill then does nothing, so a slow reader can't overwrite a newer value with an old one."""

    key: object
    token: str


class LocalObjects(Protocol):
    """Entries of an ObjectCache that are in this process."""

    def held(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The entries that are in the cache now. Returns without waiting, and grants no leases."""


class ObjectCache(Protocol):
    """Objects' JSON by id. A negative key holds what is kept beside the object of this id, such as
    a user's blocks.

    An entry that `get` returns neither as bytes nor as a Lease is being filled by another reader,
    or its server is passed by: read the store, and fill nothing. After `drop` has returned, no
    reader gets a value that was read from the store before the `drop` began.
    """

    @property
    def local(self) -> LocalObjects | None:
        """The cache's values in this process; None for a cache in another process."""

    def use(self, topology: Topology) -> None:
        """Use the servers that the topology names, from the next call on. An earlier topology than
        the last one, and a topology that names none, change nothing."""

    async def get(self, ids: Sequence[int]) -> dict[int, bytes | Lease]: ...

    async def fill(self, values: Sequence[tuple[Lease, bytes]]) -> None: ...

    async def drop(self, ids: Sequence[int]) -> None:
        """Remove the entries. Raises if their removal is uncertain."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class MappingCache(Protocol):
    """Windows of the newest rows of lists, and the lists' heads. Leases are as in ObjectCache.

    All answers of one call are as of one moment.
    """

    window: int  # rows that a window keeps: a fill reads this many, or all if there are fewer

    async def pages(self, requests: Sequence[PageRequest]) -> list[list[Edge] | Lease | None]:
        """For each request: its rows if a window covers them; a Lease to fill the whole window if
        there is none; None if another reader is filling it, or if it is too short. Edges have
        version 0 (caches store the order, not versions) and the window's era. One round trip. No
        request is ascending."""

    async def heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead | Lease]: ...

    async def fill_pages(self, windows: Sequence[tuple[Lease, Window]]) -> None: ...

    async def fill_heads(self, heads: Sequence[tuple[Lease, ListHead]]) -> None: ...

    async def drop(self, keys: Sequence[ListKey]) -> None:
        """Remove the windows and heads of these lists. Raises if their removal is uncertain."""

    async def move(self, moves: Sequence[ListMove]) -> None:
        """Move rows within the windows, and raise the heads' versions. An entry with the version
        before a move follows the move. An entry with the move's version or a later version stays.
        All other entries and leases are removed. Raises if the result is uncertain. One round trip;
        all moves happen at once."""

    async def take(
        self, bucket: str, least: int, most: int, *, burst: int, refill: int
    ) -> tuple[int, float]:
        """Take `least` to `most` tokens from a bucket that holds up to `burst` and gets `refill`
        tokens each second. Returns (tokens, 0), or (0, seconds until there are `least` tokens). A
        new bucket is full. One round trip."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...
