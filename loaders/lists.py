"""Loaders of mappings: pages and heads of lists (the mapping cache first), and single edges."""

from collections.abc import Sequence

from datasources.errors import StoreError
from datasources.ids import shard_of
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, PageRequest
from datasources.protocols import Lease, Window
from loaders.base import Loader
from loaders.servers import per_server


class EdgesByListLoader(Loader[PageRequest, list[Edge]]):
    """Pages of lists, newest first."""

    async def load_batch(self, keys: list[PageRequest]) -> list[list[Edge] | BaseException]:
        try:
            cached = await self._stores.lists.pages(keys)
        except StoreError:
            cached = [None] * len(keys)
        # A lease asks for the whole window, from the top; a page past it is asked as it is.
        asked: dict[PageRequest, None] = {}
        for key, entry in zip(keys, cached, strict=True):
            if isinstance(entry, Lease):
                asked[self._window(key)] = None
                if key.after is not None or key.limit > self._stores.lists.window:
                    asked[key] = None
            elif entry is None:
                asked[key] = None
        stored = await self._stored(list(asked))
        await self._fill(keys, cached, stored)
        return [
            entry if isinstance(entry, list) else self._page(key, stored)
            for key, entry in zip(keys, cached, strict=True)
        ]

    async def _stored(
        self, requests: Sequence[PageRequest]
    ) -> dict[PageRequest, list[Edge] | BaseException]:
        store = self._stores.shards.mappings

        async def ask(group: list[PageRequest]) -> dict[PageRequest, list[Edge]]:
            return dict(zip(group, await store.pages(group), strict=True))

        topology = self._stores.shards.objects.topology()
        return await per_server(topology, requests, lambda r: shard_of(r.key.from_id), ask)

    async def _fill(
        self,
        keys: Sequence[PageRequest],
        cached: Sequence[list[Edge] | Lease | None],
        stored: dict[PageRequest, list[Edge] | BaseException],
    ) -> None:
        windows = []
        for key, entry in zip(keys, cached, strict=True):
            if isinstance(entry, Lease) and isinstance(rows := stored.get(self._window(key)), list):
                windows.append(
                    (entry, Window(rows, complete=len(rows) < self._stores.lists.window))
                )
        if windows:
            try:
                await self._stores.lists.fill_pages(windows)
            except StoreError:
                return

    def _window(self, request: PageRequest) -> PageRequest:
        """The rows that a list's cache entry holds: its first pages, most of what is read."""
        return PageRequest(request.key, self._stores.lists.window)

    def _page(
        self, request: PageRequest, stored: dict[PageRequest, list[Edge] | BaseException]
    ) -> list[Edge] | BaseException:
        if request in stored:
            return stored[request]
        rows = stored.get(self._window(request), [])
        return rows if isinstance(rows, BaseException) else rows[: request.limit]


class HeadByListLoader(Loader[ListKey, ListHead]):
    """Sizes and versions of lists."""

    async def load_batch(self, keys: list[ListKey]) -> list[ListHead | BaseException]:
        try:
            cached = await self._stores.lists.heads(keys)
        except StoreError:
            cached = {}
        missing = [key for key in keys if not isinstance(cached.get(key), ListHead)]
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
            if isinstance(entry, Lease) and isinstance(head := stored.get(key), ListHead)
        ]
        if heads:
            try:
                await self._stores.lists.fill_heads(heads)
            except StoreError:
                return


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
