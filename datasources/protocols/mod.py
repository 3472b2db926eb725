"""Ids found by arbitrary keys, on shards that are chosen by a hash."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class Claim(NamedTuple):
    """The state of a key: the id that holds it (None: nobody), and how often the key was freed."""

    id: int | None
    version: int


class ModStore(Protocol):
    """Finds ids by arbitrary keys (user names, importers' keys), on mod shard md5(key) % count.

    A key that is freed gets its next version. A claim or a release for an earlier version does
    nothing, so neither can act on a later holder's claim, however late or often it runs.
    """

    async def find(self, namespace: str, keys: Sequence[str]) -> dict[str, int]:
        """The ids of the keys that are claimed."""

    async def claim(self, namespace: str, key: str, id: int) -> int:
        """Claim the key for an id, unless it is claimed. Returns the id that holds the key."""

    async def claim_many(self, namespace: str, ids: Mapping[str, int]) -> dict[str, int]:
        """Claim many keys. Returns the id that holds each key."""

    async def look(self, namespace: str, keys: Sequence[str]) -> dict[str, Claim]:
        """The state of each key."""

    async def claim_at(self, namespace: str, key: str, id: int, version: int) -> int | None:
        """Claim the key for an id, unless it is claimed. Returns the id that holds the key, or None
        if the key has another version: then nothing was claimed."""

    async def release(self, namespace: str, key: str, id: int, version: int | None = None) -> None:
        """Free the key if this id holds it, or nobody. With a `version`, only if the key has this
        version; a later `claim_at` for this version is refused."""
