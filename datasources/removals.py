"""Removals of entries from a cache's server, also while a gateway can't reach it."""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import TypeVar

from datasources.circuit import Circuit, Mode
from datasources.errors import StoreError
from datasources.protocols import Generations

K = TypeVar("K", bound=Hashable)
TRIES = 2
"""Calls of a server that fails a removal now and then, before it is shut for all processes."""


async def remove(
    circuit: Circuit[K],
    keys: Sequence[K],
    call: Callable[[], Awaitable[object]],
    generations: Generations | None,
    server: str,
) -> None:
    """Make a removal of these keys, or shut the server. After the return, no reader gets a value
    that was read from the store before the call. Raises StoreError if that is uncertain."""
    if generations is None:
        await circuit.removal(keys, call)
        return
    if generations.is_shut(server):
        return
    for _ in range(TRIES):
        try:
            await circuit.removal(keys, call)
            return
        except StoreError:
            if circuit.mode is Mode.AVOIDED:
                break
    await generations.shut(server)
