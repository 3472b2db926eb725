"""The hub: streams of a process share a topic, and a late reader holds a bounded number of
messages."""

import asyncio
from collections.abc import Sequence

import pytest

from datasources.errors import StoreTimeout
from datasources.protocols import Listener, Message
from feed_engine.live.hub import CUT_OFF, HELD, MISSED, Heard, Hub, Inbox

pytestmark = pytest.mark.anyio


class Topics:
    """Broadcasts that write down which topics are followed."""

    def __init__(self) -> None:
        self.followed: list[str] = []
        self.failing = False

    def attach(self, listener: Listener) -> None:
        self.listener = listener

    async def publish(self, name: str, messages: Sequence[tuple[str, bytes]]) -> None:
        for topic, payload in messages:
            self.listener.heard(Message(topic, name, payload))

    async def follow(self, topic: str) -> None:
        await asyncio.sleep(0)
        if self.failing:
            raise StoreTimeout("away")
        self.followed.append(topic)

    def unfollow(self, topic: str) -> None:
        self.followed.remove(topic)

    async def place(self, topic: str) -> str:
        return ""

    async def since(self, topic: str, place: str) -> list[Message] | None:
        return None

    async def close(self) -> None: ...


async def test_streams_of_one_topic_follow_it_once_until_the_last_ends() -> None:
    topics = Topics()
    hub = Hub(topics)
    async with hub.listening("t") as first:
        async with hub.listening("t") as second, hub.listening("u") as other:
            assert topics.followed == ["t", "u"]
            await topics.publish("1", [("t", b"x")])
            heard = await first.get()
            assert heard is await second.get()
            assert isinstance(heard, Heard)
            assert heard.message == Message("t", "1", b"x")
            assert not other._entries
            assert hub.streams == 3
        assert topics.followed == ["t"]
    assert topics.followed == []
    assert hub.streams == 0


async def test_streams_that_begin_at_the_same_time_all_wait_until_the_topic_is_followed() -> None:
    topics = Topics()
    hub = Hub(topics)

    async def begin() -> list[str]:
        async with hub.listening("t"):
            return list(topics.followed)

    assert await asyncio.gather(begin(), begin()) == [["t"], ["t"]]


async def test_a_topic_that_can_not_be_followed_is_tried_again_by_the_next_stream() -> None:
    topics = Topics()
    hub = Hub(topics)
    topics.failing, topics.followed = True, ["t"]
    with pytest.raises(StoreTimeout):
        async with hub.listening("t"):
            pass
    topics.failing = False
    async with hub.listening("t"):
        assert topics.followed == ["t"]


async def test_all_streams_are_told_of_lost_messages() -> None:
    hub = Hub(Topics())
    async with hub.listening("t") as one, hub.listening("u") as other:
        hub.missed()
        hub.cut_off()
        for inbox in (one, other):
            assert await inbox.get() is MISSED
            assert await inbox.get() is CUT_OFF


async def test_a_late_reader_holds_a_bounded_number_of_messages_and_is_told() -> None:
    topics = Topics()
    hub = Hub(topics)
    async with hub.listening("t") as inbox:
        for number in range(HELD + 1):
            await topics.publish(str(number), [("t", b"x")])
        assert len(inbox._entries) <= HELD
        assert hub.counts.overrun == 1
        assert await inbox.get() is MISSED
        heard = await inbox.get()
        assert isinstance(heard, Heard)
        assert heard.message == Message("t", str(HELD), b"x")


async def test_lost_messages_are_told_once_to_a_reader_that_has_not_read_it_yet() -> None:
    inbox = Inbox()
    for _ in range(5):
        inbox.put(MISSED)
    assert len(inbox._entries) == 1
