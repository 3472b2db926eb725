"""This process' counts of writes to rows that many jobs share or that could grow without bound."""

from dataclasses import dataclass, field

from feed_engine.feeds.rows import POPULAR_SPREAD


@dataclass
class FeedCounts:
    """Counts since the start of the process, both sides together."""

    popular_writes: list[int] = field(default_factory=lambda: [0] * POPULAR_SPREAD)
    """Cells written to each row of popular pins."""
    popular_moved: int = 0
    """Cells moved to these rows from the single row that earlier versions used."""
    shown_forgotten: int = 0
    """Marks of shown pins that were removed because they were older than `shown_days`."""


COUNTS = FeedCounts()
"""The counts of this process."""
