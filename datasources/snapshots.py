"""Copies of embedded stores as of one moment. Servers have their own tools for that."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, runtime_checkable


@runtime_checkable
class ShardSnapshots(Protocol):
    """Shards that can be copied during writes."""

    async def snapshot(
        self,
        folder: Path,
        paused: Callable[[], Awaitable[None]],
        copied: Callable[[int, int], None],
    ) -> None:
        """Copy all shards, as of one moment, to files in a folder. At that moment no transaction
        runs, and `paused` is awaited. `copied` is called with (done, all) files."""


@runtime_checkable
class FeedSnapshots(Protocol):
    """A feed store that can be copied during writes."""

    async def snapshot(self, folder: Path) -> None:
        """Copy all tables, as of one moment, into a folder that does not exist."""
