"""Compares two calls that take turns, so that a machine's changing speed meets both."""

import statistics
import time
from collections.abc import Awaitable, Callable


async def in_turn(
    one: Callable[[], Awaitable[object]], other: Callable[[], Awaitable[object]], rounds: int
) -> tuple[float, float]:
    """The median seconds of both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, taken in zip((one, other), times, strict=True):
            began = time.perf_counter()
            await work()
            taken.append(time.perf_counter() - began)
    return statistics.median(times[0]), statistics.median(times[1])
