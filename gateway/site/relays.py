"""Lets one process of a host relay the outbox and remove expired rows: the process that holds a
lock file.

Each relay reads the outboxes of all shards again and again, 256 of a server in a round, which takes
15 to 20 ms of the server's time; a look for expired rows on 512 shards takes 30 to 40 ms. So all
processes of a host share one relay. Hosts don't know each other: each host has a relay.
"""

import asyncio
import fcntl
import hashlib
import logging
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from datasources.protocols import Stores
from datasources.urls import mask
from feed_engine.outbox.expiry import expire
from feed_engine.outbox.relay import relay
from gateway.settings import EMBEDDED, Settings

log = logging.getLogger("pinway.relay")

SILENT = 180.0
"""Seconds without a round of the relay after which a process that waits for the lock relays without
the lock. A relay whose stores fail waits at most 60 s between two rounds."""

Sleep = Callable[[float], Awaitable[None]]


async def work_for_host(stores: Stores, settings: Settings) -> None:
    """Relay the outbox and remove expired rows, while no other process of this host does both."""
    seconds = settings.jobs.relay_seconds

    async def work(sleep: Sleep) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(relay(stores, every=seconds, older_than=seconds, sleep=sleep))
            tasks.create_task(expire(stores))

    path = lock_file(settings)
    if path is None:
        await work(asyncio.sleep)
    else:
        await work_alone(path, work, every=seconds)


def lock_file(settings: Settings) -> Path | None:
    """The lock file for relaying these shards to this queue. None for embedded stores, which only
    one process has open."""
    if settings.stores.topology == EMBEDDED:
        return None
    stores = f"{mask(settings.stores.topology)}\n{mask(settings.stores.queue)}".encode()
    return settings.data_dir.resolve() / f"relay-{hashlib.sha256(stores).hexdigest()[:16]}.lock"


async def work_alone(
    path: Path,
    work: Callable[[Sleep], Awaitable[None]],
    *,
    every: float,
    sleep: Sleep = asyncio.sleep,
    clock: Callable[[], float] = time.time,
) -> None:
    """Run `work` while this process holds the file's lock; until then, try to get the lock every
    `every` seconds. `work` gets the function with which the relay waits between two rounds.

    When a process ends, in whatever way, the kernel frees its lock. A process that hangs keeps its
    lock. So the time of its relay's last round is the file's time of modification, and when that is
    long ago, another process works without the lock. A process that can't lock the file also works.
    Two relays only take time; without any relay, work would remain undone.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as error:
        _tell_without(path, error)
        await work(sleep)
        return
    with file:

        async def end_round(seconds: float) -> None:
            _touch(file, clock())
            await sleep(seconds)

        is_ours = await _wait_for_lock(file, path, every, sleep, clock)
        await work(end_round if is_ours else sleep)


async def _wait_for_lock(
    file: BinaryIO, path: Path, every: float, sleep: Sleep, clock: Callable[[], float]
) -> bool:
    """Wait for the lock. Returns whether this process got it; False if it should relay without the
    lock."""
    try:
        while not _locked(file):
            silent = clock() - os.fstat(file.fileno()).st_mtime
            if silent > max(SILENT, 3 * every):
                log.warning("this host's relay is silent for %.0f s: this process relays", silent)
                return False
            await sleep(every)
        _touch(file, clock())
    except OSError as error:
        _tell_without(path, error)
        return False
    log.info("this process relays the outbox for its host")
    return True


def _touch(file: BinaryIO, now: float) -> None:
    with suppress(OSError):
        os.utime(file.fileno(), (now, now))


def _locked(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _tell_without(path: Path, error: OSError) -> None:
    log.info(
        "%s can't be locked (%s): each process of this host relays the outbox",
        *(path, error.strerror or error),
    )
