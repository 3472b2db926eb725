"""The stores that a command waits for, and why, for its messages (`gateway/operate/progress.py`).

Code that opens or checks a store names the store with `waiting_for`. A command that may wait long
collects the names with `collected`; otherwise they are forgotten.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TypeVar

from datasources.errors import StoreError, StoreTimeout

T = TypeVar("T")
PATIENCE = 3.0
"""Seconds for a store to tell its state. A store that takes longer counts as down."""
MOST = 6
"""Stores in one message."""
_collecting: list["Waits"] = []


class Waits:
    """The waits of one command. A thread may read them while the event loop is busy."""

    def __init__(self) -> None:
        self._open: dict[object, tuple[str, Callable[[], str]]] = {}
        self._failed: dict[str, str] = {}

    def told(self) -> str:
        """The stores that have not answered yet, with the causes; if there are none, the stores
        that failed; empty if there are none of both."""
        waiting = {f"{name}: {why()}" for name, why in list(self._open.values())}
        return _joined(sorted(waiting)) or self.failures()

    def failures(self) -> str:
        """The stores whose last call failed, with the causes; empty if there are none."""
        return _joined([f"{name}: {why}" for name, why in sorted(self._failed.items())])

    def begin(self, key: object, name: str, why: Callable[[], str]) -> None:
        self._open[key] = name, why

    def end(self, key: object, error: BaseException | None) -> None:
        name, _ = self._open.pop(key)
        if error is None:
            self._failed.pop(name, None)
        elif isinstance(error, Exception):  # a cancelled call tells nothing about its store
            self._failed[name] = innermost(error)


@contextmanager
def collected() -> Iterator[Waits]:
    """Collect the waits that begin while the block runs, in any task."""
    waits = Waits()
    _collecting.append(waits)
    try:
        yield waits
    finally:
        _collecting.remove(waits)


@contextmanager
def waiting_for(name: str, why: Callable[[], str] = lambda: "no answer yet") -> Iterator[None]:
    """Name the store that the block waits for. `why` is called for a message: the store's last
    fault, if its client tries again by itself."""
    collecting, key = tuple(_collecting), object()
    for waits in collecting:
        waits.begin(key, name, why)
    ended: BaseException | None = None
    try:
        yield
    except BaseException as error:
        ended = error
        raise
    finally:
        for waits in collecting:
            waits.end(key, ended)


async def answer_in_time(ask: Callable[[], Awaitable[T]], name: str | None = None) -> T | None:
    """A store's answer. None if the store is down, or takes longer than PATIENCE. `name` names the
    store, unless `ask` does."""
    try:
        with nullcontext() if name is None else waiting_for(name):
            try:
                async with asyncio.timeout(PATIENCE):
                    return await ask()
            except TimeoutError:
                raise StoreTimeout(f"no answer within {PATIENCE:g} s") from None
    except StoreError:
        return None


def innermost(error: BaseException) -> str:
    """The first line of the innermost cause that has a text: "Connection refused" rather than the
    errors that a driver and a store wrapped around it."""
    causes: list[Exception] = []
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
            continue
        if isinstance(cause, Exception):
            causes.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return next(filter(None, map(_line, reversed(causes))), type(error).__name__)


def _line(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)  # asyncio's own text repeats the address
    return str(error).partition("\n")[0]


def _joined(parts: list[str]) -> str:
    more = len(parts) - MOST
    if more > 0:
        parts = [*parts[:MOST], "and 1 other" if more == 1 else f"and {more} others"]
    return "; ".join(parts)
