"""Copies of embedded stores as of one moment; servers have tools of their own for that."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, runtime_checkable


@runtime_checkable
class ShardSnapshots(Protocol):
    """Shards that can be copied while they are written."""

    async def snapshot(
        self,
        folder: Path,
        paused: Callable[[], Awaitable[None]],
        copied: Callable[[int, int], None],
    ) -> None:
        """Copy all shards, as of one moment, into files of a folder. At that moment no transaction
        runs, and `paused` is awaited. `copied` hears how many files are done, and of how many."""


@runtime_checkable
class FeedSnapshots(Protocol):
    """A feed store that can be copied while it is written."""

    async def snapshot(self, folder: Path) -> None:
        """Copy all tables, as of one moment, into a folder that does not exist."""
