"""Operators' data beside the topology: switches, the lock of their work, and its records."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol


class Switches(Protocol):
    """Switches that operators set for all running gateways, by name. They are stored beside the
    topology."""

    async def load(self) -> dict[str, str]:
        """All switches; empty if none was ever set. Raises StoreUnavailable; StoreCorrupt if the
        data is not a JSON object of strings."""

    async def change(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """Set switches, or remove them with None. Returns all switches. Concurrent changes don't
        overwrite each other."""

    def watch(self) -> AsyncIterator[dict[str, str]]:
        """Yield the switches now and after each change; reconnects as needed. While the switches
        can't be read, the last values stay in use."""

    async def close(self) -> None: ...


class Operations(Protocol):
    """The lock of operators' work on the topology, and the work's records, stored beside the
    topology."""

    def lock(self, purpose: str) -> AbstractAsyncContextManager[None]:
        """Hold the lock. It ends with its process. Raises StoreConflict that names the holder."""

    async def load(self, id: str) -> tuple[bytes, int] | None:
        """A record and its version."""

    async def save(self, id: str, data: bytes, version: int | None) -> int:
        """Replace a record that has this version (None: it doesn't exist). Returns its new version.
        Raises StoreConflict if the record has another version."""

    async def ids(self) -> list[str]: ...

    async def report(self, observer: str, data: bytes) -> None:
        """Publish an observer's report, in place of its last report. It disappears with the
        observer's process."""

    async def reports(self) -> dict[str, bytes]:
        """The reports of all living observers, by observer."""

    async def close(self) -> None: ...
