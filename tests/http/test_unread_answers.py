"""Answers that nobody reads take a bounded part of the memory, of one client and of all."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import orjson
import pytest

from gateway.app import create_site
from gateway.cost.refusals import Refusals
from gateway.http import endpoint
from gateway.http.compression import compressed
from gateway.http.endpoint import HELD, Answer
from gateway.http.peers import Proxies
from gateway.http.requests import JSON
from gateway.server.fairness.clients import Clients
from gateway.settings import Auth, Http, Settings
from tests.gateways import Gateway, embedded_gateway
from tests.unit.gateway.server.apps import served, until

pytestmark = pytest.mark.anyio
SECRET = "s" * 32
SIZE = 1_000_000
SCOPE = {"type": "http", "method": "POST"}


class Reader:
    """The other end of a connection: reads only when it is told."""

    def __init__(self, clients: Clients, client: str, size: int = SIZE) -> None:
        self.status, self.size = 0, 0
        self.reads = asyncio.Event()
        parts = [b"x" * 300_000] * (size // 300_000) + [b"x" * (size % 300_000)]
        answer = Answer(200, JSON, parts, size, {}, clients=clients, client=client)
        self.task = asyncio.create_task(answer(SCOPE, None, self.send))  # type: ignore[arg-type]

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        assert len(message["body"]) <= HELD
        await self.reads.wait()
        self.size += len(message["body"])


def new_clients(most: int) -> tuple[Clients, Refusals]:
    refusals = Refusals()
    return Clients(Proxies([]), None, 0, refusals=refusals, most_answers=most), refusals


async def begun(*readers: Reader) -> list[int]:
    await until(lambda: all(reader.status for reader in readers))
    return [reader.status for reader in readers]


async def test_a_client_holds_a_quarter_of_all_answers_until_it_reads() -> None:
    clients, refusals = new_clients(8 * SIZE)
    readers = [Reader(clients, "192.0.2.1") for _ in range(4)]
    assert await begun(*readers) == [200, 200, 503, 503]
    assert await begun(Reader(clients, "192.0.2.2")) == [200]
    assert (clients.answers_held, refusals.unread) == (3 * SIZE, 2)
    for reader in readers:
        reader.reads.set()
        await reader.task
    assert [reader.size for reader in readers[:2]] == [SIZE, SIZE]
    assert await begun(Reader(clients, "192.0.2.1")) == [200]


async def test_all_clients_together_are_bounded_also_behind_a_proxy_that_hides_them() -> None:
    clients, _ = new_clients(4 * SIZE)
    readers = [Reader(clients, f"192.0.2.{number}") for number in range(3)]
    readers += [Reader(clients, "") for _ in range(2)]
    assert await begun(*readers) == [200, 200, 200, 200, 503]


async def test_an_answer_is_let_go_when_its_client_goes() -> None:
    clients, _ = new_clients(4 * SIZE)
    reader = Reader(clients, "192.0.2.1")
    await begun(reader)
    reader.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader.task
    assert clients.answers_held == 0


async def test_small_answers_are_not_counted_and_large_ones_always_have_room() -> None:
    clients, _ = new_clients(4 * SIZE)
    assert await begun(Reader(clients, "192.0.2.1", 40 * SIZE)) == [200]
    small = Reader(clients, "192.0.2.1", HELD)
    assert await begun(small) == [200]
    assert clients.answers_held == SIZE
    unlimited, _ = new_clients(0)
    assert await begun(*(Reader(unlimited, "192.0.2.1") for _ in range(9))) == [200] * 9


async def test_answers_that_are_compressed_are_counted_too(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five answers of 2 MB, of which two are held until all five were begun."""
    waiting = asyncio.Event()

    async def late(parts: list[bytes]) -> list[bytes]:
        await waiting.wait()
        return await compressed(parts)

    monkeypatch.setattr(endpoint, "compressed", late)
    query = await long_query(gateway, 1)
    settings = Settings(auth=Auth(secret=SECRET), http=Http(max_answers_bytes=20_000_000))
    transport = httpx.ASGITransport(create_site(settings, gateway.runtime).public)
    headers = {"x-forwarded-for": "192.0.2.9", "accept-encoding": "gzip"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        tasks = [
            asyncio.create_task(client.post("/graphql", json=query, headers=headers))
            for _ in range(5)
        ]
        await until(lambda: sum(task.done() for task in tasks) == 3)
        waiting.set()
        answers = await asyncio.gather(*tasks)
    assert sorted(answer.status_code for answer in answers) == [200, 200, 503, 503, 503]


async def long_query(gateway: Gateway, times: int) -> dict[str, Any]:
    """An operation whose answer has 1.8 MB `times` times."""
    await gateway.sign_up("ann")
    board = await gateway.board("ann", "long")
    pin = await gateway.pin("ann", board, "long", description="\N{GRINNING FACE}" * 5_000)
    fields = " ".join(f"a{number}: description" for number in range(90))
    ids = orjson.dumps([pin] * times).decode()
    return {"query": f"{{ nodes(ids: {ids}) {{ ... on Pin {{ {fields} }} }} }}"}


@pytest.fixture
async def gateway(tmp_path: Any) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path / "data") as gateway:
        yield gateway


async def test_a_stranger_fills_no_memory_with_answers(gateway: Gateway) -> None:
    """The answers of 9 MB are made of one small request each."""
    body = orjson.dumps(await long_query(gateway, 5))
    head = f"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: {JSON}\r\n"
    head += (
        f"x-forwarded-for: 192.0.2.9\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    settings = Settings(auth=Auth(secret=SECRET), http=Http(max_answers_bytes=80_000_000))
    async with served(create_site(settings, gateway.runtime).public) as port:
        opened = []
        for _ in range(5):
            opened.append(await asyncio.open_connection("127.0.0.1", port))
            opened[-1][1].write(head.encode() + body)
            await opened[-1][0].readline()
        answers = [await reader.read() for reader, _ in opened]
        for _, writer in opened:
            writer.close()
    assert sum(len(answer) > 9_000_000 for answer in answers) == 2
    assert sum(b"too many bytes of answers" in answer for answer in answers) == 3
