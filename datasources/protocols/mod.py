"""Ids found by arbitrary keys, on shards that are chosen by a hash."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class ModStore(Protocol):
    """Finds ids by arbitrary keys (user names, importers' keys), on mod shard md5(key) % count."""

    async def find(self, namespace: str, keys: Sequence[str]) -> dict[str, int]:
        """The ids of the keys that are claimed."""

    async def claim(self, namespace: str, key: str, id: int) -> int:
        """Claim the key for an id, unless it is claimed. Returns the id that holds the key."""

    async def claim_many(self, namespace: str, ids: Mapping[str, int]) -> dict[str, int]:
        """Claim many keys. Returns the id that holds each key."""

    async def release(self, namespace: str, key: str, id: int) -> None:
        """Release the key if this id holds it."""
