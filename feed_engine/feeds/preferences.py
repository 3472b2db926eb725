"""A viewer's preferences for the feeds: in the home feed, hidden pictures, and users, boards and
interests of which the viewer wants to see less or more; in both feeds, muted users; and the
viewer's blocks.

The preferences are rows of a few lists on the viewer's shard. Each page reads them from the
shard's master, at the same time as the visit. So a preference holds from its acknowledgement on,
for all pages, on both sides of the feeds' stores, and on all of the viewer's devices.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from datasources.errors import StoreError
from datasources.mappings import Edge, ListKey, Mapping, PageRequest
from datasources.protocols import Stores
from datasources.records import Pin
from feed_engine.feeds.settings import Feeds, Preferences
from feed_engine.feeds.smart.diversity import Places
from feed_engine.transactions import blocks

HIDDEN = 1000
"""Hidden pictures of a viewer, at most. The next one takes the place of the oldest."""
MUTED = 1000
"""Users whom a viewer mutes, at most."""
TUNED = 200
"""Users, boards and interests of which a viewer wants to see less, at most; and more, too."""
LESS = -3.0
"""Added to a score, which is a binary logarithm: an eighth of the interest."""
MORE = 2.0
"""Added to a score: four times the interest."""

NONE = Preferences()
_LISTS = {
    Mapping.USER_HIDES_PINS: HIDDEN,
    Mapping.USER_SEES_LESS: TUNED,
    Mapping.USER_SEES_MORE: TUNED,
    Mapping.USER_MUTES_USERS: MUTED,
}


def requests(viewer_id: int) -> list[PageRequest]:
    """The lists of the viewer's preferences."""
    lists = [PageRequest(ListKey(mapping, viewer_id), most) for mapping, most in _LISTS.items()]
    return [*lists, *blocks.requests(viewer_id)]


def of_pages(pages: Iterable[Sequence[Edge]]) -> Preferences:
    """The preferences that the lists of `requests` hold."""
    pages = list(pages)
    hidden, less, more, muted = map(_ids, pages[: len(_LISTS)])
    return Preferences(hidden, less, more, muted, blocks.of_pages(pages[len(_LISTS) :]))


def _ids(page: Sequence[Edge]) -> frozenset[int]:
    return frozenset(edge.to_id for edge in page)


async def read(stores: Stores, viewer_id: int) -> Preferences:
    """The viewer's preferences now. Raises StoreError."""
    return of_pages(await stores.shards.mappings.pages(requests(viewer_id)))


async def known(feeds: Feeds, viewer_id: int) -> Preferences:
    """The viewer's preferences; while the viewer's shard does not answer, as this process last read
    them."""
    try:
        found = await read(feeds.stores, viewer_id)
    except StoreError:
        return feeds.preferences.get(viewer_id, NONE)
    feeds.remember_preferences(viewer_id, found)
    return found


async def known_muted(feeds: Feeds, viewer_id: int) -> frozenset[int]:
    """The users whom the viewer mutes now; while the viewer's shard does not answer, as this
    process last read them."""
    request = PageRequest(ListKey(Mapping.USER_MUTES_USERS, viewer_id), MUTED)
    try:
        [page] = await feeds.stores.shards.mappings.pages([request])
    except StoreError:
        return feeds.preferences.get(viewer_id, NONE).muted
    return _ids(page)


def subjects(pin: Pin) -> Collection[int]:
    """The users, boards and interests that the pin belongs to."""
    return (pin.owner_id, pin.board_id, *pin.interest_ids)


def bias(preferences: Preferences, ids: Iterable[int]) -> float:
    """The number to add to the score of a pin that belongs to these users, boards and interests."""
    ids = set(ids)
    less = LESS if not preferences.less.isdisjoint(ids) else 0.0
    return less + (MORE if not preferences.more.isdisjoint(ids) else 0.0)


def keeping(preferences: Preferences) -> Callable[[Pin], bool]:
    """A function that is called for the pins of a page, in their order, and says which are kept.
    Hidden pictures, and pins of muted users, are not. Of a user, board or interest of which the
    viewer wants to see less, a window has one pin."""
    hidden, muted, less = preferences.hidden, preferences.muted, preferences.less
    places = Places()

    def is_shown(pin: Pin) -> bool:
        return not (pin.root in hidden or pin.id in hidden or pin.owner_id in muted)

    def is_kept(pin: Pin) -> bool:
        if not is_shown(pin):
            return False
        groups = [id for id in subjects(pin) if id in less]
        if any(places.has(group) for group in groups):
            return False
        places.place(groups)
        return True

    return is_kept if less else is_shown
