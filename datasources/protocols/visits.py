"""Visits of the home feed, kept on the user's own shard."""

from typing import NamedTuple, Protocol

VISITS_KEPT = 256
"""Visits of a user that are kept, at most: several megabytes."""


class Visit(NamedTuple):
    """A visit of the home feed: its chunk of new pins, in order."""

    user_id: int
    generation: int  # grows by one with each visit of the user
    visit: str
    chunk: bytes
    saved: bool  # the chunk is in the materialized feed of both sides
    created: int  # epoch ms


class VisitStore(Protocol):
    """Visits of the home feed, on the user's own shard."""

    async def recent(self, user_id: int, limit: int, *, named: str | None = None) -> list[Visit]:
        """The newest visits, all unsaved visits, and the visit with the name `named`, newest
        first."""

    async def viewers(self, shard: int, after: int, limit: int) -> list[int]:
        """Up to `limit` users of the shard with visits, whose ids are above `after`, ascending."""

    async def mark_saved(self, user_id: int, generation: int) -> None:
        """Record that both sides of the materialized feed have the chunk of this visit."""
