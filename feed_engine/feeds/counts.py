"""Counts of this process' jobs that write rows which many share or which could grow without end."""

from dataclasses import dataclass, field

from feed_engine.feeds.rows import POPULAR_SPREAD


@dataclass
class FeedCounts:
    """Counts since the start of the process, of both sides together."""

    popular_writes: list[int] = field(default_factory=lambda: [0] * POPULAR_SPREAD)
    """Cells put into each row of popular pins."""
    popular_moved: int = 0
    """Cells moved from the one row of earlier versions to these rows."""
    shown_forgotten: int = 0
    """Marks of shown pins that were removed, since they were older than the horizon."""


COUNTS = FeedCounts()
"""The counts of this process."""
