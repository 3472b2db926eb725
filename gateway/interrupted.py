"""The end of a command that Ctrl-C interrupts: one line, and the usual exit status."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""128 + SIGINT's number, as a shell reports a command that SIGINT ended."""


@contextmanager
def stopping() -> Iterator[None]:
    """End the process with a line, and without a traceback, if SIGINT interrupts the block."""
    try:
        yield
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # a terminal shows ^C where the cursor was
        print("pinway: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
