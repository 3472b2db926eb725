"""What fields cost: the directives that `schema.graphql` shows and `gateway.cost` reads.

`@cost` and `@listSize` follow IBM's GraphQL Cost Directives specification. `@reads` is our own: it
says what a field asks of the stores whatever is selected below it.
"""

from typing import Any

import strawberry
from strawberry.schema_directive import Location

from resolvers.paging import MAX_PAGE

FIELD = [Location.FIELD_DEFINITION]


@strawberry.schema_directive(
    locations=[*FIELD, Location.INPUT_FIELD_DEFINITION],
    name="cost",
    description="What a field costs for each of its parents, or an input field for each of its "
    "values: a decimal number. Without it an object costs 1, and a leaf 0.1.",
)
class Cost:
    weight: str


@strawberry.schema_directive(
    locations=FIELD,
    name="listSize",
    description="How long a list is assumed to be: as the slicing arguments say, and `assumedSize` "
    "at most. `sizedFields` are the fields of the result that have this length.",
)
class ListSize:
    assumed_size: int | None = None
    slicing_arguments: list[str] | None = None
    sized_fields: list[str] | None = None
    require_one_slicing_argument: bool = True


@strawberry.schema_directive(
    locations=FIELD,
    name="reads",
    description="What a field asks of the stores. `calls`: how many, at most, for all of its "
    "parents together. `entries`: how many rows and objects it reads for each place of its "
    "list, of which it reads one more than `@listSize` says.",
)
class Reads:
    calls: int
    entries: int = 0


def reads(calls: int, *, each: int = 0) -> list[Any]:
    """A field of so many calls for all of its parents, which reads `each` entries a parent."""
    return [Cost(weight=str(each)), Reads(calls=calls)]


def page(calls: int, entries: int, *, each: int = 0) -> list[Any]:
    """A connection: `entries` are read for each place of a page, and `each` a parent besides."""
    sized = ListSize(
        assumed_size=MAX_PAGE,
        slicing_arguments=["first"],
        sized_fields=["edges"],
        require_one_slicing_argument=False,
    )
    return [Cost(weight=str(each)), sized, Reads(calls=calls, entries=entries)]


def listed(calls: int, entries: int, most: int, argument: str | None = None) -> list[Any]:
    """A plain list of up to `most` objects, or as many as `argument` has."""
    sized = ListSize(
        assumed_size=most,
        slicing_arguments=[argument] if argument else None,
        require_one_slicing_argument=argument is not None,
    )
    return [Cost(weight="0"), sized, Reads(calls=calls, entries=entries)]
