"""The shared tables as MySQL's DDL, and the creation of shards' databases."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence

from datasources.errors import StoreCorrupt, StoreError, StoreUnavailable
from datasources.mysql.engine import MySqlEngine
from datasources.mysql.link import connect
from datasources.mysql.server import DRIVER_ERRORS, Server
from datasources.sql.creation import check_new, unfenced
from datasources.sql.engine import Place
from datasources.sql.schema import MOD_SHARD, NEWEST, OBJECT_SHARD, Table, Type
from datasources.together import together
from datasources.topology import Topology

CONNECTIONS = 4  # connections to a server; DDL gains little from more
FENCES_A_STATEMENT = 256
_DEADLINE = 60.0  # seconds for one database
_TYPES = {
    Type.LOCAL_ID: "BIGINT",
    Type.ID: "BIGINT",
    Type.SEQUENCE: "DECIMAL(38,0)",
    Type.FLAG: "TINYINT",
    Type.SMALL: "SMALLINT",
    Type.JSON: "MEDIUMTEXT CHARACTER SET utf8mb4",
    Type.KEY: "VARBINARY(191)",
    Type.HASH: "BINARY(16)",
    Type.NAME: "VARBINARY(64)",
    Type.BYTES: "MEDIUMBLOB",
    Type.STAMP: "TIMESTAMP(3)",
}
_ENDS = {
    Type.LOCAL_ID: " AUTO_INCREMENT",
    Type.STAMP: " DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)",
}


def ddl(database: str, table: Table) -> str:
    """The statements that create a table and its indexes."""
    lines = [
        f"{name} {_TYPES[type]} {'NULL' if null else 'NOT NULL'}{_ENDS.get(type, '')}"
        for name, type, null in table.columns
    ]
    lines.append(f"PRIMARY KEY ({', '.join(table.primary)})")
    lines += [f"UNIQUE KEY {name} ({', '.join(c)})" for name, c in table.unique]
    lines += [f"KEY {name} ({', '.join(c)})" for name, c in table.indexes]
    lines += [f"CHECK ({table.check})"] if table.check else []
    return (
        f"CREATE TABLE IF NOT EXISTS {database}.{table.name} ({', '.join(lines)}) "
        "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    )


def script(place: Place, epoch: int) -> str:
    """The statements for all tables of a shard's database. The fence comes last, so a database with
    a fence is complete."""
    database = place.database
    tables: Sequence[Table] = MOD_SHARD if database.startswith("mod") else OBJECT_SHARD
    return ";\n".join(
        [
            f"CREATE DATABASE IF NOT EXISTS {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            *(ddl(database, table) for table in tables),
            f"INSERT INTO {database}.fence (id, epoch, owner) VALUES (1, {epoch:d}, @@server_id) "
            "ON DUPLICATE KEY UPDATE id = id",
        ]
    )


async def create(
    engine: MySqlEngine,
    topology: Topology,
    places: Sequence[Place],
    made: Callable[[int], None],
    *,
    opening: bool = False,
) -> None:
    """Create the databases that are missing or incomplete. `made` is called with the number of
    databases after each group. Raises Damaged before anything is created, if a shard must not be
    created."""
    by_server: dict[str, list[Place]] = {}
    for place in places:
        by_server.setdefault(place.server, []).append(place)
    await _check_identities([engine.server(name) for name in by_server])
    databases = sorted({place.database for place in places})
    fences, whole, lost = await _survey(engine, topology, databases)
    for name in by_server.keys() & lost.keys():
        raise lost[name]
    check_new(unfenced(places, fences), fences, lost, topology.epoch, opening=opening)
    await together(
        _create_on(
            engine.server(name),
            [place for place in some if place.database not in whole[name]],
            sum(place.database in whole[name] for place in some),
            topology.epoch,
            made,
        )
        for name, some in by_server.items()
    )


async def _survey(
    engine: MySqlEngine, topology: Topology, databases: Sequence[str]
) -> tuple[dict[str, dict[str, int | None]], dict[str, set[str]], dict[str, StoreError]]:
    """The fences of the shards on each server of the topology, including slaves; which of the
    shards are complete; and the errors of servers that could not be asked."""
    fences: dict[str, dict[str, int | None]] = {}
    whole: dict[str, set[str]] = {}
    lost: dict[str, StoreError] = {}

    async def ask(name: str) -> None:
        try:
            fences[name], whole[name] = await _fences(engine.server(name), databases)
        except StoreError as error:
            lost[name] = error

    await together(ask(name) for name in topology.servers)
    return fences, whole, lost


async def _create_on(
    server: Server, places: Sequence[Place], done: int, epoch: int, made: Callable[[int], None]
) -> None:
    made(done)
    waiting = iter(places)
    await together(_work(server, waiting, epoch, made) for _ in range(CONNECTIONS))


async def _work(
    server: Server, waiting: Iterator[Place], epoch: int, made: Callable[[int], None]
) -> None:
    link = None
    place = None
    try:
        for place in waiting:
            async with asyncio.timeout(_DEADLINE):
                if link is None:
                    link = await connect(server.login, autocommit=True, deadline=_DEADLINE)
                await link.run(script(place, epoch))
            made(1)
    except TimeoutError:
        raise StoreUnavailable(f"{server.name}: no answer in {_DEADLINE} s") from None
    except DRIVER_ERRORS as error:
        raise server.translate(error, place.database if place else "") from error
    finally:
        if link is not None:
            link.close()


async def _fences(
    server: Server, databases: Sequence[str]
) -> tuple[dict[str, int | None], set[str]]:
    """The fences of the databases that exist, and the databases among them that have all tables."""
    listed = await server.query("create", "SHOW DATABASES", (), "")
    names = sorted({name.decode() for [name] in listed.rows}.intersection(databases))
    found: dict[str, int | None] = dict.fromkeys(names)
    whole: set[str] = set()
    for at in range(0, len(names), FENCES_A_STATEMENT):
        some = names[at : at + FENCES_A_STATEMENT]
        try:
            of_whole = await _fenced(server, some, whole=True)
            whole |= of_whole.keys()
            found |= of_whole
        except StoreCorrupt:  # a table of one of the databases is missing
            for name in some:
                with contextlib.suppress(StoreCorrupt):
                    found |= await _fenced(server, [name], whole=False)
                    whole |= (await _fenced(server, [name], whole=True)).keys()
    return found, whole


async def _fenced(server: Server, databases: Sequence[str], *, whole: bool) -> dict[str, int]:
    """The fences' epochs. Raises StoreCorrupt for a missing table; unless `whole`, only the fence's
    table is required."""
    tables = ", ".join(f"{{0}}.{name}" for name in NEWEST)
    newest = f" WHERE NOT EXISTS (SELECT 1 FROM {tables} LIMIT 0)"
    selects = [
        f"SELECT '{name}', epoch FROM {name}.fence"
        + (newest.format(name) if whole and not name.startswith("mod") else "")
        for name in databases
    ]
    found = await server.query("create", " UNION ALL ".join(selects), (), "")
    return {name.decode(): epoch for name, epoch in found.rows}


async def _check_identities(servers: Sequence[Server]) -> None:
    """Check that all servers have different @@server_id: fences tell servers apart by it."""
    owners: dict[int, Server] = {}
    for server in servers:
        [[id]] = (await server.query("create", "SELECT @@server_id", (), "")).rows
        other = owners.setdefault(id, server)
        if (other.login.host, other.login.port) != (server.login.host, server.login.port):
            raise StoreCorrupt(
                f"{other.name} and {server.name} both have server_id {id}: "
                "each server needs one of its own, or a shard can't tell who owns it"
            )
