"""Lengths of time, in milliseconds, and times as people read them."""

from datetime import UTC, datetime

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
CENTURY = 36_500 * DAY
LEAPS = (MINUTE, HOUR, DAY, 30 * DAY, 3650 * DAY)
"""Added to the clock for a stamp, one after the other, while written cells stay hidden: the clock
that stamped the removal of these cells was ahead of this clock."""


def moment(epoch_ms: int) -> datetime:
    """The time as a datetime in UTC."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC)


def seconds_until(epoch_ms: int, now: int) -> int:
    """The whole seconds, 1 at least, after which a time is reached."""
    return max(1, -(-(epoch_ms - now) // 1000))


def in_utc(epoch_ms: int, timespec: str = "seconds") -> str:
    """The time in ISO 8601, as `2026-03-01T12:00:00+00:00`. `timespec`: see
    `datetime.isoformat`."""
    return moment(epoch_ms).isoformat(timespec=timespec)
