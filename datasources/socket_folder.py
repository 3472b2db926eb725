"""Private folders for Unix sockets, in the system's folder for temporary files.

The path of a Unix socket has at most about 100 bytes, so a socket can't always be in a data
directory. A killed process leaves its folder behind. Each owner therefore holds a lock on a file in
its folder as long as it lives, and a process that makes a folder removes every unlocked folder.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO

PREFIX = "pinway-"
_LOCK = "lock"


class SocketFolder:
    """A new folder that only this user can enter. It is removed by `close`, or by the next owner of
    such a folder when this process was killed."""

    def __init__(self) -> None:
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        # The lock is taken before the file gets its name: nobody finds the file with a free lock.
        made = self.path / "lock.new"
        self._lock = made.open("ab")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        made.rename(self.path / _LOCK)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_abandoned() -> None:
    """Remove this user's folders whose owners have died."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _is_own(folder) and (lock := _taken(folder / _LOCK)):
            with lock:
                shutil.rmtree(folder, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _taken(path: Path) -> BinaryIO | None:
    """The file with its lock, or None if another process holds the lock or there is no file."""
    try:
        lock = path.open("rb")
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock
