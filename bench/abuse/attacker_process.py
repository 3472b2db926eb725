"""The attacker's process.

`python -m bench.abuse.attacker_process FACTS NUMBER ADDRESS SECONDS` runs the attack with this
number in `ATTACKS`, and prints how often it got each answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import uvloop

from bench.abuse.attacks import ATTACKS
from bench.abuse.attacks.attacker import Attacker
from bench.abuse.site import Facts


async def attack(attacker: Attacker, name: str) -> None:
    """Attack until the time is over. Requests in progress are abandoned then."""
    with suppress(TimeoutError):
        async with asyncio.timeout(attacker.until - time.monotonic() + 0.5):
            await ATTACKS[name].run(attacker)


def main() -> None:
    path, number, address, seconds = sys.argv[1:5]
    attacker = Attacker(Facts.read(Path(path)), address, time.monotonic() + float(seconds))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(attack(attacker, list(ATTACKS)[int(number)]))
    print(json.dumps(attacker.answers))


if __name__ == "__main__":
    main()
