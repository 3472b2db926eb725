"""Feeds that include the client's own write: the token of a write, and the read that waits for it.

Jobs apply writes to the feeds, so at first one side or both may lack a write. A token names the
edge and its version. Each side stores, beside the feed's row, the versions that were applied to it.
A read makes one race. If the side that answered lacks the write, the read checks both sides until
one has the write, and reads from that side. The number of checks is bounded, and the pauses between
them grow.
"""

import asyncio
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from datasources.errors import BadInput, StoreError
from datasources.ids import InvalidId, Kind, kind_of
from datasources.mappings import Edge, EdgeKey
from datasources.protocols import Sides, Stores, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds import marks
from feed_engine.feeds.content import public_pin
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.feeds.rows import (
    FOLLOWING,
    FOLLOWING_APPLIED,
    POOLS,
    POOLS_APPLIED,
    FollowingColumn,
    following_column,
    id_row,
    interest_row,
    pool_row,
)
from feed_engine.feeds.smart import pools
from feed_engine.speculation import Race, Raced, Side
from feed_engine.speculation import deadline as request

T = TypeVar("T")

_TOKEN = struct.Struct(">BQQQ")
_FORMAT = 0x41
FIRST_LOOK, LONGEST_LOOK = 0.02, 0.32  # seconds between checks, doubling: 11 in two seconds
KEPT = 0.5  # the share of the request's remaining time that is reserved for the rest of the answer

Applied = Callable[[WideColumnStore], Awaitable[bool]]
"""A check of whether one side has a write."""


class Written(NamedTuple):
    """A write that changes feeds: viewer → followed, or board → pin."""

    from_id: int
    to_id: int
    version: int

    @property
    def is_follow(self) -> bool:
        return kind_of(self.from_id) is Kind.USER


def token_of(edge: Edge) -> str | None:
    """The token of the edge of a follow or a new pin; None for an edge that never existed."""
    if not edge.version:
        return None
    raw = _TOKEN.pack(_FORMAT, edge.from_id, edge.to_id, edge.version)
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def parse(token: str) -> Written:
    """The write of a token. Raises BadInput for an invalid token."""
    try:
        kind, *fields = _TOKEN.unpack(urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        written = Written(*fields)
        ends = kind_of(written.from_id), kind_of(written.to_id)
    except (ValueError, struct.error, InvalidId):
        kind, ends = 0, None
    if kind == _FORMAT and ends is not None and 0 < written.version < 1 << 63:
        follows = ends[0] is Kind.USER and ends[1] in FOLLOWS
        if follows or ends == (Kind.BOARD, Kind.PIN):
            return written
    raise BadInput(f"{token[:60]!r} is not a feedToken: send it as the payload had it", "seen")


def check_token(token: str, viewer_id: int | None) -> Written:
    """The write of a token that the viewer may wait for. Raises BadInput."""
    written = parse(token)
    if written.is_follow and written.from_id != viewer_id:
        raise BadInput("this feedToken is of another user's follow: send one of your own", "seen")
    return written


async def in_following(stores: Stores, token: str, viewer_id: int) -> Applied | None:
    """The check of whether the write is in the viewer's following feed. None if the write adds
    nothing to that feed. Raises BadInput."""
    written = check_token(token, viewer_id)
    if written.is_follow:
        _, target_id, version = written
        if kind_of(target_id) is Kind.INTEREST:
            return None
        return lambda store: marks.is_marked(
            store, FOLLOWING_APPLIED, viewer_id, target_id, version
        )
    pin, causes = await _causes(stores, written.to_id, viewer_id)
    causes = [cause for cause in causes if kind_of(cause) is not Kind.INTEREST]
    if pin is None or not causes:
        return None
    columns = [following_column(FollowingColumn(pin.created, pin.id, c)) for c in causes]

    async def there(store: WideColumnStore) -> bool:
        return bool(await store.get(FOLLOWING, id_row(viewer_id), columns))

    return there


async def in_pools(
    stores: Stores, token: str, viewer_id: int, shown: Callable[[int], Awaitable[bool]]
) -> Applied | None:
    """The check of whether the write is in the pools from which the viewer's next chunk is chosen.
    A pin that was `shown` has left the pools for good, and counts as present. None if the write
    adds nothing to the pools. Raises BadInput."""
    written = check_token(token, viewer_id)
    if written.is_follow:
        _, target_id, version = written
        return lambda store: marks.is_marked(store, POOLS_APPLIED, viewer_id, target_id, version)
    pin, causes = await _causes(stores, written.to_id, viewer_id)
    if pin is None or not causes or await shown(pin.id):
        return None
    rows: dict[bytes, list[bytes]] = {}
    for cause in causes:
        # Earlier versions put an interest's pins into its followers' own pools.
        row = pool_row(viewer_id, pools.followed_source(cause))
        for each in {row, interest_row(cause) if kind_of(cause) is Kind.INTEREST else row}:
            rows.setdefault(each, []).append(pools.followed_cell(pin, cause)[0])

    async def there(store: WideColumnStore) -> bool:
        found = await asyncio.gather(*(store.get(POOLS, row, rows[row]) for row in rows))
        return any(found)

    return there


async def _causes(stores: Stores, pin_id: int, viewer_id: int) -> tuple[Pin | None, list[int]]:
    """The pin, if it is fanned out, and its causes that the viewer follows."""
    pin = await public_pin(stores, pin_id)
    if pin is None or pin.owner_id == viewer_id:
        return None, []
    causes = [pin.owner_id, pin.board_id, *pin.interest_ids]
    keys = [EdgeKey(FOLLOWS[kind_of(cause)], viewer_id, cause) for cause in causes]
    edges = await stores.shards.mappings.edges(keys)
    return pin, [key.to_id for key in keys if key in edges and edges[key].active]


async def read_seeing(
    race: Race,
    sides: Sides,
    ask: Callable[[WideColumnStore], Awaitable[T]],
    there: Applied | None,
    *,
    kind: tuple[str, int],
) -> tuple[Raced[T], bool]:
    """An answer that holds the write, and True. If the write doesn't arrive before the race's
    deadline: an answer without the write, and False. `kind`: the kind of read, for the race. Raises
    StoreError as the race does."""
    if there is None:
        return await race(ask, kind=kind), True
    until = _until(race.deadline)

    async def both(store: WideColumnStore) -> tuple[bool, T]:
        has = await there(store)  # checked first: the row that is read next then holds the write
        return has, await ask(store)

    looking = ("seeing", *kind)
    raced = await race(both, kind=looking)
    while not raced.value[0]:
        side = await _first_with(sides, there, until)
        if side is None:
            return Raced(raced.value[1], raced.side), False
        try:
            raced = await race(both, only=side, kind=looking)
        except StoreError:
            if asyncio.get_running_loop().time() >= until:
                return Raced(raced.value[1], raced.side), False
    return Raced(raced.value[1], raced.side), True


def _until(deadline: float) -> float:
    """The time at which to stop waiting, on the event loop's clock."""
    now, ends = asyncio.get_running_loop().time(), request.ends.get()
    return now + (deadline if ends is None else min(deadline, (ends - now) * KEPT))


async def _first_with(sides: Sides, there: Applied, until: float) -> Side | None:
    """The side that first has the write; None if neither has it in time."""
    loop, pause = asyncio.get_running_loop(), FIRST_LOOK
    while (left := until - loop.time()) > 0:
        await asyncio.sleep(min(pause, left))
        pause = min(2 * pause, LONGEST_LOOK)
        side = await _look(sides, there, max(FIRST_LOOK, until - loop.time()))
        if side is not None:
            return side
    return None


async def _look(sides: Sides, there: Applied, seconds: float) -> Side | None:
    """One check of both sides. A side that fails or hangs counts as not having the write."""

    async def look(side: Side, store: WideColumnStore) -> Side | None:
        try:
            async with asyncio.timeout(min(seconds, LONGEST_LOOK)):
                return side if await there(store) else None
        except (StoreError, TimeoutError):
            return None

    looks = [look(Side.PRIMARY, sides.primary), look(Side.STANDBY, sides.standby)]
    found = await asyncio.gather(*looks)
    return next((side for side in found if side is not None), None)
