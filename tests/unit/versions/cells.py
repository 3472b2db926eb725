"""Cells of the feed stores, and the cursors and tokens that clients hold, each as one text."""

from collections.abc import Callable
from typing import Any

import msgspec

from datasources.mappings import Edge, ListKey, Mapping
from feed_engine.feeds import cursors, own_writes, rows
from feed_engine.feeds.cursors import CursorKind
from feed_engine.feeds.rows import FollowingColumn, Place, PoolColumn, Reason, Source
from feed_engine.feeds.smart import popular_page, service
from gateway.http.auth import Tokens
from gateway.operate.backup import Content, Manifest
from resolvers.cursors import CursorKind as ListKind
from resolvers.cursors import CursorPlace, Cursors
from resolvers.feed_tokens import FeedTokens
from tests.unit.versions.progress import BOARD, PIN, SEQUENCE, USER
from tests.unit.versions.samples import Kept

SECRET = b"secret " * 6
TOKENS = Tokens(SECRET.decode(), 1_000_000, clock=lambda: 1_700_000_000)

FOLLOWING = FollowingColumn(1_700_000_000_000, PIN, USER)
POOL = PoolColumn(-1.5, PIN)
PLACE = Place(12, 3)
EDGE = Edge(USER, BOARD, SEQUENCE, 3)


def _hex(value: Any, written: bytes, read: Callable[[bytes], Any]) -> Kept:
    return Kept(value, written.hex().encode(), lambda data: read(bytes.fromhex(data.decode())))


def _text(value: Any, written: str | None, read: Callable[[str], Any]) -> Kept:
    assert written is not None
    return Kept(value, written.encode(), lambda data: read(data.decode()))


def _version(column: bytes) -> int:
    return 2**64 - 1 - int.from_bytes(column, "big")


LIST_CURSORS, FEED_TOKENS = Cursors(SECRET), FeedTokens(SECRET)
PINS_CURSORS = LIST_CURSORS.of(ListKey(Mapping.BOARD_HAS_PINS, BOARD))
MANIFEST = Manifest(1, "0.1.0", "2026-01-05T09:30:12+00:00", {"topology.json": Content(2, "ab")})
CELLS: dict[str, Kept] = {
    "cell-following.hex": _hex(FOLLOWING, rows.following_column(FOLLOWING), rows.parse_following),
    "cell-pool.hex": _hex(POOL, rows.pool_column(POOL), rows.parse_pool),
    "cell-pool-why.json": Kept(USER, rows.why(USER), lambda data: rows.parse_why(data).cause_id),
    "cell-popularity.hex": _hex(7, rows.inverted_version(7), _version),
    "cell-materialized.hex": _hex(PLACE, rows.place_column(PLACE), rows.parse_place),
    "cell-materialized-pin.hex": _hex(
        (PIN, Reason.RELATED), rows.shown_pin(PIN, Reason.RELATED), rows.parse_shown_pin
    ),
    "cell-shown.hex": _hex(PLACE, rows.shown_at(PLACE), rows.parse_shown_at),
    "row-pool.hex": _hex(
        (USER, Source.INTEREST),
        rows.pool_row(USER, Source.INTEREST),
        lambda row: (int.from_bytes(row[:8], "big"), Source(row[8])),
    ),
    "stamps.json": Kept(
        [rows.follow_stamp(3, 1_700_000_000_000), rows.unfollow_stamp(3)],
        msgspec.json.encode([rows.follow_stamp(3, 1_700_000_000_000), rows.unfollow_stamp(3)]),
        msgspec.json.decode,
    ),
    "cursor-list.txt": Kept(
        CursorPlace(SEQUENCE, PIN, 2),
        None,
        lambda data: PINS_CURSORS.decode(ListKind.LIST, data.decode()),
    ),
    "cursor-list-2.txt": _text(
        CursorPlace(SEQUENCE, PIN, 2),
        PINS_CURSORS.encode(ListKind.LIST, PIN, SEQUENCE, 2),
        lambda text: PINS_CURSORS.decode(ListKind.LIST, text),
    ),
    "cursor-objects.txt": _text(
        CursorPlace(0, PIN, 0),
        LIST_CURSORS.encode(ListKind.OBJECTS, PIN),
        lambda text: LIST_CURSORS.decode(ListKind.OBJECTS, text),
    ),
    "cursor-following.txt": _text(
        rows.following_column(FOLLOWING),
        cursors.encode(CursorKind.FOLLOWING_1, rows.following_column(FOLLOWING)),
        lambda text: cursors.decode(CursorKind.FOLLOWING_1, text, least=24),
    ),
    "cursor-home.txt": _text(
        (15, PLACE, "morning"),
        cursors.encode(CursorKind.HOME_1, service._CURSOR.pack(15, *PLACE) + b"morning"),
        service._parse_cursor,
    ),
    "cursor-popular.txt": _text(
        rows.pool_column(POOL),
        cursors.encode(CursorKind.POPULAR_1, rows.pool_column(POOL)),
        lambda text: cursors.decode(CursorKind.POPULAR_1, text, least=16),
    ),
    "cursor-popular-2.txt": _text(
        (rows.pool_column(POOL), [(1, 2), (3, 4)]),
        popular_page.encoded(rows.pool_column(POOL), [(1, 2), (3, 4)]),
        popular_page.decoded,
    ),
    "feed-token.txt": _text(
        own_writes.Written(USER, BOARD, 3),
        FEED_TOKENS.of(EDGE),
        lambda text: own_writes.parse(FEED_TOKENS.read(text) or ""),
    ),
    "token.txt": _text(
        USER, TOKENS.issue(USER), lambda text: TOKENS.read(f"Bearer {text}").viewer_id
    ),
    "backup.json": Kept(
        MANIFEST,
        msgspec.json.encode(MANIFEST),
        lambda data: msgspec.json.decode(data, type=Manifest),
    ),
}
