"""Runs tests of connections in each supported event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.server.loops import fast_loop


def in_each_loop(test: Callable[[], Awaitable[None]]) -> Any:
    """Run the test in uvloop, and in asyncio's own event loop."""

    @pytest.mark.parametrize("new_loop", [fast_loop, asyncio.new_event_loop])
    def run(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        async def main() -> None:
            await test()

        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(main())

    run.__name__ = test.__name__
    return run
