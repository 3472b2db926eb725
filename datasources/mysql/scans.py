"""The shards of a server, read as of one moment in one consistent snapshot."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from datasources.errors import StaleTopology, StoreError, StoreTimeout, StoreUnavailable
from datasources.mysql.link import Link, connect
from datasources.mysql.server import CONNECT_TIMEOUT, DRIVER_ERRORS, Server
from datasources.mysql.snapshots import BEGIN, RELEASE, write_no_log
from datasources.scans import MASTER, SLAVE, Moment, now
from datasources.sql.dialect import MYSQL
from datasources.sql.engine import Place, Row, object_place
from datasources.sql.pages import Select, page, rows_of
from datasources.sql.schema import Table

log = logging.getLogger("pinway.stores")

SECONDS = 120.0
"""The time that a statement may take: a page of a table that is not in memory."""
CATCH_UP = 30
"""Seconds in which a slave must apply what it has received. Otherwise the master is read."""
_IDLE = 3600
"""Seconds after which the server ends a snapshot that is not read: files are written between two
pages."""
_FENCES = 256  # in a statement


class ServerScan:
    """See `datasources.scans.Scan`. The link is in a transaction that has a snapshot."""

    def __init__(self, server: Server, link: Link, moment: Moment) -> None:
        self._server, self._link, self.moment = server, link, moment

    async def page(self, shard: int, table: Table, after: Row, limit: int) -> list[Row]:
        return await page(self._select(shard), MYSQL, table, after, limit)

    async def rows(self, shard: int, table: Table, keys: Sequence[Row]) -> list[Row]:
        return await rows_of(self._select(shard), MYSQL, table, keys)

    def _select(self, shard: int) -> Select:
        place = object_place(self._server.name, shard)

        async def select(sql: str, args: tuple[object, ...]) -> list[Row]:
            text = f"SELECT {sql}".replace("{db}", place.database).replace("?", "%s")
            rows = await _run(self._server, self._link, text, args)
            await _run(self._server, self._link, RELEASE)
            return rows

        return select


@asynccontextmanager
async def scan(
    master: Server, slave: Server | None, shards: Sequence[int]
) -> AsyncIterator[ServerScan]:
    """Begin a snapshot on the slave, if it receives its master's events and has applied all that
    it received, or else on the master. Raises StoreError."""
    opened: ServerScan | None = None
    if slave is not None:
        try:
            opened = await _on_slave(slave, shards)
        except StoreError as error:
            log.warning("%s is read instead of its slave: %s", master.name, error)
    opened = opened or await _begin(master, MASTER, shards, "@@server_id")
    try:
        yield opened
    finally:
        opened._link.close()


async def _on_slave(slave: Server, shards: Sequence[int]) -> ServerScan:
    position = await slave.received()
    link = await _connect(slave)
    try:
        sql = f"SELECT MASTER_GTID_WAIT(%s, {CATCH_UP})"
        if await _run(slave, link, sql, (position,)) != [(0,)]:
            raise StoreUnavailable(f"{slave.name}: it has not applied all that it received")
    finally:
        link.close()
    owner = str(await slave.master_id())
    return await _begin(slave, SLAVE, shards, owner)


async def _begin(server: Server, role: str, shards: Sequence[int], owner: str) -> ServerScan:
    """Begin a snapshot. `owner` is the id of the server that must own the shards, as SQL."""
    link = await _connect(server)
    try:
        # MySQL has no such limit.
        if await _run(server, link, "SHOW VARIABLES LIKE 'idle_transaction_timeout'"):
            await _run(server, link, f"SET SESSION idle_transaction_timeout = {_IDLE}")
        await write_no_log(partial(_run, server, link))
        for statement in BEGIN:
            await _run(server, link, statement)
        moment = await _moment(server, link, role)
        await _check_owned(server, link, shards, owner)
    except BaseException:
        link.close()
        raise
    return ServerScan(server, link, moment)


async def _moment(server: Server, link: Link, role: str) -> Moment:
    """The snapshot's place in the server's binary log, which the server tells together with the
    snapshot."""
    taken = now()
    rows = await _run(server, link, "SHOW STATUS LIKE 'binlog_snapshot%'")
    values = {name.decode().lower(): value.decode() for name, value in rows}
    file = values.get("binlog_snapshot_file", "")
    offset = int(values.get("binlog_snapshot_position") or 0)
    if not file:  # the server has no binary log
        return Moment(taken, server.name, role)
    [[gtids]] = await _run(server, link, "SELECT BINLOG_GTID_POS(%s, %s)", (file, offset))
    return Moment(taken, server.name, role, file, offset, gtids.decode() if gtids else "")


async def _check_owned(server: Server, link: Link, shards: Sequence[int], owner: str) -> None:
    """Raises StaleTopology for a shard that moved away before the snapshot."""
    places = [object_place(server.name, shard) for shard in shards]
    for start in range(0, len(places), _FENCES):
        some = places[start : start + _FENCES]
        sql = " UNION ALL ".join(_fence(place) for place in some)
        rows = await _run(server, link, f"SELECT name, owner, {owner} FROM ({sql}) AS fences")
        for name, found, expected in rows:
            if int(found) != int(expected):
                raise StaleTopology(
                    f"{name.decode()} on {server.name}: server {int(found)} owns it"
                )
        if len(rows) != len(some):
            raise StaleTopology(f"{server.name}: not all of its shards have a fence")


def _fence(place: Place) -> str:
    return f"SELECT '{place.database}' AS name, owner FROM {place.database}.fence WHERE id = 1"


async def _connect(server: Server) -> Link:
    server.check()
    try:
        async with asyncio.timeout(max(CONNECT_TIMEOUT, server.deadline)):
            return await connect(server.login, autocommit=True, deadline=SECONDS)
    except TimeoutError:
        raise StoreUnavailable(f"{server.name}: it took no connection") from None
    except DRIVER_ERRORS as error:
        raise server.translate(error, "") from error


async def _run(server: Server, link: Link, sql: str, args: Sequence[object] = ()) -> list[Row]:
    try:
        async with asyncio.timeout(SECONDS):
            return (await link.run(sql, args)).rows
    except TimeoutError:
        raise StoreTimeout(f"{server.name}: no answer in {SECONDS:g} s") from None
    except DRIVER_ERRORS as error:
        raise server.translate(error, "") from error
