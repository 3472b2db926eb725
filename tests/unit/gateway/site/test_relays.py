"""One process of a host relays the outbox and removes expired rows, by a lock on a file."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from datasources.protocols import Due, Expiry, Forgotten, Parked, Stores
from gateway.settings import Jobs, Settings, StoreUrls
from gateway.site.relays import SILENT, Sleep, lock_file, work_alone, work_for_host
from tests.happened import happened

pytestmark = pytest.mark.anyio
SECONDS = 5.0


class Process:
    """A process that relays if it may. Two of them lock against each other as on a host."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.relays = asyncio.Event()
        self.fails = False
        self._again = asyncio.Event()
        self._tries = asyncio.Semaphore(0)
        self.task = asyncio.create_task(
            work_alone(path, self._relay, every=SECONDS, sleep=self._sleep, clock=clock)
        )

    async def tried(self) -> None:
        """Wait until the process waits again: for the lock, or for its next round."""
        await self._tries.acquire()

    def wake(self) -> None:
        """End the wait for the lock, or for the relay's next round."""
        self._again.set()

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def _sleep(self, seconds: float) -> None:
        assert seconds == SECONDS
        self._again.clear()
        self._tries.release()
        await self._again.wait()

    async def _relay(self, sleep: Sleep) -> None:
        self.relays.set()
        while not self.fails:
            await sleep(SECONDS)
        raise RuntimeError("the relay failed")


async def test_one_process_relays_and_another_takes_over_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "data" / "relay.lock"
    first = Process(path)
    await first.relays.wait()
    second = Process(path)
    await second.tried()
    second.wake()
    await second.tried()
    assert not second.relays.is_set()
    await first.end()
    second.wake()
    await second.relays.wait()
    await second.end()


async def test_a_relay_that_fails_is_taken_over(tmp_path: Path) -> None:
    first = Process(tmp_path / "relay.lock")
    await first.relays.wait()
    second = Process(tmp_path / "relay.lock")
    await second.tried()
    first.fails = True
    first.wake()
    with pytest.raises(RuntimeError, match="the relay failed"):
        await first.task
    second.wake()
    await second.relays.wait()
    await second.end()


async def test_a_relay_that_hangs_is_replaced_after_a_while(tmp_path: Path) -> None:
    now = time.time()

    def clock() -> float:
        return now

    first = Process(tmp_path / "relay.lock", clock)
    await first.tried()
    second = Process(tmp_path / "relay.lock", clock)
    await second.tried()
    now += SILENT - 1
    first.wake()
    await first.tried()  # a round
    now += SILENT - 1
    second.wake()
    await second.tried()
    assert not second.relays.is_set()
    now += 2
    second.wake()
    await second.relays.wait()
    await first.end()
    await second.end()


async def test_without_a_file_to_lock_each_process_relays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "data").write_text("a file")
    with caplog.at_level(logging.INFO, "pinway.relay"):
        processes = [Process(tmp_path / "data" / "relay.lock") for _ in range(2)]
        for process in processes:
            await process.relays.wait()
            await process.end()
    assert len(caplog.messages) == 2
    assert "each process of this host relays the outbox" in caplog.messages[0]


class Seen:
    """Shards without rows, which remember that they were read for the relay and for the expiry."""

    def __init__(self) -> None:
        self.relayed, self.expired = asyncio.Event(), asyncio.Event()
        self.shards = self.outbox = self.expiry = self

    async def due(self, *args: Any, **kwargs: Any) -> Due:
        self.relayed.set()
        return Due([], {}, {})

    async def parked(self) -> Parked:
        return Parked(0, "")

    async def visits(self, *args: Any) -> Forgotten:
        self.expired.set()
        return Forgotten(0, {})


async def _forgotten(*args: Any) -> Forgotten:
    return Forgotten(0, {})


for _part in vars(Expiry):
    if not _part.startswith("_") and _part not in vars(Seen):
        setattr(Seen, _part, _forgotten)


async def test_the_process_that_relays_removes_expired_rows_and_another_process_does_neither(
    tmp_path: Path,
) -> None:
    settings = Settings(
        data_dir=tmp_path,
        stores=StoreUrls(topology="zookeeper://h:1/t"),
        jobs=Jobs(relay_seconds=0.01),
    )
    first, second = Seen(), Seen()
    works = asyncio.create_task(work_for_host(cast(Stores, first), settings))
    await happened(first.expired, works)
    await happened(first.relayed, works)
    waits = asyncio.create_task(work_for_host(cast(Stores, second), settings))
    for _ in range(3):
        first.relayed.clear()
        await happened(first.relayed, works)
    assert not second.expired.is_set()
    assert not second.relayed.is_set()
    works.cancel()
    await happened(second.expired, waits)
    await happened(second.relayed, waits)
    waits.cancel()
    await asyncio.gather(works, waits, return_exceptions=True)


def test_processes_on_the_same_stores_lock_the_same_file(tmp_path: Path) -> None:
    def locked(**given: Any) -> Path | None:
        stores = {"topology": "zookeeper://h:1/t", "queue": "redis://:secret@h:1/0"}
        return lock_file(Settings(data_dir=tmp_path, stores=StoreUrls(**stores | given)))

    assert locked() == locked(slave_reads=False) == locked(queue="redis://:other@h:1/0")
    assert locked() != locked(topology="zookeeper://h:1/u")
    assert locked() != locked(queue="redis://h:1/1")
    assert lock_file(Settings(data_dir=tmp_path)) is None
