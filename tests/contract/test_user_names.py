"""Changes of user names over SQLite and MySQL, by one user and by many at once."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from datasources.errors import Conflict
from datasources.protocols import Job, Stores
from datasources.records import User
from datasources.sql.shards import SqlShards
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.transactions import access
from tests.contract.shards import Deployment
from tests.contract.test_accounts import new_user
from tests.embedded_stores import embedded_config, embedded_stores, valkey

__all__ = ["valkey"]
pytestmark = pytest.mark.anyio


async def rename(stores: Stores, user: User, name: str) -> User:
    return await writes.change_user_name(stores, user.id, writes.NameChange(username=name))


async def rows_of(stores: Stores) -> set[Job]:
    """All rows of the outbox, also the ones that are due in 30 days."""
    await settle()
    return {Job(it.shard, it.id) for it in await stores.shards.outbox.pending(2**62, 1000)}


async def drain(stores: Stores, left: set[Job]) -> None:
    """Run the jobs until only these rows, which other tests left on the shards, remain."""
    while jobs := await rows_of(stores) - left:
        for job in jobs:
            await run_job(stores, job)


async def test_a_name_is_changed_kept_and_freed(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path
) -> None:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        left = await rows_of(stores)
        ann = await new_user(stores, deployment.shard(8), "ann.contract")
        await shards.mod.claim("username", ann.username, ann.id)
        after = await rename(stores, ann, "ann.contract.two")
        names = [ann.username, "ann.contract.two"]
        assert await shards.mod.find("username", names) == dict.fromkeys(names, ann.id)
        assert [kept.key for kept in after.kept_names] == [ann.username]
        await drain(stores, left)  # also the work of 30 days later
        assert await shards.mod.find("username", names) == {names[1]: ann.id}
        assert (await access.recall(stores, User, ann.id)).kept_names == ()
        await writes.delete_account(stores, ann.id, writes.Deletion(username=names[1]))
        await drain(stores, left)
        assert await shards.mod.find("username", names) == {}


async def test_of_many_who_want_one_name_one_gets_it_and_the_others_keep_theirs(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path
) -> None:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        left = await rows_of(stores)
        users = []
        for number in range(6):
            name = f"contract.many{number}"
            users.append(await new_user(stores, deployment.shard(8 + number % 3), name))
            await shards.mod.claim("username", name, users[-1].id)

        async def want(user: User) -> None:
            with suppress(Conflict):
                await rename(stores, user, "contract.wanted")

        await asyncio.gather(*map(want, users))
        await drain(stores, left)
        now = await access.read(stores, User, [user.id for user in users])
        names = [user.username for user in now.values()]
        assert names.count("contract.wanted") == 1
        held = await shards.mod.find("username", names)
        assert held == {user.username: user.id for user in now.values()}
