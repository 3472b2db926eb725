"""Any object by its id: the id says of what type it is."""

import asyncio
from datetime import UTC, datetime

from datasources.errors import BadInput
from datasources.ids import InvalidId, Kind, kind_of, parse
from datasources.records import Record
from resolvers import visibility
from resolvers.context import ID, Context
from resolvers.paging import MAX_PAGE


async def node(context: Context, *, id: ID) -> Record | None:
    """None for an id that names nothing the viewer may see."""
    try:
        number = parse(id)
    except InvalidId:
        return None
    match kind_of(number):
        case Kind.PIN:
            return await visibility.pin(context, number)
        case Kind.BOARD:
            return await visibility.board(context, number)
        case Kind.USER:
            return await context.loaders.users.load(number)
        case Kind.COMMENT:
            return await visibility.comment(context, number)
        case Kind.INTEREST:
            return await context.loaders.interests.load(number)


async def nodes(context: Context, *, ids: list[ID]) -> list[Record | BaseException | None]:
    if len(ids) > MAX_PAGE:
        raise BadInput(f"ids has {len(ids)} entries: at most {MAX_PAGE} at once", "ids")
    return await asyncio.gather(*(node(context, id=id) for id in ids), return_exceptions=True)


def created_at(context: Context, record: Record) -> datetime:
    return datetime.fromtimestamp(record.created / 1000, UTC)
