"""The phases of a start and their seconds, for `pinway run --times`."""

import os
import time
from collections.abc import Callable

STARTED = "PINWAY_STARTED"
"""A variable of the environment: the time at which bootstrap.py began the program, in seconds since
1970."""


class Phases:
    """Measures phases that follow each other, from the start of the program."""

    def __init__(self, began: float, clock: Callable[[], float] = time.time) -> None:
        self._last, self._clock = began, clock
        self.seconds: dict[str, float] = {}

    def end(self, name: str) -> None:
        """Name the phase that ends now."""
        now = self._clock()
        self.seconds[name] = now - self._last
        self._last = now

    def __str__(self) -> str:
        return ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items())


def since_the_start() -> Phases:
    """Phases that begin when bootstrap.py began the program; without bootstrap.py, now."""
    return Phases(float(os.environ.get(STARTED) or time.time()))
