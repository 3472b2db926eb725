"""Run several calls at once and wait for all of them, also when some of them fail."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def together(
    calls: Iterable[Coroutine[Any, Any, T]], *, at_a_time: int | None = None
) -> list[T]:
    """The answers in order. Raises the first call's error in that order, after all have ended; a
    cancelled caller cancels them all and waits for their ends."""
    coroutines = list(calls)
    if len(coroutines) <= 1:
        return [await coroutine for coroutine in coroutines]
    if at_a_time is not None:
        places = asyncio.Semaphore(at_a_time)
        coroutines = [_in_turn(places, coroutine) for coroutine in coroutines]
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    # Each error is taken from its task, so that none is reported as forgotten.
    errors = [task.exception() for task in tasks]
    for error in errors:
        if error is not None:
            raise error
    return [task.result() for task in tasks]


async def _in_turn(places: asyncio.Semaphore, call: Coroutine[Any, Any, T]) -> T:
    try:
        async with places:
            return await call
    finally:
        call.close()  # a call that was cancelled before its turn
