"""The periods by which the files of a dump are partitioned, in UTC."""

from collections.abc import Callable
from datetime import date
from functools import cache

DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
_LENGTHS = {"day": 10, "month": 7, "year": 4}
"""How much of an ISO date names a period."""

PERIODS = tuple(_LENGTHS)


def naming(by: str) -> Callable[[int], str]:
    """A function that names the period of a day, which is counted from 1970-01-01: 2026-01-31,
    2026-01 or 2026."""
    length = _LENGTHS[by]

    @cache  # a dump has few days, and each of them on many rows
    def name(day: int) -> str:
        return date.fromordinal(_EPOCH + day).isoformat()[:length]

    return name
