"""The store of uploaded pictures."""

from collections.abc import AsyncIterator, Sequence
from typing import IO, NamedTuple, Protocol


class OpenedFile(NamedTuple):
    """A file's size in bytes, and its content in parts. Each part is read when it is asked for, so
    slow readers hold no connection."""

    size: int
    parts: AsyncIterator[bytes]


class PictureStore(Protocol):
    """Files by name. A name is a path of parts with `/` between them. Calls raise StoreError."""

    async def put(self, name: str, content: bytes) -> None:
        """Write a file, all of it or nothing."""
        ...

    async def put_file(self, name: str, file: IO[bytes]) -> None:
        """Write a file, all of it or nothing, from an open file. Its memory is bounded, whatever
        the size."""
        ...

    async def create(self, name: str, content: bytes) -> bool:
        """Write a file that does not exist yet. Returns False if it exists."""
        ...

    async def get(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""
        ...

    async def open(self, name: str) -> OpenedFile | None:
        """A file to read in parts; None if there is none. `parts` raises StoreUnavailable if the
        file is replaced or removed while it is read."""
        ...

    async def names(self, folder: str) -> list[str]:
        """The names of all files under a folder."""
        ...

    async def delete(self, names: Sequence[str]) -> None:
        """Remove files, where they exist."""
        ...

    async def close(self) -> None: ...
