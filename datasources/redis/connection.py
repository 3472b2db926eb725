"""One Redis server behind a deadline: the scripts of its current run, and translated errors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from datasources.errors import Refused, StoreCorrupt, StoreTimeout, StoreUnavailable
from datasources.places import PoolState
from datasources.redis.scripts import Scripts, scripts_of
from datasources.refusals import is_refusal
from datasources.urls import address

Argument = str | bytes | int
DRIVER = DriverInfo()
"""The driver's name and version, which each connection tells the server. A connection that is not
given this reads the version from the disk, on the event loop."""
RESTARTS = 3  # restarts of the server that one call may find


class Connection:
    """A pool of connections to `url`. Each call has `deadline` seconds."""

    def __init__(self, url: str, deadline: float, connections: int) -> None:
        pool = BlockingConnectionPool.from_url(
            url.replace("redis+unix://", "unix://", 1),
            max_connections=connections,
            timeout=None,  # the call's own deadline ends the wait
            socket_connect_timeout=deadline,
            socket_timeout=None,
            driver_info=DRIVER,
            # A pooled connection may have died with a server that is back: try again on a new
            # connection.
            retry=Retry(NoBackoff(), 1),
            retry_on_error=[RedisConnectionError],
        )
        self._redis: Any = Redis(connection_pool=pool)  # the driver has incomplete types
        self._pool: Any = pool
        self.address = address(url)
        self.name = f"mapping cache {self.address}"
        self._deadline = deadline
        self._digests: Scripts | None = None

    async def command(self, *words: Argument, patience: float = 1.0) -> Any:
        """Run one command, within `patience` times the deadline."""
        async with self._guarded(patience):
            return await self._redis.execute_command(*words)

    async def script(
        self,
        pick: Callable[[Scripts], str],
        keys: Sequence[str],
        arguments: Sequence[Argument],
        patience: float = 1.0,
    ) -> Any:
        """Run one of the scripts by its digest. A server that was (re)started gets the scripts
        first."""
        async with self._guarded(patience):
            for _ in range(RESTARTS):
                digests = self._digests or await self._teach()
                words = ("EVALSHA", pick(digests), len(keys), *keys, *arguments)
                try:
                    return await self._redis.execute_command(*words)
                except NoScriptError:
                    if self._digests is digests:
                        self._digests = None
            raise StoreUnavailable(f"{self.name}: the server restarts again and again")

    def pool_state(self) -> PoolState:
        pool = self._pool
        return PoolState("redis", len(pool._in_use_connections), pool.max_connections, 0)

    async def close(self) -> None:
        await self._redis.aclose()
        await self._pool.aclose()

    async def _teach(self) -> Scripts:
        """Load the scripts for the server's run. The run id is read on the same connection, which
        can't outlive the run, so the scripts of one run are never loaded into another."""
        connection = await self._pool.get_connection()
        try:
            await connection.send_command("INFO", "server")
            info = (await connection.read_response()).decode()
            fields = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
            digests = []
            for source in scripts_of(fields.get("run_id", "")):
                await connection.send_command("SCRIPT", "LOAD", source)
                digests.append((await connection.read_response()).decode())
        finally:
            await self._pool.release(connection)
        self._digests = Scripts(*digests)
        return self._digests

    @asynccontextmanager
    async def _guarded(self, patience: float = 1.0) -> AsyncIterator[None]:
        seconds = self._deadline * patience
        try:
            async with asyncio.timeout(seconds):
                yield
        except (TimeoutError, RedisTimeoutError) as error:
            raise StoreTimeout(f"{self.name}: no answer within {seconds:g} s") from error
        except (RedisConnectionError, OSError) as error:
            kind = Refused if is_refusal(error) else StoreUnavailable
            raise kind(f"{self.name}: {error}") from error
        except (RedisError, ValueError) as error:
            if str(error).startswith("WRONGTYPE"):
                raise StoreCorrupt(f"{self.name}: {error}") from error
            raise StoreUnavailable(f"{self.name}: {error}") from error
