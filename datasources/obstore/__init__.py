"""Uploaded pictures and dumps, in a folder or in a bucket of an S3-compatible service.

A bucket's credentials are the environment's (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`), or the
machine's role.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, NamedTuple

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore, S3Store

from datasources.errors import ConfigError, StoreTimeout, StoreUnavailable
from datasources.protocols import OpenedFile

SECONDS = 10.0
"""The time that a call may take for a picture."""
FILE_SECONDS = 600.0
"""The time that the writing of a whole file may take. Each of its parts has a call's time."""
PART_WRITTEN = 5 << 20
"""Bytes of a file that are written at once: the least that services take."""
PARTS = 2
"""Parts of a file that are written at the same time."""
PART_READ = 1 << 20
"""Bytes of a file that are read at once."""


class Bucket(NamedTuple):
    """A bucket, and its service. Without an endpoint, the service is Amazon's."""

    name: str
    prefix: str
    endpoint: str = ""
    region: str = "us-east-1"


class Files:
    """The files under a folder or a bucket's prefix."""

    def __init__(self, store: LocalStore | S3Store, name: str, seconds: float) -> None:
        self._store, self._name, self._seconds = store, name, seconds

    async def put(self, name: str, content: bytes) -> None:
        async with self._call("put"):
            await obstore.put_async(self._store, name, content)

    async def put_file(self, name: str, file: IO[bytes]) -> None:
        async with self._call("put", max(self._seconds, FILE_SECONDS)):
            await obstore.put_async(
                self._store, name, file, chunk_size=PART_WRITTEN, max_concurrency=PARTS
            )

    async def create(self, name: str, content: bytes) -> bool:
        async with self._call("create"):
            try:
                await obstore.put_async(self._store, name, content, mode="create")
            except AlreadyExistsError:
                return False
            return True

    async def get(self, name: str) -> bytes | None:
        async with self._call("get"):
            try:
                found = await obstore.get_async(self._store, name)
                return bytes(await found.bytes_async())
            except (NotFoundError, FileNotFoundError):
                return None

    async def open(self, name: str) -> OpenedFile | None:
        async with self._call("head"):
            try:
                found = await obstore.head_async(self._store, name)
            except (NotFoundError, FileNotFoundError):
                return None
        return OpenedFile(found["size"], self._parts(name, found["size"], found["e_tag"]))

    async def _parts(self, name: str, size: int, e_tag: str | None) -> AsyncIterator[bytes]:
        for start in range(0, size, PART_READ):
            end = min(start + PART_READ, size)
            async with self._call("get"):
                part = await obstore.get_async(
                    self._store, name, options={"range": (start, end), "if_match": e_tag}
                )
                content = bytes(await part.bytes_async())
            yield content

    async def names(self, folder: str) -> list[str]:
        async with self._call("list"):
            return [
                entry["path"] async for page in obstore.list(self._store, folder) for entry in page
            ]

    async def delete(self, names: Sequence[str]) -> None:
        for name in names:  # each has the time of a call: an account may have many
            async with self._call("delete"):
                try:
                    await obstore.delete_async(self._store, name)
                except (NotFoundError, FileNotFoundError):
                    continue

    async def close(self) -> None:
        """The library closes its connections with the process."""

    @asynccontextmanager
    async def _call(self, operation: str, seconds: float | None = None) -> AsyncIterator[None]:
        seconds = seconds or self._seconds
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise StoreTimeout(f"{self._name}: no answer to {operation} in {seconds:g} s") from None
        except (BaseError, OSError) as error:
            told = str(error).strip().splitlines()[0][:200]
            raise StoreUnavailable(f"{self._name}: {operation} failed: {told}") from None


def in_folder(path: Path) -> Files:
    """Pictures in a folder, which is created. Raises ConfigError if it can't be."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"can't keep pictures in {path}: {error.strerror}") from None
    return Files(LocalStore(path, automatic_cleanup=True), f"pictures in {path}", SECONDS)


def in_bucket(bucket: Bucket, what: str, seconds: float) -> Files:
    """Files in a bucket. `what` is their name in messages, and `seconds` the time that a call may
    take. Raises ConfigError."""
    name, prefix, endpoint, region = bucket
    try:
        store = S3Store(
            name,
            prefix=prefix or None,
            region=region,
            endpoint=endpoint or None,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "timeout": timedelta(seconds=seconds),
            },
            retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=seconds)},
        )
    except (BaseError, ValueError, TypeError) as error:
        told = " ".join(str(error).split())[:200]
        raise ConfigError(f"the bucket {name} for {what}: {told}") from None
    return Files(store, f"{what} in s3://{name}", seconds)
