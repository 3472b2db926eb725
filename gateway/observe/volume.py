"""How many lines of the log one address may cause: a stranger must not fill the disk."""

from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from gateway.http.peers import units

LINES_A_SECOND = 100
"""Lines of requests that one address may cause in a second; an IPv6 network may cause several times
as many (`gateway.http.peers.units`). A line has about 300 bytes, and 1,000 at most."""
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
        self._lines = Counter[str]()
        """The lines of each address, and of its networks."""
        self._addresses = set[str]()
        self._left_out = Counter[str]()

    def next_second(self) -> LeftOut | None:
        """Begin another second, if the last one is over. Returns what was left out in it; None if
        nothing was."""
        now = self._clock()
        if now < self._until:
            return None
        left, self._until = self._left_out, now + 1.0
        self._lines, self._addresses, self._left_out = Counter(), set(), Counter()
        if not left:
            return None
        [(most, _)] = left.most_common(1)
        return LeftOut(left.total(), len(left), most or "(a proxy that names no client)")

    def may(self, address: str) -> bool:
        """Whether a request of the address may have a line. An empty address is a trusted proxy
        that names no client."""
        if address not in self._addresses:
            if len(self._addresses) >= ADDRESSES:
                address = _FURTHER
            self._addresses.add(address)
        lines, found = self._lines, units(address)
        times = 1 if address else OF_MANY
        if any(lines[unit.name] >= LINES_A_SECOND * unit.times * times for unit in found):
            self._left_out[address] += 1
            return False
        for unit in found:
            lines[unit.name] += 1
        return True
