"""The `pinway` command of a checkout, and what the command of a wheel calls (pinway/)."""

import os
import sys
from typing import NoReturn

from gateway.server.interruption import stopping


def main() -> None:
    """Run the command line. Ctrl-C ends it with one line even during the imports."""
    with stopping():
        from gateway.cli import main as command

        try:
            command()
        except SystemExit as ended:
            if "gateway.cli.service" in sys.modules and isinstance(ended.code, int):
                leave(ended.code)
            raise


def leave(status: int) -> NoReturn:
    """End a serving process that has closed everything. Python would free each object of the
    process first, which takes one to four seconds; the system needs no time for it."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
