"""How long a call to HBase waits for a new connection, with a server that is slow to take one."""

import asyncio
from typing import cast

import pytest

from datasources.errors import StoreUnavailable
from datasources.hbase.pool import Pool
from datasources.hbase.thrift import Connection
from tests.unit.feed_engine.virtual_time import run


class SlowServer:
    """Stands for the connection and for the server behind it, which takes a connection when
    `ready` is set."""

    lost = False

    def __init__(self) -> None:
        self.ready = asyncio.Event()

    async def open(self, host: str, port: int) -> Connection:
        await self.ready.wait()
        return cast(Connection, self)

    def abort(self) -> None:
        pass


async def answer(connection: Connection) -> str:
    return "answer"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> SlowServer:
    server = SlowServer()
    monkeypatch.setattr(Connection, "open", server.open)
    return server


def test_a_read_waits_a_quarter_of_its_deadline_for_a_connection(server: SlowServer) -> None:
    async def main() -> float:
        pool = Pool("host", 1, 1, deadline=2.0)
        with pytest.raises(StoreUnavailable, match=r"HBase at host:1: no connection within 0\.5"):
            await pool.run(answer)
        return asyncio.get_running_loop().time()

    assert run(main()) == pytest.approx(0.5)


def test_a_call_with_more_time_waits_longer_for_a_connection(server: SlowServer) -> None:
    async def main() -> str:
        pool = Pool("host", 1, 2, deadline=2.0)
        created = asyncio.create_task(pool.run(answer, deadline=60.0))
        for _ in range(2):  # two reads give up meanwhile, one after the other
            with pytest.raises(StoreUnavailable):
                await pool.run(answer)
        server.ready.set()
        return await created

    assert run(main()) == "answer"
