"""How long MySQL's store waits for a new connection, with a server that is slow to take one."""

import asyncio
from typing import cast

import pytest

from datasources.errors import StoreUnavailable
from datasources.mysql import server as of_servers
from datasources.mysql.link import Link, Login
from datasources.mysql.server import Server

pytestmark = pytest.mark.anyio


def server(deadline: float) -> Server:
    login = Login("host", 1, "user", "")
    return Server("Slow", login, pool_size=1, deadline=deadline, observe=lambda *_: None)


async def test_a_store_with_a_long_deadline_waits_longer_for_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ready, link = asyncio.Event(), cast(Link, object())

    async def connect(login: Login, *, autocommit: bool, deadline: float) -> Link:
        await ready.wait()
        return link

    monkeypatch.setattr(of_servers, "connect", connect)
    monkeypatch.setattr(of_servers, "CONNECT_TIMEOUT", 0.01)
    patient = asyncio.create_task(server(60.0).readers.take())
    for _ in range(2):  # two stores with short deadlines give up meanwhile
        with pytest.raises(StoreUnavailable, match=r"Slow: it took no connection in 0\.01 s"):
            await server(0.01).readers.take()
    ready.set()
    assert await patient is link
