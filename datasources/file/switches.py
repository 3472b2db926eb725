"""Switches in a JSON file beside the topology's file, which is checked for changes twice a
second."""

import asyncio
import fcntl
import logging
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from datasources import files, switches
from datasources.errors import StoreError, StoreUnavailable
from datasources.file.topology import POLL_SECONDS

log = logging.getLogger("pinway.switches")


class FileSwitches:
    """Switches in the file `path`. `poll`: seconds between two checks."""

    def __init__(self, path: Path | str, *, poll: float = POLL_SECONDS) -> None:
        self._path, self._poll = Path(path), poll

    async def load(self) -> dict[str, str]:
        try:
            return switches.parse(self._path.read_bytes(), str(self._path))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreUnavailable(f"switches: {self._path}: {error.strerror}") from error

    async def change(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        try:
            with self._path.with_name(self._path.name + ".lock").open("ab") as lock:
                await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
                now = switches.changed(await self.load(), changes)
                files.write(self._path, switches.dump(now), mode=0o666)
                return now
        except OSError as error:
            raise StoreUnavailable(f"switches: {self._path}: {error.strerror}") from error

    async def watch(self) -> AsyncIterator[dict[str, str]]:
        current: dict[str, str] | None = None
        while True:
            try:
                found = await self.load()
            except StoreError as error:
                log.warning("the last switches stay in effect: %s", error)
            else:
                if found != current:
                    current = found
                    yield dict(found)
            await asyncio.sleep(self._poll)

    async def close(self) -> None:
        return None
