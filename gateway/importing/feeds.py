"""After an import: the feeds of everybody whom it concerns, in bulk instead of a job a pin."""

from collections.abc import Iterator

from datasources.mappings import ListKey, Mapping, PageRequest, Position
from feed_engine.bulk import build_feeds, build_popular
from gateway.importing.load import Load, batches

_FOLLOWED_BY = (
    # what imported pins hang on, and who follows it
    (
        "SELECT DISTINCT u.id FROM boards b JOIN users u ON u.key = b.owner "
        "WHERE EXISTS (SELECT 1 FROM pins WHERE board = b.key)",
        Mapping.USER_FOLLOWED_BY_USERS,
    ),
    (
        "SELECT id FROM boards b WHERE EXISTS (SELECT 1 FROM pins WHERE board = b.key)",
        Mapping.BOARD_FOLLOWED_BY_USERS,
    ),
    (
        "SELECT id FROM interests WHERE key IN (SELECT interest FROM pin_interests)",
        Mapping.INTEREST_FOLLOWED_BY_USERS,
    ),
)
_LISTS = 200  # followers' lists that are read at once
_PAGE = 500
_USERS = 500  # whose feeds are built at once


async def build(load: Load) -> None:
    """Fill the feeds of all who follow, or follow what has new pins; and the popular pins."""
    db = load.spool.db
    db.execute(
        "INSERT OR IGNORE INTO affected SELECT u.id FROM users u WHERE EXISTS "
        "(SELECT 1 FROM follows WHERE follower = u.key) "
        "OR EXISTS (SELECT 1 FROM likes WHERE user = u.key)"
    )
    for sql, mapping in _FOLLOWED_BY:
        # Its own list of ids: the affected are written while it is read.
        for rows in batches(iter(db.execute(sql).fetchall()), _LISTS):
            await _add_followers(load, [ListKey(mapping, id) for (id,) in rows])
    total = load.spool.count("affected")
    done = 0
    for users in _chunks(load):
        await build_feeds(load.stores, users)
        done += len(users)
        load.step("feeds", done, total, "users")
    await build_popular(load.stores)
    load.report.feeds = total


async def _add_followers(load: Load, lists: list[ListKey]) -> None:
    requests = [PageRequest(key, _PAGE) for key in lists]
    while requests:
        pages = await load.stores.shards.mappings.pages(requests)
        load.spool.many(
            "INSERT OR IGNORE INTO affected VALUES (?)",
            [(edge.to_id,) for page in pages for edge in page],
        )
        requests = [
            PageRequest(request.key, _PAGE, Position(page[-1].sequence, page[-1].to_id))
            for request, page in zip(requests, pages, strict=True)
            if len(page) == _PAGE
        ]


def _chunks(load: Load) -> Iterator[list[int]]:
    after = 0
    while True:
        rows = load.spool.db.execute(
            "SELECT user_id FROM affected WHERE user_id > ? ORDER BY user_id LIMIT ?",
            (after, _USERS),
        ).fetchall()
        if not rows:
            return
        yield [id for (id,) in rows]
        after = rows[-1][0]
