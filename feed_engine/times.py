"""Lengths of time, in milliseconds."""

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
CENTURY = 36_500 * DAY
LEAPS = (MINUTE, HOUR, DAY, 30 * DAY, 3650 * DAY)
"""Added to the clock for a stamp, one after the other, while written cells stay hidden: the clock
that stamped the removal of these cells was ahead of this clock."""
