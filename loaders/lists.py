"""Loaders of mappings: pages and heads of lists (the mapping cache first), and single edges.

A pin that is moved leaves one board and comes to another at one moment. So that a reader who asks
for both sees it on one of them, boards of one shard that are asked for together are answered as of
one moment: all by the cache, or all by their shard. When further ones are asked for later, those
shown before are read again with them: if they are not as they were, what was shown is torn.
"""

from collections.abc import Iterable, Sequence

from datasources.errors import StoreError
from datasources.ids import shard_of
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, Mapping, PageRequest
from datasources.protocols import Lease, Stores, Window
from loaders.base import Loader
from loaders.servers import per_server


class EdgesByListLoader(Loader[PageRequest, list[Edge]]):
    """Pages of lists, newest first."""

    def __init__(self, stores: Stores) -> None:
        super().__init__(stores)
        self.torn = False
        """Whether lists that people order by hand were changed between two readings of them."""
        self.ahead: Sequence[PageRequest] = ()
        """The lists loaded together with the first batch, as they are most likely asked for
        later."""
        self._shown: dict[tuple[Mapping, int], dict[PageRequest, list[int]]] = {}

    def shown(self) -> list[PageRequest]:
        """The pages that were loaded of lists that people order by hand."""
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
        try:
            cached = await self._stores.mapping_cache.pages(keys)
        except StoreError:
            cached = [None] * len(keys)
        # A lease asks for the whole window, from the top; a page past it is asked as it is.
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

    def _beside_shown(self, keys: Sequence[PageRequest]) -> dict[PageRequest, list[int]]:
        """The shown entries of other lists that moves may have changed together with these."""
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
        """The rows that a list's cache entry holds: its first pages, most of what is read."""
        return PageRequest(request.key, self._stores.mapping_cache.window)

    def _page(
        self, request: PageRequest, stored: dict[PageRequest, Window | BaseException]
    ) -> list[Edge] | BaseException:
        found = stored.get(request) or stored.get(self._window(request), Window([], True))
        return found if isinstance(found, BaseException) else list(found.edges[: request.limit])


class HeadByListLoader(Loader[ListKey, ListHead]):
    """Sizes and versions of lists."""

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
    """The part of a list's identity that it shares with the lists changed by the same write."""
    return key.mapping, shard_of(key.from_id)


def beside(keys: Iterable[ListKey]) -> set[tuple[Mapping, int]]:
    """Where lists that people order by hand have to be read from the shard, as these do."""
    return {place_of(key) for key in keys if key.mapping.ordered}


class EdgeByKeyLoader(Loader[EdgeKey, Edge | None]):
    """Single rows, None when inactive or absent: whether the viewer likes or follows."""

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
    """User ids by name, case ignored."""

    async def load_batch(self, keys: list[str]) -> list[int | BaseException | None]:
        found = await self._stores.shards.mod.find("username", [key.lower() for key in keys])
        return [found.get(key.lower()) for key in keys]
