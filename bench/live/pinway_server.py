"""Serves a gateway on new embedded stores, for `bench.live`: prints its port, a board and a pin."""

import asyncio
import json
import sys
from pathlib import Path

import uvloop

from gateway.execution.collector import short_passes
from tests.live_gateways import live_gateway


async def main() -> None:
    values = {
        "limits.rate_cost": 0,
        "limits.writes_per_day": 0,
        "http.max_streams_per_client": 0,
        "http.max_connections": 8_000,
        "http.max_connections_per_client": 8_000,
        "telemetry.log_level": "warning",
    }
    async with live_gateway(Path(sys.argv[1]), values) as gateway:
        await gateway.sign_up("ann")
        board = await gateway.board("ann", "Live")
        pin = await gateway.pin("ann", board, "0")
        said = {"port": gateway.port, "board": board, "pin": pin, "token": gateway.token("ann")}
        print(json.dumps(said), flush=True)
        with short_passes():  # as each process of a gateway
            await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main())
