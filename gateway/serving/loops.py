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
    cancelled, and closes what it opened."""
    # asyncio cancels the main task on SIGINT alone; by default SIGTERM would end it at once.
    previous = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(main)
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, previous)
