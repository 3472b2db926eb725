"""Outages in loops that retry: when to try again, and log lines at growing intervals.

A loop that calls a store again and again calls `failed` or `well` after each attempt, with the
store's name.
"""

import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

FIRST_PAUSE, LONGEST_PAUSE = 60.0, 3600.0  # seconds between two log lines about one outage
FORGOTTEN_AFTER = 600.0  # seconds without a failure; a later failure begins a new outage


def backoff(
    first: float,
    tries: int,
    longest: float,
    draw: Callable[[float, float], float] = random.uniform,
) -> float:
    """Seconds to wait after `tries` failures: at most `first` after the first failure, twice as
    much after each further failure, up to `longest`. The second half of each delay is random, so
    that clients which failed together do not return together."""
    most = min(first * 2.0 ** min(tries - 1, 30), longest)
    return draw(most / 2, most)


@dataclass
class _Outage:
    began: float
    again_at: float
    pause: float
    last: float
    failures: int = 1


class Outages:
    """The outages that one loop knows of. `what` is the start of each line, for example "the outbox
    of First"; `{}` in it is replaced by the name. An outage is over when a call
    succeeds and `calm` seconds have passed since the last failure: of concurrent calls, some may
    succeed."""

    def __init__(
        self,
        log: logging.Logger,
        what: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        calm: float = 0.0,
    ) -> None:
        self._log, self._what, self._clock, self._calm = log, what, clock, calm
        self._known: dict[str, _Outage] = {}

    def failed(self, name: str, error: BaseException) -> None:
        """Log a failure, unless the outage was logged recently."""
        now, outage = self._clock(), self._known.get(name)
        text = str(error) or type(error).__name__
        if outage is None or now - outage.last > FORGOTTEN_AFTER:
            self._known[name] = _Outage(now, now + FIRST_PAUSE, FIRST_PAUSE, now)
            self._log.warning("%s: %s; trying again", self._what.format(name), text)
            return
        outage.failures += 1
        outage.last = now
        if now >= outage.again_at:
            outage.pause = min(outage.pause * 2, LONGEST_PAUSE)
            outage.again_at = now + outage.pause
            self._log.warning(
                "%s: %s; still after %d failures in %.0f s",
                *(self._what.format(name), text, outage.failures, now - outage.began),
            )

    def well(self, name: str) -> None:
        """Log the end of the name's outage, if there was one."""
        if not self._known:
            return
        outage = self._known.get(name)
        if outage is not None and self._clock() - outage.last >= self._calm:
            del self._known[name]
            self._log.info(
                "over, after %d failures in %.0f s: %s",
                *(outage.failures, self._clock() - outage.began, self._what.format(name)),
            )

    def only(self, failed: Mapping[str, BaseException]) -> None:
        """Log these failures, and the end of every other outage."""
        for name in [name for name in self._known if name not in failed]:
            self.well(name)
        for name, error in failed.items():
            self.failed(name, error)
