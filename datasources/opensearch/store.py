"""The search store over OpenSearch: searches, the writer, and the building of a new index."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from secrets import token_hex
from typing import Any

from datasources.errors import (
    Refused,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)
from datasources.opensearch import writing
from datasources.opensearch.connection import NO_OPTIONS, Cluster, Connection
from datasources.opensearch.fields import VERSION, Names, stored
from datasources.opensearch.indexes import LOOK, WORK, Indexes, State
from datasources.opensearch.lease import SECONDS, Lease
from datasources.opensearch.queries import Query, on_boards, search_of, sizes_of
from datasources.protocols import (
    Document,
    Hit,
    IndexState,
    IndexStatus,
    IndexTimes,
    NewIndex,
    SearchRequest,
)
from datasources.tantivy.words import roots_of

DEADLINE = 2.0
"""Seconds for a search."""


class OpenSearch:
    """The index of these shards in a cluster, which the processes of all hosts share. `deadline`:
    seconds for a search. `lease`: seconds after which the right of a killed process ends."""

    def __init__(
        self, cluster: Cluster, *, deadline: float = DEADLINE, lease: float = SECONDS
    ) -> None:
        self._connection = Connection(cluster)
        self._names = names = Names(cluster.prefix)
        self._indexes = Indexes(self._connection, names, cluster.shards)
        self._deadline = deadline

        def right(name: str, refused: str) -> Lease:
            whole = f"v{VERSION}-{name}"
            return Lease(self._connection, names.locks, whole, refused, lease)

        self._writer = right("writer", "another process writes the search index")
        self._builder = right("builder", "another process builds the search index")

    async def search(self, request: SearchRequest) -> list[Hit]:
        query = search_of(request)
        if query is None:
            return []
        # Copies of a shard have different scores, so each text has a copy of its own.
        copy = blake2b(request.text.encode("utf-8", "ignore"), digest_size=8).hexdigest()
        options = {"preference": copy, "search_type": "dfs_query_then_fetch"}
        found = await self._searched(query, options)
        return [
            Hit(int(hit["_id"]), int(hit["fields"]["group"][0]), float(hit["sort"][0]))
            for hit in found["hits"]["hits"]
        ]

    async def group_sizes(
        self, groups: Sequence[int], *, but: Sequence[int] = ()
    ) -> dict[int, int]:
        if not groups:
            return {}
        found = await self._searched(sizes_of(groups, but))
        counted = found["aggregations"]["groups"]["buckets"]
        sizes = {int(bucket["key"]): int(bucket["doc_count"]) for bucket in counted}
        return {group: sizes.get(group, 0) for group in groups}

    def roots(self, words: Sequence[str]) -> list[frozenset[str]]:
        return roots_of(words)

    async def times(self) -> IndexTimes | None:
        try:
            state = await self._indexes.state()
        except StoreCorrupt:
            return None
        return None if state is None else state.times

    async def status(self) -> IndexStatus:
        try:
            state = await self._indexes.state()
        except StoreCorrupt as error:
            return IndexStatus(IndexState.DAMAGED, str(error))
        if state is None:
            if others := await self._indexes.others():
                fault = f"there is {others[0]}; this program reads version {VERSION}"
                return IndexStatus(IndexState.OLD, fault)
            return IndexStatus(IndexState.ABSENT)
        return await self._status(state)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        async with self._writer.held():
            yield

    async def write(
        self,
        documents: Sequence[Document],
        *,
        delete: Sequence[int] = (),
        delete_boards: Sequence[int] = (),
        since: int,
        read_to: int,
    ) -> None:
        state = await self._indexes.state()
        if state is None:
            raise await self._indexes.absent()
        if state.times.read_to != since:
            raise StoreConflict("the search index was replaced in the meantime")
        version, kept = self._writer.version(), {document.id for document in documents}
        actions = [writing.put(it.id, stored(it), version) for it in documents]
        actions += [writing.delete(id, version) for id in delete if id not in kept]
        if actions:
            await self._apply(actions)
        while delete_boards and (ids := await self._on_boards(delete_boards, sorted(kept))):
            await self._apply([writing.delete(id, version) for id in ids])
        self._writer.check()
        await self._indexes.advance(state, read_to)

    @asynccontextmanager
    async def rebuild(self, built: int) -> AsyncIterator[NewIndex]:
        async with self._builder.held(patient=True):
            old = await self._indexes.in_use()
            await self._indexes.remove_left()
            index = self._names.new(built, token_hex(4))
            try:
                await self._indexes.create(index)
                yield _NewIndex(self._connection, index, self._builder)
                await self._indexes.complete(index, built)
                self._builder.check()
                await self._indexes.swap(old, index)
            except BaseException:
                with suppress(StoreError):  # the next build removes it
                    await self._indexes.remove(index)
                raise
            await self._indexes.remove_left()
            await self._indexes.remove_older()

    async def close(self) -> None:
        await self._connection.close()

    async def _searched(self, query: Query, options: Mapping[str, str] = NO_OPTIONS) -> Any:
        """The answer to a search of the index in use. It is asked a second time if the index was
        replaced meanwhile."""
        path, deadline = f"/{self._names.alias}/_search", self._deadline
        options = {
            **options,
            "allow_partial_search_results": "false",
            "cancel_after_time_interval": f"{deadline * 1000:.0f}ms",
        }
        for last in (False, True):
            try:
                found = await self._connection.ask(
                    "POST", path, query, deadline, options, missing=True
                )
            except Refused:
                raise
            except StoreUnavailable:
                if last:
                    raise
                continue
            if not found.is_missing:
                return found.document
        raise await self._indexes.absent()

    async def _on_boards(self, boards: Sequence[int], but: Sequence[int]) -> list[int]:
        """Documents that are left on boards, some at a time; none when all are deleted."""
        await self._indexes.refresh(self._names.alias)
        found = await self._searched(on_boards(boards, but, writing.MOST))
        return [int(hit["_id"]) for hit in found["hits"]["hits"]]

    async def _apply(self, actions: Sequence[writing.Action]) -> None:
        """Apply actions to the index in use, and make them visible."""
        self._writer.check()
        path = f"/{self._names.alias}"
        await writing.apply(self._connection, path, actions, {"require_alias": "true"})
        await self._indexes.refresh(self._names.alias)

    async def _status(self, state: State) -> IndexStatus:
        health = await self._connection.ask("GET", f"/_cluster/health/{state.index}", None, LOOK)
        if health.document["status"] == "red":
            away = health.document["unassigned_shards"] + health.document["initializing_shards"]
            raise StoreUnavailable(
                f"{self._connection.name}: {away} shards of {state.index} are away"
            )
        if await self._indexes.is_read_only(state.index):
            at = self._connection.name
            raise StoreUnavailable(f"{at}: {state.index} is read-only: are a node's disks full?")
        path = f"/{state.index}/_stats/docs,store"
        stats = (await self._connection.ask("GET", path, None, WORK)).document["_all"]["primaries"]
        return IndexStatus(
            IndexState.OK,
            documents=max(0, stats["docs"]["count"] - 1),  # without the index's times
            built=state.times.built,
            read_to=state.times.read_to,
            bytes=stats["store"]["size_in_bytes"],
        )


class _NewIndex:
    """An index that is being built. No search reads it yet."""

    def __init__(self, connection: Connection, index: str, right: Lease) -> None:
        self._connection, self._index, self._right = connection, index, right

    async def index(self, documents: Sequence[Document]) -> None:
        self._right.check()
        actions = [writing.put(it.id, stored(it)) for it in documents]
        if actions:
            await writing.apply(self._connection, f"/{self._index}", actions)
