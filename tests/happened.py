"""Waits for what a task of a test does."""

import asyncio
from typing import Any


async def happened(event: asyncio.Event, by: asyncio.Task[Any]) -> None:
    """Wait until the task has set the event. Raises the task's error if it fails before, and
    AssertionError if it ends."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait({waiting, by}, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        waiting.cancel()
        by.result()
        raise AssertionError("the task ended before it had set the event")
