"""Finds the objects that a federation's router names by their keys (Apollo Federation 2, section
"Resolve entities")."""

from typing import Any, NewType

from datasources.errors import BadInput
from datasources.ids import InvalidId, Kind, parse
from datasources.records import Record
from resolvers.context import Context
from resolvers.hidden_objects import even_out
from resolvers.nodes import of_ids

MOST = 1_000
"""The maximum number of objects that a request names. A router asks for all objects of a step
together: for more than a page."""
ENTITIES = {
    "User": Kind.USER,
    "Board": Kind.BOARD,
    "Section": Kind.SECTION,
    "Pin": Kind.PIN,
    "Interest": Kind.INTEREST,
}
"""The types that other subgraphs extend. The key of each is its id."""
Representation = NewType("Representation", object)
"""An object's type and key, as sent: `{"__typename": "Pin", "id": "..."}`."""


async def entities(
    context: Context, *, representations: list[Representation]
) -> list[Record | BaseException | None]:
    """The objects, in the order of their representations. All objects of a type are one batch. An
    object that the viewer may not see is null, like an object that does not exist. Raises BadInput
    for a representation without a type and a key."""
    if len(representations) > MOST:
        raise BadInput(
            f"representations has {len(representations)} entries: at most {MOST} at once",
            "representations",
        )
    numbers = [_number(each) for each in representations]
    given = [number for number in numbers if number is not None]
    found = await of_ids(context, dict.fromkeys(given))
    await even_out(context, [id for id in given if id not in found])
    return [None if number is None else found.get(number) for number in numbers]


def _number(representation: Any) -> int | None:
    """The id in a representation; None if its type has no such id."""
    type_ = representation.get("__typename") if isinstance(representation, dict) else None
    kind = ENTITIES.get(type_) if isinstance(type_, str) else None
    if kind is None:
        raise BadInput(
            f"each representation must be an object with a __typename: {', '.join(ENTITIES)}",
            "representations",
        )
    id = representation.get("id")
    if not isinstance(id, str):
        raise BadInput("each representation must have an id, a string", "representations")
    try:
        return parse(id, kind)
    except InvalidId:
        return None
