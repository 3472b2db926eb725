"""Messages from any process of Pinway to all its processes, by topic."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Message(NamedTuple):
    """A message of a topic. `place` is its place in the topic's log."""

    topic: str
    place: str
    payload: bytes


class Listener(Protocol):
    """Takes the messages of all topics that a process follows. Its functions return at once."""

    def heard(self, message: Message) -> None:
        """Take a message. Messages of one topic come in the order of its log."""

    def missed(self) -> None:
        """Messages of any topic may have been lost. All later messages are heard again."""

    def cut_off(self) -> None:
        """The server can't be reached for so long that followers must not wait in silence."""


class Broadcasts(Protocol):
    """Publishes messages, and follows topics.

    A message reaches each process that follows its topic once, or `missed` is called: after a
    broken connection, after a restart of the server, and after a publisher could not reach the
    server. A log keeps the newest messages of a topic for some minutes.
    """

    def attach(self, listener: Listener) -> None:
        """Hand all messages to this listener, the only one."""

    async def publish(self, name: str, messages: Sequence[tuple[str, bytes]]) -> None:
        """Publish messages: pairs of a topic and a payload. Does nothing if messages with the same
        name were published in the last minutes. A failure is made good: followers are told that
        they `missed` messages as soon as the server can be reached. Raises nothing."""

    async def follow(self, topic: str) -> None:
        """Follow a topic: all messages that are published after the return are heard."""

    def unfollow(self, topic: str) -> None: ...

    async def place(self, topic: str) -> str:
        """The place of the newest message in the topic's log."""

    async def since(self, topic: str, place: str) -> list[Message] | None:
        """The messages after a place; None if the log may have lost some of them."""

    async def close(self) -> None: ...
