"""The timer of a race: repeats the last call while few calls are made.

On a quiet gateway, calls alone would be too rare. With one call a minute, a recovered primary would
get one probe a minute, and would be trusted again after 40; the standby would get one warm call in
100 minutes. So a timer repeats the last call: a few times a second while requests have left a side,
every few seconds otherwise. See `probe_alone_every` and `warm_every` in `policy`.
"""

import asyncio
from collections.abc import Callable, Hashable
from contextvars import Context
from typing import Any

from feed_engine.speculation.policy import NEVER, Policy
from feed_engine.speculation.shadow_calls import Ask

KeepUp = Callable[[Ask[Any], Hashable], bool]
"""Makes the due probes and warm calls, with a call to repeat and its kind. Returns whether requests
have left a side."""


class Upkeep:
    """Holds the last call and a timer, from the first call until `close`."""

    __slots__ = ("_closed", "_fast", "_keep_up", "_last", "_slow", "_timer")

    def __init__(self, keep_up: KeepUp, policy: Policy) -> None:
        self._keep_up = keep_up
        self._fast = policy.probe_alone_every
        # A standby that answered since the last tick is called again one tick later.
        self._slow = policy.warm_every / 2
        self._last: tuple[Ask[Any], Hashable] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = self._fast == NEVER

    def asked(self, ask: Ask[Any], kind: Hashable) -> None:
        """Record a call: it is repeated from now on."""
        if self._closed:
            return
        self._last = (ask, kind)
        if self._timer is None:
            self._arm(self._slow)

    def close(self) -> None:
        """Stop the timer, and forget the call."""
        self._closed, self._last = True, None
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self, seconds: float) -> None:
        # A new context: the request that made the call, and its deadline, are over.
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, self._tick, context=Context())

    def _tick(self) -> None:
        if self._last is not None:
            self._arm(self._fast if self._keep_up(*self._last) else self._slow)
