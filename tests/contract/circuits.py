"""Waits for the circuits of caches, without polling: a circuit says when it changes."""

import asyncio
from collections.abc import Callable
from math import log2
from typing import Any, Protocol

from datasources.circuit import FIRST_SHARE, STEP, Circuit, CircuitState, Mode

RETURN_SECONDS = STEP * log2(1 / FIRST_SHARE)
"""Seconds from the mode `returning` until all reads ask the server."""


class WithCircuits(Protocol):
    def circuits(self) -> list[CircuitState]: ...


class _Telling(Circuit[Any]):
    """A circuit that sets an event when its mode changes, or its probes start."""

    changed: asyncio.Event

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name in ("_mode", "_probing"):
            self.changed.set()


async def until_well(cache: WithCircuits) -> None:
    """Wait until all reads ask all of the cache's servers again, and no removal is owed."""
    await _until(
        cache,
        lambda: all(state.mode is Mode.WELL and not state.owed for state in cache.circuits()),
    )


async def until_modes(cache: WithCircuits, modes: set[Mode]) -> None:
    """Wait until the circuits' modes are these."""
    await _until(cache, lambda: {state.mode for state in cache.circuits()} == modes)


async def _until(cache: WithCircuits, holds: Callable[[], bool]) -> None:
    circuits, changed = _circuits(cache), asyncio.Event()
    for circuit in circuits:
        circuit.__dict__["changed"] = changed
        circuit.__class__ = _Telling
    try:
        while not holds():
            changed.clear()
            told = asyncio.ensure_future(changed.wait())
            probes = [circuit._probing for circuit in circuits]
            awaited = {told, *(task for task in probes if task is not None and not task.done())}
            await asyncio.wait(
                awaited, timeout=_returned_in(circuits), return_when=asyncio.FIRST_COMPLETED
            )
            told.cancel()
    finally:
        for circuit in circuits:
            circuit.__class__ = Circuit


def _circuits(cache: Any) -> list[Circuit[Any]]:
    """The circuits of a cache of one server, or of several."""
    several = getattr(cache, "_circuits", None)
    return [cache._circuit] if several is None else list(several.values())


def _returned_in(circuits: list[Circuit[Any]]) -> float | None:
    """Seconds until a circuit's reads have returned; None if no circuit's reads are returning."""
    ends = [
        max(0.0, circuit._since + RETURN_SECONDS - circuit._clock())
        for circuit in circuits
        if circuit.mode is Mode.RETURNING
    ]
    return min(ends, default=None)
