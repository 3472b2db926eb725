"""Builds the feeds of many users at once from the mappings, after an import or where a feed is too
short.

It writes what the jobs of every follow and every pin would have written. Cells of pools get the
lowest possible stamp, so a second build does not bring back cells that were removed.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from datasources.ids import Kind, kind_of
from datasources.mappings import Edge, ListKey
from datasources.protocols import Stores, Table, WideColumnStore
from feed_engine.feeds import marks
from feed_engine.feeds.content import PinLike, newest_pins
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.follow_edges import FOLLOWS, PINS_OF, followed
from feed_engine.feeds.newest import newest_followed
from feed_engine.feeds.row_cap import mark_cut
from feed_engine.feeds.rows import (
    FOLLOWING,
    FOLLOWING_APPLIED,
    POOLS,
    POOLS_APPLIED,
    FollowingColumn,
    Source,
    behind_pin,
    follow_stamp,
    following_column,
    id_row,
    pool_row,
)
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import pools
from feed_engine.feeds.smart.cuts import CUT
from feed_engine.feeds.wide import put_both

Progress = Callable[[int], None]
"""Called with the number of users that were completed since the last call."""
Attempt = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Makes a call, and may repeat it."""

LOWEST_STAMP = 1
"""The stamp of cells that a build writes to pools: it does not bring back removed cells."""
USERS = 100  # users in a batch
LISTS = 50  # lists read together
REMEMBERED = 500_000  # pins of lists that are kept for the next users: about 200 MB


async def _once(call: Callable[[], Awaitable[None]]) -> None:
    await call()


async def build_feeds(
    stores: Stores,
    user_ids: Iterable[int],
    progress: Progress = lambda done: None,
    *,
    settings: FeedSettings = DEFAULTS,
    attempt: Attempt = _once,
) -> None:
    """Fill the following feeds and the pools of users from what they follow. Adds what is missing,
    and removes nothing. The call, and each batch in `attempt`, may be repeated."""
    lists = _Lists(stores, settings)
    users = iter(user_ids)
    while batch := list(islice(users, USERS)):
        await attempt(partial(_build, stores, batch, lists, settings))
        lists.forget()
        progress(len(batch))


async def _build(
    stores: Stores, user_ids: Sequence[int], lists: "_Lists", settings: FeedSettings
) -> None:
    edges = await _follows(stores, user_ids, tuple(FOLLOWS))
    await lists.load(edge.to_id for some in edges.values() for edge in some if _is_pushed(edge))
    await asyncio.gather(
        _write_following(stores, edges, lists, settings),
        _write_pools(stores, edges, lists, settings),
    )
    await _mark(stores, edges)


def _is_pushed(edge: Edge) -> bool:
    """Whether a follow brings pins into the follower's own rows. Pins of an interest are in the
    interest's pool instead."""
    return kind_of(edge.to_id) is not Kind.INTEREST


class _Brought(NamedTuple):
    """The cells that a followed user or board brings to any follower."""

    following: dict[bytes, int]  # column -> the pin's owner
    pool: dict[bytes, tuple[bytes, int]]  # column -> value, the pin's owner
    owners: frozenset[int]
    has_more: bool  # whether there are more pins than in `pool`

    @property
    def size(self) -> int:
        return max(len(self.following), len(self.pool))


class _Lists:
    """The pins of followed users and boards, read once for many users."""

    def __init__(self, stores: Stores, settings: FeedSettings) -> None:
        self._stores, self._settings = stores, settings
        self._brought: dict[int, _Brought] = {}
        self._size = 0

    async def load(self, targets: Iterable[int]) -> None:
        missing = [id for id in dict.fromkeys(targets) if id not in self._brought]
        keys = [ListKey(PINS_OF[kind_of(target)], target) for target in missing]
        limit = self._settings.following_cap
        for start in range(0, len(keys), LISTS):
            found = await newest_pins(self._stores, keys[start : start + LISTS], limit)
            for key, newest in found.items():
                pins: Sequence[PinLike] = newest
                if kind_of(key.from_id) is Kind.BOARD and len(pins) >= limit:
                    # A board's list is in the user's own order: its first pins are not always the
                    # newest.
                    followed = await newest_followed(self._stores, 0, [key.from_id], limit)
                    pins = [found.pin for found in followed]
                self._brought[key.from_id] = brought = self._cells(key.from_id, pins)
                self._size += brought.size

    def following(self, user_id: int, target: int) -> Iterable[bytes]:
        """Columns for the user's following feed."""
        brought = self._brought[target]
        cells = brought.following
        return cells if user_id not in brought.owners else [c for c in cells if cells[c] != user_id]

    def pool(self, user_id: int, target: int) -> dict[bytes, bytes]:
        """Cells for one of the user's pools."""
        cells = self._brought[target].pool
        return {column: value for column, (value, owner) in cells.items() if owner != user_id}

    def has_more(self, target: int) -> bool:
        """Whether the target has more pins than `pool` returns."""
        return self._brought[target].has_more

    def forget(self) -> None:
        """Keep within REMEMBERED pins: the lists that were read first are dropped first."""
        while self._size > REMEMBERED:
            oldest = next(iter(self._brought))
            self._size -= self._brought.pop(oldest).size

    def _cells(self, target: int, pins: Sequence[PinLike]) -> _Brought:
        following = {
            following_column(FollowingColumn(pin.created, pin.id, target)): pin.owner_id
            for pin in pins
        }
        pool: dict[bytes, tuple[bytes, int]] = {}
        for pin in pins[: self._settings.backfill]:
            column, value = pools.followed_cell(pin, target)
            pool[column] = value, pin.owner_id
        owners = frozenset(pin.owner_id for pin in pins)
        return _Brought(following, pool, owners, has_more=len(pins) > self._settings.backfill)


def newest_columns(columns: Iterable[bytes], pins: int) -> list[bytes]:
    """The columns of the newest pins."""
    ordered = sorted(columns)
    places = dict.fromkeys(behind_pin(column) for column in ordered)
    kept = set(islice(places, pins))
    return [column for column in ordered if behind_pin(column) in kept]


async def _follows(
    stores: Stores, user_ids: Sequence[int], kinds: Iterable[Kind]
) -> dict[int, list[Edge]]:
    found: dict[int, list[Edge]] = {user_id: [] for user_id in user_ids}
    for kind in kinds:
        for user_id, edges in (await followed(stores, FOLLOWS[kind], user_ids)).items():
            found[user_id] += edges
    return found


async def _write_following(
    stores: Stores,
    edges: Mapping[int, list[Edge]],
    lists: _Lists,
    settings: FeedSettings,
) -> None:
    by_version: dict[int, dict[bytes, dict[bytes, bytes]]] = defaultdict(dict)
    cut: list[bytes] = []
    for user_id, follows in edges.items():
        versions: dict[bytes, int] = {}
        for edge in filter(_is_pushed, follows):
            versions.update(dict.fromkeys(lists.following(user_id, edge.to_id), edge.version))
        row = id_row(user_id)
        kept = newest_columns(versions, settings.following_cap)
        if len({behind_pin(column) for column in kept}) >= settings.following_cap:
            cut.append(row)
        for column in kept:
            by_version[versions[column]].setdefault(row, {})[column] = b""
    await write_both(stores.feeds, lambda store: mark_cut(store, cut))
    for version, rows in by_version.items():
        await put_both(stores.feeds, FOLLOWING, rows, follow_stamp(version))


async def _mark(stores: Stores, edges: Mapping[int, list[Edge]]) -> None:
    """Record these edges as applied, on both sides of both feeds."""
    users = [
        (user_id, {edge.to_id: edge.version for edge in follows})
        for user_id, follows in edges.items()
    ]
    for sides, table in ((stores.feeds, FOLLOWING_APPLIED), (stores.pools, POOLS_APPLIED)):

        async def mark(store: WideColumnStore, table: Table = table) -> None:
            await marks.mark_many(store, table, users)

        await write_both(sides, mark)


async def _write_pools(
    stores: Stores, edges: Mapping[int, list[Edge]], lists: _Lists, settings: FeedSettings
) -> None:
    rows: dict[bytes, dict[bytes, bytes]] = {}
    cut: dict[bytes, dict[bytes, bytes]] = {}
    for user_id, follows in edges.items():
        found: dict[bytes, bytes] = {}
        for edge in filter(_is_pushed, follows):
            found.update(lists.pool(user_id, edge.to_id))
        if len(found) > settings.pool_cap or any(
            lists.has_more(edge.to_id) for edge in filter(_is_pushed, follows)
        ):
            cut[id_row(user_id)] = {CUT: b""}
        kept = sorted(found)[: settings.pool_cap]
        rows[pool_row(user_id, Source.FOLLOWED)] = {column: found[column] for column in kept}
    await put_both(stores.pools, POOLS_APPLIED, cut, LOWEST_STAMP)
    await put_both(stores.pools, POOLS, rows, LOWEST_STAMP)
