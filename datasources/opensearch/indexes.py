"""The indexes of a prefix: the index in use with its state, new indexes, and the swap."""

from typing import Any

import msgspec

from datasources.errors import StoreConflict, StoreCorrupt, StoreUnavailable
from datasources.opensearch.connection import Connection, reason_of
from datasources.opensearch.fields import MAPPINGS, STATE, VERSION, Names, settings
from datasources.protocols import IndexTimes

LOOK = 5.0  # seconds for a question
WORK = 30.0  # seconds for work


class State(msgspec.Struct, frozen=True):
    """The index in use, its times, and the place of the document with the times."""

    index: str
    times: IndexTimes
    seq_no: int
    primary_term: int


class Indexes:
    """The indexes of a prefix, and what they are told."""

    def __init__(self, connection: Connection, names: Names, shards: int) -> None:
        self._connection, self.names, self._shards = connection, names, shards

    async def in_use(self) -> list[str]:
        """The indexes of the alias: one, or none before the first build."""
        found = await self._connection.get(f"/_alias/{self.names.alias}", LOOK)
        return [] if found.is_missing else sorted(found.document)

    async def state(self) -> State | None:
        """The state of the index in use; None without one. Raises StoreCorrupt for a state that
        can't be read."""
        for _ in range(2):
            indexes = await self.in_use()
            if not indexes:
                return None
            if len(indexes) > 1:
                raise StoreCorrupt(f"the alias {self.names.alias} has {len(indexes)} indexes")
            index = indexes[0]
            found = await self._connection.get(f"/{index}/_doc/{STATE}", LOOK)
            if not found.is_missing:
                return _state(index, found.document)
            if found.document.get("found") is False:
                raise StoreCorrupt(f"the search index {index} has no times")
        return None  # replaced again and again

    async def absent(self) -> StoreUnavailable:
        """The error for a search without an index."""
        if await self.others():
            told = "the search index is of another version: it is being built again"
        else:
            told = "there is no search index yet: it is being built"
        return StoreUnavailable(told)

    async def others(self) -> list[str]:
        """The indexes in use of other versions."""
        return [
            index
            for index, aliases in (await self._all()).items()
            if aliases and self.names.version(index) != VERSION
        ]

    async def create(self, index: str) -> None:
        """Create an empty index. Raises StoreUnavailable if no node has room for it."""
        body = {"settings": settings(self._shards), "mappings": MAPPINGS}
        made = await self._connection.ask("PUT", f"/{index}", body, WORK)
        if not made.document["shards_acknowledged"]:
            raise StoreUnavailable(f"{self._connection.name}: no node takes the shards of {index}")

    async def remove(self, *indexes: str) -> None:
        """Remove indexes, also if they are gone."""
        if indexes:
            path = f"/{','.join(indexes)}"
            await self._connection.ask("DELETE", path, None, WORK, {"ignore_unavailable": "true"})

    async def remove_left(self) -> None:
        """Remove the indexes of this version that are not in use: replaced indexes, and what builds
        left that did not end. Call it only while this process alone builds."""
        found = await self._all()
        own = [index for index in found if self.names.version(index) == VERSION]
        await self.remove(*(index for index in own if not found[index]))

    async def remove_older(self) -> None:
        """Remove the indexes of earlier versions."""
        versions = {index: self.names.version(index) for index in await self._all()}
        await self.remove(
            *(index for index, version in versions.items() if (version or VERSION) < VERSION)
        )

    async def is_read_only(self, index: str) -> bool:
        """Whether OpenSearch refuses writes, as for all indexes of a node whose disk is full."""
        name = "index.blocks.read_only_allow_delete"
        found = await self._connection.ask(
            "GET", f"/{index}/_settings/{name}", None, LOOK, {"flat_settings": "true"}
        )
        return bool(found.document.get(index, {}).get("settings", {}).get(name) == "true")

    async def refresh(self, target: str) -> None:
        """Make all writes visible to searches."""
        await self._connection.ask("POST", f"/{target}/_refresh", None, WORK)

    async def complete(self, index: str, built: int) -> None:
        """Make a new index ready for use, with its times."""
        every = {"index": {"refresh_interval": "1s"}}
        await self._connection.ask("PUT", f"/{index}/_settings", every, WORK)
        times = {"built": built, "read_to": built}
        await self._connection.ask("PUT", f"/{index}/_doc/{STATE}", times, WORK)
        await self.refresh(index)

    async def swap(self, old: list[str], new: str) -> None:
        """Bring a new index into use instead of the old one, in one step. Raises StoreConflict if
        another index was brought into use.

        The old index stays: if it were removed in the same step, searches would fail that already
        find its shards gone, but not yet the new index.
        """
        alias = self.names.alias
        actions: list[dict[str, Any]] = [{"add": {"index": new, "alias": alias}}]
        actions += [
            {"remove": {"index": index, "alias": alias, "must_exist": True}} for index in old
        ]
        path, body = "/_aliases", {"actions": actions}
        done = await self._connection.ask("POST", path, body, WORK, missing=True)
        if done.is_missing:
            raise StoreConflict(f"the search index was replaced: {reason_of(done.document)}")

    async def advance(self, state: State, read_to: int) -> None:
        """Note up to when the index has all changes. Raises StoreConflict if the index was replaced
        or another process wrote it."""
        place = {"if_seq_no": str(state.seq_no), "if_primary_term": str(state.primary_term)}
        times = {"built": state.times.built, "read_to": read_to}
        path = f"/{state.index}/_doc/{STATE}"
        done = await self._connection.ask("PUT", path, times, WORK, place, missing=True)
        if done.is_missing:
            raise StoreConflict("the search index was replaced in the meantime")

    async def _all(self) -> dict[str, bool]:
        """All indexes of the prefix, and whether each has an alias."""
        path = f"/{self.names.pattern}/_alias"
        found = await self._connection.get(path, LOOK, {"expand_wildcards": "all"})
        if found.is_missing:
            return {}
        return {
            index: bool(entry["aliases"])
            for index, entry in found.document.items()
            if self.names.version(index) is not None
        }


def _state(index: str, found: dict[str, object]) -> State:
    try:
        times = msgspec.convert(found["_source"], dict[str, int])
        return State(
            index,
            IndexTimes(times["built"], times["read_to"]),
            *msgspec.convert((found["_seq_no"], found["_primary_term"]), tuple[int, int]),
        )
    except (KeyError, msgspec.ValidationError) as error:
        raise StoreCorrupt(f"the times of the search index {index}: {error!r}") from error
