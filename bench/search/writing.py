"""The process that adds pins while another process searches."""

import asyncio
from multiprocessing.synchronize import Event
from pathlib import Path

from bench.search.fts5 import Fts5
from bench.search.titles import Texts
from datasources.tantivy import TantivySearch


def keep_writing(tantivy: bool, folder: Path, pins: int, stop: Event) -> None:
    """Add ten pins twice a second, as the worker does."""
    asyncio.run(_keep_writing(tantivy, folder, pins, stop))


async def _keep_writing(tantivy: bool, folder: Path, pins: int, stop: Event) -> None:
    texts, number, at = Texts(2), pins, 1
    store = TantivySearch(str(folder / "index")) if tantivy else None
    if store is not None:
        async with store.alone():
            while not stop.wait(0.5):
                documents = [texts.pin(number := number + 1) for _ in range(10)]
                await store.write(documents, since=at, read_to=(at := at + 1))
        return
    fts5 = Fts5(folder / "index")
    while not stop.wait(0.5):
        fts5.index([texts.pin(number := number + 1) for _ in range(10)])
