"""The C library's memory allocator.

glibc gives threads arenas of their own, up to eight for each core. An arena keeps the memory that
was freed in it for its own threads. The search engine writes in a new thread each time, and each
write needs 15 MB: spread over all arenas, these bytes are taken many times (measured: 100 MiB on
two cores). Python's own objects don't come from arenas.
"""

import ctypes

ARENAS = 2
"""Arenas of a process: one for the thread of the event loop, and one for all other threads."""
_M_ARENA_MAX = -8


def limit_arenas(most: int = ARENAS) -> bool:
    """Let the threads that start from now on share `most` arenas. Returns False if the C library
    isn't glibc, and does nothing then."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no such function; no such library, as on Windows
        return False
    return bool(mallopt(_M_ARENA_MAX, most))
