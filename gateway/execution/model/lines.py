"""The text of a document, in which the line and the column of a position are found in logarithmic
time.

graphql-core's `Source` scans the text from its start for each error. A text with 20,000 empty lines
before its fields would make each error take milliseconds.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable

from graphql import GraphQLError, Node, Source, SourceLocation

LOCATIONS = 10
"""The maximum number of locations of an error. A field may be merged from a thousand selections."""
A_LINE = 4
"""The bytes of memory of a line's entry."""

_NEWLINE = re.compile(r"\r\n|[\n\r]")


class Text(Source):
    """A document's text. Before `index`, a location is found by a scan, as graphql-core does."""

    _newlines: array[int] | None = None
    """The position of each line's end, in order."""

    def index(self) -> int:
        """Make the table of lines. Returns its size in bytes."""
        self._newlines = array("I", [match.start() for match in _NEWLINE.finditer(self.body)])
        return len(self._newlines) * A_LINE

    def get_location(self, position: int) -> SourceLocation:
        newlines = self._newlines
        if newlines is None:
            return super().get_location(position)
        line = bisect_left(newlines, position)
        if not line:
            return SourceLocation(1, position + 1)
        end = newlines[line - 1]
        begin = end + (2 if self.body.startswith("\r\n", end) else 1)
        return SourceLocation(line + 1, position + 1 - begin)


def at_nodes(nodes: Iterable[Node]) -> GraphQLError:
    """Returns an error with the locations of these nodes, or of the first `LOCATIONS` of them.
    Errors copy its locations. graphql-core would scan the text if there are several nodes."""
    error = GraphQLError("")
    error.nodes = [node for _, node in zip(range(LOCATIONS), nodes, strict=False)]
    places = [(node.loc.source, node.loc.start) for node in error.nodes if node.loc is not None]
    if places:
        error.source = places[0][0]
        error.positions = [start for _, start in places]
        error.locations = [source.get_location(start) for source, start in places]
    return error
