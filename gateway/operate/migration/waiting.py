"""Tells what keeps a step of a migration waiting for the source."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

SECONDS = 10.0
"""The time after which a wait is told, and told again."""


async def telling_waits(
    work: Awaitable[T],
    waits: Callable[[], Awaitable[str]],
    tell: Callable[[str], None],
    *,
    every: float = SECONDS,
) -> T:
    """The result of the work. After each `every` seconds, `tell` is called with the answer of
    `waits`, unless that is empty. An exception of `tell` ends the work."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=every))[0]:
            if text := await waits():
                tell(text)
        return task.result()
    finally:
        task.cancel()
        await asyncio.wait({task})
