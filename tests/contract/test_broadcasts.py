"""The contract of Broadcasts over the embedded Valkey and a real Redis, and the outages that
followers are told of."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis.asyncio

from datasources.errors import StoreTimeout
from datasources.protocols import Message
from datasources.redis import RedisBroadcasts
from datasources.redis.broadcasts import LOG_ENTRIES
from datasources.valkey import ValkeyServer
from deploy.stack import Stack
from tests.contract import redis_servers
from tests.proxy import proxied
from tests.servers import redis_url

pytestmark = pytest.mark.anyio
DATABASE = 13
PATIENT = 60.0


class Heard:
    """A listener that writes down what it hears."""

    def __init__(self) -> None:
        self.entries: asyncio.Queue[Message | str] = asyncio.Queue()

    def heard(self, message: Message) -> None:
        self.entries.put_nowait(message)

    def missed(self) -> None:
        self.entries.put_nowait("missed")

    def cut_off(self) -> None:
        self.entries.put_nowait("cut off")

    async def next(self) -> Message | str:
        async with asyncio.timeout(PATIENT):
            return await self.entries.get()

    async def payloads(self, count: int) -> list[bytes]:
        found = []
        for _ in range(count):
            entry = await self.next()
            assert isinstance(entry, Message)
            found.append(entry.payload)
        return found


@pytest.fixture(scope="module", params=redis_servers.BOTH)
async def url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[str]:
    async for url in redis_servers.server(request, tmp_path_factory, DATABASE):
        yield url


@asynccontextmanager
async def opened(
    url: str,
    *,
    quiet: float = PATIENT,
    cut_off_after: float = PATIENT,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[tuple[RedisBroadcasts, Heard]]:
    store, heard = (
        RedisBroadcasts(
            url, deadline=PATIENT, quiet=quiet, cut_off_after=cut_off_after, sleep=sleep
        ),
        Heard(),
    )
    store.attach(heard)
    try:
        yield store, heard
    finally:
        await store.close()


async def test_every_process_that_follows_a_topic_hears_its_messages_in_one_order(
    url: str,
) -> None:
    async with opened(url) as (here, first), opened(url) as (there, second):
        topic = secrets.token_hex(4)
        await here.follow(topic)
        await there.follow(topic)
        for number in range(20):
            store = here if number % 2 else there
            other = secrets.token_hex(4)
            await store.publish(f"{topic}:{number}", [(other, b"-"), (topic, b"%d" % number)])
        told = await first.payloads(20)
        assert told == await second.payloads(20) == [b"%d" % number for number in range(20)]
        assert first.entries.empty()


async def test_a_publication_that_is_repeated_is_heard_once(url: str) -> None:
    async with opened(url) as (store, heard):
        topic = secrets.token_hex(4)
        await store.follow(topic)
        for name in ("one", "one", "two"):
            await store.publish(f"{topic}:{name}", [(topic, name.encode())])
        assert await heard.payloads(2) == [b"one", b"two"]


async def test_databases_of_one_server_do_not_hear_each_other(url: str) -> None:
    other = url.replace(f"/{DATABASE}", "/12").replace(f"db={DATABASE}", "db=12")
    assert other != url
    async with opened(url) as (here, heard), opened(other) as (there, _):
        await here.follow("same")
        name = secrets.token_hex(4)
        await there.publish(name, [("same", b"there")])
        await here.publish(name, [("same", b"here")])
        assert await heard.payloads(1) == [b"here"]


async def test_a_topic_that_is_left_is_not_heard_and_may_be_followed_again(url: str) -> None:
    async with opened(url) as (store, heard):
        topic = secrets.token_hex(4)
        await store.follow(topic)
        store.unfollow(topic)
        await store.follow(topic)
        await store.publish(f"{topic}:1", [(topic, b"again")])
        assert await heard.payloads(1) == [b"again"]
        store.unfollow(topic)
        await store.follow(f"{topic}-other")  # confirmed after the command above
        await store.publish(f"{topic}:2", [(topic, b"unheard")])
        await store.publish(f"{topic}:3", [(f"{topic}-other", b"other")])
        assert await heard.payloads(1) == [b"other"]


async def test_the_log_gives_what_came_after_a_place(url: str) -> None:
    async with opened(url) as (store, _):
        topic = secrets.token_hex(4)
        start = await store.place(topic)
        assert await store.since(topic, start) == []
        assert await store.place(topic) == start
        for number in range(3):
            await store.publish(f"{topic}:{number}", [(topic, b"%d" % number)])
        after = await store.since(topic, start)
        assert after is not None
        assert [message.payload for message in after] == [b"0", b"1", b"2"]
        assert await store.since(topic, after[0].place) == after[1:]
        assert await store.place(topic) == after[-1].place


async def test_a_place_that_the_log_no_longer_has_gives_nothing(url: str) -> None:
    async with opened(url) as (store, _):
        topic = secrets.token_hex(4)
        start = await store.place(topic)
        messages = [(topic, b"%d" % number) for number in range(LOG_ENTRIES)]
        await store.publish(f"{topic}:all", messages)
        assert await store.since(topic, start) is None
        run, _, entry = start.partition(":")
        assert await store.since(topic, f"{run[::-1]}:{entry}") is None  # of another run
        assert await store.since(topic, "nonsense") is None


async def test_an_evicted_log_is_no_empty_log(url: str) -> None:
    raw = redis.asyncio.Redis.from_url(url.replace("redis+unix:", "unix:"))
    async with opened(url) as (store, _):
        topic = secrets.token_hex(4)
        start = await store.place(topic)
        for key in await raw.keys(f"*{topic}*"):
            await raw.delete(key)
        assert await store.since(topic, start) is None
        await store.publish(f"{topic}:1", [(topic, b"1")])
        assert await store.since(topic, start) is None
    await raw.aclose()


async def test_a_broken_connection_is_told_when_the_topics_are_followed_again(url: str) -> None:
    raw = redis.asyncio.Redis.from_url(url.replace("redis+unix:", "unix:"))
    async with opened(url) as (store, heard):
        topic = secrets.token_hex(4)
        await store.follow(topic)
        await raw.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        assert await heard.next() == "missed"
        await store.publish(f"{topic}:1", [(topic, b"after")])
        assert await heard.payloads(1) == [b"after"]
    await raw.aclose()


async def test_a_restart_of_the_server_is_told_and_ends_its_places(tmp_path: Path) -> None:
    async with ValkeyServer(tmp_path) as server, opened(server.url()) as (store, heard):
        await store.follow("topic")
        await store.publish("1", [("topic", b"before")])
        assert await heard.payloads(1) == [b"before"]
        place = await store.place("topic")
        assert server._process is not None
        server._process.kill()  # it is started again
        assert await heard.next() == "missed"
        await store.publish("2", [("topic", b"after")])
        assert await heard.payloads(1) == [b"after"]
        assert await store.since("topic", place) is None


async def test_a_publisher_that_could_not_publish_tells_everybody_later(caches: Stack) -> None:
    url, port = redis_url(caches, DATABASE), caches.services["redis"].port
    async with proxied("127.0.0.1", port) as proxy:
        far = f"redis://127.0.0.1:{proxy.port}/{DATABASE}"
        async with opened(url) as (store, heard), opened(far) as (cut, _):
            topic = secrets.token_hex(4)
            await store.follow(topic)
            await proxy.cut()
            await cut.publish(f"{topic}:1", [(topic, b"lost")])
            await proxy.mend()
            assert await heard.next() == "missed"
            await cut.publish(f"{topic}:2", [(topic, b"after")])
            assert await heard.payloads(1) == [b"after"]


async def test_a_connection_that_falls_silent_is_left(caches: Stack) -> None:
    async with proxied("127.0.0.1", caches.services["redis"].port) as proxy:
        far = f"redis://127.0.0.1:{proxy.port}/{DATABASE}"
        async with opened(far, quiet=0.01) as (store, heard):
            await store.follow("topic")
            proxy.stall()
            async with asyncio.timeout(PATIENT):
                while store.is_connected:  # noqa: ASYNC110 nobody tells
                    await asyncio.sleep(0)
            await proxy.mend()
            assert await heard.next() == "missed"


async def test_followers_of_a_server_that_stays_away_are_cut_off(tmp_path: Path) -> None:
    async with ValkeyServer(tmp_path) as server:
        url = server.url()
        async with opened(url, cut_off_after=0.0) as (store, heard):
            await store.follow("topic")
            await server.stop()
            assert await heard.next() == "cut off"


async def test_a_server_that_is_away_can_not_be_followed(tmp_path: Path) -> None:
    store = RedisBroadcasts(f"redis+unix://{tmp_path}/none", deadline=0.01)
    with pytest.raises(StoreTimeout, match="can't follow"):
        await store.follow("topic")
    await store.close()
