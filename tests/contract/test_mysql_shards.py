"""MySQL's own behavior: connections, servers dead or silent, slaves, plans, making shards."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest

from datasources.errors import StaleTopology, StoreCorrupt, StoreError, StoreUnavailable
from datasources.ids import Kind
from datasources.mappings import EdgeKey, ListKey, Mapping, PageRequest, Position
from datasources.mysql import MySqlShards
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.server import Server
from datasources.sql.dialect import MYSQL
from datasources.sql.lists import edges_condition, heads_condition
from datasources.sql.mappings import page_part
from datasources.sql.schema import OBJECT_SHARD
from datasources.topology import ShardRange
from deploy.stack import Stack
from tests.contract.shards import ON_EACH, Deployment

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(mysql: Deployment) -> AsyncIterator[MySqlShards]:
    made = mysql.open()
    assert isinstance(made, MySqlShards)
    yield made
    await made.close()


@pytest.fixture
async def admin(mysql: Deployment, databases: Stack) -> AsyncIterator[Link]:
    """A separate connection to the first server."""
    url = mysql.topology.servers[mysql.topology.shards[0].master]
    login = Login.of(url, databases.settings["mysql.user"], databases.settings["mysql.password"])
    link = await connect(login, autocommit=True, deadline=60)
    yield link
    link.close()


def first_server(store: MySqlShards) -> Server:
    return store._engine.server(store.objects.topology().shards[0].master)


async def rows(server: Server, sql: str) -> list[tuple[Any, ...]]:
    return (await server.query("test", sql, (), "")).rows


@pytest.mark.parametrize("noticed", [True, False], ids=["noticed", "unnoticed"])
async def test_a_connection_that_died_in_the_pool_is_replaced(
    mysql: Deployment,
    store: MySqlShards,
    admin: Link,
    monkeypatch: pytest.MonkeyPatch,
    noticed: bool,
) -> None:
    shard = mysql.shard(0)
    id = await store.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    server = first_server(store)
    [[reader]] = await rows(server, "SELECT CONNECTION_ID()")
    writer = server.writers._idle[0].thread_id
    for thread in (reader, writer):
        await admin.run(f"KILL {thread}")
    if not noticed:
        monkeypatch.setattr(Link, "alive", True)
    assert await store.objects.get([id]) == {id: b"{}"}
    assert await store.objects.transact(shard, lambda tx: tx.get(id)) == b"{}"


async def test_a_connection_killed_within_a_transaction_is_an_error_and_nothing_is_written(
    mysql: Deployment, store: MySqlShards, admin: Link
) -> None:
    shard = mysql.shard(0)
    made: list[int] = []

    async def work(tx: Any) -> None:
        made.append(await tx.insert(Kind.PIN, b"{}"))
        await admin.run(f"KILL {tx._session._link.thread_id}")
        await tx.insert(Kind.PIN, b"{}")

    with pytest.raises(StoreUnavailable):
        await store.objects.transact(shard, work)
    assert await store.objects.get(made) == {}
    await store.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))


async def test_connections_are_few_and_all_are_closed(mysql: Deployment, admin: Link) -> None:
    store = mysql.open(pool_size=3)
    assert isinstance(store, MySqlShards)
    shard = mysql.shard(0)
    ids = await asyncio.gather(
        *(store.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}")) for _ in range(30))
    )
    await asyncio.gather(*(store.objects.get(ids[n:]) for n in range(30)))
    server = first_server(store)
    threads = {link.thread_id for pool in (server.readers, server.writers) for link in pool._idle}
    assert len(threads) == 6
    await store.close()
    while True:  # until the server has noticed the end of the last connection
        listed = await admin.run("SELECT id FROM information_schema.processlist")
        if not threads & {id for [id] in listed.rows}:
            break


async def test_a_server_that_says_nothing_is_asked_once_in_a_while(mysql: Deployment) -> None:
    asked = 0

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    first = mysql.topology.shards[0].master
    servers = {**mysql.topology.servers, first: f"mysql://127.0.0.1:{port}"}
    store = mysql.open(msgspec.structs.replace(mysql.topology, servers=servers), deadline=1.0)
    for _ in range(10):
        with pytest.raises(StoreError):
            await store.objects.list(Kind.PIN, 0, 1)
        with pytest.raises(StoreError):
            await store.objects.transact(mysql.shard(0), lambda tx: tx.insert(Kind.PIN, b"{}"))
    assert asked < 5
    await store.close()
    listener.close()


async def test_sessions_are_strict_in_utc_and_read_committed(store: MySqlShards) -> None:
    [[mode, zone, isolation, step]] = await rows(
        first_server(store),
        "SELECT @@sql_mode, @@time_zone, @@tx_isolation, @@auto_increment_increment",
    )
    assert b"STRICT_ALL_TABLES" in mode
    assert (zone, isolation, step) == (b"+00:00", b"READ-COMMITTED", 1)


async def test_lists_heads_and_edges_are_read_by_ranges_of_their_indexes(
    mysql: Deployment, store: MySqlShards
) -> None:
    shard = mysql.shard(0)
    server, place = first_server(store), store._router.place(shard)

    async def plan(sql: str, args: Sequence[Any]) -> list[tuple[Any, ...]]:
        """(index, access type, bytes of the index used, extra information) for each table."""
        statement = f"EXPLAIN {sql}".replace("{db}", place.database).replace("?", "%s")
        explained = await server.query("test", statement, tuple(args), "")
        return [(row[5], row[3], row[6], row[9]) for row in explained.rows]

    for mapping in (Mapping.BOARD_HAS_PINS, Mapping.USER_HAS_PINS):
        key = ListKey(mapping, 5)
        part = page_part(MYSQL, place, PageRequest(key, 25, Position(7, 9)))
        explained = await plan(f"SELECT {part.columns} {part.rest}", part.args)
        [(index, access, _, extras)] = explained
        assert (index, access) == (b"pages", b"range")
        assert b"filesort" not in extras
        where, args = edges_condition([EdgeKey(mapping, n, m) for n in (1, 2) for m in (3, 4)])
        sql = f"SELECT * FROM {{db}}.{mapping.value}{MYSQL.by()} WHERE {where}"
        assert [found[:3] for found in await plan(sql, args)] == [(b"PRIMARY", b"range", b"16")]
    where, args = heads_condition([ListKey(m, n) for m in Mapping for n in (1, 2)])
    sql = f"SELECT * FROM {{db}}.lists{MYSQL.by()} WHERE {where}"
    assert [found[:3] for found in await plan(sql, args)] == [(b"PRIMARY", b"range", b"10")]


async def test_a_slave_refuses_what_is_meant_for_its_master(
    mysql: Deployment, databases: Stack
) -> None:
    first = mysql.topology.shards[0].master
    slave = first[:-1] + "B"
    misled = msgspec.structs.replace(
        mysql.topology,
        epoch=2,
        shards=(
            ShardRange(mysql.topology.shards[0].range, slave),
            mysql.topology.shards[1],
        ),
    )
    store = mysql.open(misled)
    while True:  # until replication has brought the shard
        try:
            await store.objects.transact(mysql.shard(0), lambda tx: tx.insert(Kind.PIN, b"{}"))
        except StoreUnavailable as error:
            assert "Unknown database" in str(error)  # noqa: PT017
        except StoreCorrupt as error:
            assert "doesn't exist" in str(error)  # noqa: PT017
        except StaleTopology as error:
            if "no fence" not in str(error):
                assert "owns it" in str(error)  # noqa: PT017
                break
    await store.close()


async def test_a_shard_left_half_made_is_completed(
    mysql: Deployment, store: MySqlShards, admin: Link
) -> None:
    shard = mysql.shard(2 * ON_EACH - 2)
    id = await store.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    await admin.run(f"DROP TABLE db{shard:05d}.visits, db{shard:05d}.fence")
    seen: list[tuple[int, int]] = []
    await store.create(lambda done, total: seen.append((done, total)))
    assert seen[-1] == (40, 40)
    assert await store.objects.get([id]) == {id: b"{}"}
    await store.objects.transact(shard, lambda tx: tx.visits(shard << 46 | 3 << 36 | 1, 0))


async def test_servers_that_share_a_server_id_are_not_given_shards(mysql: Deployment) -> None:
    topology = mysql.topology
    first, second = (r.master for r in topology.shards)
    alias = topology.servers[first].replace("127.0.0.1", "localhost")
    store = mysql.open(
        msgspec.structs.replace(topology, servers={**topology.servers, second: alias})
    )
    with pytest.raises(StoreCorrupt, match="server_id"):
        await store.create()
    await store.close()


async def test_both_backends_have_the_same_columns(
    mysql: Deployment, sqlite: Deployment, store: MySqlShards
) -> None:
    shard = mysql.shard(0)
    listed = await rows(
        first_server(store),
        "SELECT table_name, column_name FROM information_schema.columns "
        f"WHERE table_schema = 'db{shard:05d}'",
    )
    embedded = sqlite.open()

    async def columns(tx: Any) -> list[tuple[Any, ...]]:
        found = await tx._session.run(
            "test",
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c "
            "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
        )
        return list(found.rows)

    assert sorted(listed) == sorted(await embedded.objects.transact(shard, columns))
    assert {table.decode() for table, _ in listed} == {table.name for table in OBJECT_SHARD}
    await embedded.close()
