"""Ends open sockets and streams when their viewer signs out everywhere, or deletes the account.

Either is published to all processes. Whenever messages may have been missed, and while none
come, it is read again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable

from datasources.errors import StoreError, StoreUnavailable
from feed_engine.live.events import session_topic
from feed_engine.live.hub import Hub
from gateway.http.auth import Token

PAUSE = 5.0
"""Seconds between two attempts to follow sign-outs, at most."""


class SignOuts:
    """Waits for the sign-outs of the viewers of open streams."""

    def __init__(self, hub: Hub | None, ends: Callable[[Token], Awaitable[bool]]) -> None:
        """`ends` reads whether the streams of a token end. Without a hub, it is asked again and
        again."""
        self._hub, self._ends = hub, ends

    async def until(self, token: Token) -> None:
        """Return when the streams of the token end. A token whose subject has no user stays."""
        if token.viewer_id is None:
            await asyncio.get_running_loop().create_future()
            return
        while True:
            try:
                if self._hub is None:
                    raise StoreUnavailable("this process has no broadcasts")
                async with self._hub.listening(session_topic(token.viewer_id)) as inbox:
                    while not await self._ends(token):
                        await inbox.get()
                    return
            except StoreError:
                if await self._ends(token):
                    return
                # The random part keeps sockets from asking at the same time.
                await asyncio.sleep(random.uniform(PAUSE / 2, PAUSE))
