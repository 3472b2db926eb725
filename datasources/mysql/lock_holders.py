"""Names the transactions, connections and tables that keep a lock of a migration away."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from datasources.mysql import prepared, rights
from datasources.mysql.errors import answered
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.prepared import Prepared
from datasources.mysql.server import DRIVER_ERRORS
from datasources.sql.grants import Grants

LOCKING = "LOCK IN SHARE MODE"
"""The end of a read that waits for transactions which have changed its rows."""
_SECONDS = 10.0
"""The time that the server has to tell."""
_SLOW = 5
"""Seconds that a read with a lock may take: if it takes longer, it waits."""
_SHOWN = 5
_TEXT = 80  # characters of a statement
_OWN = {"Binlog Dump", "Binlog Dump GTID", "Daemon"}
"""Commands of connections that hold no lock."""


async def told(login: Login, waited: int) -> str:
    """The holders that may keep the lock of a cut-over away, for people, and how to go on. `waited`
    is the id of the connection that waited. The text says so if the server does not tell."""
    try:
        async with asyncio.timeout(_SECONDS):
            link = await connect(login, autocommit=True, deadline=_SECONDS)
            try:
                connections = await _connections(link)
                return await _told(link, login.user, {waited, link.thread_id}, connections)
            finally:
                link.close()
    except DRIVER_ERRORS as error:
        return f"the server does not say which connection keeps it ({error!r})"


async def waits(login: Login) -> str:
    """The holders for which a read of this user may wait, as `told`; empty if no read waits."""
    try:
        async with asyncio.timeout(_SECONDS):
            link = await connect(login, autocommit=True, deadline=_SECONDS)
            try:
                connections = await _connections(link)
                waiting = {one["Id"] for one in connections if _waits(one, login.user)}
                if not waiting:
                    return ""
                return await _told(link, login.user, {*waiting, link.thread_id}, connections)
            finally:
                link.close()
    except DRIVER_ERRORS:
        return ""  # the work itself gets the error


async def find_prepared(link: Link) -> list[Prepared]:
    """The prepared XA transactions. Raises the driver's exceptions."""
    return prepared.decoded((await link.run(prepared.ASK)).rows)


def _waits(row: dict[str, Any], user: str) -> bool:
    text = row["Info"] or ""
    return row["User"] == user and text.endswith(LOCKING) and _seconds(row) >= _SLOW


async def _connections(link: Link) -> list[dict[str, Any]]:
    return await link.described("SHOW FULL PROCESSLIST")


async def _told(link: Link, user: str, own: set[int], connections: Sequence[dict[str, Any]]) -> str:
    tables = await link.described("SHOW OPEN TABLES WHERE In_use > 0")
    grants = rights.decoded(await link.run_all(rights.ASK))
    try:
        found = await find_prepared(link)
    except DRIVER_ERRORS as error:
        if not answered(error):
            raise
        found = []  # without the right
    others = [one for one in connections if one["Id"] not in own]
    return words(tables, others, grants, transactions=found, user=user)


def words(
    tables: Sequence[dict[str, Any]],
    connections: Sequence[dict[str, Any]],
    grants: Grants,
    *,
    transactions: Sequence[Prepared] = (),
    user: str = "",
) -> str:
    """The text of `told`, from rows of SHOW OPEN TABLES and SHOW FULL PROCESSLIST, and prepared
    transactions. Connections of the migration's `user` come last."""
    names = [f"{one['Database']}.{one['Table']}" for one in tables]
    databases = {one["Database"] for one in tables}
    found = [it for it in connections if it["Command"] not in _OWN and it["User"] != "system user"]

    def order(row: dict[str, Any]) -> tuple[bool, bool, bool, int]:
        # A running statement may use any table; an idle connection has a lock by LOCK TABLES.
        is_idle = row["Command"] == "Sleep"
        return row["User"] == user, is_idle, row["db"] not in databases, -_seconds(row)

    found.sort(key=order)
    parts = [one.words() for one in transactions[:_SHOWN]]
    if names:
        parts.append(f"in use: {_list(names)}")
    if found:
        parts.append(f"connections that may keep it: {_list(map(_connection, found))}")
    if not grants.has("PROCESS"):
        statement = grants.statement(["PROCESS"])
        parts.append(f"to see the connections of other users: {statement}")
    parts.append("end the statement, UNLOCK TABLES there, or KILL the connection; then try again")
    return "; ".join(parts)


def _connection(row: dict[str, Any]) -> str:
    who = f"connection {row['Id']} of {row['User']}@{row['Host']}"
    where = f" in {row['db']}" if row["db"] else ""
    if row["Command"] == "Sleep":
        return f"{who} (idle for {_seconds(row)} s{where})"
    text = " ".join((row["Info"] or row["State"] or row["Command"]).split())
    return f"{who} (for {_seconds(row)} s{where}: {text[:_TEXT]})"


def _seconds(row: dict[str, Any]) -> int:
    return int(row["Time"] or 0)


def _list(names: Iterable[str]) -> str:
    shown = [*names]
    more = f", and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more
