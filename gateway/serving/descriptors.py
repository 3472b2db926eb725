"""File descriptors: how many connections the process has room for."""

import logging
import os
from contextlib import suppress

log = logging.getLogger("pinway")

BACKLOG = 4096
"""Connections that the system accepts before the process has taken them, where it allows so many.
When the queue is full, a client waits a second until it asks again."""

_SPARE = 64
"""Descriptors for files and stores' connections that are opened later."""


def room_for(connections: int) -> tuple[int, int]:
    """How many of the connections there is room for, and how many may queue (the backlog).

    Raises the limit of descriptors as far as needed and allowed; logs a line where it stays short.
    Connections that were accepted and not yet refused hold descriptors too, up to the backlog.
    """
    opened = _opened()
    wanted = opened + _SPARE + connections + BACKLOG
    limit = _raised(wanted)
    if limit is None or limit >= wanted:
        return connections, BACKLOG
    backlog = max(min(BACKLOG, limit // 4), 16)
    room = max(limit - opened - _SPARE - backlog, 16)
    if room < connections:
        log.warning(
            "the limit of %d file descriptors leaves room for %d connections, not %d "
            "(max_connections): raise it (ulimit -n, LimitNOFILE) above %d",
            *(limit, room, connections, wanted),
        )
    return min(room, connections), backlog


def _raised(wanted: int) -> int | None:
    """The limit of descriptors, raised to what is wanted if it may be; None where none is known."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited:
        return None
    if soft < wanted:
        allowed = wanted if hard == unlimited else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
            return allowed
    return soft


def _opened() -> int:
    """Descriptors that are open now; a guess where the system doesn't list them."""
    for listed in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(os.listdir(listed))
    return 256
