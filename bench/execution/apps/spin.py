"""The controls of latencies: each request takes the same time, whatever the machine does, or, with
BENCH_WORK=1, the same work, which takes longer where the machine is slower for a while."""

import os
import time
from typing import Any

SECONDS = 0.0008
ADDITIONS = 40_000 if os.environ.get("BENCH_WORK") else 0
BODY = b"x" * 27_000
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    await receive()
    if ADDITIONS:
        sum(range(ADDITIONS))
    else:
        until = time.perf_counter() + SECONDS
        while time.perf_counter() < until:
            pass
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})
