"""Idle SQLite connections by file: reads need not open connections, and few are open at a time."""

import sqlite3
import threading
from collections import OrderedDict
from pathlib import Path
from urllib.parse import quote

SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


class Connections:
    """A pool of connections for all threads. A taken connection belongs to its caller until it is
    given back."""

    def __init__(self, synchronous: str, most_idle: int) -> None:
        if synchronous not in SYNCHRONOUS:
            raise ValueError(f"synchronous {synchronous!r} is none of {', '.join(SYNCHRONOUS)}")
        self._synchronous, self._most_idle = synchronous, most_idle
        self._idle: OrderedDict[Path, list[sqlite3.Connection]] = OrderedDict()
        self._count = 0
        self._closed = False
        self._guard = threading.Lock()

    def take(self, path: Path) -> sqlite3.Connection:
        """An idle connection to a file that exists, or a new one. Raises sqlite3.Error."""
        return self.take_idle(path) or self.open(path)

    def take_idle(self, path: Path) -> sqlite3.Connection | None:
        """An idle connection to a file, if there is one."""
        with self._guard:
            waiting = self._idle.get(path)
            if not waiting:
                return None
            self._count -= 1
            return waiting.pop()

    def open(self, path: Path, *, create: bool = False) -> sqlite3.Connection:
        """A new connection. Raises sqlite3.Error."""
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}",
            uri=True,
            timeout=0,  # a caller that finds the file locked waits on the event loop instead
            isolation_level=None,  # the caller runs BEGIN and COMMIT
            check_same_thread=False,
            cached_statements=256,
        )
        connection.text_factory = bytes
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        return connection

    def give(self, path: Path, connection: sqlite3.Connection) -> None:
        """Give back a connection that is in no transaction. The connection that was idle longest
        may be closed."""
        surplus: list[sqlite3.Connection] = []
        with self._guard:
            if self._closed:
                surplus.append(connection)
            else:
                self._idle.setdefault(path, []).append(connection)
                self._idle.move_to_end(path)
                self._count += 1
                while self._count > self._most_idle:
                    oldest, waiting = next(iter(self._idle.items()))
                    if waiting:
                        surplus.append(waiting.pop())
                        self._count -= 1
                    if not waiting:
                        del self._idle[oldest]
        for connection in surplus:
            connection.close()

    def close(self) -> None:
        """Close the idle connections now, and all other connections when they are given back."""
        with self._guard:
            self._closed = True
            idle = [c for waiting in self._idle.values() for c in waiting]
            self._idle.clear()
            self._count = 0
        for connection in idle:
            connection.close()
