"""The columns that bulk resolvers return: a value or an error for each parent.

This module has the columns that many fields share: the sizes of lists, and whether the viewer's own
list has an object.
"""

from collections.abc import Sequence
from typing import TypeVar

from datasources.mappings import EdgeKey, ListKey, Mapping
from datasources.records import Record
from resolvers.context import Context

V = TypeVar("V")
Column = Sequence[V | BaseException]


def lists_of(mapping: Mapping, parents: Sequence[Record]) -> list[ListKey]:
    """Each parent's list."""
    return [ListKey(mapping, parent.id) for parent in parents]


async def sizes(context: Context, lists: Sequence[ListKey]) -> Column[int]:
    """The number of entries in each list."""
    heads = await context.loaders.heads.many(lists)
    return [head if isinstance(head, BaseException) else head.size for head in heads]


async def viewer_has(
    context: Context, mapping: Mapping, objects: Sequence[Record]
) -> Column[bool | None]:
    """Whether each object is in the viewer's list; None without a viewer."""
    if context.viewer_id is None:
        return [None] * len(objects)
    keys = [EdgeKey(mapping, context.viewer_id, record.id) for record in objects]
    edges = await context.loaders.edges.many(keys)
    return [edge if isinstance(edge, BaseException) else edge is not None for edge in edges]
