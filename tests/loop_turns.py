"""A task beside the code under test, which counts the turns of the event loop that it gets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class OtherTask:
    turns: int = 0

    async def run(self) -> None:
        while True:
            self.turns += 1
            await asyncio.sleep(0)


@asynccontextmanager
async def other_task() -> AsyncIterator[OtherTask]:
    """The task runs while the block runs."""
    other = OtherTask()
    task = asyncio.ensure_future(other.run())
    try:
        yield other
    finally:
        task.cancel()
