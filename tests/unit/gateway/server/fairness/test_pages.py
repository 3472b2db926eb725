"""Pages and files wait for their client's turn, and their time is charged."""

import asyncio
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.peers import Proxies
from gateway.server.fairness.clients import Clients
from gateway.server.fairness.pages import InTurn
from gateway.server.fairness.shares import BURST, MOST_DEBT, Shares

pytestmark = pytest.mark.anyio


class Page:
    """An application whose requests take some time, on a clock that is set by hand."""

    def __init__(self) -> None:
        self.now, self.answered = 0.0, list[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.now += 4 * BURST
        self.answered.append(scope["client"][0])


def clients_of(page: Page) -> Clients:
    shares = Shares(0.25, clock=lambda: page.now, used=lambda: page.now)
    return Clients(Proxies(()), None, 0, shares=shares)


async def ask(app: ASGIApp, address: str, path: str = "/images/1", kind: str = "http") -> None:
    scope = {"type": kind, "path": path, "headers": [], "client": (address, 1)}
    no: Any = None
    await app(scope, no, no)


async def test_an_address_in_debt_waits_and_another_does_not() -> None:
    page = Page()
    clients = clients_of(page)
    app = InTurn(page, clients)
    begun = clients.shares.begin("10.0.0.3")  # somebody's request is in progress
    await ask(app, "10.0.0.1")
    task = asyncio.ensure_future(ask(app, "10.0.0.1"))
    await asyncio.sleep(0.02)
    await ask(app, "10.0.0.2")
    assert page.answered == ["10.0.0.1", "10.0.0.2"]
    clients.shares.end("10.0.0.3", begun)
    async with asyncio.timeout(300):
        await task
    assert page.answered[2:] == ["10.0.0.1"]


@pytest.mark.parametrize(("path", "kind"), [("/graphql", "http"), ("/", "lifespan")])
async def test_operations_and_what_is_no_request_pass(path: str, kind: str) -> None:
    page = Page()
    clients = clients_of(page)
    clients.shares.begin("10.0.0.3")
    clients.shares.charge("10.0.0.1", MOST_DEBT)
    await ask(InTurn(page, clients), "10.0.0.1", path, kind)
    assert page.answered == ["10.0.0.1"]


async def test_a_request_that_is_cancelled_before_its_turn_does_nothing() -> None:
    page = Page()
    clients = clients_of(page)
    clients.shares.begin("10.0.0.3")
    clients.shares.charge("10.0.0.1", MOST_DEBT)
    task = asyncio.ensure_future(ask(InTurn(page, clients), "10.0.0.1"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert page.answered == []


async def test_the_bytes_of_an_answer_are_charged() -> None:
    clients = clients_of(Page())
    clients.shares.begin("10.0.0.3")

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.body", "body": bytes(100_000_000)})

    async def send(message: Message) -> None: ...

    no: Any = None
    scope = {"type": "http", "path": "/", "headers": [], "client": ("10.0.0.1", 1)}
    await InTurn(large, clients)(scope, no, send)
    assert clients.shares.wait("10.0.0.1") > 0


async def test_the_next_part_of_a_file_waits_while_its_client_is_in_debt() -> None:
    clients, sent, second = clients_of(Page()), list[int](), asyncio.Event()
    begun = clients.shares.begin("10.0.0.3")

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        for _ in range(3):
            await send({"type": "http.response.body", "body": bytes(100_000_000)})

    async def send(message: Message) -> None:
        sent.append(len(message["body"]))
        if len(sent) == 2:
            second.set()

    no: Any = None
    scope = {"type": "http", "path": "/", "headers": [], "client": ("10.0.0.1", 1)}
    task = asyncio.ensure_future(InTurn(large, clients)(scope, no, send))
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(sent) == 1
    clients.shares.end("10.0.0.3", begun)
    clients.shares.charge("10.0.0.1", -MOST_DEBT)  # it is worked off
    async with asyncio.timeout(300):
        await second.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_parts_of_one_clients_files_are_sent_one_in_a_turn() -> None:
    clients, sent = clients_of(Page()), list[str]()

    async def files(scope: Scope, receive: Receive, send: Send) -> None:
        for _ in range(3):
            await send({"type": "http.response.body", "body": b"x"})

    no: Any = None

    def ask_for_a_file(address: str) -> asyncio.Future[None]:
        async def send(message: Message) -> None:
            sent.append(address)

        scope = {"type": "http", "path": "/", "headers": [], "client": (address, 1)}
        return asyncio.ensure_future(InTurn(files, clients)(scope, no, send))

    tasks = [ask_for_a_file(address) for address in ("10.0.0.1",) * 8 + ("10.0.0.2",)]
    async with asyncio.timeout(300):
        await tasks[-1]
    assert sent.count("10.0.0.2") == 3
    assert sent.count("10.0.0.1") <= 6
    async with asyncio.timeout(300):
        await asyncio.gather(*tasks)
    assert sent.count("10.0.0.1") == 24


async def test_the_time_of_a_thread_is_charged_to_the_address_of_its_request() -> None:
    page = Page()
    shares = Shares(0.25, clock=lambda: page.now, used=lambda: page.now)
    clients = Clients(Proxies(()), None, 1, shares=shares)
    shares.begin("10.0.0.3")
    for viewer_id, address in ((None, "10.0.0.1"), (7, "10.0.0.2")):
        client = clients.of(viewer_id, {}, address)
        assert client is not None
        client.worked(MOST_DEBT)
        assert shares.wait(address) > 0
    unnamed = clients.of(7, {}, "")  # a proxy's own request
    assert unnamed is not None
    unnamed.worked(MOST_DEBT)
    assert shares.wait("") == 0
