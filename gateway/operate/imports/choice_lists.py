"""The lists of a viewer that an import and an export have lines for: blocks, mutes and preferences,
with their bounds."""

from collections.abc import Mapping as Dict

from datasources.mappings import Mapping
from feed_engine.feeds.preferences import HIDDEN, MUTED, TUNED
from feed_engine.transactions import blocks

LISTS: Dict[Mapping, tuple[int, str]] = {
    Mapping.USER_BLOCKS_USERS: (blocks.MOST, "blocked users"),
    Mapping.USER_MUTES_USERS: (MUTED, "muted users"),
    Mapping.USER_HIDES_PINS: (HIDDEN, "hidden pins"),
    Mapping.USER_SEES_LESS: (TUNED, "users, boards and interests to see less of"),
    Mapping.USER_SEES_MORE: (TUNED, "users, boards and interests to see more of"),
}
"""The most entries of each list, and the words for them."""
TUNED_LISTS = (Mapping.USER_SEES_LESS, Mapping.USER_SEES_MORE)
"""The lists of which an object is in one at most."""
