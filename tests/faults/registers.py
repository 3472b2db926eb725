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

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.protocols import Stores
from feed_engine import writes
from feed_engine.writes import PinChange
from loaders import Loaders


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

    async def write(self, gateways: Sequence[Stores]) -> None:
        """Write the next number, through one gateway after the other until one acknowledges it."""
        self.begun += 1
        number, key = self.begun, secrets.token_hex(10)
        change = PinChange(title=str(number))
        for at in count(self.number):
            stores = gateways[at % len(gateways)]
            try:
                await writes.update_pin(stores, self.owner, self.pin, change, key=key)
                break
            except (StoreTimeout, StoreUnavailable):
                await asyncio.sleep(0.05)
        self.acknowledged = number

    async def read(self, stores: Stores) -> int:
        """Read through a gateway. Raises TooOld."""
        least = self.acknowledged
        pin = await Loaders(stores).pins.load(self.pin)
        assert pin is not None
        number = int(pin.title)
        if number < least:
            raise TooOld(f"pin {self.pin}: {number} was read after {least} was acknowledged")
        assert number <= self.begun
        return number
