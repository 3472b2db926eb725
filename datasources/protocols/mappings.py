"""Lists of mapping rows, as the shards keep them, and windows onto their newest rows."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, PageRequest, Respacing
from datasources.mappings import Mapping as MappingName


class Window(NamedTuple):
    """The newest rows of a list, or the rows after a position. `complete`: there are no more rows.
    `version`: the list's version at that moment; 0 for lists that are not ordered. `held`: the list
    was held at that moment, and the window must not be cached."""

    edges: Sequence[Edge]
    complete: bool
    version: int = 0
    held: bool = False


class MappingStore(Protocol):
    """Mapping rows, each on the shard of its from id."""

    async def pages(self, requests: Sequence[PageRequest]) -> list[list[Edge]]:
        """For each request, its active rows in the order that it names, with the list's era at that
        moment. One round trip for each server. The requests for one shard are answered as of one
        moment; so are `heads`."""

    async def windows(self, requests: Sequence[PageRequest]) -> list[Window]:
        """The rows as `pages` returns them and, for ordered lists, their version at that moment and
        whether they were held."""

    async def heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead]:
        """Count and version of each list, (0, 0) for a list that was never written; and whether it
        is held."""

    async def edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """The rows that exist, active or not."""

    async def respacings(self, key: ListKey, after_era: int) -> list[Respacing]:
        """The list's stored respacings after an era, in order."""

    async def rows_into(
        self, mapping: MappingName, shard: int, targets: range, after: EdgeKey | None, limit: int
    ) -> list[Edge]:
        """Up to `limit` rows on a shard whose to ids are in a range, active or not, in order of
        from id and to id, after a row. No index helps: the shard's table is read."""

    async def apply(self, edges: Sequence[tuple[MappingName, Edge]]) -> None:
        """Write rows where they are newer, with one transaction for each shard, on all servers at
        once."""

    async def load(self, edges: Sequence[tuple[MappingName, Edge]]) -> None:
        """Write very many rows as `apply` does, with fewer and larger statements (for imports)."""
