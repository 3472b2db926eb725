"""The search store in OpenSearch: rights that end, writes that come late, damage, and a cluster
that is away."""

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Callable
from secrets import token_hex

import pytest

from datasources.errors import Refused, StoreConflict, StoreTimeout, StoreUnavailable
from datasources.opensearch import Cluster, OpenSearch
from datasources.opensearch.fields import VERSION
from datasources.protocols import Document, IndexState, IndexTimes, SearchRequest
from deploy.stack import Stack
from tests.contract.search_stores import PATIENT, asked, indexes
from tests.contract.test_search_store import build, found, pin, titles
from tests.servers import opensearch_url

pytestmark = pytest.mark.anyio

Opened = Callable[..., OpenSearch]


@pytest.fixture
def url(engines: Stack) -> str:
    return opensearch_url(engines, f"t{token_hex(8)}")


@pytest.fixture
async def opened(engines: Stack, url: str) -> AsyncIterator[Opened]:
    """Opens the store as another process does."""
    stores: list[OpenSearch] = []
    port, prefix = engines.services["opensearch"].port, url.rpartition("/")[2]

    def open_store(
        *more: tuple[str, int], deadline: float = PATIENT, lease: float = 10.0
    ) -> OpenSearch:
        cluster = Cluster((*more, ("127.0.0.1", port)), prefix)
        stores.append(OpenSearch(cluster, deadline=deadline, lease=lease))
        return stores[-1]

    yield open_store
    for store in stores:
        await store.close()


@pytest.fixture
def store(opened: Opened) -> OpenSearch:
    return opened()


async def test_no_text_can_be_read_from_the_index(store: OpenSearch, url: str) -> None:
    await build(store, Document(pin(1), "oak", body="maple"))
    (index,) = indexes(url)
    found = asked(url, "GET", f"/{index}/_doc/{pin(1)}")
    assert found["found"] is True
    assert found["_source"] == {}


async def test_a_right_that_was_not_renewed_is_lost_and_its_late_writes_change_nothing(
    store: OpenSearch, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build(store, *titles("oak"))
    slow = opened(lease=0.5)
    monkeypatch.setattr(slow._writer, "_renew", lambda holder: asyncio.sleep(600))
    async with slow.alone():
        while True:
            try:
                async with store.alone():
                    with pytest.raises(StoreConflict, match="another process writes"):
                        await slow.write(titles("elm"), since=1, read_to=2)
                    await store.write([Document(pin(1), "maple")], since=1, read_to=2)
                    # A request that was on its way: the process was stopped after it had looked.
                    monkeypatch.setattr(slow._writer, "check", lambda: None)
                    with pytest.raises(StoreConflict):
                        await slow.write(titles("elm"), since=2, read_to=3)
                    with pytest.raises(StoreConflict):
                        await slow.write([], delete=[pin(1)], since=2, read_to=3)
                break
            except StoreConflict:  # until the right has ended
                await asyncio.sleep(0.1)
    assert await found(store, "maple") == [1]
    assert await store.times() == IndexTimes(built=1, read_to=2)


async def test_a_right_is_renewed_until_it_is_given_back(
    store: OpenSearch, opened: Opened, url: str
) -> None:
    lock = f"/{url.rpartition('/')[2]}-locks/_doc/v{VERSION}-writer"
    async with opened(lease=2.0).alone():
        first = asked(url, "GET", lock)
        while True:
            await asyncio.sleep(0.1)
            if asked(url, "GET", lock)["_seq_no"] != first["_seq_no"]:
                break
        with pytest.raises(StoreConflict):
            async with store.alone():
                pass
    async with store.alone():
        pass


async def test_the_first_process_that_asks_builds_after_a_killed_build(
    store: OpenSearch, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = opened(lease=1.0)
    monkeypatch.setattr(killed._builder, "_renew", lambda holder: asyncio.sleep(600))
    async with killed._builder.held():
        await build(store, *titles("oak"))
    assert await found(store, "oak") == [1]


async def test_what_was_deleted_does_not_come_back_by_an_older_write(
    store: OpenSearch, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build(store, *titles("oak"))
    old = opened()
    async with old.alone():
        pass
    async with store.alone():
        await store.write([], delete=[pin(1)], since=1, read_to=2)
        monkeypatch.setattr(old._writer, "check", lambda: None)
        with pytest.raises(StoreConflict):
            await old.write(titles("oak"), since=2, read_to=3)
    assert await found(store, "oak") == []


async def test_writes_go_on_after_the_locks_were_deleted(
    store: OpenSearch, opened: Opened, url: str
) -> None:
    await build(store, *titles("oak"))
    for at in (1, 2):
        async with store.alone():
            await store.write(titles("elm"), since=at, read_to=at + 1)
    asked(url, "DELETE", f"/{url.rpartition('/')[2]}-locks")
    later = opened()
    async with later.alone():
        await later.write(titles("maple"), since=3, read_to=4)
        await later.write([], delete=[pin(1)], since=4, read_to=5)
    assert await found(store, "maple") == await found(store, "elm") == []
    assert await store.times() == IndexTimes(built=1, read_to=5)


async def test_all_documents_of_a_large_board_are_deleted(
    store: OpenSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasources.opensearch.writing.MOST", 4)
    await build(store, *(Document(pin(n), "oak", board_id=7) for n in range(1, 12)))
    async with store.alone():
        await store.write([], delete_boards=[7], since=1, read_to=2)
    assert await found(store, "oak") == []
    assert (await store.status()).documents == 0


async def test_an_index_without_its_times_is_damaged_and_can_be_built_again(
    store: OpenSearch, url: str
) -> None:
    await build(store, *titles("oak"))
    (index,) = indexes(url)
    asked(url, "DELETE", f"/{index}/_doc/state?refresh=true")
    assert (await store.status()).state is IndexState.DAMAGED
    assert await store.times() is None
    await build(store, *titles("elm"), built=2)
    assert (await store.status()).state is IndexState.OK
    assert await found(store, "elm") == [1]
    assert len(indexes(url)) == 1


async def test_an_index_of_another_version_is_not_read(
    store: OpenSearch, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await build(store, *titles("oak"))
    for place in ("fields", "indexes", "store"):
        monkeypatch.setattr(f"datasources.opensearch.{place}.VERSION", VERSION + 1)
    prefix = url.rpartition("/")[2]
    port = int(url.rpartition("/")[0].rpartition(":")[2])
    newer = OpenSearch(Cluster((("127.0.0.1", port),), prefix), deadline=PATIENT)
    assert (await newer.status()).state is IndexState.OLD
    assert await newer.times() is None
    with pytest.raises(StoreUnavailable, match="another version"):
        await newer.search(SearchRequest("oak", 10))
    assert await found(store, "oak") == [1], "older processes go on"
    await build(newer, *titles("elm"))
    assert await found(newer, "elm") == [1]
    assert len(indexes(url)) == 1
    await newer.close()


async def test_an_index_that_full_disks_made_read_only_is_told_and_searched(
    store: OpenSearch, url: str
) -> None:
    await build(store, *titles("oak"))
    (index,) = indexes(url)

    def block(value: bool | None) -> None:
        body = {"index.blocks.read_only_allow_delete": value}
        asked(url, "PUT", f"/{index}/_settings", body)

    block(True)
    with pytest.raises(StoreUnavailable, match=f"{index} is read-only: .* disks"):
        await store.status()
    async with store.alone():
        with pytest.raises(StoreUnavailable):
            await store.write(titles("elm"), since=1, read_to=2)
        assert await found(store, "oak") == [1]
        block(None)
        assert (await store.status()).state is IndexState.OK
        await store.write(titles("elm"), since=1, read_to=2)
    assert await found(store, "elm") == [1]


async def test_a_cluster_that_is_away_is_told_at_once(engines: Stack) -> None:
    store = OpenSearch(Cluster((("127.0.0.1", 1),), "away"))
    with pytest.raises(Refused, match=r"OpenSearch at 127\.0\.0\.1:1: no server listens there"):
        await store.search(SearchRequest("oak", 10))
    with pytest.raises(Refused):
        async with store.alone():
            pass
    await store.close()


async def test_another_node_answers_for_a_node_that_is_away(
    store: OpenSearch, opened: Opened
) -> None:
    await build(store, *titles("oak"))
    two = opened(("127.0.0.1", 1))
    for _ in range(3):
        assert await found(two, "oak") == [1]


async def test_a_hung_cluster_is_told_after_the_deadline_and_answers_when_it_goes_on(
    engines: Stack, store: OpenSearch, opened: Opened
) -> None:
    await build(store, *titles("oak"))
    hasty = opened(deadline=0.3)
    server = engines.services["opensearch"]
    server.kill(signal.SIGSTOP)
    try:
        with pytest.raises(StoreTimeout, match=r"no answer within 0\.3 s"):
            await hasty.search(SearchRequest("oak", 10))
    finally:
        server.kill(signal.SIGCONT)
    assert await found(store, "oak") == [1]


async def test_a_cancelled_search_leaves_no_answer_to_the_next(
    store: OpenSearch, opened: Opened
) -> None:
    words = ["oak", "elm", "ash", "fir"]
    await build(store, *titles(*words))
    rng = random.Random(7)

    async def search(word: str) -> None:
        try:
            async with asyncio.timeout(rng.uniform(0.0005, 0.02)):
                hits = await store.search(SearchRequest(word, 10))
        except TimeoutError:
            return
        assert [hit.id for hit in hits] == [pin(words.index(word) + 1)]

    for _ in range(20):
        await asyncio.gather(*(search(rng.choice(words)) for _ in range(10)))
    for number, word in enumerate(words, 1):
        assert await found(store, word) == [number]


@pytest.mark.nightly
async def test_an_acknowledged_write_survives_a_kill_of_the_server(
    engines: Stack, store: OpenSearch
) -> None:
    await build(store, *titles("oak"))
    async with store.alone():
        await store.write([Document(pin(1), "maple")], since=1, read_to=2)
        server = engines.services["opensearch"]
        server.kill()
        with pytest.raises(StoreUnavailable):
            await store.search(SearchRequest("maple", 10))
        server.start()
        server.wait_ready(600)
    assert await found(store, "maple") == [1]
    assert await store.times() == IndexTimes(built=1, read_to=2)
