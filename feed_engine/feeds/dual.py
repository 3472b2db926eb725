"""Dual writes: a feed is written to both of its sides, instead of being replicated from one to the
other."""

import asyncio
from collections.abc import Awaitable, Callable

from datasources.errors import StoreError, StoreUnavailable
from datasources.protocols import Sides, WideColumnStore


async def write_both(sides: Sides, write: Callable[[WideColumnStore], Awaitable[None]]) -> None:
    """Write to both sides at the same time. Waits for both, even if one fails.

    Raises StoreUnavailable unless both writes succeeded. One of them may have succeeded, and the
    job runs again, so the write must be idempotent. Other errors that `write` raises pass through.
    """
    results = await asyncio.gather(
        _run(write, sides.primary), _run(write, sides.standby), return_exceptions=True
    )
    failures = dict(zip(sides._fields, results, strict=True))
    for failure in results:
        if failure is not None and not isinstance(failure, StoreError):
            raise failure
    if any(results):
        told = "; ".join(f"{side}: {error}" for side, error in failures.items() if error)
        raise StoreUnavailable(f"not written to both sides: {told}")


async def _run(write: Callable[[WideColumnStore], Awaitable[None]], store: WideColumnStore) -> None:
    await write(store)
