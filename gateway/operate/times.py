"""Times as operators read them."""

from datetime import UTC, datetime


def in_utc(epoch_ms: int, timespec: str = "seconds") -> str:
    """The time in ISO 8601, as `2026-03-01T12:00:00+00:00`. `timespec`: see
    `datetime.isoformat`."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec=timespec)
