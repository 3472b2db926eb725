"""Finds any object by its id: the id says of which type it is."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from datasources.errors import BadInput
from datasources.ids import InvalidId, Kind, kind_of, parse
from datasources.records import Record
from feed_engine.times import moment
from resolvers import visibility
from resolvers.context import ID, Context
from resolvers.hidden_objects import even_out
from resolvers.paging import MAX_PAGE
from resolvers.visibility import RULES


async def node(context: Context, *, id: ID) -> Record | None:
    """The object; None if the viewer may not see any object with this id."""
    [found] = await nodes(context, ids=[id])
    if isinstance(found, BaseException):
        raise found
    return found


async def nodes(context: Context, *, ids: list[ID]) -> list[Record | BaseException | None]:
    if len(ids) > MAX_PAGE:
        raise BadInput(f"ids has {len(ids)} entries: at most {MAX_PAGE} at once", "ids")
    numbers = [_number(id) for id in ids]
    given = [number for number in numbers if number is not None]
    found = await of_ids(context, given)
    await even_out(context, [id for id in given if id not in found])
    return [None if number is None else found.get(number) for number in numbers]


async def of_ids(context: Context, ids: Iterable[int]) -> visibility.Found[Any]:
    """The objects of all types that the viewer may see, and an error for each object that can't be
    read."""
    by_kind = defaultdict[Kind, list[int]](list)
    for id in ids:
        by_kind[kind_of(id)].append(id)
    found: dict[int, Any] = {}
    for some in await asyncio.gather(
        *(RULES[kind].read(context, of) for kind, of in by_kind.items())
    ):
        found |= some
    return found


def _number(id: ID) -> int | None:
    try:
        return parse(id)
    except InvalidId:
        return None


def created_at(context: Context, record: Record) -> datetime:
    return moment(record.created)
