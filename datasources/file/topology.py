"""A TopologySource in a JSON file, which is replaced in one step and checked for changes.

A check is one `stat` every half second. Events of the operating system would report a change
sooner. But each system has its own events, network file systems send none, and a new topology takes
effect anyway when the shards refuse the old epoch.
"""

import asyncio
import fcntl
import logging
from collections.abc import AsyncIterator
from pathlib import Path

from datasources import files
from datasources import topology as topologies
from datasources.errors import StoreConflict, StoreCorrupt, StoreError, StoreUnavailable
from datasources.topology import Topology

POLL_SECONDS = 0.5
log = logging.getLogger("pinway.topology")


class FileTopology:
    """A TopologySource in the file `path`. `poll`: seconds between two checks."""

    def __init__(self, path: Path | str, *, poll: float = POLL_SECONDS) -> None:
        self._path, self._poll = Path(path), poll
        self._fault: str | None = None

    @property
    def fault(self) -> str | None:
        return self._fault

    async def load(self) -> Topology:
        return self._read()

    async def save(self, topology: Topology, *, expected_epoch: int | None) -> None:
        await asyncio.to_thread(self._replace, topology, expected_epoch)

    async def watch(self) -> AsyncIterator[Topology]:
        seen = self._mark()
        current = self._read()
        yield current
        while True:
            await asyncio.sleep(self._poll)
            mark = self._mark()
            if mark == seen:
                continue
            try:
                found = self._read()
                is_next = topologies.check_next(current, found)
            except StoreError as error:
                # Perhaps somebody is editing the file: the topology in use is still good.
                self._fault = f"epoch {current.epoch} is kept: {error}"
                log.warning("the topology of %s", self._fault)
                seen = mark
                continue
            seen, self._fault = mark, None
            if is_next:
                current = found
                yield current

    async def close(self) -> None:
        return None

    def _mark(self) -> tuple[int, int, int] | None:
        """The parts of a file's status that change with the file. A replaced file has another
        inode."""
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _read(self) -> Topology:
        try:
            return topologies.parse(self._path.read_bytes())
        except FileNotFoundError:
            raise topologies.missing(self._path) from None
        except OSError as error:
            raise StoreUnavailable(f"topology: {self._path}: {error.strerror}") from error
        except StoreCorrupt as error:
            raise StoreCorrupt(f"{error} (in {self._path})") from error

    def _replace(self, topology: Topology, expected_epoch: int | None) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.with_name(self._path.name + ".lock").open("ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                current = self._read() if self._path.exists() else None
                epoch = current.epoch if current is not None else None
                if epoch != expected_epoch:
                    raise StoreConflict(
                        f"topology: {self._path} has epoch {epoch}, not {expected_epoch}"
                    )
                if current is not None:
                    topologies.check_next(current, topology)
                files.write(self._path, topologies.dump(topology))
        except OSError as error:
            raise StoreUnavailable(f"topology: {self._path}: {error.strerror}") from error
