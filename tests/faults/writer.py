"""A process that makes writes and dies in the middle of them, for `test_killed_writer.py`.

It reads orders from its standard input, one JSON object on each line, and does each in a fork: the
named write up to its n-th seam, where the fork kills itself with SIGKILL. A seam is before and
after each call of a store, and before each commit. For each order it prints whether the write was
finished.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

# Imported here so that each fork has them; otherwise the factory imports a backend on first use.
import datasources.file
import datasources.memory
import datasources.redis
import datasources.rocksdb
import datasources.sqlite
import datasources.streaq  # noqa: F401
from datasources.factory import StoresConfig, open_stores
from datasources.protocols import Job, ShardTx, Stores
from feed_engine import writes
from feed_engine.feeds.rows import TABLES_POOLS
from feed_engine.ordering import arrange
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.transactions.key_kinds import subject_key
from feed_engine.writes import board_tasks

Ids = dict[str, int]
SECRET = writes.BoardChange(secret=True)


async def _and_its_jobs(stores: Stores, write: Awaitable[object]) -> None:
    """Do the write, and then its jobs, in this process."""
    await write
    await settle()
    for row in await stores.shards.outbox.pending(2**62, 100):
        await run_job(stores, Job(row.shard, row.id))


def subject_of(ids: Ids) -> str:
    return subject_key("https://id.example/", f"person {ids['number']}")


def email_of(ids: Ids) -> str:
    return f"person{ids['number']}@example.org"


WRITES: dict[str, Callable[[Stores, Ids], Awaitable[object]]] = {
    "createPin": lambda stores, ids: writes.create_pin(
        stores,
        ids["viewer"],
        writes.NewPin(board_id=ids["board"], interest_ids=(ids["interest"],)),
        key="k",
    ),
    "deletePin": lambda stores, ids: writes.delete_pin(stores, ids["viewer"], ids["pin"], key="k"),
    "likePin": lambda stores, ids: writes.like_pin(stores, ids["viewer"], ids["foreign"], key="k"),
    "follow": lambda stores, ids: writes.follow(stores, ids["viewer"], ids["other"], key="k"),
    "signUp": lambda stores, ids: writes.sign_up(
        stores, writes.NewUser(username=f"newcomer{ids['number']}"), key="the key of a sign-up"
    ),
    "signUp of a subject": lambda stores, ids: writes.sign_up(
        stores, writes.NewUser(username=f"newcomer{ids['number']}"), subject=subject_of(ids)
    ),
    "linkSubject": lambda stores, ids: writes.change_subject(
        stores, ids["viewer"], writes.SubjectChange(subject=subject_of(ids)), key="k"
    ),
    "changeEmail": lambda stores, ids: writes.change_email(
        stores, ids["viewer"], writes.EmailChange(email=email_of(ids)), key="k"
    ),
    "changeUserName": lambda stores, ids: writes.change_user_name(
        stores, ids["viewer"], writes.NameChange(username=f"renamed{ids['number']}"), key="k"
    ),
    "updateBoard": lambda stores, ids: writes.update_board(
        stores, ids["viewer"], ids["board"], SECRET, key="k"
    ),
    "updateBoard and its jobs": lambda stores, ids: _and_its_jobs(
        stores, writes.update_board(stores, ids["viewer"], ids["board"], SECRET, key="k")
    ),
    "deleteBoard": lambda stores, ids: writes.delete_board(
        stores, ids["viewer"], ids["board"], key="k"
    ),
    "deleteBoard and its jobs": lambda stores, ids: _and_its_jobs(
        stores, writes.delete_board(stores, ids["viewer"], ids["board"], key="k")
    ),
    "movePin": lambda stores, ids: writes.move_pin(
        stores, ids["viewer"], ids["pin"], ids["second"], ids["under"], key="k"
    ),
    "movePin to a secret board": lambda stores, ids: writes.move_pin(
        stores, ids["viewer"], ids["pin"], ids["secret"], key="k"
    ),
    "reorderPins": lambda stores, ids: writes.reorder_pins(
        stores, ids["viewer"], ids["board"], [ids[f"pin{n}"] for n in (1, 3, 0, 4, 2)], key="k"
    ),
    "reorderPin": lambda stores, ids: writes.reorder_pin(
        stores, ids["viewer"], ids["board"], ids["pin"], after_pin_id=ids["top"], key="k"
    ),
}


class Seams:
    """Counts the seams that a write passes, and kills the process at the n-th."""

    def __init__(self, last: int) -> None:
        self._left = last

    def passed(self) -> None:
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, store: Any) -> Any:
        """The store, with a seam before and after each of its calls."""
        return _Around(store, self)

    def of(self, stores: Stores) -> Stores:
        shards = stores.shards
        objects = self.around(shards.objects)
        whole: Any = SimpleNamespace(
            objects=_Objects(objects, shards.objects, self),
            mappings=self.around(shards.mappings),
            outbox=self.around(shards.outbox),
            mod=self.around(shards.mod),
        )
        return stores._replace(
            shards=whole,
            object_cache=self.around(stores.object_cache),
            mapping_cache=self.around(stores.mapping_cache),
            queue=self.around(stores.queue),
        )


class _Around:
    def __init__(self, store: Any, seams: Seams) -> None:
        self._store, self._seams = store, seams

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(call):
            return call

        async def seamed(*args: Any, **kwargs: Any) -> Any:
            self._seams.passed()
            result = await call(*args, **kwargs)
            self._seams.passed()
            return result

        return seamed


class _Objects:
    """An object store whose transactions have seams, too."""

    def __init__(self, around: Any, objects: Any, seams: Seams) -> None:
        self._around, self._objects, self._seams = around, objects, seams

    def __getattr__(self, name: str) -> Any:
        return getattr(self._around, name)

    async def transact(self, shard: int, work: Callable[[ShardTx], Awaitable[Any]]) -> Any:
        async def seamed(tx: ShardTx) -> Any:
            result = await work(tx)
            self._seams.passed()
            return result

        result = await self._objects.transact(shard, seamed)
        self._seams.passed()
        return result


async def _write(config: StoresConfig, name: str, ids: Ids, last: int) -> None:
    board_tasks.CHUNK = 3
    arrange.CHUNK = 2
    stores = await open_stores(config)
    for side in stores.pools:
        await side.create(TABLES_POOLS)
    await WRITES[name](Seams(last).of(stores), ids)
    await settle()


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(
                    _write(
                        StoresConfig(**order["config"]), order["write"], order["ids"], order["last"]
                    )
                )
            except BaseException as error:
                print(f"{order}: {error!r}", file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        ended = "killed" if killed else "finished" if status == 0 else "failed"
        print(json.dumps(ended), flush=True)


if __name__ == "__main__":
    main()
