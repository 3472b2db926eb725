"""Ends the server that a killed Pinway left behind, if the kernel did not end it.

The caller holds the directory's lock, so no living Pinway uses that server.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from datasources.errors import StoreUnavailable

END_SECONDS = 20.0


def write_pid_file(path: Path, pid: int, socket: Path) -> None:
    path.write_text(f"{pid}\n{socket}\n")


async def end_orphan(pid_file: Path, directory: Path) -> None:
    """Stop the server in the pid file if it is still running. Raises StoreUnavailable when it won't
    end."""
    pid, socket = _read_pid_file(pid_file)
    # The pid may belong to another program by now: the server's title shows its socket.
    if pid <= 1 or socket not in _title(pid) or "valkey" not in _title(pid):
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + END_SECONDS
    while socket in _title(pid):
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                f"process {pid} still uses {directory} and does not end: stop it first"
            )
        await asyncio.sleep(0.02)


def _read_pid_file(path: Path) -> tuple[int, str]:
    """Process id and socket, or (0, "") if there is no such file."""
    try:
        number, socket, *_ = path.read_text().splitlines()
        return int(number), socket
    except (OSError, ValueError):
        return 0, ""


def _title(pid: int) -> str:
    """The command line of a process; empty if there is no such process."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            return ""
    found = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return found.stdout
