"""The process that adds pins while another process searches."""

import asyncio
from multiprocessing.synchronize import Event

from bench.search.engines import engine_at
from bench.search.titles import Texts


def keep_writing(url: str, pins: int, stop: Event) -> None:
    """Add ten pins twice a second, as the worker does."""
    asyncio.run(_keep_writing(url, pins, stop))


async def _keep_writing(url: str, pins: int, stop: Event) -> None:
    texts, number, engine = Texts(2), pins, engine_at(url)
    async with engine.writing() as add:
        while not await asyncio.to_thread(stop.wait, 0.5):
            await add([texts.pin(number := number + 1) for _ in range(10)])
    await engine.close()
