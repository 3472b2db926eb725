"""What all objects share, and the pages they come in."""

from typing import Any, Generic, TypeVar

import strawberry

from datasources.records import Record
from resolvers import nodes
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
    return field(nodes.created_at, "When it was created.")


@strawberry.type(description="Where a page stands in its list.")
class PageInfo:
    has_next_page: bool = plain("Whether there are more after this page.")
    has_previous_page: bool = plain("Whether the page began after a cursor.")
    start_cursor: str | None = plain("The cursor of the first edge, if there is one.")
    end_cursor: str | None = plain("The cursor of the last edge: pass it as `after`.")


@strawberry.type(description="A place in a list.")
class Edge(Generic[T]):
    cursor: str = plain("Names this place: pass it as `after` to go on from here.")
    node: T | None = plain("What stands there; null when its server does not answer.")


@strawberry.type(description="A page of a list.")
class Connection(Generic[T]):
    edges: list[Edge[T]] = plain("The page's entries, in the list's order.")
    page_info: PageInfo = plain("Where this page stands in the list.")
