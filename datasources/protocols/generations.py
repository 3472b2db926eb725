"""The generations of the caches' servers, which all gateways share."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol


class Reading(StrEnum):
    """Whether this process reads a cache's server."""

    LEASED = "leased"
    SHUT = "shut"
    OPENING = "opening"
    UNKNOWN = "unknown"


class GenerationState(NamedTuple):
    """One server's generation as this process knows it, and its counts since the start."""

    server: str
    reading: Reading
    raised: int
    """Times that this process raised the generation, because it could not remove an entry."""
    unleased: int
    """Reads that went to the shards, because the process had no reader lease."""
    shuts: bool = False
    """Whether this process keeps the server shut."""


class Generations(Protocol):
    """A number for each server of a cache. Every entry carries the number under which a reader
    began to fill it, and is read under this number only.

    A process reads a server under a reader lease of LEASE_SECONDS. A writer that can't remove an
    entry shuts the server: no process reads it, until this writer reaches it again.
    """

    def follow(self, server: str, is_reached: Callable[[], bool]) -> None:
        """Follow the generation of a server. `is_reached` says whether this process could remove
        entries, so the server may be opened again."""

    def forget(self, server: str) -> None:
        """End `follow`. A server that this process had shut is opened."""

    def follow_list(self) -> None:
        """Follow the number of the list of memcached servers."""

    def reads_list(self, number: int) -> bool:
        """Whether this process may read by the list with this number now: it has a reader lease,
        and no `end_lists` has ended the list."""

    async def end_lists(self, before: int) -> None:
        """End all lists with lower numbers. After the return, no process reads by them. Takes
        LEASE_SECONDS and some more, also when it is repeated. Raises StoreError if that is
        uncertain."""

    def readable(self, server: str) -> int | None:
        """The generation under which this process may read and fill now; None without a lease."""

    def is_shut(self, server: str) -> bool:
        """Whether no process reads an entry that was stored before this call: its removal is not
        needed."""

    async def shut(self, server: str) -> None:
        """Raise the generation, and shut the server. After the return, no process reads an entry
        that was read from the store before the call. Takes LEASE_SECONDS and some more at first.
        Raises StoreError if that is uncertain."""

    async def raise_all(self) -> None:
        """Raise the generation of every server that any process has followed. Otherwise as
        `shut`; no server is shut."""

    async def servers(self) -> set[str]:
        """Every server that any process has followed. Raises StoreError."""

    def states(self) -> list[GenerationState]: ...

    async def close(self) -> None: ...
