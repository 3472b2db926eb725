"""`pinway shards` on real servers: the picture, the checks, new ranges."""

import asyncio
import json

import pytest

from datasources.errors import Damaged
from datasources.ids import Kind
from datasources.mysql import MySqlShards
from datasources.replication import topologies
from feed_engine.writes.comment_index import not_indexed
from tests.pairs import SHARDS, Pairs

pytestmark = pytest.mark.anyio


async def run(pairs: Pairs, *words: str) -> tuple[int, str]:
    return await asyncio.to_thread(pairs.run, *words)


async def test_servers_as_the_stack_sets_them_pass_the_checks(pairs: Pairs) -> None:
    status, output = await run(pairs, "check")
    assert (status, output) == (0, "all servers are set as they must be\n")
    admin = pairs.admin("MySQL001B")
    await admin.run("SET GLOBAL sync_relay_log = 10000")
    status, output = await run(pairs, "check")
    told = await run(pairs, "check", "--json")
    await admin.run("SET GLOBAL sync_relay_log = 1")
    await admin.close()
    assert status == 3
    assert output.startswith("MySQL001B: sync_relay_log is 10000 and must be 1: else acknowledged")
    assert told[0] == 3
    assert json.loads(told[1]) == {"faults": output.splitlines()}


async def test_the_picture_shows_ranges_roles_sizes_and_lag(pairs: Pairs) -> None:
    status, output = await run(pairs, "show", "--json")
    assert status == 0
    shown = json.loads(output)
    assert shown["shards"][0]["range"][0] == 0
    servers = shown["servers"]
    master, slave = shown["shards"][0]["master"], shown["shards"][0]["slave"]
    assert (servers[master]["role"], servers[slave]["role"]) == ("master", "slave")
    assert servers[master]["shards"] >= SHARDS
    assert servers[master]["waits"]
    assert servers[slave]["lag"] is not None
    assert servers[master]["max_connections"] == 500
    # A shard has dozens of files, of 64 KiB and more. Its slave may not have them yet.
    assert servers[master]["megabytes"] > SHARDS
    status, output = await run(pairs, "show")
    assert status == 0
    assert f"{master}  <- {slave}" in output


async def test_new_shards_are_opened_once_and_take_new_objects(pairs: Pairs) -> None:
    async with pairs.gateway() as shards:
        first = shards.objects.topology().open_shards[-1] + 1
        text = f"{first}-{first + 1}"
        assert "would open" in (await run(pairs, "open", text, "--on", "MySQL002A", "--dry-run"))[1]
        status, output = await run(pairs, "open", text, "--on", "MySQL002A", "--slave", "MySQL002B")
        assert status == 0, output
        shards.use(await pairs.saved())
        id = await shards.objects.transact(first, lambda tx: tx.insert(Kind.PIN, b"{}"))
        assert await shards.objects.get([id]) == {id: b"{}"}
        assert not {first, first + 1} & {*await not_indexed(shards)}
        status, output = await run(pairs, "open", text, "--on", "MySQL002A")
        assert status == 1
        assert f"must begin at {first + 2}" in output


async def test_init_makes_no_empty_shard_where_the_topology_was_pointed_by_hand(
    pairs: Pairs,
) -> None:
    """The shard is a new one: a move of other tests may have left a copy of an older shard."""
    master, slave = await pairs.both()
    shard = (await pairs.saved()).open_shards[-1] + 1
    await pairs.done("open", f"{shard}-{shard}", "--on", master, "--slave", slave)
    topology = await pairs.saved()
    settings = pairs.stack.settings
    moved = topologies.moved(topology, (shard, shard), "MySQL002A", "MySQL002B")
    store = MySqlShards(moved, user=settings["mysql.user"], password=settings["mysql.password"])
    with pytest.raises(Damaged, match=rf"db{shard:05d} is on MySQL001\w, .*hide its objects"):
        await store.create()
    await store.close()
    admin = pairs.admin("MySQL002A")
    assert await admin.run(f"SHOW DATABASES LIKE 'db{shard:05d}'") == []
    await admin.close()


async def test_a_server_that_does_not_answer_is_not_added(pairs: Pairs) -> None:
    before = (await pairs.saved()).epoch
    status, output = await run(pairs, "add", "MySQL009A", "mysql://127.0.0.1:1")
    assert status == 1
    assert "nothing was changed: start it, or mend the URL" in output
    assert (await pairs.saved()).epoch == before
