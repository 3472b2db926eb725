"""The cost of fields: the directives that `schema.graphql` shows and `gateway.cost` reads.

`@cost` and `@listSize` follow IBM's GraphQL Cost Directives specification. `@reads` and `@toll` are
Pinway's own: `@reads` says what a field reads from the stores, whatever is selected below it, and
`@toll` makes a field more expensive than what it reads.
"""

from typing import Any

import strawberry
from strawberry.schema_directive import Location

from resolvers.orders import MOST_SORTED
from resolvers.paging import MAX_PAGE

FIELD = [Location.FIELD_DEFINITION]
A_WALK = 3000
"""Entries that are read in the time of a walk, some milliseconds, and the entries that it reads
before it begins."""

A_SEARCH = 1200
"""Entries that are read in the time of a search of the index, about two milliseconds."""

A_NEW_VISIT = 4800
"""The toll of a page of the home feed, in entries that are read in the same time: a new visit is
ordered and kept, beside what it reads."""
A_WRITE = 380
"""The toll of a write, in entries that are read in the same time: its transaction, its commit and
its jobs, beside what it reads."""


@strawberry.schema_directive(
    locations=[*FIELD, Location.INPUT_FIELD_DEFINITION],
    name="cost",
    description="The cost of a field for each parent, or of an input field for each value: a "
    "decimal number. Without the directive, an object costs 1 and a leaf 0.1.",
)
class Cost:
    weight: str


@strawberry.schema_directive(
    locations=FIELD,
    name="listSize",
    description="The assumed length of a list: the value of its slicing arguments, or "
    "`assumedSize` at most. `sizedFields` are the fields of the result that have this length.",
)
class ListSize:
    assumed_size: int | None = None
    slicing_arguments: list[str] | None = None
    sized_fields: list[str] | None = None
    require_one_slicing_argument: bool = True


@strawberry.schema_directive(
    locations=FIELD,
    name="reads",
    description="The reads of a field. `calls`: the maximum number of store calls for all parents "
    "together. `entries`: the number of rows and objects that it reads for each entry of its list. "
    "It reads one entry more than `@listSize` says.",
)
class Reads:
    calls: int
    entries: int = 0


@strawberry.schema_directive(
    locations=FIELD,
    name="toll",
    description="A cost of a field, for each parent, beside what it reads: it bounds how often a "
    "client may use the field. It counts for the bound and the rate, and no operation waits for "
    "it.",
)
class Toll:
    weight: str


@strawberry.schema_directive(
    locations=FIELD,
    name="sorts",
    description="The further reads of a field whose argument `orderBy` is one of `orders`: the "
    "field reads its whole list to sort it. `calls` and `entries` are for each parent, as in "
    "`@reads` and `@cost`.",
)
class Sorts:
    orders: list[str]
    calls: int
    entries: int


def sorting(orders: list[str], *, calls: int, entries: int) -> Sorts:
    """The further cost of a connection in orders without an index, which reads `entries` for each
    entry of the list."""
    return Sorts(orders=orders, calls=calls, entries=entries * MOST_SORTED)


def reads(calls: int, *, each: int = 0) -> list[Any]:
    """The cost of a field that makes `calls` calls for all parents together, and reads `each`
    entries for each parent."""
    return [Cost(weight=str(each)), Reads(calls=calls)]


def page(calls: int, entries: int, *, each: int = 0, backward: bool = True) -> list[Any]:
    """The cost of a connection that reads `entries` for each entry of a page, and `each` more
    entries for each parent. `backward`: it takes `last`, too."""
    sized = ListSize(
        assumed_size=MAX_PAGE,
        slicing_arguments=["first", "last"] if backward else ["first"],
        sized_fields=["edges"],
        require_one_slicing_argument=False,
    )
    return [Cost(weight=str(each)), sized, Reads(calls=calls, entries=entries)]


def walked(calls: int, entries: int) -> list[Any]:
    """The cost of a plain list of `first` objects that walks find: A_WALK for each parent, and
    `entries` for each object of the list."""
    sized = ListSize(
        assumed_size=MAX_PAGE, slicing_arguments=["first"], require_one_slicing_argument=False
    )
    return [Cost(weight=str(A_WALK)), sized, Reads(calls=calls, entries=entries)]


def suggested(calls: int, entries: int) -> list[Any]:
    """The cost of a plain list of `first` objects that two searches find."""
    sized = ListSize(
        assumed_size=MAX_PAGE, slicing_arguments=["first"], require_one_slicing_argument=False
    )
    return [Cost(weight=str(2 * A_SEARCH)), sized, Reads(calls=calls, entries=entries)]


def listed(calls: int, entries: int, most: int, argument: str | None = None) -> list[Any]:
    """The cost of a plain list of at most `most` objects, or as many as `argument` has."""
    sized = ListSize(
        assumed_size=most,
        slicing_arguments=[argument] if argument else None,
        require_one_slicing_argument=argument is not None,
    )
    return [Cost(weight="0"), sized, Reads(calls=calls, entries=entries)]
