"""Waits for the circuits of caches."""

import asyncio
from typing import Protocol

from datasources.circuit import CircuitState, Mode


class WithCircuits(Protocol):
    def circuits(self) -> list[CircuitState]: ...


async def until_well(cache: WithCircuits) -> None:
    """Wait until all reads ask all of the cache's servers again, and no removal is owed."""
    await until_modes(cache, {Mode.WELL})
    while any(circuit.owed for circuit in cache.circuits()):  # noqa: ASYNC110 nobody tells
        await asyncio.sleep(0.01)


async def until_modes(cache: WithCircuits, modes: set[Mode]) -> None:
    """Wait until the circuits' modes are these."""
    while {circuit.mode for circuit in cache.circuits()} != modes:  # noqa: ASYNC110 nobody tells
        await asyncio.sleep(0.01)
