"""Objects of the shards as they are now, with the objects on which they depend."""

from collections.abc import Iterable
from functools import partial

from datasources import records
from datasources.errors import StoreUnavailable
from datasources.ids import kind_of, shard_of
from datasources.protocols import ShardStore
from datasources.records import Record
from gateway.operate.imports.load import patiently
from gateway.operate.migration.back.values import parents, references


class Graph:
    """Objects, their parents, and the objects to which they refer."""

    def __init__(self) -> None:
        self.data: dict[int, bytes] = {}
        self.records: dict[int, Record] = {}

    def stands(self, id: int) -> bool:
        """Whether an object is there, with all objects that it needs."""
        record = self.records.get(id)
        return (
            record is not None
            and record.active
            and all(self.stands(parent) for parent in parents(record).values())
        )


async def graph_of(shards: ShardStore, ids: Iterable[int]) -> Graph:
    """The objects with these ids. Raises StoreCorrupt, and StoreUnavailable for an object on a
    shard that is not open: it must not be taken for an object that is gone."""
    graph, wanted, first = Graph(), dict.fromkeys(ids), True
    while wanted:
        asked = list(wanted)
        closed = {shard_of(id) for id in asked} - {*shards.objects.topology().open_shards}
        if closed:
            raise StoreUnavailable(f"the shard {min(closed)} is not open")
        found = await patiently(partial(shards.objects.get, asked))
        new = {id: records.decode(kind_of(id), id, data) for id, data in found.items()}
        graph.data |= found
        graph.records |= new
        wanted = {
            id: None
            for record in new.values()
            for id in (
                *parents(record).values(),
                *(references(record).values() if first else ()),
            )
            if id not in graph.records and id not in asked
        }
        first = False
    return graph
