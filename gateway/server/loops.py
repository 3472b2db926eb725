"""Runs a serving process' event loop until the process is told to stop."""

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine
from typing import Any

from gateway.server.allocator import limit_arenas

log = logging.getLogger("pinway")

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_SIGNALS = [signal.Signals[name] for name in _NAMES if name in signal.Signals.__members__]


def fast_loop() -> asyncio.AbstractEventLoop:
    """uvloop's event loop if it is installed (it does not exist for Windows), else asyncio's."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run_until_stopped(
    main: Coroutine[Any, Any, None],
    new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> None:
    """Run `main` until it ends or a signal cancels it, so that it closes what it opened.

    SIGINT and SIGTERM stop the process, even if it was started with SIGINT ignored, as a shell's
    background commands are. A second SIGINT doesn't wait for `main` to close. SIGHUP is logged and
    ignored: it is sent to a process whose terminal closes, or whose operator expects that it reads
    its settings again.
    """

    async def until_told() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop(number: int, _: object) -> None:
            if number == signal.SIGINT and task.cancelling():
                raise KeyboardInterrupt
            loop.call_soon_threadsafe(task.cancel)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        if hasattr(signal, "SIGHUP"):  # Windows has none
            signal.signal(signal.SIGHUP, lambda *_: loop.call_soon_threadsafe(_tell_of_hang_up))
        await main

    limit_arenas()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(until_told())
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell_of_hang_up() -> None:
    log.warning("SIGHUP is ignored: settings are read once; restart the gateway to change them")
