"""The store of uploaded pictures."""

from collections.abc import Sequence
from typing import Protocol


class PictureStore(Protocol):
    """Files by name. A name is a path of parts with `/` between them. Calls raise StoreError."""

    async def put(self, name: str, content: bytes) -> None:
        """Write a file, all of it or nothing."""
        ...

    async def create(self, name: str, content: bytes) -> bool:
        """Write a file that does not exist yet. Returns False if it exists."""
        ...

    async def get(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""
        ...

    async def names(self, folder: str) -> list[str]:
        """The names of all files under a folder."""
        ...

    async def delete(self, names: Sequence[str]) -> None:
        """Remove files, where they exist."""
        ...

    async def close(self) -> None: ...
