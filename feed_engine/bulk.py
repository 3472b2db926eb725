"""Feeds of many users at once, from the mappings: after an import, and where a feed was left short.

Writes what the jobs of every follow and every pin would have written, without a job for each.
Pools' cells get the lowest stamp there is: so building again brings back nothing that was taken.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import islice

from datasources.ids import Kind, kind_of
from datasources.mappings import Edge, ListKey
from datasources.protocols import Stores
from feed_engine.content import BriefPin, newest_pins
from feed_engine.feeds import DEFAULTS, FeedSettings
from feed_engine.follow_edges import FOLLOWS, PINS_OF, followed, following_cells
from feed_engine.rows import FOLLOWING, POOLS, Source, follow_stamp, id_row, pool_row
from feed_engine.smart import pools
from feed_engine.wide import put_both, trim_both

Progress = Callable[[int], None]
"""Told how many more are done."""

USERS = 100  # a batch
LISTS = 50  # lists read together
REMEMBERED = 1_000_000  # pins of lists kept for the next users: about 200 MB
_LOWEST_STAMP = 1


async def build_feeds(
    stores: Stores,
    user_ids: Iterable[int],
    progress: Progress = lambda done: None,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Fill the following feeds and the pools of users from what they follow. Adds what is missing
    and removes nothing; may be repeated."""
    lists = _Lists(stores, settings)
    users = iter(user_ids)
    while batch := list(islice(users, USERS)):
        follows = [await followed(stores, mapping, batch) for mapping in FOLLOWS.values()]
        edges = {user_id: [e for some in follows for e in some[user_id]] for user_id in batch}
        await lists.load(edge.to_id for some in edges.values() for edge in some)
        await _write_following(stores, edges, lists, settings)
        await _write_pools(stores, edges, lists, settings)
        lists.forget()
        progress(len(batch))


async def build_following(
    stores: Stores, user_ids: Sequence[int], at: int, *, settings: FeedSettings = DEFAULTS
) -> None:
    """Fill up the following feeds of a few users after an unfollow at an epoch ms."""
    lists = _Lists(stores, settings)
    kinds = (Kind.USER, Kind.BOARD)
    follows = [await followed(stores, FOLLOWS[kind], user_ids) for kind in kinds]
    edges = {user_id: [e for some in follows for e in some[user_id]] for user_id in user_ids}
    await lists.load(edge.to_id for some in edges.values() for edge in some)
    await _write_following(stores, edges, lists, settings, refilled=at)
    rows = [id_row(user_id) for user_id in user_ids]
    await trim_both(stores.feeds, FOLLOWING, rows, settings.following_cells)


class _Lists:
    """The newest pins of followed users, boards and interests, read once for many users."""

    def __init__(self, stores: Stores, settings: FeedSettings) -> None:
        self._stores, self._settings = stores, settings
        self._pins: dict[int, list[BriefPin]] = {}
        self._size = 0

    async def load(self, targets: Iterable[int]) -> None:
        missing: dict[int, list[ListKey]] = defaultdict(list)
        for target in dict.fromkeys(targets):
            if target not in self._pins:
                kind = kind_of(target)
                limit = self._limit(kind)
                missing[limit].append(ListKey(PINS_OF[kind], target))
        for limit, keys in missing.items():
            for start in range(0, len(keys), LISTS):
                found = await newest_pins(self._stores, keys[start : start + LISTS], limit)
                for key, pins in found.items():
                    self._pins[key.from_id] = pins
                    self._size += len(pins)

    def of(self, target: int) -> list[BriefPin]:
        return self._pins[target]

    def forget(self) -> None:
        """Stay within bounds: the lists read first go first."""
        while self._size > REMEMBERED:
            oldest = next(iter(self._pins))
            self._size -= len(self._pins.pop(oldest))

    def _limit(self, kind: Kind) -> int:
        settings = self._settings
        return settings.backfill if kind is Kind.INTEREST else settings.following_cap


async def _write_following(
    stores: Stores,
    edges: Mapping[int, list[Edge]],
    lists: _Lists,
    settings: FeedSettings,
    refilled: int = 0,
) -> None:
    by_version: dict[int, dict[bytes, dict[bytes, bytes]]] = defaultdict(dict)
    for user_id, follows in edges.items():
        cells = (
            cell
            for edge in follows
            if kind_of(edge.to_id) is not Kind.INTEREST
            for cell in following_cells(user_id, edge, lists.of(edge.to_id))
        )
        for column, version in nsmallest(settings.following_cells, cells):
            by_version[version].setdefault(id_row(user_id), {})[column] = b""
    for version, rows in by_version.items():
        await put_both(stores.feeds, FOLLOWING, rows, follow_stamp(version, refilled))


async def _write_pools(
    stores: Stores, edges: Mapping[int, list[Edge]], lists: _Lists, settings: FeedSettings
) -> None:
    rows: dict[bytes, dict[bytes, bytes]] = {}
    for user_id, follows in edges.items():
        best: dict[Source, dict[bytes, bytes]] = defaultdict(dict)
        for edge in follows:
            pins = lists.of(edge.to_id)[: settings.backfill]
            cells = pools.followed_cells(pins, user_id, edge.to_id)
            best[pools.followed_source(edge.to_id)].update(cells)
        for source, found in best.items():
            rows[pool_row(user_id, source)] = dict(nsmallest(settings.pool_cap, found.items()))
    await put_both(stores.pools, POOLS, rows, _LOWEST_STAMP)
