"""Fills the feeds of all affected users after an import, in batches instead of a job for each
pin."""

from collections.abc import Iterator
from functools import partial

from datasources.clocks import now_ms
from datasources.mappings import Edge, ListKey, Mapping, PageRequest, next_pages
from datasources.together import together
from feed_engine.feeds.bulk import build_feeds
from feed_engine.feeds.smart.interests import fill
from feed_engine.feeds.smart.popular_bulk import build_popular
from gateway.operate.imports.load import Load, batches, patiently

_FOLLOWED_BY = (
    # the owners and boards of imported pins, and their followers
    (
        "SELECT DISTINCT u.id FROM boards b JOIN users u ON u.key = b.owner "
        "WHERE EXISTS (SELECT 1 FROM pins WHERE board = b.key)",
        Mapping.USER_FOLLOWED_BY_USERS,
    ),
    (
        "SELECT id FROM users WHERE key IN (SELECT owner FROM pins WHERE owner IS NOT NULL)",
        Mapping.USER_FOLLOWED_BY_USERS,
    ),
    (
        "SELECT id FROM boards b WHERE EXISTS (SELECT 1 FROM pins WHERE board = b.key)",
        Mapping.BOARD_FOLLOWED_BY_USERS,
    ),
)
_INTERESTS = "SELECT id FROM interests WHERE key IN (SELECT interest FROM pin_interests)"
_LISTS = 200  # followers' lists that are read at once
_PAGE = 500
_INTERESTS_AT_ONCE = 20


async def build(load: Load) -> None:
    """Fill the feeds of new followers, and of followers of users and boards with new pins; the
    pools of interests with new pins; and the popular pins."""
    db = load.spool.db
    db.execute(
        "INSERT OR IGNORE INTO affected SELECT u.id FROM users u WHERE EXISTS "
        "(SELECT 1 FROM follows WHERE follower = u.key) "
        "OR EXISTS (SELECT 1 FROM likes WHERE user = u.key)"
    )
    for sql, mapping in _FOLLOWED_BY:
        for rows in batches(load.spool.rows(sql), _LISTS):
            await _add_followers(load, [ListKey(mapping, id) for (id,) in rows])
    total = load.spool.count("affected")
    done = 0

    def more(users: int) -> None:
        nonlocal done
        done += users
        load.step("feeds", done, total, "users")

    await build_feeds(load.stores, _affected(load), more, settings=load.limits, attempt=patiently)
    at = now_ms()
    for rows in batches(load.spool.rows(_INTERESTS), _INTERESTS_AT_ONCE):
        ids = [id for (id,) in rows]
        await patiently(partial(_fill, load, ids, at))
    await patiently(partial(build_popular, load.stores, settings=load.limits))
    load.report.feeds = total


async def _fill(load: Load, interest_ids: list[int], at: int) -> None:
    calls = (fill(load.stores, id, load.limits.interest_cap, at) for id in interest_ids)
    await together(calls)


async def _add_followers(load: Load, lists: list[ListKey]) -> None:
    requests = [PageRequest(key, _PAGE) for key in lists]
    while requests:
        pages = await _pages(load, requests)
        load.spool.many(
            "INSERT OR IGNORE INTO affected VALUES (?)",
            [(edge.to_id,) for page in pages for edge in page],
        )
        requests = next_pages(requests, pages)


async def _pages(load: Load, requests: list[PageRequest]) -> list[list[Edge]]:
    return await patiently(lambda: load.stores.shards.mappings.pages(requests))


def _affected(load: Load) -> Iterator[int]:
    for (id,) in load.spool.rows("SELECT user_id FROM affected ORDER BY user_id"):
        yield id
