"""What every loader is: aiodataloader's, whose batches may hold an error for a single key."""

from typing import TypeVar, cast

from aiodataloader import DataLoader

from datasources.protocols import Stores

K = TypeVar("K")
V = TypeVar("V")


class Loader(DataLoader[K, V]):
    """Loads keys asked in one turn of the event loop by one call of `load_batch`."""

    def __init__(self, stores: Stores) -> None:
        super().__init__()
        self._stores = stores

    async def batch_load_fn(self, keys: list[K]) -> list[V]:
        # aiodataloader raises an exception found in the list to that key's callers alone.
        return cast(list[V], await self.load_batch(keys))

    async def load_batch(self, keys: list[K]) -> list[V | BaseException]:
        """A value or an error for each key, in the keys' order."""
        raise NotImplementedError
