"""The newest pins, by creation, of followed users and boards: a k-way merge over mapping rows.

A board's own list is in its owner's order, so a board is read through its owner's public pins,
which are in order of creation. If the board has fewer pins than that would read, the whole board is
read. Each list is read only as deep as the merge needs: with 1,000 followed users, a few rows of
each, and more rows of the users who made the newest pins.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from datasources import records
from datasources.ids import Kind, kind_of
from datasources.mappings import SEQUENCE_STEP, Edge, ListKey, Mapping, PageRequest, Position
from datasources.protocols import Stores
from datasources.records import Board, Pin
from feed_engine.feeds.content import OBJECTS, load_pins, public_boards

LEAST = 8  # rows of a list in the first read
MOST = 4000  # rows of a list in one read, at most
ROWS = 50_000  # rows in one read of all lists


class Newest(NamedTuple):
    """A pin, and the followed users and boards that bring it."""

    pin: Pin
    causes: tuple[int, ...]


@dataclass(slots=True)
class _Source:
    """The public pins of a user, read to some depth. `boards` limits them to some boards."""

    owner_id: int
    boards: dict[int, int] | None  # board → its size; None: all boards
    limit: int
    rows: list[tuple[int, int]] = field(default_factory=list)  # (sequence, pin id), descending
    after: Position | None = None
    done: bool = False

    @property
    def whole(self) -> bool:
        """True if reading the boards as a whole is cheaper now."""
        return self.boards is not None and sum(self.boards.values()) <= self.limit


async def newest_followed(
    stores: Stores, viewer_id: int, followed: Collection[int], count: int
) -> list[Newest]:
    """The `count` newest pins of the followed users and boards that everybody may see, newest
    first. The viewer's own pins are left out."""
    merge = _Merge(stores, viewer_id, followed, count)
    sources = await _sources(stores, viewer_id, followed, count)
    waiting: Sequence[_Source] = sources
    while waiting:
        await _deepen(stores, waiting)
        found = await merge.take({row for source in sources for row in source.rows})
        # Unread rows of a list may belong before the last pin that was found.
        last = found[-1].pin.created * SEQUENCE_STEP if len(found) == count else -1
        waiting = [s for s in sources if not s.done and (not s.rows or s.rows[-1][0] >= last)]
        if not waiting:
            return found
    return []


class _Merge:
    """The pins found so far. Each pin is loaded once."""

    def __init__(
        self, stores: Stores, viewer_id: int, followed: Collection[int], count: int
    ) -> None:
        self._stores, self._viewer_id, self._count = stores, viewer_id, count
        self._followed = frozenset(followed)
        self._known: dict[int, Newest | None] = {}
        self._public: dict[int, bool] = {}

    async def take(self, rows: Iterable[tuple[int, int]]) -> list[Newest]:
        """The newest pins of these rows that may be shown."""
        ids = [pin_id for _, pin_id in sorted(rows, key=lambda row: (-row[0], row[1]))]
        found: list[Newest] = []
        async for batch in self._loaded(ids):
            found += [pin for pin_id in batch if (pin := self._known[pin_id]) is not None]
            if len(found) >= self._count:
                break
        return found[: self._count]

    async def _loaded(self, ids: Sequence[int]) -> AsyncIterator[Sequence[int]]:
        step = max(LEAST, self._count)
        for start in range(0, len(ids), step):
            batch = ids[start : start + step]
            await self._load([pin_id for pin_id in batch if pin_id not in self._known])
            yield batch

    async def _load(self, ids: Sequence[int]) -> None:
        pins = await load_pins(self._stores, ids)
        unknown = {pin.board_id for pin in pins.values()} - self._public.keys()
        public = await public_boards(self._stores, unknown)
        self._public.update((board_id, board_id in public) for board_id in unknown)
        for pin_id in ids:
            self._known[pin_id] = self._newest(pins.get(pin_id))

    def _newest(self, pin: Pin | None) -> Newest | None:
        if pin is None or pin.owner_id == self._viewer_id or not self._public[pin.board_id]:
            return None
        causes = tuple(id for id in (pin.owner_id, pin.board_id) if id in self._followed)
        return Newest(pin, causes) if causes else None


async def _sources(
    stores: Stores, viewer_id: int, followed: Collection[int], count: int
) -> list[_Source]:
    users = {id for id in followed if kind_of(id) is Kind.USER}
    boards = [id for id in followed if kind_of(id) is Kind.BOARD]
    by_owner: dict[int, list[int]] = {}
    for start in range(0, len(boards), OBJECTS):
        stored = await stores.shards.objects.get(boards[start : start + OBJECTS])
        for id, data in stored.items():
            board = cast(Board, records.decode(Kind.BOARD, id, data))
            if board.active and board.owner_id not in users:
                by_owner.setdefault(board.owner_id, []).append(id)
    keys = [ListKey(Mapping.BOARD_HAS_PINS, id) for some in by_owner.values() for id in some]
    heads = await stores.shards.mappings.heads(keys) if keys else {}
    owners = (users | by_owner.keys()) - {viewer_id}
    limit = max(LEAST, 2 * count // max(1, len(owners)))
    found = [_Source(id, None, limit) for id in sorted(users & owners)]
    for owner_id in sorted(owners - users):
        sizes = {id: heads[ListKey(Mapping.BOARD_HAS_PINS, id)].size for id in by_owner[owner_id]}
        found.append(_Source(owner_id, sizes, limit))
    return found


async def _deepen(stores: Stores, sources: Sequence[_Source]) -> None:
    """Read further in each list, twice as many rows as before."""
    whole = [source for source in sources if source.whole]
    await _read_whole(stores, whole)
    rest = [source for source in sources if not source.done]
    each = max(1, ROWS // max((source.limit for source in rest), default=1))
    for start in range(0, len(rest), each):
        some = rest[start : start + each]
        pages = await stores.shards.mappings.pages([_request(source) for source in some])
        for source, page in zip(some, pages, strict=True):
            source.rows += [(edge.sequence, edge.to_id) for edge in page]
            source.done = len(page) < source.limit
            if page:
                source.after = Position(page[-1].sequence, page[-1].to_id)
            source.limit = min(2 * source.limit, MOST)


def _request(source: _Source) -> PageRequest:
    key = ListKey(Mapping.USER_HAS_PUBLIC_PINS, source.owner_id)
    return PageRequest(key, source.limit, source.after)


async def _read_whole(stores: Stores, sources: Sequence[_Source]) -> None:
    """Read the boards as a whole, and sort their pins by creation."""
    for source in sources:
        assert source.boards is not None
        found: list[Edge] = []
        for board_id in source.boards:
            key = ListKey(Mapping.BOARD_HAS_PINS, board_id)
            request: PageRequest | None = PageRequest(key, MOST)
            while request:
                (page,) = await stores.shards.mappings.pages([request])
                found += page
                request = request.next(page)
        pins = await load_pins(stores, (edge.to_id for edge in found))
        rows = ((pin.created * SEQUENCE_STEP, pin.id) for pin in pins.values())
        source.rows = sorted({*source.rows, *rows}, reverse=True)
        source.done = True
