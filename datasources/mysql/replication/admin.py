"""One MariaDB server with the operator's account: statements, its role, its replication."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from datasources.errors import StoreCorrupt, StoreTimeout, StoreUnavailable
from datasources.mysql.errors import translate
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.server import DRIVER_ERRORS
from datasources.replication.server_row import EXISTS
from datasources.sql.engine import Row

T = TypeVar("T")
CONNECT_SECONDS = 3.0
PATIENCE = 3600.0  # seconds for one statement; copying a large table is one statement


class Role(NamedTuple):
    """The role of a server in its pair, as the server reports it."""

    id: int  # its server id
    read_only: bool
    semi_sync: bool
    booted: int  # epoch s, on its clock: the latest time at which it may have booted
    epoch: int  # of the row `pinway.server`
    owner: int  # the server id in that row
    waits: bool
    lease: float  # epoch s

    @property
    def is_master(self) -> bool:
        return self.owner == self.id and not self.read_only


class Admin:
    """A connection, made when it is first needed. Close it after use. With `ca`, it has TLS."""

    def __init__(self, name: str, url: str, user: str, password: str, ca: str = "") -> None:
        self.name = name
        self.login = Login.of(url, user, password, ca)
        self._link: Link | None = None

    async def run(
        self, sql: str, args: Sequence[Any] = (), *, within: float = PATIENCE
    ) -> list[Row]:
        """The rows of a statement. Raises StoreError."""
        return await self._on_link(lambda link: _rows(link, sql, args), within)

    async def described(self, sql: str, *, within: float = PATIENCE) -> list[dict[str, Any]]:
        return await self._on_link(lambda link: link.described(sql), within)

    async def script(self, statements: Sequence[str]) -> None:
        for statement in statements:
            await self.run(statement)

    async def role(self) -> Role:
        """The server's role. Raises StoreCorrupt for a server without the row `pinway.server`."""
        [[exists]] = await self.run(EXISTS, within=CONNECT_SECONDS)
        if not exists:
            raise StoreCorrupt(
                f"{self.name}: it has no table pinway.server, so nobody knows who is its pair's "
                "master: `pinway stack up` makes it, or see docs/how-to/shards.md"
            )
        [row] = await self.run(
            "SELECT @@server_id, @@read_only, @@rpl_semi_sync_master_enabled, "
            # A server counts its uptime from one whole second to another.
            "UNIX_TIMESTAMP() + 1 - CAST((SELECT variable_value FROM "
            "information_schema.global_status WHERE variable_name = 'UPTIME') AS SIGNED), "
            "epoch, CAST(owner AS UNSIGNED), waits, "
            "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', lease_ts) / 1e6 "
            "FROM pinway.server WHERE id = 1",
            within=CONNECT_SECONDS,
        )
        id, read_only, semi_sync, booted, epoch, owner, waits, lease = row
        return Role(
            id, bool(read_only), bool(semi_sync), int(booted), epoch, int(owner), bool(waits),
            float(lease),
        )  # fmt: skip

    async def slave(self, channel: str = "", *, within: float = PATIENCE) -> dict[str, Any] | None:
        """The row of SHOW SLAVE STATUS for a channel; None if the server is not a slave there."""
        found = await self.described(f"SHOW SLAVE '{channel}' STATUS", within=within)
        return found[0] if found else None

    async def close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    async def _on_link(self, act: Callable[[Link], Awaitable[T]], within: float) -> T:
        try:
            async with asyncio.timeout(within):
                if self._link is None:
                    async with asyncio.timeout(CONNECT_SECONDS):
                        self._link = await connect(self.login, autocommit=True, deadline=PATIENCE)
                return await act(self._link)
        except TimeoutError:
            await self.close()
            raise StoreTimeout(f"{self.name}: it does not answer") from None
        except DRIVER_ERRORS as error:
            await self.close()
            fault = translate(error, self.name)
            raise (
                fault if not isinstance(error, OSError) else StoreUnavailable(str(fault))
            ) from error


async def applied(admin: Admin, position: bytes | str, seconds: int) -> bool:
    """Wait until a server has applied all events up to a position. Returns whether it did so in
    time. Raises StoreError."""
    [[late]] = await admin.run("SELECT MASTER_GTID_WAIT(%s, %s)", (position, seconds))
    return not late


async def _rows(link: Link, sql: str, args: Sequence[Any]) -> list[Row]:
    return (await link.run(sql, args)).rows
