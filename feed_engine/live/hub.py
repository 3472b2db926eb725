"""Hands published messages to the streams of this process: one subscription of a topic, whatever
the number of its streams."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from datasources.protocols import Broadcasts, Message
from feed_engine.live.events import SESSION
from feed_engine.live.shared import Shared

HELD = 64
"""Messages that wait for a stream's reader, at most. A reader that is further behind gets none of
them: it is told that it missed messages. So a slow reader holds a bounded number of bytes."""


class Missed:
    """In place of messages: some may have been lost."""


class CutOff:
    """The last entry of an inbox: no messages come any more at present."""


class Heard(NamedTuple):
    """A message, and the values that its streams make of it."""

    message: Message
    shared: Shared


MISSED, CUT_OFF = Missed(), CutOff()
Entry = Heard | Missed | CutOff


class Inbox:
    """The messages that wait for one stream."""

    __slots__ = ("_entries", "_waiting")

    def __init__(self) -> None:
        self._entries: list[Entry] = []  # a deque takes half a kilobyte while it is empty
        self._waiting: asyncio.Future[None] | None = None

    def put(self, entry: Entry) -> bool:
        """Add an entry. Returns False if the reader is so late that it missed messages."""
        fits = len(self._entries) < HELD
        if not fits:
            self._entries.clear()
            self._entries.append(MISSED)
        if entry is not MISSED or MISSED not in self._entries:
            self._entries.append(entry)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
        return fits

    @property
    def waits(self) -> bool:
        """Whether an entry waits for the reader."""
        return bool(self._entries)

    async def get(self) -> Entry:
        """The next entry; waits until there is one."""
        while not self._entries:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        return self._entries.pop(0)


@dataclass(slots=True)
class Counts:
    """The messages of a process that its streams heard and missed. `overrun`: readers that were
    too late for their messages."""

    heard: int = 0
    missed: int = 0
    overrun: int = 0


@dataclass(slots=True)
class _Topic:
    inboxes: set[Inbox] = field(default_factory=set)
    users: int = 0
    following: asyncio.Task[None] | None = None


class Hub:
    """The streams of one process, by topic. A Listener of the broadcasts."""

    def __init__(self, broadcasts: Broadcasts) -> None:
        self.broadcasts, self.counts = broadcasts, Counts()
        self._topics: dict[str, _Topic] = {}
        broadcasts.attach(self)

    @property
    def streams(self) -> int:
        """The number of open streams. Streams' waits for a sign-out are not counted."""
        return sum(
            len(topic.inboxes)
            for name, topic in self._topics.items()
            if not name.startswith(SESSION)
        )

    @asynccontextmanager
    async def listening(self, name: str) -> AsyncIterator[Inbox]:
        """An inbox of all messages that are published under a topic after the entry. Raises
        StoreError if the broadcasts can't be followed now."""
        topic, inbox = self._topics.setdefault(name, _Topic()), Inbox()
        topic.users += 1
        try:
            if topic.following is None or _failed(topic.following):
                topic.following = asyncio.create_task(self.broadcasts.follow(name))
            topic.inboxes.add(inbox)
            await asyncio.shield(topic.following)
            yield inbox
        finally:
            topic.inboxes.discard(inbox)
            topic.users -= 1
            if not topic.users and self._topics.get(name) is topic:
                del self._topics[name]
                if topic.following is not None and not topic.following.done():
                    topic.following.cancel()
                self.broadcasts.unfollow(name)

    def heard(self, message: Message) -> None:
        self.counts.heard += 1
        topic, heard = self._topics.get(message.topic), Heard(message, Shared())
        for inbox in topic.inboxes if topic is not None else ():
            self._put(inbox, heard)

    def missed(self) -> None:
        self.counts.missed += 1
        self._put_all(MISSED)

    def cut_off(self) -> None:
        self._put_all(CUT_OFF)

    def _put_all(self, entry: Entry) -> None:
        for topic in self._topics.values():
            for inbox in topic.inboxes:
                self._put(inbox, entry)

    def _put(self, inbox: Inbox, entry: Entry) -> None:
        if not inbox.put(entry):
            self.counts.overrun += 1


def _failed(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
