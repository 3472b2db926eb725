"""Loaders of mappings: pages and heads of lists (from the mapping cache first), and single edges.

A move takes a pin from one board to another in one transaction. A request that reads both boards
must see the pin on exactly one of them. Lists that people order by hand, such as boards, are
therefore loaded together if they are of one mapping and on one shard: all from the cache, or all
from the shard. If the request loads more of these lists later, the lists that it loaded before are
read again with them. If one of these has changed, the request's pages are torn, and the query is
read again (`resolvers/readings.py`).
"""

from collections.abc import Iterable, Sequence

from datasources.errors import StoreError
from datasources.ids import shard_of
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, Mapping, PageRequest
from datasources.protocols import Lease, Stores, Window
from loaders.base import Loader
from loaders.servers import per_server


class EdgesByListLoader(Loader[PageRequest, list[Edge]]):
    """Loads pages of lists, newest first."""

    def __init__(self, stores: Stores) -> None:
        super().__init__(stores)
        self.torn = False
        """Whether a hand-ordered list changed between two reads of it by this request."""
        self.ahead: Sequence[PageRequest] = ()
        """Pages to load together with the first batch, because the request will most likely need
        them later."""
        self._shown: dict[tuple[Mapping, int], dict[PageRequest, list[int]]] = {}
        """By mapping and shard: the loaded pages of hand-ordered lists, each with the ids of its
        entries."""

    def shown(self) -> list[PageRequest]:
        """The pages of hand-ordered lists that were loaded."""
        return [request for some in self._shown.values() for request in some]

    async def load_batch(self, keys: list[PageRequest]) -> list[list[Edge] | BaseException]:
        asked = set(keys)
        ahead, self.ahead = [key for key in self.ahead if key not in asked], ()
        pages = await self._load([*keys, *ahead])
        for key, page in zip(ahead, pages[len(keys) :], strict=True):
            if isinstance(page, list):
                self.prime(key, page)
        return pages[: len(keys)]

    async def _load(self, keys: list[PageRequest]) -> list[list[Edge] | BaseException]:
        cached = await self._cached(keys)
        # With a lease the whole window is loaded, to fill the cache. A page beyond the window is
        # loaded by itself.
        asked: dict[PageRequest, None] = {}
        for key, entry in zip(keys, cached, strict=True):
            if isinstance(entry, Lease):
                asked[self._window(key)] = None
                if key.after is not None or key.limit > self._stores.mapping_cache.window:
                    asked[key] = None
            elif entry is None:
                asked[key] = None
        shown = self._beside_shown(keys)
        together = beside(request.key for request in (*asked, *shown))
        found = {k: e for k, e in zip(keys, cached, strict=True) if isinstance(e, list)}
        asked |= dict.fromkeys(key for key in found if place_of(key.key) in together)
        stored = await self._stored([*asked, *(key for key in shown if key not in asked)])
        await self._fill(keys, cached, stored)
        pages = [
            found[key]
            if key in found and not isinstance(stored.get(key), Window)
            else self._page(key, stored)
            for key in keys
        ]
        self._compare(shown, stored)
        self._note(keys, pages)
        return pages

    async def _cached(self, keys: Sequence[PageRequest]) -> list[list[Edge] | Lease | None]:
        """The mapping cache's answer to each request. The cache has the newest rows of lists, so
        the answer is None for rows in ascending order."""
        newest = [key for key in keys if not key.ascending]
        if not newest:
            return [None] * len(keys)
        try:
            found = iter(await self._stores.mapping_cache.pages(newest))
        except StoreError:
            return [None] * len(keys)
        return [None if key.ascending else next(found) for key in keys]

    def _beside_shown(self, keys: Sequence[PageRequest]) -> dict[PageRequest, list[int]]:
        """The loaded pages of other lists that one move may have changed together with a list of
        `keys`, each with the ids of its entries."""
        lists = {key.key for key in keys}
        return {
            request: ids
            for place in beside(lists) & self._shown.keys()
            for request, ids in self._shown[place].items()
            if lists != {request.key}
        }

    def _compare(
        self,
        shown: dict[PageRequest, list[int]],
        stored: dict[PageRequest, Window | BaseException],
    ) -> None:
        for request, ids in shown.items():
            page = self._page(request, stored)
            if isinstance(page, list) and [edge.to_id for edge in page] != ids:
                self.torn = True

    def _note(
        self, keys: Sequence[PageRequest], pages: Sequence[list[Edge] | BaseException]
    ) -> None:
        for key, page in zip(keys, pages, strict=True):
            if key.key.mapping.ordered and isinstance(page, list):
                self._shown.setdefault(place_of(key.key), {})[key] = [edge.to_id for edge in page]

    async def _stored(
        self, requests: Sequence[PageRequest]
    ) -> dict[PageRequest, Window | BaseException]:
        store = self._stores.shards.mappings

        async def ask(group: list[PageRequest]) -> dict[PageRequest, Window]:
            return dict(zip(group, await store.windows(group), strict=True))

        topology = self._stores.shards.objects.topology()
        return await per_server(topology, requests, lambda r: shard_of(r.key.from_id), ask)

    async def _fill(
        self,
        keys: Sequence[PageRequest],
        cached: Sequence[list[Edge] | Lease | None],
        stored: dict[PageRequest, Window | BaseException],
    ) -> None:
        windows = [
            (entry, window)
            for key, entry in zip(keys, cached, strict=True)
            if isinstance(entry, Lease)
            and isinstance(window := stored.get(self._window(key)), Window)
            and not window.held
        ]
        if windows:
            try:
                await self._stores.mapping_cache.fill_pages(windows)
            except StoreError:
                return

    def _window(self, request: PageRequest) -> PageRequest:
        """The request for a list's window: the first rows, which the mapping cache keeps."""
        return PageRequest(request.key, self._stores.mapping_cache.window)

    def _page(
        self, request: PageRequest, stored: dict[PageRequest, Window | BaseException]
    ) -> list[Edge] | BaseException:
        found = stored.get(request) or stored.get(self._window(request), Window([], True))
        return found if isinstance(found, BaseException) else list(found.edges[: request.limit])


class HeadByListLoader(Loader[ListKey, ListHead]):
    """Loads the size and the version of lists."""

    async def load_batch(self, keys: list[ListKey]) -> list[ListHead | BaseException]:
        try:
            cached = await self._stores.mapping_cache.heads(keys)
        except StoreError:
            cached = {}
        together = beside(key for key in keys if not isinstance(cached.get(key), ListHead))
        missing = [
            key
            for key in keys
            if not isinstance(cached.get(key), ListHead) or place_of(key) in together
        ]
        stored: dict[ListKey, ListHead | BaseException] = {}
        if missing:
            stored = await per_server(
                self._stores.shards.objects.topology(),
                missing,
                lambda key: shard_of(key.from_id),
                self._stores.shards.mappings.heads,
            )
            await self._fill(cached, stored)
        return [
            entry
            if isinstance(entry := cached.get(key), ListHead)
            and not isinstance(stored.get(key), ListHead)
            else stored.get(key, ListHead(0, 0))
            for key in keys
        ]

    async def _fill(
        self,
        cached: dict[ListKey, ListHead | Lease],
        stored: dict[ListKey, ListHead | BaseException],
    ) -> None:
        heads = [
            (entry, head)
            for key, entry in cached.items()
            if isinstance(entry, Lease)
            and isinstance(head := stored.get(key), ListHead)
            and not head.held
        ]
        if heads:
            try:
                await self._stores.mapping_cache.fill_heads(heads)
            except StoreError:
                return


def place_of(key: ListKey) -> tuple[Mapping, int]:
    """The mapping and the shard of a list. Lists that one transaction can change share both."""
    return key.mapping, shard_of(key.from_id)


def beside(keys: Iterable[ListKey]) -> set[tuple[Mapping, int]]:
    """The mappings and shards of the hand-ordered lists among `keys`. If one list of a mapping and
    shard is read from the shard, all of them are."""
    return {place_of(key) for key in keys if key.mapping.ordered}


class EdgeByKeyLoader(Loader[EdgeKey, Edge | None]):
    """Loads single edges, such as whether the viewer likes a pin. The value is None if the edge is
    inactive or absent."""

    async def load_batch(self, keys: list[EdgeKey]) -> list[Edge | BaseException | None]:
        found = await per_server(
            self._stores.shards.objects.topology(),
            keys,
            lambda key: shard_of(key.from_id),
            self._stores.shards.mappings.edges,
        )
        return [
            None if isinstance(edge := found.get(key), Edge) and not edge.active else edge
            for key in keys
        ]


class UserIdByUsernameLoader(Loader[str, int | None]):
    """Loads user ids by username, ignoring case. The value is None if no user has the name."""

    async def load_batch(self, keys: list[str]) -> list[int | BaseException | None]:
        found = await self._stores.shards.mod.find("username", [key.lower() for key in keys])
        return [found.get(key.lower()) for key in keys]
