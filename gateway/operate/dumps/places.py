"""The place of a dump: a folder on this host, or a bucket."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from datasources import files
from datasources.errors import ConfigError
from datasources.factory import open_dump_bucket
from datasources.urls import mask


class DumpPlace(Protocol):
    """Files by name: paths with `/` between their parts. Calls raise PinwayError."""

    async def get(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""

    async def put(self, name: str, content: bytes) -> None:
        """Write a file durably, all of it or nothing."""

    async def names(self, folder: str) -> list[str]:
        """The names of all files under a folder ("": all files)."""

    async def delete(self, names: Sequence[str]) -> None:
        """Remove files, where they exist."""


class Folder:
    """See DumpPlace. Only the files' owner may read them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get(self, name: str) -> bytes | None:
        def read() -> bytes | None:
            try:
                return (self._path / name).read_bytes()
            except FileNotFoundError:
                return None

        return await asyncio.to_thread(read)

    async def put(self, name: str, content: bytes) -> None:
        def write() -> None:
            path = self._path / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.write(path, content)

        await asyncio.to_thread(write)

    async def names(self, folder: str) -> list[str]:
        def found() -> list[str]:
            paths = (self._path / folder).rglob("*")
            return [path.relative_to(self._path).as_posix() for path in paths if path.is_file()]

        return await asyncio.to_thread(found)

    async def delete(self, names: Sequence[str]) -> None:
        def remove() -> None:
            for name in names:
                (self._path / name).unlink(missing_ok=True)

        await asyncio.to_thread(remove)


@asynccontextmanager
async def opened(to: str, pictures: str = "") -> AsyncIterator[DumpPlace]:
    """The place of a dump: a folder, which no other dump uses meanwhile, or a bucket of an S3
    service. `pictures` is the setting stores.pictures. Raises ConfigError."""
    if to.startswith("s3://"):
        bucket = open_dump_bucket(to, pictures)
        yield bucket
        await bucket.close()
        return
    if "://" in to:
        raise ConfigError(f"can't write a dump to {mask(to)}: name a folder, or s3://BUCKET/PREFIX")
    if not to:
        raise ConfigError("can't write a dump to nowhere: name a folder, or s3://BUCKET/PREFIX")
    path = Path(to)
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        held = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise ConfigError(f"can't write a dump to {to}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"another dump to {to} runs now") from None
        yield Folder(path)
    except OSError as error:
        raise ConfigError(f"can't write a dump to {to}: {error.strerror or error}") from None
    finally:
        os.close(held)
