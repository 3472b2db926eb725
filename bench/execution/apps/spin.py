"""The control for latencies: each request takes the same time, in a busy loop."""

import time
from typing import Any

SECONDS = 0.0008
BODY = b"x" * 27_000
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    await receive()
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})
