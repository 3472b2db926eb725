"""The common part of all streams of events.

Streams of one process with the same viewer, document and variables get the same events. The first
of them reads an event and executes the operation for all (`feed_engine.live.shared`).
"""

from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from datasources.errors import StoreUnavailable
from feed_engine.live.hub import CutOff, Entry, Hub, Inbox
from feed_engine.live.shared import Shared
from resolvers.context import Context

NewContext = Callable[[], Context]
"""Makes a context for one event: it reads what the viewer may see now."""


@dataclass(frozen=True, slots=True)
class Subscriber:
    """The maker of a subscription's contexts, and what tells its results from other results: the
    viewer, the document, its operation and variables."""

    new_context: NewContext
    key: Hashable


class LiveEvent:
    """An event, and the context in which the operation is executed for it. The context has already
    read what decided whether the viewer may see the event. `results` has the operation's result,
    for all streams that share the event."""

    __slots__ = ("context", "results", "value")

    def __init__(self, context: Context, value: Any) -> None:
        self.context, self.value, self.results = context, value, Shared()


class Nothing:
    """In place of an event: there is nothing to tell yet."""


NOTHING = Nothing()


class Stream(Protocol):
    """The events of one subscription."""

    async def begin(self) -> None:
        """Begin. All changes after the return become events. Raises RequestError and StoreError."""

    async def wait(self) -> None:
        """Wait until there may be an event, without any work. Raises StoreError if changes can't be
        followed any more."""

    def is_shared(self) -> bool:
        """Whether another stream has begun the event for which `wait` waited, so that `next` waits
        for that stream and does no work."""

    async def next(self) -> LiveEvent | Nothing | None:
        """The event for which `wait` waited; None if the stream has ended, because the viewer may
        not see its object any more. Raises StoreError."""

    async def end(self) -> None:
        """End the stream, whether it has begun or not."""


class Listening:
    """A topic that a stream listens to, from `begin` until `end`."""

    __slots__ = ("_opened", "inbox")

    inbox: Inbox

    def __init__(self) -> None:
        self._opened: AbstractAsyncContextManager[Inbox] | None = None

    async def begin(self, hub: Hub | None, topic: str) -> None:
        if hub is None:
            raise StoreUnavailable("this process has no broadcasts")
        opened = hub.listening(topic)
        self.inbox = await opened.__aenter__()
        self._opened = opened

    async def end(self) -> None:
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await opened.__aexit__(None, None, None)

    @property
    def waits(self) -> bool:
        """Whether an entry waits in the inbox."""
        return self.inbox.waits

    async def get(self) -> Entry:
        """The next entry of the inbox. Raises StoreUnavailable if no messages come any more."""
        entry = await self.inbox.get()
        if isinstance(entry, CutOff):
            raise StoreUnavailable(
                "Changes can't be followed at present: subscribe again, and read again what you "
                "show."
            )
        return entry
