"""Lengths of time, in milliseconds."""

HOUR = 3_600_000
DAY = 24 * HOUR
