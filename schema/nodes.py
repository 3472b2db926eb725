"""What all objects share, and the pages they come in."""

from typing import Any, Generic, TypeVar

import strawberry

from datasources.records import Record
from resolvers import nodes
from schema.costs import Cost
from schema.fields import by_class, field, plain

T = TypeVar("T")


@strawberry.interface(description="An object with an id of its own.")
class Node:
    id: strawberry.ID = plain("The 64-bit id, as a string; it holds the object's type.")


class RecordType:
    """A GraphQL type whose values are records, as the stores give them."""

    record: type[Record]

    @classmethod
    @by_class
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, cls.record)


def created_at() -> Any:
    """The field every record has."""
    return field(nodes.created_at, "When it was created.", cost=[Cost(weight="1.25")])


@strawberry.type(description="Where a page stands in its list.")
class PageInfo:
    has_next_page: bool = plain(
        "Whether the list goes on behind `endCursor`. A page may be short, even empty, and this "
        "true: the gateway reads a bounded number of entries that the viewer can't see."
    )
    has_previous_page: bool = plain("Whether the page began after a cursor.")
    start_cursor: str | None = plain("The cursor of the first edge, if there is one.")
    end_cursor: str | None = plain(
        "Where this page ends: pass it as `after`. It is the cursor of the last edge or, where "
        "`hasNextPage` is true and the page is short, of the last place that was read."
    )


@strawberry.type(description="A place in a list.")
class Edge(Generic[T]):
    cursor: str = plain(
        "Names this place: pass it as `after` to go on from here.", cost=[Cost(weight="2.5")]
    )
    node: T | None = plain(
        "What stands there; null, with an error, when its server does not answer. In a list of all "
        "objects of a type such an edge stands for all that the server has there, however many: "
        "the next page goes on behind it, and the cursor before it asks for them again."
    )


@strawberry.type(description="A page of a list.")
class Connection(Generic[T]):
    edges: list[Edge[T]] = plain(
        "The page's entries, in the list's order: `first` of them, or fewer. Only `hasNextPage` "
        "tells whether these are the last."
    )
    page_info: PageInfo = plain("Where this page stands in the list.")
