"""Running a serving process's event loop until it is told to stop."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any


def fast_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed (it is not made for Windows), else asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run_until_stopped(
    main: Coroutine[Any, Any, None],
    new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> None:
    """Run `main` until it ends or the process is told to stop (SIGINT, SIGTERM): then it is
    cancelled, and closes what it opened. A shell's background process is started with SIGINT
    ignored, and goes on ignoring it; SIGTERM stops it all the same."""

    async def until_told() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        # asyncio cancels the main task on SIGINT alone; by default SIGTERM would end it at once.
        signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(task.cancel))
        await main

    previous = signal.getsignal(signal.SIGTERM)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(until_told())
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    finally:
        signal.signal(signal.SIGTERM, previous)
