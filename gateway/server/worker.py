"""Runs one of several workers: `python -m pinway.worker NUMBER FOLDER DESCRIPTOR...` (see
supervisor.py).

NUMBER counts from 1. Workers find each other in FOLDER (siblings.py). The DESCRIPTORs are the
listening socket's and, if there is one, the operators' socket's. The settings are a line of JSON on
the standard input.
"""

import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import NoReturn

from datasources.errors import PinwayError
from gateway.__main__ import leave
from gateway.observe.logs import start_logging
from gateway.server.loops import fast_loop, run_until_stopped
from gateway.server.process import serve
from gateway.server.siblings import Siblings
from gateway.server.supervisor import READY
from gateway.settings import Settings


def run(arguments: list[str]) -> NoReturn:
    """Serve with a command's arguments until the supervisor stops, and end the process."""
    number, folder, *descriptors = arguments
    _serve(int(number), Path(folder), *map(int, descriptors))
    leave(0)


def _serve(number: int, folder: Path, descriptor: int, operators: int | None = None) -> None:
    with open(0, "rb", buffering=0, closefd=False) as given:
        settings = Settings.model_validate_json(given.readline())
    name = f"worker {number}"
    start_logging(settings, name)
    threading.Thread(target=_stop_with_the_supervisor, daemon=True).start()
    own = None if operators is None else socket.socket(fileno=operators)
    with socket.socket(fileno=descriptor) as listener:
        try:
            serving = serve(
                settings,
                listener,
                operators=own,
                siblings=Siblings(folder, number, settings.http.workers),
                name=name,
                greet=number == 1,
                on_ready=_ready,
            )
            run_until_stopped(serving, fast_loop)
        except PinwayError as error:
            sys.exit(f"pinway: worker {number}: {error}")


def _ready() -> None:
    os.write(1, READY)


def _stop_with_the_supervisor() -> None:
    os.read(0, 1)  # returns when the supervisor ends, in whatever way
    os.kill(os.getpid(), signal.SIGTERM)
