"""Answers and visits that are too old: what a client gets before and after."""

import asyncio
import logging

import pytest

from datasources.mappings import Mapping
from feed_engine import writes
from feed_engine.outbox import expiry
from feed_engine.outbox.expiry import expire, expire_batch
from feed_engine.times import DAY
from tests.faulty import Unwell, with_part
from tests.feeds import Feeding, pins_of, reader

pytestmark = pytest.mark.anyio


async def test_a_write_sent_again_after_its_time_is_a_new_one(feeding: Feeding) -> None:
    stores, owner = feeding.stores, await feeding.user()

    async def send() -> int:
        new = writes.NewBoard(name="sent again")
        return (await writes.create_board(stores, owner.id, new, key="one key")).board.id

    first = await send()
    await expire_batch(stores, 7, 30, feeding.now + 6 * DAY)
    assert await send() == first
    await expire_batch(stores, 7, 30, feeding.now + 7 * DAY + DAY // 2)
    second = await send()
    assert second != first
    assert await feeding.list(Mapping.USER_HAS_BOARDS, owner.id) == [second, first]


async def test_a_visit_is_found_by_its_name_until_its_time_is_over(feeding: Feeding) -> None:
    viewer, best = await reader(feeding, 30)
    whole = await feeding.home(viewer, visit="mine", first=3)
    await feeding.home(viewer)
    for days, known in ((29, True), (31, False)):
        await feeding.drain()
        await expire_batch(feeding.stores, 7, 30, feeding.now + days * DAY)
        found = await feeding.stores.shards.visits.recent(viewer.id, 0, named="mine")
        assert bool(found) is known
        # Pages behind its cursors go on, whether it is kept or not.
        assert await feeding.rest_of(viewer, whole) == best[3:5]
    again = await feeding.home(viewer, visit="mine", first=30)
    assert pins_of(again) == best[10:15] + best[5:10] + best[:5]
    assert [v.generation for v in await feeding.stores.shards.visits.recent(viewer.id, 9)] == [3, 2]


async def test_batches_follow_each_other_until_nothing_is_too_old_and_faults_end_none(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(expiry, "BATCH", 2)
    owner = await feeding.user()
    for number in range(5):
        board = writes.NewBoard(name=f"{number}")
        await writes.create_board(feeding.stores, owner.id, board, key=f"{number}")
    waits: list[float] = []
    done = asyncio.Event()
    now = feeding.now

    async def sleep(seconds: float) -> None:
        nonlocal now
        waits.append(seconds)
        if len(waits) == 2:
            now += 8 * DAY
        if len(waits) == 6:
            done.set()
            await asyncio.Event().wait()

    store = with_part(feeding.stores, "expiry", _FirstFails(feeding.stores.shards.expiry))
    with caplog.at_level(logging.INFO, "feed_engine.outbox.expiry"):
        task = asyncio.ensure_future(
            expire(
                store,
                answers_days=7,
                visits_days=30,
                every=600,
                pause=1,
                clock=lambda: now,
                sleep=sleep,
            )
        )
        await done.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert waits == [600, 600, 1, 1, 1, 600]
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


class _FirstFails:
    """A real store whose first call fails."""

    def __init__(self, store: object) -> None:
        self._stores = [store, Unwell(store)]

    def __getattr__(self, name: str) -> object:
        return getattr(self._stores.pop() if len(self._stores) > 1 else self._stores[0], name)
