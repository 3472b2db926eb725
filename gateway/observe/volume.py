"""How many lines of the log one address may cause: a stranger must not fill the disk."""

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

LINES_A_SECOND = 100
"""Lines of requests that one address may cause in a second. A line has about 300 bytes, and 1,000
at most."""
OF_MANY = 10
"""A trusted proxy that names no client may cause this many times as many lines: its requests come
from many clients, of which one may be an attacker."""
ADDRESSES = 1_000
"""Addresses that are counted by themselves in a second. The further ones are counted together."""
_FURTHER = "(further)"


class LeftOut(NamedTuple):
    """The requests of a second that have no line: how many, of how many addresses, and the address
    with the most."""

    requests: int
    addresses: int
    most: str


class Volume:
    """Counts the lines of each address in the present second."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._until = clock, 0.0
        self._lines: dict[str, int] = {}

    def next_second(self) -> LeftOut | None:
        """Begin another second, if the last one is over. Returns what was left out in it; None if
        nothing was."""
        now = self._clock()
        if now < self._until:
            return None
        lines, self._lines, self._until = self._lines, {}, now + 1.0
        left = {
            address: count - _most(address)
            for address, count in lines.items()
            if count > _most(address)
        }
        if not left:
            return None
        most = max(left, key=left.__getitem__)
        return LeftOut(sum(left.values()), len(left), most or "(a proxy that names no client)")

    def may(self, address: str) -> bool:
        """Whether a request of the address may have a line. An empty address is a trusted proxy
        that names no client."""
        lines = self._lines
        if address not in lines and len(lines) >= ADDRESSES:
            address = _FURTHER
        count = lines[address] = lines.get(address, 0) + 1
        return count <= _most(address)


def _most(address: str) -> int:
    return LINES_A_SECOND if address else OF_MANY * LINES_A_SECOND
