"""The present time, and the clock by which a lease ends."""

import time

_BOOT: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def now_ms() -> int:
    """The present epoch milliseconds."""
    return time.time_ns() // 1_000_000


def lease_seconds() -> float:
    """Seconds of a clock that is never set back, and that goes on while the host is suspended.
    `time.monotonic`, which systems without such a clock have, stands still then: a process would
    rely after the pause on a right that has ended meanwhile."""
    return time.monotonic() if _BOOT is None else time.clock_gettime(_BOOT)
