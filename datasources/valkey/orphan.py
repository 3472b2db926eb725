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
_PROC = Path("/proc/self/cmdline")


def write_pid_file(path: Path, pid: int) -> None:
    path.write_text(f"{pid}\n")


async def end_orphan(pid_file: Path, directory: Path) -> None:
    """Stop the server in the pid file if it is still running. Raises StoreUnavailable when it won't
    end."""
    pid = _read_pid_file(pid_file)
    if not _is_server_of(directory, pid):
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + END_SECONDS
    while _is_server_of(directory, pid):
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                f"process {pid} still uses {directory} and does not end: stop it first"
            )
        await asyncio.sleep(0.02)


def _is_server_of(directory: Path, pid: int) -> bool:
    """Whether the process is a Valkey that works in the directory. The pid may belong to another
    program by now; or the directory is a copy, and the pid file names the server of the original.
    """
    if pid <= 1 or "valkey" not in _title(pid):
        return False
    folder = _working_directory(pid)
    try:
        return folder is not None and os.path.samefile(folder, directory)
    except OSError:
        return False


def _read_pid_file(path: Path) -> int:
    """The process id, or 0 if there is no such file."""
    try:
        return int(path.read_text().splitlines()[0])
    except (OSError, ValueError, IndexError):
        return 0


def _title(pid: int) -> str:
    """The command line of a process; empty if there is no such process."""
    if _PROC.exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            return ""
    return _said("ps", "-o", "command=", "-p", str(pid))


def _working_directory(pid: int) -> str | None:
    """The folder in which a process works: on Linux a link that follows the folder when it is
    renamed."""
    if _PROC.exists():
        return f"/proc/{pid}/cwd"
    lines = _said("lsof", "-a", "-d", "cwd", "-p", str(pid), "-Fn").splitlines()
    return next((line[1:] for line in lines if line.startswith("n")), None)


def _said(*command: str) -> str:
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return found.stdout
