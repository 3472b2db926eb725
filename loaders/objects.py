"""Loaders of objects by id: from the object cache first, then with one statement for each
server."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, cast

from datasources.errors import StoreError
from datasources.ids import Kind, shard_of
from datasources.protocols import Lease, Stores
from datasources.records import RECORDS, R, Record, decode_each
from loaders.base import Loader
from loaders.servers import per_server


class ObjectByIdLoader(Loader[int, R | None], Generic[R]):
    """Loads records of one kind. The value is None for an object that does not exist or was
    deleted.

    If a server fails, its ids get the error as their value.
    """

    kind: Kind
    has_at_hand = True
    _asked = _read = False
    """Whether the cache was asked for a batch, and whether shards were read for one."""

    def at_hand(self, keys: Sequence[int]) -> dict[int, R | BaseException | None]:
        local = self._stores.object_cache.local
        if local is None:
            return {}
        return self._records(local.held(keys))

    async def load_batch(self, keys: list[int]) -> list[R | BaseException | None]:
        found: dict[int, bytes | BaseException] = {}
        leases: dict[int, Lease] = {}
        for id, entry in (await self._cached(keys)).items():
            if isinstance(entry, Lease):
                leases[id] = entry
            else:
                found[id] = entry
        missing = [id for id in keys if id not in found]
        if missing:
            found |= await self._stored(missing)
            await self._fill(
                [
                    (lease, data)
                    for id, lease in leases.items()
                    if isinstance(data := found.get(id), bytes)
                ]
            )
        records = self._records({id: it for id, it in found.items() if isinstance(it, bytes)})
        records |= {id: it for id, it in found.items() if isinstance(it, BaseException)}
        return [records.get(id) for id in keys]

    async def even_out(self, ids: list[int]) -> None:
        """Make the calls of stores that loading absent objects makes, as far as this loader made
        none of them."""
        if not self._asked:
            await self._cached(ids)
        if not self._read:
            await self._stored(ids)

    async def _cached(self, keys: Sequence[int]) -> dict[int, bytes | Lease]:
        self._asked = True
        try:
            return await self._stores.object_cache.get(keys)
        except StoreError:
            return {}  # without the cache, the shards still answer, more slowly

    async def _fill(self, values: list[tuple[Lease, bytes]]) -> None:
        if values:
            try:
                await self._stores.object_cache.fill(values)
            except StoreError:
                return

    async def _stored(self, ids: Sequence[int]) -> dict[int, bytes | BaseException]:
        self._read = True
        store = self._stores.shards.objects
        return await per_server(store.topology(), ids, shard_of, store.get)

    def _records(self, stored: Mapping[int, bytes]) -> dict[int, R | BaseException | None]:
        return {
            id: cast(R, it) if isinstance(it, StoreError) or it.active else None
            for id, it in decode_each(self.kind, stored).items()
        }


_CLASSES: dict[type[Record], type[ObjectByIdLoader[Any]]] = {
    record: type(f"{record.__name__}ByIdLoader", (ObjectByIdLoader,), {"kind": kind})
    for kind, record in RECORDS.items()
}
"""The loaders' classes. Traces name batches by their names: `PinByIdLoader`."""


def by_id(record: type[R], stores: Stores) -> ObjectByIdLoader[R]:
    """A new loader of records of this class."""
    return _CLASSES[record](stores)
