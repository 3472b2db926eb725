"""The number of the C library's arenas."""

import subprocess
import sys

import pytest

_COUNTED = """
import ctypes, sys, threading
from gateway.server.allocator import limit_arenas

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.fopen.restype = ctypes.c_void_p
if sys.argv[1:]:
    limit_arenas()
waiting = threading.Barrier(17)


def allocate():
    libc.malloc(1_000)
    waiting.wait()  # an arena of a thread that ended is given to the next one
    waiting.wait()


threads = [threading.Thread(target=allocate) for _ in range(16)]
for thread in threads:
    thread.start()
waiting.wait()
stream = ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, stream)
libc.fflush(stream)
waiting.wait()
"""


@pytest.mark.parametrize("limited", [True, False])
def test_threads_share_two_arenas(limited: bool) -> None:
    command = [sys.executable, "-c", _COUNTED, *(["limit"] if limited else [])]

    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    arenas = told.count("<heap nr=")
    assert arenas == 2 if limited else arenas > 4, told
