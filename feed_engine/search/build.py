"""Builds the search index from all users, boards and pins, beside the index in use."""

from collections import Counter
from collections.abc import AsyncIterator, Callable

from datasources.clocks import now_ms
from datasources.ids import Kind
from datasources.protocols import NewIndex, SearchStore, Stores
from datasources.records import Pin, Record
from feed_engine.search.reading import decoded, documents, public

PAGE = 500  # objects in a read

OnObjects = Callable[[str, int], None]
"""Called with what is being read, and how many objects of it were read so far."""


async def build(
    stores: Stores,
    index: SearchStore,
    *,
    on_objects: OnObjects = lambda stage, objects: None,
    clock: Callable[[], int] = now_ms,
) -> None:
    """Read all shards, and bring the new index into use. Changes in the meantime are in the logs of
    changes. Raises StoreConflict if another process builds it now, and StoreError when a shard
    can't be read or the index can't be written."""
    built = clock()
    async with index.rebuild(built) as new:
        saves = Counter[int]()
        read = 0
        async for some in _objects(stores, Kind.PIN):
            pins = (await public(stores, some)).values()
            saves.update(pin.root for pin in pins if isinstance(pin, Pin) and pin.source_id)
            read += len(some)
            on_objects("counting saves", read)
        for kind in (Kind.USER, Kind.BOARD, Kind.PIN):
            await _index(stores, new, kind, saves, on_objects)


async def _index(
    stores: Stores, new: NewIndex, kind: Kind, saves: Counter[int], on_objects: OnObjects
) -> None:
    read = 0
    async for some in _objects(stores, kind):
        found = list((await public(stores, some)).values())
        sizes = {pin.root: saves[pin.root] + 1 for pin in found if isinstance(pin, Pin)}
        await new.index(await documents(stores, found, saves_of=sizes))
        read += len(some)
        on_objects(f"indexing {kind.name.lower()}s", read)


async def _objects(stores: Stores, kind: Kind) -> AsyncIterator[list[Record | None]]:
    """All objects of a kind, in pages."""
    after = 0
    while rows := await stores.shards.objects.list(kind, after, PAGE):
        yield list(decoded(rows).values())
        after = rows[-1][0]
