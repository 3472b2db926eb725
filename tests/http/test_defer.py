"""Deferred fragments over HTTP: parts as multipart/mixed, one by one, or one answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.execution import later_parts
from gateway.http.part_by_part import PartByPart
from gateway.http.requests import INCREMENTAL, accepts_parts
from resolvers import pins
from tests.live_gateways import SECONDS, LiveGateway, live_gateway
from tests.unit.gateway.server.apps import until

pytestmark = pytest.mark.anyio
APOLLO = "multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json"
URQL = (
    "application/graphql-response+json, application/graphql+json, application/json, "
    "text/event-stream, multipart/mixed"
)
BOARD = """query Board($id: ID!) { board(id: $id) { name pins(first: 5) { edges { node {
  title ...Counts @defer(label: "counts")
} } } } }
fragment Counts on Pin { likeCount commentCount }"""
BOUNDARY = b"\r\n---"


@dataclass
class Likes:
    """The counts of likes and of comments, which wait until they may be read."""

    door: asyncio.Event = field(default_factory=asyncio.Event)
    calls: list[int] = field(default_factory=list)
    cancelled: int = 0
    fails: bool = False


@pytest.fixture
def likes(monkeypatch: pytest.MonkeyPatch) -> Likes:
    found, sizes = Likes(), pins.sizes

    async def waiting(context: Any, lists: Sequence[Any]) -> Any:
        found.calls.append(len(lists))
        try:
            await found.door.wait()
        except asyncio.CancelledError:
            found.cancelled += 1
            raise
        if found.fails:
            raise ValueError("no likes")
        return await sizes(context, lists)

    monkeypatch.setattr(pins, "sizes", waiting)
    return found


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[LiveGateway]:
    async with live_gateway(tmp_path, {"limits.max_running": 1}) as gateway:
        await gateway.sign_up("ann")
        yield gateway


@pytest.fixture
async def board(gateway: LiveGateway) -> str:
    board = await gateway.board("ann", "first")
    for title in ("a", "b", "c"):
        await gateway.pin("ann", board, title)
    return board


class Parts:
    """The parts of a response, as a client reads them."""

    def __init__(self, response: httpx.Response) -> None:
        self.response, self._buffer, self._pieces = response, b"", response.aiter_bytes()

    async def _until_boundary(self) -> bytes:
        async with asyncio.timeout(SECONDS):
            while BOUNDARY not in self._buffer:
                self._buffer += await anext(self._pieces)
        before, _, self._buffer = self._buffer.partition(BOUNDARY)
        return before

    async def next(self) -> Any:
        """The next part, as soon as the boundary after it has come."""
        before = await self._until_boundary()
        if not before:  # the boundary before the first part
            before = await self._until_boundary()
        head, _, body = before.partition(b"\r\n\r\n")
        assert head == b"\r\ncontent-type: application/json; charset=utf-8"
        return json.loads(body)

    async def end(self) -> bytes:
        """The rest of the response, after the last part."""
        async with asyncio.timeout(SECONDS):
            return self._buffer + b"".join([piece async for piece in self._pieces])


@asynccontextmanager
async def parts(
    gateway: LiveGateway,
    query: str,
    viewer: str | None = "ann",
    accept: str = APOLLO,
    **variables: Any,
) -> AsyncIterator[Parts]:
    headers = {"accept": accept, **gateway.bearer(viewer)}
    body = {"query": query, "variables": variables}
    async with (
        httpx.AsyncClient(timeout=SECONDS) as client,
        client.stream("POST", gateway.url, json=body, headers=headers) as response,
    ):
        yield Parts(response)


async def whole(gateway: LiveGateway, query: str, accept: str, **variables: Any) -> httpx.Response:
    headers = {"accept": accept, **gateway.bearer("ann")}
    body = {"query": query, "variables": variables}
    async with httpx.AsyncClient(timeout=SECONDS) as client:
        return await client.post(gateway.url, json=body, headers=headers)


@pytest.mark.parametrize(
    ("accept", "takes"),
    [
        (APOLLO, True),
        (URQL, True),
        ("multipart/mixed", True),
        ('multipart/mixed; boundary="-"; deferSpec="20220824"', True),
        ("application/json, MULTIPART/MIXED;DEFERSPEC=20220824;q=0.1", True),
        ("multipart/mixed;q=0, application/json", False),
        ("multipart/mixed;deferSpec=20250101", False),
        ("multipart/mixed;incrementalSpec=v0.2, application/json", False),
        ("multipart/mixed;boundary=graphql;subscriptionSpec=1.0, application/json", False),
        ("multipart/form-data", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_clients_that_take_parts(accept: str, takes: bool) -> None:
    assert accepts_parts(accept.encode()) is takes


@pytest.mark.parametrize("accept", [APOLLO, URQL])
async def test_the_pins_come_before_their_counts(
    gateway: LiveGateway, board: str, likes: Likes, accept: str
) -> None:
    async with parts(gateway, BOARD, accept=accept, id=board) as response:
        headers = response.response.headers
        assert headers["content-type"] == INCREMENTAL
        assert "no-transform" in headers["cache-control"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-request-id"]
        edges = [{"node": {"title": title}} for title in ("c", "b", "a")]
        data = {"board": {"name": "first", "pins": {"edges": edges}}}
        assert await response.next() == {"data": data, "hasNext": True}
        likes.door.set()
        later = await response.next()
        assert likes.calls == [3, 3]  # one call of each field for all pins
        assert later == {
            "incremental": [
                {
                    "data": {"likeCount": 0, "commentCount": 0},
                    "path": ["board", "pins", "edges", n, "node"],
                    "label": "counts",
                }
                for n in range(3)
            ],
            "hasNext": False,
        }
        assert await response.end() == b"--\r\n"


async def test_a_client_that_takes_no_parts_gets_one_answer(
    gateway: LiveGateway, board: str
) -> None:
    for accept in ("application/json", "*/*", "multipart/mixed;incrementalSpec=v0.2, */*"):
        response = await whole(gateway, BOARD, accept, id=board)
        assert response.headers["content-type"].startswith("application/json")
        node = response.json()["data"]["board"]["pins"]["edges"][0]["node"]
        assert node == {"title": "c", "likeCount": 0, "commentCount": 0}


async def test_an_operation_without_deferred_fragments_has_one_answer(
    gateway: LiveGateway, board: str
) -> None:
    for query in (
        "query($id: ID!) { board(id: $id) { name } }",
        "query($id: ID!) { board(id: $id) { ... @defer(if: false) { name } } }",
        'query($id: ID!) { board(id: $id) { name } none: node(id: "0") { ... @defer { id } } }',
    ):
        response = await whole(gateway, query, APOLLO, id=board)
        assert response.headers["content-type"].startswith("application/graphql-response+json")
        assert response.json()["data"]["board"] == {"name": "first"}
        assert "hasNext" not in response.json()


async def test_a_get_has_one_answer(gateway: LiveGateway, board: str) -> None:
    parameters = {"query": BOARD, "variables": json.dumps({"id": board})}
    headers = {"accept": APOLLO, **gateway.bearer("ann")}
    async with httpx.AsyncClient(timeout=SECONDS) as client:
        response = await client.get(gateway.url, params=parameters, headers=headers)
    assert response.json()["data"]["board"]["pins"]["edges"][0]["node"]["likeCount"] == 0


async def test_a_mutation_defers_fields_of_its_payload(gateway: LiveGateway) -> None:
    query = """mutation { createBoard(input: {name: "new"}) {
      board { name ... @defer { pinCount } } errors { message } } }"""
    async with parts(gateway, query) as response:
        payload = {"board": {"name": "new"}, "errors": []}
        assert await response.next() == {"data": {"createBoard": payload}, "hasNext": True}
        part = {"data": {"pinCount": 0}, "path": ["createBoard", "board"]}
        assert await response.next() == {"incremental": [part], "hasNext": False}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("mutation { ... @defer { unlikePin(input: {pinId: 1}) { errors { code } } } }", "root"),
        ('subscription { ... @defer { boardChanged(boardId: "1") { kind } } }', "root"),
        ('{ ...@defer(label: "a") { viewer { id } } ...@defer(label: "a") { viewer { id } } }',
         "label"),
        ("query($l: String) { ...@defer(label: $l) { viewer { id } } }", "label"),
        ("{ viewer { id @defer } }", "@defer"),
        ("{ viewer { id @stream } }", "list"),
        ('subscription { boardChanged(boardId: "1") { pin { tags @stream } } }', "@stream"),
    ],
)  # fmt: skip
async def test_wrong_directives_are_refused(gateway: LiveGateway, query: str, said: str) -> None:
    response = await whole(gateway, query, APOLLO)
    assert response.status_code == 400
    assert any(said in error["message"] for error in response.json()["errors"])


EDGES = """query Board($id: ID!, $first: Int) { board(id: $id) {
  pins(first: 5) { edges @stream(initialCount: $first, label: "more") { node { title likeCount } } }
  name } }"""


async def test_the_first_pins_of_a_list_come_before_the_others(
    gateway: LiveGateway, board: str, likes: Likes
) -> None:
    edges = [{"node": {"title": title, "likeCount": 0}} for title in ("c", "b", "a")]
    for first in (0, 1):
        likes.calls.clear()
        likes.door.set()
        async with parts(gateway, EDGES, id=board, first=first) as response:
            data = {"board": {"pins": {"edges": edges[:first]}, "name": "first"}}
            assert await response.next() == {"data": data, "hasNext": True}
            path = ["board", "pins", "edges", first]
            part = {"items": edges[first:], "path": path, "label": "more"}
            assert await response.next() == {"incremental": [part], "hasNext": False}
        assert likes.calls == [first, 3 - first][not first :]
    answer = (await whole(gateway, EDGES, "*/*", id=board, first=1)).json()
    assert answer["data"]["board"]["pins"]["edges"] == edges


async def test_an_error_of_a_later_item_stays_in_its_part(
    gateway: LiveGateway, board: str, likes: Likes
) -> None:
    likes.fails = True
    likes.door.set()
    async with parts(gateway, EDGES, id=board, first=0) as response:
        assert "errors" not in await response.next()
        (part,) = (await response.next())["incremental"]
    assert part["items"] == [{"node": None}] * 3
    assert [error["extensions"]["code"] for error in part["errors"]] == ["INTERNAL"] * 3
    assert part["path"] == ["board", "pins", "edges", 0]


async def test_an_error_stays_in_its_part(gateway: LiveGateway, board: str, likes: Likes) -> None:
    likes.fails = True
    likes.door.set()
    async with parts(gateway, BOARD, id=board) as response:
        assert "errors" not in await response.next()
        later = await response.next()
    assert [part["data"] for part in later["incremental"]] == [None] * 3
    for number, part in enumerate(later["incremental"]):
        codes = {tuple(e["path"]): e["extensions"]["code"] for e in part["errors"]}
        at = ("board", "pins", "edges", number, "node")
        assert codes == {(*at, "likeCount"): "INTERNAL", (*at, "commentCount"): "INTERNAL"}


async def test_a_client_that_goes_away_cancels_its_deferred_fields(
    gateway: LiveGateway, board: str, likes: Likes
) -> None:
    async with parts(gateway, BOARD, id=board) as response:
        await response.next()
        await until(lambda: bool(likes.calls))
    await until(lambda: bool(likes.cancelled))


async def test_an_operation_counts_as_running_until_its_last_part(
    gateway: LiveGateway, board: str, likes: Likes
) -> None:
    """The gateway allows one running operation of a client."""
    async with parts(gateway, BOARD, id=board) as response:
        await response.next()
        await until(lambda: bool(likes.calls))
        refused = await whole(gateway, "{ viewer { id } }", APOLLO)
        assert refused.json()["errors"][0]["extensions"]["code"] == "RATE_LIMITED"
        likes.door.set()
        await response.next()
        await response.end()
    answered = await whole(gateway, "{ viewer { id } }", APOLLO)
    assert "errors" not in answered.json()


async def test_a_deadline_ends_the_last_parts_with_an_error(
    gateway: LiveGateway, board: str, likes: Likes, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[float] = []

    def passed(when: float) -> asyncio.Timeout:
        ends.append(when)
        return asyncio.timeout(0)

    monkeypatch.setattr(later_parts, "timeout_at", passed)
    began = asyncio.get_running_loop().time()
    async with parts(gateway, BOARD, id=board) as response:
        await response.next()
        later = await response.next()
        assert await response.end() == b"--\r\n"
    assert later["hasNext"] is False
    assert [part["data"] for part in later["incremental"]] == [None] * 3
    codes = [part["errors"][0]["extensions"]["code"] for part in later["incremental"]]
    assert codes == ["TIMEOUT"] * 3
    assert likes.cancelled == len(likes.calls)
    assert gateway.settings is not None
    seconds = gateway.settings.http.request_timeout
    assert began + seconds <= ends[0] <= asyncio.get_running_loop().time() + seconds


async def test_the_cost_is_the_same_as_in_one_answer(gateway: LiveGateway, board: str) -> None:
    body = {"query": BOARD, "variables": {"id": board}, "extensions": {"cost": True}}
    costs = []
    async with httpx.AsyncClient(timeout=SECONDS) as client:
        for accept in ("application/json", APOLLO):
            headers = {"accept": accept, **gateway.bearer("ann")}
            async with client.stream("POST", gateway.url, json=body, headers=headers) as response:
                if accept == APOLLO:
                    answer = await Parts(response).next()
                else:
                    answer = json.loads(await response.aread())
            costs.append(answer["extensions"]["cost"])
    assert costs[0] == costs[1]


async def test_a_request_is_counted_once(gateway: LiveGateway, board: str) -> None:
    async def counted() -> float:
        text = (await gateway.metrics()).decode()
        name = 'pinway_http_request_duration_seconds_count{status="200"}'
        (line,) = [line for line in text.splitlines() if line.startswith(name)]
        return float(line.split()[-1])

    await whole(gateway, "{ viewer { id } }", APOLLO)
    before = await counted()
    async with parts(gateway, BOARD, id=board) as response:
        await response.next()
        await response.next()
        await response.end()
    assert await counted() == before + 1


async def test_no_deferred_field_is_begun_before_the_client_reads_the_initial_part(
    gateway: LiveGateway, board: str, likes: Likes
) -> None:
    reads, messages = asyncio.Event(), list[Any]()

    async def send(message: Any) -> None:
        messages.append(message)
        await reads.wait()

    async def receive() -> Any:
        await asyncio.Event().wait()

    context = gateway._context("ann")
    result = await gateway.executor.run(BOARD, {"id": board}, None, context, incremental=True)
    app = PartByPart(result, {}, b"", None, "", lambda codes: None)
    sending = asyncio.create_task(app({"type": "http", "method": "POST"}, receive, send))
    await until(lambda: bool(messages))
    for _ in range(100):
        await asyncio.sleep(0)
    assert likes.calls == []
    reads.set()
    likes.door.set()
    await sending
    assert likes.calls == [3, 3]
    assert messages[-1] == {"type": "http.response.body", "body": b""}


async def test_parts_that_are_too_large_together_are_refused(tmp_path: Path) -> None:
    async with live_gateway(tmp_path, {"limits.max_response_bytes": 1000}) as gateway:
        await gateway.sign_up("ann")
        board = await gateway.board("ann", "first", description="x" * 600)
        query = """query($id: ID!) { board(id: $id) { name description
          ... @defer { description } } }"""
        async with parts(gateway, query, id=board) as response:
            assert (await response.next())["data"]["board"]["name"] == "first"
            later = await response.next()
    (part,) = later["incremental"]
    assert (part["data"], later["hasNext"]) == (None, False)
    assert part["errors"][0]["extensions"]["code"] == "RESPONSE_TOO_LARGE"
