"""Answers requests for hidden objects in the time of requests for absent objects.

A secret board and its pins are absent for strangers. A user and the user's objects are absent for a
viewer from whom a block keeps the user. Reading an absent object asks the cache and then its shard,
each time. A hidden object may be in the cache, and its pin and board are read after each other. So
a stranger who measures time could tell a hidden object from an absent one.

`even_out` makes the calls that were not made: for each object of the chain (a comment, its pin, its
board) the cache and a shard are asked once, whether the object is hidden or absent, and whether it
is in a cache. Filling a cache after a read is no part of this: it happens once.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from datasources.ids import Kind, decoy, kind_of
from loaders.objects import ObjectByIdLoader
from resolvers import blocks
from resolvers.context import Context
from resolvers.visibility import RULES


async def even_out(context: Context, ids: Iterable[int]) -> None:
    """Make the calls that are missing. `ids` came from the client; the viewer sees none of them."""
    level = list(ids)
    if not level:
        return
    await blocks.even_out(context)
    loaders = context.loaders.of_kinds
    while level:
        by_kind = defaultdict[Kind, list[int]](list)
        for id in level:
            by_kind[kind_of(id)].append(id)
        level = []
        for kind, some in by_kind.items():
            loader = loaders[kind]
            records = [_known(loader, id) for id in some]
            await loader.even_out(list(dict.fromkeys(some)))  # a shard has one decoy
            if place := RULES[kind].on:
                on, its_id = place
                level += [
                    decoy(id, on) if record is None else getattr(record, its_id)
                    for id, record in zip(some, records, strict=True)
                ]


def _known(loader: ObjectByIdLoader[Any], id: int) -> Any:
    """The record that the loader has loaded; None for an absent object, a decoy and an error."""
    cache = loader.key_cache
    slot = cache.slots.get(id)
    value = None if slot is None else cache.values[slot]
    return value if getattr(value, "id", None) == id else None
