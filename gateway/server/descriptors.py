"""File descriptors: the number of connections for which the process has room."""

import logging
import os
from contextlib import suppress

log = logging.getLogger("pinway")

BACKLOG = 4096
"""Connections that the system accepts before the process takes them, if the system allows this
many. When the queue is full, a client retries after a second."""

_SPARE = 64
"""Descriptors for files and stores' connections that are opened later."""


def room_for(connections: int) -> tuple[int, int]:
    """The number of connections for which there is room, and the number that may queue (the
    backlog).

    Raises the limit of descriptors as far as needed and allowed. Logs a line if it stays too low.
    Connections that were accepted and not yet refused also hold descriptors, up to the backlog.
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
            "(http.max_connections): raise it (ulimit -n, LimitNOFILE) above %d",
            *(limit, room, connections, wanted),
        )
    return min(room, connections), backlog


def _raised(wanted: int) -> int | None:
    """The limit of descriptors, raised to `wanted` if that is allowed; None if there is no known
    limit."""
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
    """The number of open descriptors; an estimate if the system doesn't list them."""
    for listed in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(os.listdir(listed))
    return 256
