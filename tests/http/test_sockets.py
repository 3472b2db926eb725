"""GraphQL over WebSocket: the protocol graphql-transport-ws, its limits, and how sockets end."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from gateway.app import create_site
from gateway.live import sockets
from gateway.server.sockets import SLICE
from tests.live_gateways import LASTS, LiveGateway, live_gateway

pytestmark = pytest.mark.anyio
ALLOWED = "https://app.example"
BOARD = """subscription($id: ID!) { boardChanged(boardId: $id) {
  kind orderVersion pin { title } } }"""
PIN = "subscription($id: ID!) { pinChanged(pinId: $id) { kind pin { title likeCount } } }"


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[LiveGateway]:
    values = {"http.allowed_origins": (ALLOWED,), "http.max_streams_per_client": 4}
    async with live_gateway(tmp_path, values) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def test_a_socket_carries_queries_mutations_and_subscriptions_at_once(
    gateway: LiveGateway,
) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.socket("ann") as socket:
        await socket.subscribe("s", BOARD, id=board)
        assert (await socket.next("s"))["data"]["boardChanged"]["kind"] == "STARTED"
        await socket.subscribe("q", "{ viewer { username } }")
        assert await socket.next("q") == {"data": {"viewer": {"username": "ann"}}}
        assert await socket.hear() == {"id": "q", "type": "complete"}
        await socket.subscribe(
            "m",
            'mutation($b: ID!) { createPin(input: {boardId: $b, title: "x"}) { pin { title } } }',
            b=board,
        )
        heard = {}
        for _ in range(3):
            message = await socket.hear()
            heard[message["id"], message["type"]] = message.get("payload")
        assert heard["m", "next"]["data"]["createPin"]["pin"] == {"title": "x"}
        assert ("m", "complete") in heard
        assert heard["s", "next"]["data"]["boardChanged"]["pin"] == {"title": "x"}


async def test_a_completed_subscription_ends_and_its_id_can_be_used_again(
    gateway: LiveGateway,
) -> None:
    board = await gateway.board("ann", "first")
    live = gateway.runtime.live
    assert live is not None
    async with gateway.socket() as socket:
        for _ in range(3):
            await socket.subscribe("s", BOARD, id=board)
            assert (await socket.next("s"))["data"]["boardChanged"]["kind"] == "STARTED"
            assert live.streams == 1
            await socket.say(id="s", type="complete")
            await socket.say(type="ping")
            assert await socket.hear() == {"type": "pong"}
    async with asyncio.timeout(60):
        while live.streams:  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0)


@pytest.mark.parametrize("query", ["{ __typename }", "{ nonsense }"])
async def test_an_operation_that_its_client_ends_says_nothing_more(
    gateway: LiveGateway, query: str
) -> None:
    """The last message of the operation waits for a slow client. Sent later, it would end the next
    operation with the same id."""
    said, sent, heard = asyncio.Queue[dict[str, Any]](), asyncio.Queue[Any](), list[Any]()
    waits, is_writable = asyncio.Event(), asyncio.Event()

    async def send(message: Any) -> None:
        text = json.loads(message.get("text", "{}"))
        if text.get("type") in ("complete", "error") and not waits.is_set():
            waits.set()
            await is_writable.wait()
        sent.put_nowait(text)

    async def hear(text: str) -> None:
        while text not in str(heard):
            heard.append(await sent.get())

    def say(**message: Any) -> None:
        said.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    assert gateway.settings is not None
    site = create_site(gateway.settings, gateway.runtime, gateway.executor).public
    scope = {
        "type": "websocket",
        "path": "/graphql",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "subprotocols": [sockets.PROTOCOL],
    }
    said.put_nowait({"type": "websocket.connect"})
    say(type="connection_init")
    say(type="subscribe", id="s", payload={"query": query})
    board = await gateway.board("ann", "first")
    answering = asyncio.create_task(site(scope, said.get, send))  # type: ignore[arg-type]
    async with asyncio.timeout(60):
        await waits.wait()
        say(type="complete", id="s")
        say(type="subscribe", id="s", payload={"query": BOARD, "variables": {"id": board}})
        await hear("boardChanged")
        is_writable.set()
        say(type="ping")
        await hear("pong")
        said.put_nowait({"type": "websocket.disconnect"})
        await answering
    assert [it["type"] for it in heard if it.get("id") == "s"][-1] == "next"


async def test_refused_operations_get_their_errors_and_the_socket_stays(
    gateway: LiveGateway,
) -> None:
    async with gateway.socket() as socket:
        for query, code in (
            ("{ nonsense }", "GRAPHQL_VALIDATION_FAILED"),
            ('subscription { boardChanged(boardId: "1") { kind } }', "BAD_USER_INPUT"),
            ("subscription($id: ID!) { boardChanged(boardId: $id) { kind } }", "BAD_USER_INPUT"),
        ):
            await socket.subscribe("s", query)
            message = await socket.hear()
            assert (message["id"], message["type"]) == ("s", "error")
            assert message["payload"][0]["extensions"]["code"] == code
        await socket.say(type="ping", payload={"any": 1})
        assert await socket.hear() == {"type": "pong"}


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (["no json"], 4400),
        (["[]"], 4400),
        (['{"type":"unknown"}'], 4400),
        (['{"id":"1","type":"subscribe","payload":{"query":"{ __typename }"}}'], 4401),
        (['{"type":"connection_init"}'] * 2, 4429),
        (['{"type":"connection_init","payload":"text"}'], 4400),
        (['{"type":"connection_init","payload":{"authorization":"Bearer no"}}'], 4403),
        (['{"type":"connection_init","payload":{"authorization":1}}'], 4400),
        (['{"type":"connection_init"}', '{"type":"subscribe","payload":{}}'], 4400),
        (['{"type":"connection_init"}', '{"id":"","type":"subscribe","payload":{}}'], 4400),
        (['{"type":"connection_init"}', '{"id":"1","type":"subscribe","payload":{}}'], 4400),
        (['{"type":"connection_init","payload":{"x":[%s0]}}' % ("0," * 12_001)], 4400),
        (['{"type":"connection_init","payload":{"x":"%s"}}' % ("x" * 1_000_000)], 1009),
        ([b"\0"], 4400),
    ],
)
async def test_a_wrong_message_closes_the_socket_with_the_protocols_code(
    gateway: LiveGateway, messages: list[Any], code: int
) -> None:
    async with gateway.socket(init=False) as socket:
        for message in messages:
            await socket.connection.send(message)
        assert (await socket.closed())[0] == code


async def test_an_id_in_use_closes_the_socket(gateway: LiveGateway) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.socket() as socket:
        await socket.subscribe("s", BOARD, id=board)
        await socket.subscribe("s", BOARD, id=board)
        assert await socket.closed() == (4409, "Subscriber for s already exists")


async def test_a_client_that_does_not_say_who_it_is_is_closed(
    gateway: LiveGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "INIT_SECONDS", 0.0)
    async with gateway.socket(init=False) as socket:
        assert (await socket.closed())[0] == 4408


async def test_a_socket_keeps_one_place_among_the_connections_until_it_ends(
    gateway: LiveGateway,
) -> None:
    assert gateway.server is not None
    connections = gateway.server.connections
    async with gateway.socket() as socket:
        await socket.subscribe("s", BOARD, id=await gateway.board("ann", "first"))
        await socket.next("s")
        assert connections.open == 1
        assert not connections._make_room()  # no socket is closed for a new connection
        await socket.say(type="ping")
        assert (await socket.hear())["type"] == "pong"
    async with asyncio.timeout(60):
        while connections.open:  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0)
    assert not connections._of_unit


@pytest.mark.parametrize("protocol", ["", "graphql-ws", "other"])
async def test_another_subprotocol_is_closed(gateway: LiveGateway, protocol: str) -> None:
    from websockets.asyncio.client import connect

    url = gateway.url.replace("http", "ws", 1)
    headers = {"sec-websocket-protocol": protocol} if protocol else {}
    async with connect(url, additional_headers=headers) as connection:
        await connection.wait_closed()
        assert connection.close_code == 4406


async def test_a_token_that_expires_closes_the_socket_and_ends_its_streams(
    gateway: LiveGateway,
) -> None:
    board = await gateway.board("ann", "secret", secret=True)

    async def end_of_stream(seconds: float) -> tuple[int, str]:
        payload = {"Authorization": f"Bearer {gateway.token('ann', seconds=seconds)}"}
        async with gateway.socket(init=payload) as socket:
            await socket.subscribe("s", BOARD, id=board)
            assert (await socket.next("s"))["data"]["boardChanged"]["kind"] == "STARTED"
            return await socket.closed()

    for seconds in LASTS:
        with suppress(ConnectionClosedError):  # before the stream has begun
            code, reason = await end_of_stream(seconds)
            break
    assert code == 4403
    assert "expired" in reason
    live = gateway.runtime.live
    assert live is not None
    async with asyncio.timeout(60):
        while live.streams:  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://127.0.0.1", 403),  # another port
        (ALLOWED, 101),
        ("", 101),
        ("own", 101),
    ],
)
async def test_a_page_of_another_site_opens_no_socket(
    gateway: LiveGateway, origin: str, status: int
) -> None:
    own = gateway.url.removesuffix("/graphql")
    headers = {"origin": own if origin == "own" else origin} if origin else {}
    try:
        async with gateway.socket(additional_headers=headers):
            found = 101
    except InvalidStatus as refused:
        found = refused.response.status_code
    assert found == status


async def test_no_other_path_becomes_a_socket(gateway: LiveGateway) -> None:
    gateway_url, LiveGateway.url = (
        LiveGateway.url,
        property(  # type: ignore[assignment,misc]
            lambda self: f"http://127.0.0.1:{self.port}/images"
        ),
    )
    try:
        with pytest.raises(InvalidStatus, match="501"):
            async with gateway.socket():
                pass
    finally:
        LiveGateway.url = gateway_url  # type: ignore[method-assign]


async def test_a_client_may_have_a_bounded_number_of_streams(gateway: LiveGateway) -> None:
    url = {"additional_headers": {"x-forwarded-for": "203.0.113.9"}}
    async with (
        gateway.socket(**url),
        gateway.socket(**url),
        gateway.socket(**url),
        gateway.socket(**url),
        gateway.socket(additional_headers={"x-forwarded-for": "203.0.113.10"}),
        gateway.socket(init=False, **url) as fifth,
    ):
        assert (await fifth.closed())[0] == 1013
    async with gateway.socket(**url):
        pass


async def test_a_socket_may_have_a_bounded_number_of_operations(tmp_path: Path) -> None:
    async with live_gateway(tmp_path, {"http.max_subscriptions_per_socket": 2}) as gateway:
        await gateway.sign_up("ann")
        board = await gateway.board("ann", "first")
        async with gateway.socket() as socket:
            for id in "ab":
                await socket.subscribe(id, BOARD, id=board)
                await socket.next(id)
            await socket.subscribe("c", BOARD, id=board)
            message = await socket.hear()
            assert (message["id"], message["type"]) == ("c", "error")
            assert message["payload"][0]["extensions"]["code"] == "RATE_LIMITED"


async def test_each_event_costs_its_client_as_much_as_the_subscription(tmp_path: Path) -> None:
    values = {"limits.rate_cost": 1, "limits.rate_burst": 50_000}
    async with live_gateway(tmp_path, values) as gateway:
        await gateway.sign_up("ann", "bob")
        pin = await gateway.pin("ann", await gateway.board("ann", "first"), "a")
        query = """subscription($id: ID!) { pinChanged(pinId: $id) { pin { board {
          pins(first: 20) {
            edges { node { likedBy(first: 100) { edges { cursor } } } } } } } } }"""
        async with gateway.socket("bob") as socket:
            await socket.subscribe("s", query, id=pin)
            await socket.next("s")
            codes: list[str] = []
            async with asyncio.timeout(60):
                while "RATE_LIMITED" not in codes:
                    await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="b")
                    await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="a")
                    await socket.next("s")
                    await socket.next("s")
                    await socket.subscribe("q", "{ viewer { username } }")
                    while (message := await socket.hear())["type"] == "next":
                        pass
                    if message["type"] == "error":
                        codes.append(message["payload"][0]["extensions"]["code"])


@pytest.mark.parametrize("field", ["boardChanged", "pinChanged"])
async def test_events_wait_while_their_address_is_in_debt(gateway: LiveGateway, field: str) -> None:
    board = await gateway.board("ann", "first")
    pin = await gateway.pin("ann", board, "a")
    shares = gateway.shares
    assert shares is not None
    headers = {"x-forwarded-for": "192.0.2.7"}
    async with gateway.socket(additional_headers=headers) as socket:
        await socket.subscribe(
            "s",
            BOARD if field == "boardChanged" else PIN,
            id={"boardChanged": board, "pinChanged": pin}[field],
        )
        await socket.next("s")
        other = shares.begin("192.0.2.1")
        shares.charge("192.0.2.7", 60.0)
        seen = asyncio.Event()
        wait = shares.wait

        def waits(client: str) -> float:
            seconds = wait(client)
            if seconds:
                seen.set()
            return seconds

        shares.wait = waits  # type: ignore[method-assign]
        await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="b")
        event = asyncio.create_task(socket.next("s"))
        told = asyncio.create_task(seen.wait())
        async with asyncio.timeout(60):
            done, _ = await asyncio.wait([event, told], return_when=asyncio.FIRST_COMPLETED)
        assert done == {told}, "the event came in the debt"
        shares.end("192.0.2.1", other)
        assert (await event)["data"][field]["kind"] == "EDITED"


async def test_a_stopping_gateway_closes_its_sockets_with_going_away(gateway: LiveGateway) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.socket() as socket:
        await socket.subscribe("s", BOARD, id=board)
        await socket.next("s")
        assert gateway.server is not None
        gateway.server.should_exit = True
        assert (await socket.closed())[0] == 1001


async def test_the_metrics_count_streams_and_events(gateway: LiveGateway) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.socket() as socket:
        await socket.subscribe("s", BOARD, id=board)
        await socket.next("s")
        text = (await gateway.metrics()).decode()
    for line in (
        'pinway_streams_open{kind="socket"} 1.0',
        'pinway_streams_open{kind="subscription"} 1.0',
        "pinway_live_events_total 1.0",
    ):
        assert line in text


async def test_a_client_that_does_not_read_is_dropped(
    gateway: LiveGateway,
) -> None:
    assert gateway.server is not None
    protocol: Any = gateway.server.config.http_protocol_class
    bounds = protocol.keywords["bounds"]
    object.__setattr__(bounds, "write_seconds", 0.2)
    board = await gateway.board("ann", "first")
    text = "x" * 400
    pin = await gateway.pin("ann", board, "a", description=text)
    async with gateway.socket("bob", max_queue=1) as socket:
        fields = " ".join(f"f{n}: description" for n in range(90))
        query = f"subscription($id: ID!) {{ pinChanged(pinId: $id) {{ pin {{ {fields} }} }} }}"
        await socket.subscribe("s", query, id=pin)
        await socket.next("s")
        refused = gateway.server.connections.refused
        number = 0
        async with asyncio.timeout(60):
            while not refused["unread"]:
                number += 1
                await gateway.mutate(
                    "ann", "updatePin", "pin { id }", pinId=pin, description=f"{text}{number}"
                )
    live = gateway.runtime.live
    assert live is not None
    async with asyncio.timeout(60):
        while live.streams:  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0)


async def test_a_flood_of_tiny_frames_is_read_in_slices_and_answered(
    gateway: LiveGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    read = WebSocketsSansIOProtocol.data_received

    def data_received(self: WebSocketsSansIOProtocol, data: bytes) -> None:
        sizes.append(len(data))
        read(self, data)

    monkeypatch.setattr(WebSocketsSansIOProtocol, "data_received", data_received)
    async with gateway.socket() as socket:
        ping = bytes([0x89, 0x80, 0, 0, 0, 0])  # masked and empty
        socket.connection.transport.write(ping * 20_000)
        await socket.say(type="ping")
        assert await socket.hear() == {"type": "pong"}
    assert sum(sizes) > 120_000
    assert max(sizes) <= SLICE
