"""Search and suggestions: pins, boards and users by the words of their texts."""

from typing import Annotated

import strawberry

from resolvers import search as searches
from resolvers.search import MOST_PARTS, SearchType
from schema.costs import A_SEARCH, listed, page, suggested
from schema.fields import field, plain
from schema.nodes import PageInfo
from schema.orders import described
from schema.types import Board, Pin, User

described(
    SearchType,
    "The types of objects that can be searched.",
    PIN="Pins, by title and description.",
    BOARD="Boards, by name and description.",
    USER="Users, by their names and the text about them.",
)
SearchNode = Annotated[
    Pin | Board | User, strawberry.union("SearchNode", description="An object that was found.")
]


@strawberry.type(description="A piece of a text.")
class TextPart:
    text: str = plain("The piece.")
    matched: bool = plain("Whether the piece is a word that the search found.")


@strawberry.type(description="A text of an object in which words were found.")
class Highlight:
    field: str = plain("The name of the object's field, such as `title`.")
    parts: list[TextPart] = plain(
        "The text in pieces. Of a long text, the part around the first word that was found.",
        cost=listed(0, 0, MOST_PARTS),
    )


@strawberry.type(description="An object that was found.")
class SearchEdge:
    cursor: str = plain("The object's position: pass it as `after` to continue after this object.")
    node: SearchNode = plain("The object.")
    highlights: list[Highlight] = plain(
        "The object's texts in which words were found.", cost=listed(0, 8, 3)
    )


@strawberry.type(description="A page of the objects that were found, best first.")
class SearchConnection:
    edges: list[SearchEdge] = plain("The objects.")
    page_info: PageInfo = plain("The position of this page among all objects that were found.")


@strawberry.type(description="An object for words that are being typed.")
class Suggestion:
    text: str = plain("The object's title or name.")
    parts: list[TextPart] = plain(
        "The same text in pieces, with the words that were found.", cost=listed(0, 0, MOST_PARTS)
    )
    node: SearchNode = plain("The object.")


@strawberry.type
class SearchQuery:
    """The fields of the query type."""

    search: SearchConnection | None = field(
        searches.search,
        "Public pins, boards and users with all words of a text in their titles, names and "
        "descriptions. Stems and typing errors are forgiven. The best matches come first, by text, "
        "likes and saves, and freshness: at most 1,000. Pins of the same picture are one entry.",
        cost=page(36, 8, each=A_SEARCH, backward=False),
        cached=0,
    )
    suggest: list[Suggestion] | None = field(
        searches.suggest,
        "Boards, users and pins for words that are being typed.",
        cost=suggested(72, 32),
        cached=0,
    )
