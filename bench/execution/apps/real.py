"""The real path: the gateway over embedded stores with demo content, with authorization and limits;
or over real servers, if DIRECTORY has a file `servers.toml` of settings.

`python -m bench.execution.apps.real prepare DIRECTORY` creates the stores and prints the requests
for each page, and the first visits of further viewers: {page: [{"authorization", "body"}]}.
`... ours DIRECTORY PORT PAGE` serves them as `pinway serve` does. `... stock DIRECTORY PORT PAGE`
executes the same schema with strawberry and graphql-core behind the same HTTP code.
"""

import json
import socket
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import orjson
import uvicorn
import uvloop
from starlette.types import ASGIApp

from datasources.clocks import now_ms
from datasources.ids import Kind
from datasources.protocols import Job, Stores
from feed_engine.outbox.jobs import run_job
from gateway.app import create_site
from gateway.cost.refusals import Refusals
from gateway.demo.fill import fill_demo
from gateway.documents.cache import Document, PreparedOperation, Stats
from gateway.execution.collector import short_passes
from gateway.execution.executor import Result
from gateway.execution.model.operation import INCREMENTAL
from gateway.http.auth import Tokens
from gateway.server.process import Server
from gateway.settings import Settings, read_settings
from gateway.site.executors import new_executor
from gateway.site.installation import install
from gateway.site.runtime import running
from resolvers.context import Context
from schema import schema

VIEWERS, PINS = 50, 50
SERVERS = "servers.toml"
PAGES = {
    "home feed": "homeFeed(first: $first, visitId: $id) { visitId %s }",
    "following feed": "followingFeed(first: $first) { %s }",
    "board": "board(id: $id) { name pins(first: $first) { %s } }",
}
"""Pages of 50 pins: of a viewer's later visit, of the following feed, and of a board."""
FIRST_VISIT = "first visit"
"""The home feed of a viewer who never asked for it."""
_PINS = """edges { cursor node {
      id title description link image { url width height } createdAt
      board { id name owner { id username } }
      owner { id username }
    } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"""


def query(page: str) -> str:
    variables = "$first: Int!" if "$id" not in PAGES[page] else "$first: Int!, $id: ID"
    if page == "board":
        variables = "$first: Int!, $id: ID!"
    return f"query Page({variables}) {{ {PAGES[page] % _PINS} }}"


class StockExecutor:
    """strawberry's own `Schema.execute`, with the interface of the gateway's executor. Its options
    have no meaning here."""

    max_cost = 0

    def __init__(self, document: Document) -> None:
        """`document` is the only document that is run."""
        self._asked, self._operation = document.fields, document.operation(None)
        self.stats, self.refusals = Stats(), Refusals()

    async def run(
        self,
        query: str,
        variables: dict[str, Any] | None,
        operation: str | None,
        context: Context,
        **_: Any,
    ) -> Result:
        context.asked = self._asked
        response = await schema.execute(
            query, variables, context_value=context, operation_name=operation
        )
        errors = [error.formatted for error in response.errors or ()]
        result = Result([orjson.dumps(response.data)], [orjson.dumps(errors)] if errors else [])
        assert isinstance(self._operation, PreparedOperation)
        result.operation = self._operation
        return result


def without_parts() -> None:
    """Remove @defer and @stream from the schema: graphql-core's `execute` refuses schemas that
    declare them."""
    declared = schema._schema.directives
    schema._schema.directives = tuple(one for one in declared if one.name not in INCREMENTAL)


def settings_in(directory: Path) -> Settings:
    """The embedded stores in the directory, or the servers that a file there names."""
    servers = directory / SERVERS
    return read_settings(
        servers if servers.exists() else None,
        {
            "data_dir": directory,
            "jobs.run": False,
            "http.public_url": "http://localhost",
            "limits.rate_cost": 0,
            "limits.writes_per_day": 0,
            "limits.max_running": 0,
            "limits.max_running_cost": 0,
            "telemetry.log_level": "warning",
        },
    )


async def prepare(directory: Path) -> None:
    settings = settings_in(directory)
    await install(settings, lambda progress: None)
    tokens = Tokens(settings.secret, settings.auth.token_hours)
    executor = new_executor(settings)
    found: dict[str, list[dict[str, str]]] = {page: [] for page in PAGES}
    async with running(settings) as runtime:
        await fill_demo(runtime.stores, settings.data_dir, lambda progress: None)
        objects = runtime.stores.shards.objects
        everyone = [id for id, _ in await objects.list(Kind.USER, 0, 2 * VIEWERS)]
        users, others = everyone[:VIEWERS], everyone[VIEWERS:]
        boards = [id for id, _ in await objects.list(Kind.BOARD, 0, 1000)]

        async def ask(page: str, user: int, id: str | None = None) -> Any:
            """The page's response. Its request is kept if the page is full."""
            context = Context(runtime.stores, runtime.feeds, user, settings.url, lambda _: None)
            variables = {"first": PINS, **({"id": id} if id else {})}
            result = await executor.run(query(page), variables, None, context)
            (shown,) = json.loads(result.body())["data"].values()
            edges = (shown or {}).get("edges") or ((shown or {}).get("pins") or {}).get("edges")
            if edges and len(edges) == PINS and (id or page == "following feed"):
                found[page].append(request(page, user, variables))
            return shown

        def request(page: str, user: int, variables: dict[str, Any]) -> dict[str, str]:
            body = json.dumps({"query": query(page), "variables": variables})
            return {"authorization": f"Bearer {tokens.issue(user)}", "body": body}

        for user in users:
            await ask("home feed", user)
        await _settle(runtime.stores)
        for user in users:  # a later visit also shows the pins of the first
            visit = (await ask("home feed", user))["visitId"]
            await ask("home feed", user, visit)
            await ask("following feed", user)
        for number, board in enumerate(boards):
            await ask("board", users[number % len(users)], str(board))
        await _settle(runtime.stores)
    found[FIRST_VISIT] = [request("home feed", user, {"first": PINS}) for user in others]
    print(json.dumps(found))


async def _settle(stores: Stores) -> None:
    """Run the remaining jobs."""
    while rows := await stores.shards.outbox.pending(now_ms() + 60_000, 100):
        for row in rows:
            await run_job(stores, Job(row.shard, row.id))


async def serve(kind: str, directory: Path, port: int, page: str) -> None:
    settings = settings_in(directory)
    executor: Any = new_executor(settings)
    if kind == "stock":
        without_parts()
        executor = StockExecutor(await executor.documents.read(query(page)))
    async with running(settings) as runtime:
        app = create_site(settings, runtime, executor).public
        # Stock runs on plain uvicorn, without our settings of the garbage collector.
        ours = kind != "stock"
        server = Server(app) if ours else uvicorn.Server(_config(app))
        passes = short_passes() if ours else nullcontext()
        with socket.create_server(("127.0.0.1", port)) as listener, passes:
            await server.serve(sockets=[listener])


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(app, access_log=False, log_level="warning", lifespan="off")


if __name__ == "__main__":
    _what, _directory = sys.argv[1], Path(sys.argv[2])
    if _what == "prepare":
        uvloop.run(prepare(_directory))
    else:
        uvloop.run(serve(_what, _directory, int(sys.argv[3]), sys.argv[4]))
