"""Runs random schedules of the following feed on embedded stores that trim as RocksDB and as HBase.

python -m tests.following --schedules 50000 [--first 0] [--fault NAME]
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

import pytest

from datasources.valkey import ValkeyServer
from tests.embedded import embedded_config, embedded_stores
from tests.faulty import marking
from tests.feeding import Feeding
from tests.following.faults import FAULTS
from tests.following.schedule import run_schedule


async def _run(first: int, schedules: int) -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        async with (
            ValkeyServer(Path(directory)) as valkey,
            embedded_stores(embedded_config(Path(directory), valkey)) as stores,
        ):
            marked = stores._replace(feeds=marking(stores.feeds))
            for seed in range(first, first + schedules):
                for line in await run_schedule(Feeding(marked if seed % 2 else stores), seed):
                    wrong += 1
                    print(line, flush=True)
    print(f"{schedules} schedules: {wrong} sides wrong")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.following", description=__doc__)
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first schedule")
    parser.add_argument("--fault", choices=FAULTS, help="a deliberate fault to be found")
    args = parser.parse_args()
    with pytest.MonkeyPatch.context() as patch:
        if args.fault:
            FAULTS[args.fault](patch)
        wrong = asyncio.run(_run(args.first, args.schedules))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
