"""Sends mutated documents and bodies over HTTP. Checks whether an answer shows a fault of the
server, and whether the server's memory grows.

`python -m bench.abuse.fuzz [COUNT] [SEED]` runs this part alone, and prints the faults.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from bench.abuse.attacks.mutants import Mutant, Mutants
from bench.abuse.attacks.wire import HOST, Connection
from bench.abuse.site import Site, prepare, site
from bench.rows import Row
from schema import schema

STREAMS = 8
FULL, QUICK = 100_000, 5_000
AN_ADDRESS = 50
"""Requests from one address, few enough that no address reaches its rate limit."""
GROWTH = 50.0
"""The goal: MiB after warm-up."""


@dataclass
class Fuzzed:
    """The results of the requests. `internal` are answers with the code INTERNAL."""

    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    internal: list[str] = field(default_factory=list)
    grown: int = 0
    """The growth of the server's memory after the warm-up, in bytes."""

    @property
    def count(self) -> int:
        return sum(self.statuses.values())

    def rows(self) -> list[Row]:
        told = ", ".join(f"{status}: {count:,}" for status, count in sorted(self.statuses.items()))
        fives = sum(count for status, count in self.statuses.items() if status >= 500)
        return [
            Row(
                f"mutants: {self.count:,} requests, 5xx or no answer",
                fives + sum(not fault.startswith("5") for fault in self.faults),
                "",
                "<= 0",
                told,
            ),
            Row("mutants: internal errors", len(self.internal), "", "<= 0"),
            Row(
                "mutants: memory growth after warm-up",
                self.grown / 2**20,
                "MiB",
                f"<= {GROWTH:g}",
            ),
        ]


def measure(folder: Path, prepared: Path, count: int, seed: int = 1) -> Fuzzed:
    """Send `count` mutants to a new site. The memory's growth is measured over the second half."""
    with (
        site(prepared, folder) as one,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        return runner.run(fuzz(one, count, seed))


async def fuzz(one: Site, count: int, seed: int) -> Fuzzed:
    facts, found = one.facts, Fuzzed()
    ids = {
        "User": facts.users,
        "Board": [*facts.boards, facts.secret_board],
        "Pin": facts.pins,
        "Interest": [],
        "Comment": [],
    }
    tokens = [facts.stranger, *(viewer["token"] for viewer in facts.viewers[:5])]
    supply = zip(itertools.count(), Mutants(schema._schema, ids, tokens, seed), strict=False)
    warm = 0

    async def stream() -> None:
        nonlocal warm
        connection: Connection | None = None
        for number, mutant in supply:
            if number >= count:
                break
            if number == count // 2:
                warm = one.memory
            connection = connection or await Connection.open(facts.port)
            try:
                status, body = await connection.ask(_wire(mutant, number))
            except (OSError, EOFError, ValueError) as error:
                found.faults.append(f"{type(error).__name__} {error}: {mutant}")
                connection.close()
                connection = None
                continue
            found.statuses[status] += 1
            if status >= 500:
                found.faults.append(f"{status} {body[:300]!r}: {mutant}")
            elif b'"INTERNAL"' in body:
                found.internal.append(f"{body[-300:]!r}: {mutant}")
            if status in (408, 413, 414, 431):
                connection.close()
                connection = None
        if connection is not None:
            connection.close()

    await asyncio.gather(*(stream() for _ in range(STREAMS)))
    found.grown = one.memory - warm
    return found


def _wire(mutant: Mutant, number: int) -> bytes:
    address = f"10.{number // AN_ADDRESS >> 16 & 255}.{number // AN_ADDRESS >> 8 & 255}"
    address += f".{number // AN_ADDRESS & 255}"
    headers = {**mutant.headers, "x-forwarded-for": address}
    if mutant.method == "POST":
        headers["content-length"] = str(len(mutant.body))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"{mutant.method} {mutant.target} HTTP/1.1\r\n".encode() + HOST + lines.encode()
    return head + b"\r\n" + mutant.body


def main() -> None:
    count, seed = (*map(int, sys.argv[1:3]), *(QUICK, 1)[len(sys.argv) - 1 :])
    os.chdir(Path(__file__).parents[2])
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        found = measure(Path(directory), prepare(Path(directory)), count, seed)
    for fault in (*found.faults[:20], *found.internal[:20]):
        print(fault[:3_000], end="\n\n")
    for row in found.rows():
        print(row)


if __name__ == "__main__":
    main()
