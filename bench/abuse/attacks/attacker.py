"""The parts that all attackers share: an address, connections, and a count of the answers."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from bench.abuse.attacks.wire import Connection
from bench.abuse.site import Facts

CONNECTIONS = 32
REST = 0.02
"""Seconds that an attacker waits when its connection was refused."""
_CODE = re.compile(rb'"code": ?"([A-Z_]+)"')


@dataclass
class Attacker:
    """One attacker: the facts that it knows, its address, its end, and the answers that it got.

    Its first address is in 127.0.0.0/8, and is not the honest client's.
    """

    facts: Facts
    address: str
    until: float
    answers: Counter[str] = field(default_factory=Counter)
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def going(self) -> bool:
        return time.monotonic() < self.until

    async def wait(self, seconds: float) -> bool:
        """Wait. Returns whether the attack continues."""
        await asyncio.sleep(seconds)
        return self.going

    async def open(self, address: str = "") -> Connection | None:
        """A connection; None if it is refused."""
        try:
            return await Connection.open(self.facts.port, address or self.address)
        except OSError as error:
            self.answers[type(error).__name__] += 1
            await asyncio.sleep(REST)
            return None

    def count(self, status: int, body: bytes) -> None:
        code = _CODE.search(body[-100_000:])
        self.answers[f"{status} {code[1].decode()}" if code else str(status)] += 1

    async def flood(
        self, request: Callable[[Facts, int], bytes], connections: int, *, keep: bool = True
    ) -> None:
        """Send requests one after another on each of `connections` connections."""
        await asyncio.gather(*(self._stream(request, keep) for _ in range(connections)))

    async def _stream(self, request: Callable[[Facts, int], bytes], keep: bool) -> None:
        connection: Connection | None = None
        while self.going:
            if connection is None:
                connection = await self.open()
                continue
            try:
                self.count(*await connection.ask(request(self.facts, next(self.numbers))))
            except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
                self.answers["cut off"] += 1
                await asyncio.sleep(REST)
            else:
                if keep:
                    continue
            connection.close()
            connection = None
        if connection is not None:
            connection.close()


Run = Callable[[Attacker], Awaitable[None]]


@dataclass(frozen=True)
class Attack:
    """An attack. `anywhere`: it needs no schema, and can be sent to any GraphQL server."""

    name: str
    run: Run
    anywhere: bool = False


def flood(
    name: str,
    request: Callable[[Facts, int], bytes],
    connections: int = CONNECTIONS,
    *,
    anywhere: bool = False,
    keep: bool = True,
) -> Attack:
    """An attack of requests, each made from its number."""
    return Attack(name, lambda attacker: attacker.flood(request, connections, keep=keep), anywhere)


def several(runs: Sequence[Awaitable[None]]) -> Awaitable[list[None]]:
    """Run several tasks at the same time; some may be cut off."""

    async def one(run: Awaitable[None]) -> None:
        with suppress(OSError, EOFError):
            await run

    return asyncio.gather(*map(one, runs))
