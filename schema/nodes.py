"""The interface of all objects, and connections: pages, edges and cursors."""

from typing import Any, Generic, TypeVar

import strawberry

from datasources.records import Record
from resolvers import nodes
from schema.caching import INHERITED
from schema.costs import Cost
from schema.fields import by_class, field, plain

T = TypeVar("T")


@strawberry.interface(description="An object with a global id.")
class Node:
    id: strawberry.ID = plain(
        "The object's 64-bit id, as a string. The id contains the object's type."
    )


class RecordType:
    """A GraphQL type whose values are records of the stores."""

    record: type[Record]

    @classmethod
    @by_class
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, cls.record)


def created_at() -> Any:
    """The field `createdAt` of every record."""
    return field(
        nodes.created_at, "The time when the object was created.", cost=[Cost(weight="1.25")]
    )


@strawberry.type(description="The position of a page in its list.", directives=[INHERITED])
class PageInfo:
    has_next_page: bool = plain(
        "Whether the list continues after `endCursor`. It may be true for a short or empty page: "
        "the gateway reads a bounded number of entries that the viewer can't see. A page of `last` "
        "entries has it if it ended before a cursor."
    )
    has_previous_page: bool = plain(
        "Whether the page began after a cursor. A page of `last` entries has it if the list "
        "continues before `startCursor`; then it may be true for a short or empty page."
    )
    start_cursor: str | None = plain(
        "The start of this page: pass it as `before` for the page before. It is the cursor of the "
        "first edge or, of a short page of `last` entries that has a page before it, of the last "
        "entry that was read. Null for an empty page without one."
    )
    end_cursor: str | None = plain(
        "The end of this page: pass it as `after` for the next page. It is the cursor of the last "
        "edge or, if `hasNextPage` is true and the page is short, of the last entry that was read."
    )


@strawberry.type(description="An entry of a list.", directives=[INHERITED])
class Edge(Generic[T]):
    cursor: str = plain(
        "The entry's position: pass it as `after` to continue after this entry, or as `before` to "
        "read the entries before it.",
        cost=[Cost(weight="2.5")],
    )
    node: T | None = plain(
        "The object; null, with an error, when its server does not answer. In a list of all "
        "objects of a type, such an edge replaces all objects of that server, however many they "
        "are: the next page continues after them, and the cursor before the edge asks for them "
        "again."
    )


@strawberry.type(description="A page of a list.", directives=[INHERITED])
class Connection(Generic[T]):
    edges: list[Edge[T]] = plain(
        "The entries of the page, in the order of the list: `first` or `last` entries, or fewer. "
        "Only `hasNextPage` and `hasPreviousPage` say whether the list ends here."
    )
    page_info: PageInfo = plain("The position of this page in the list.")
