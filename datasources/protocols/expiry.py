"""The removal of rows that are kept for a limited time."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from datasources.errors import StoreError


class Forgotten(NamedTuple):
    """The number of removed rows, and the error of each server that failed."""

    rows: int
    lost: Mapping[str, StoreError]


class Expiry(Protocol):
    """Deletes data that is kept for a limited time, a few rows of each shard at a time. A server
    that fails costs its own shards only."""

    async def answers(self, created_before: int, limit: int) -> Forgotten:
        """Delete the oldest answers saved before an epoch ms, up to `limit` on each shard. Their
        keys count as never used."""

    async def quotas(self, days_before: int, limit: int) -> Forgotten:
        """Delete the counts of the days that began before an epoch ms, up to `limit` on each
        shard."""

    async def events(self, days_before: int, limit: int) -> Forgotten:
        """Delete the events of the days that began before an epoch ms, up to `limit` on each
        shard."""

    async def notifications(self, stored_before: int, limit: int) -> Forgotten:
        """Delete the oldest notifications stored before an epoch ms, up to `limit` on each
        shard."""

    async def reports(self, decided_before: int, limit: int) -> Forgotten:
        """Delete the cases that were decided, last, before an epoch ms, with their reports and
        decisions, up to `limit` cases on each shard. Open cases stay."""

    async def visits(self, created_before: int, limit: int) -> Forgotten:
        """Delete the oldest saved visits that began before an epoch ms, up to `limit` on each
        shard. A user's newest visit stays, and so do unsaved visits."""
