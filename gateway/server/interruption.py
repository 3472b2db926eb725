"""The end of a command that Ctrl-C or SIGTERM interrupts: the command closes what it opened, prints
one line, and ends with the usual exit status."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopping() -> Iterator[None]:
    """End the process with a line, and without a traceback, if SIGINT or SIGTERM interrupts the
    block. The status is 128 plus the signal's number, as a shell reports it."""
    ended_by = signal.SIGINT

    def terminate(number: int, _: object) -> None:
        """Do as SIGINT does. asyncio's handler of SIGINT cancels the main task."""
        nonlocal ended_by
        ended_by = signal.SIGTERM
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell's background command
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    # Only the main thread may set handlers.
    sets = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminate) if sets else None
    try:
        yield
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # a terminal shows ^C where the cursor was
        print("pinway: stopped", file=sys.stderr)
        sys.exit(128 + ended_by)
    finally:
        if sets:
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
