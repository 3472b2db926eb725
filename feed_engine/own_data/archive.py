"""Writes a user's own data as a ZIP file: one JSON file for each part, a list of its lines."""

import asyncio
import zipfile
from collections.abc import AsyncIterator
from typing import IO

import msgspec

from datasources.protocols import Stores
from datasources.records import User
from feed_engine.own_data.parts import Line, parts


async def write_archive(stores: Stores, user: User, file: IO[bytes]) -> None:
    """Write the archive to an open file. Its memory is bounded by the largest page of a part. Pages
    are compressed in a thread, while other work proceeds. Raises StoreError, OSError."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in parts(stores, user):
            # A part may be larger than 2 GiB.
            with archive.open(f"{part.name}.json", "w", force_zip64=True) as entry:
                async for text in _json(part.pages):
                    await asyncio.to_thread(entry.write, text)


async def _json(pages: AsyncIterator[list[Line]]) -> AsyncIterator[bytes]:
    """A JSON list of all lines, with one line of text for each."""
    before = b"[\n"
    async for page in pages:
        if page:
            yield before + b",\n".join(map(msgspec.json.encode, page))
            before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"
