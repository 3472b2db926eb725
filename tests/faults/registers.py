"""A check that objects are never read older than an acknowledged write: pins whose titles are
numbers, each written by one client with growing numbers, and read through any gateway.

A read may return any number from the last acknowledged before its start to the last begun before
its end.
"""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, Protocol

from datasources.errors import StaleTopology, StoreTimeout, StoreUnavailable
from datasources.protocols import Stores
from feed_engine import writes
from feed_engine.writes import PinChange
from loaders import Loaders

UNANSWERED = (StoreTimeout, StoreUnavailable, StaleTopology)
"""The errors that a client hears as TIMEOUT and UNAVAILABLE. A gateway that can not reach ZooKeeper
raises the last one, because it can not load the present topology."""


class Gateway(Protocol):
    """A gateway as the clients of registers use it."""

    async def write(self, owner: int, pin: int, title: str, key: str) -> None:
        """Write a pin's title. Raises one of UNANSWERED if the write was not acknowledged."""

    async def read(self, pin: int) -> str:
        """A pin's title. Raises UNANSWERED."""


class OfStores(NamedTuple):
    """A gateway in this process, by its stores."""

    stores: Stores

    async def write(self, owner: int, pin: int, title: str, key: str) -> None:
        await writes.update_pin(self.stores, owner, pin, PinChange(title=title), key=key)

    async def read(self, pin: int) -> str:
        found = await Loaders(self.stores).pins.load(pin)
        assert found is not None
        return found.title


class TooOld(AssertionError):
    """A read returned a number before the last acknowledged one."""


@dataclass
class Register:
    """One pin, the number of the last write of its title that began, and of the last write that was
    acknowledged. Writes are sent to one gateway first, which `number` chooses."""

    owner: int
    pin: int
    number: int
    begun: int = 0
    acknowledged: int = 0

    async def write(self, gateways: Sequence[Gateway]) -> None:
        """Write the next number, through one gateway after the other until one acknowledges it."""
        self.begun += 1
        number, key = self.begun, secrets.token_hex(10)
        for at in count(self.number):
            gateway = gateways[at % len(gateways)]
            try:
                await gateway.write(self.owner, self.pin, str(number), key)
                break
            except UNANSWERED:
                await asyncio.sleep(0.05)
        self.acknowledged = number

    async def read(self, gateway: Gateway) -> int:
        """Read through a gateway. Raises TooOld, and UNANSWERED."""
        least = self.acknowledged
        number = int(await gateway.read(self.pin))
        if number < least:
            raise TooOld(f"pin {self.pin}: {number} was read after {least} was acknowledged")
        assert number <= self.begun
        return number
