"""Protections of the caches, each of which a test may leave out."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from datasources.memcached import MemcachedObjectCache
from datasources.protocols import Lease, Reading
from datasources.zookeeper import ZooKeeperGenerations

Patch = pytest.MonkeyPatch


def without_generations(patch: Patch) -> bool:
    return False


def without_waits_of_writers(patch: Patch) -> bool:
    """A writer answers at once when it has raised the generation."""

    async def shut(self: ZooKeeperGenerations, server: str) -> None:
        found = self._servers[server]
        async with found.turn:
            await self._shut(found)

    patch.setattr(ZooKeeperGenerations, "shut", shut)
    return True


def without_ends_of_leases(patch: Patch) -> bool:
    """A reader that ZooKeeper does not answer reads on."""

    def reading(self: ZooKeeperGenerations, found: Any) -> Reading:
        return Reading.LEASED if found.known and not found.shut else Reading.SHUT

    patch.setattr(ZooKeeperGenerations, "_reading", reading)
    return True


def without_generations_of_entries(patch: Patch) -> bool:
    """An entry that was stored before a server was shut is read after it was opened."""
    found = MemcachedObjectCache._generation

    def generation(self: MemcachedObjectCache, node: Any) -> int | None:
        return None if found(self, node) is None else 0

    patch.setattr(MemcachedObjectCache, "_generation", generation)
    return True


def without_removals(patch: Patch) -> bool:
    async def delete(self: MemcachedObjectCache, node: Any, keys: list[bytes]) -> None:
        return None

    patch.setattr(MemcachedObjectCache, "_delete", delete)
    return True


def without_leases_of_entries(patch: Patch) -> bool:
    """A slow reader fills an entry that was removed since it asked."""

    async def fill(self: MemcachedObjectCache, values: Sequence[tuple[Lease, bytes]]) -> None:
        await asyncio.sleep(0.02)
        found = await self.get([_id(lease) for lease, _ in values])
        now = {id: entry for id, entry in found.items() if isinstance(entry, Lease)}
        await filled(self, [(now.get(_id(lease), lease), value) for lease, value in values])

    filled = MemcachedObjectCache.fill
    patch.setattr(MemcachedObjectCache, "fill", fill)
    return True


def _id(lease: Lease) -> int:
    assert isinstance(lease.key, int)
    return lease.key


WEAKNESSES: dict[str, Callable[[Patch], bool]] = {
    weaken.__name__: weaken
    for weaken in (
        without_waits_of_writers,
        without_generations,
        without_ends_of_leases,
        without_generations_of_entries,
        without_removals,
        without_leases_of_entries,
    )
}
"""Each function leaves one protection out, and says whether the gateways follow generations."""
