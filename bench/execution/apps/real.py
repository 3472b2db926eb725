"""The real path: the gateway over embedded stores with demo content, authorized, limits on.

`python -m bench.execution.apps.real prepare DIRECTORY` makes the stores, and a visit of the home
feed for each viewer; it prints the requests for their first pages: [{"authorization", "body"}].
`... ours DIRECTORY PORT` serves them as they are served; `... stock DIRECTORY PORT` has the same
schema run by strawberry and graphql-core behind the same HTTP.
"""

import json
import socket
import sys
from pathlib import Path
from typing import Any

import orjson
import uvicorn
import uvloop

from datasources.ids import Kind
from datasources.protocols import Job, Stores
from feed_engine.feeds import epoch_ms
from feed_engine.jobs import run_job
from gateway.app import create_app
from gateway.auth import Tokens
from gateway.demo.fill import fill_demo
from gateway.execution import new_executor
from gateway.installing import install
from gateway.runtime import running
from gateway.settings import Settings, read_settings
from resolvers.context import Context
from schema import schema

VIEWERS, PINS = 100, 50
QUERY = """query HomeFeed($first: Int!, $visit: ID) {
  homeFeed(first: $first, visit: $visit) {
    visitId
    edges { cursor reason node {
      id title description link image { url width height } createdAt
      board { id name owner { id username } }
      owner { id username }
    } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}"""


class StockExecutor:
    """strawberry's own `Schema.execute`, with the interface of the gateway's executor."""

    def __init__(self, asked: frozenset[str]) -> None:
        self._asked = asked

    async def run(
        self,
        query: str,
        variables: dict[str, Any] | None,
        operation: str | None,
        context: Context,
        *,
        read_only: bool = False,
    ) -> Any:
        context.asked = self._asked
        result = await schema.execute(
            query, variables, context_value=context, operation_name=operation
        )
        return _Answer(result)


class _Answer:
    started = True

    def __init__(self, result: Any) -> None:
        self._result = result

    def body(self) -> bytes:
        response = {"data": self._result.data}
        if self._result.errors:
            response["errors"] = [error.formatted for error in self._result.errors]
        return orjson.dumps(response)


def settings_in(directory: Path) -> Settings:
    return read_settings(data_dir=directory, run_jobs=False, public_url="http://pinway.test")


async def prepare(directory: Path) -> None:
    settings = settings_in(directory)
    await install(settings, lambda progress: None)
    tokens = Tokens(settings.secret, settings.token_hours)
    executor = new_executor(settings)
    requests = []
    async with running(settings) as runtime:
        await fill_demo(runtime.stores, settings.data_dir, lambda progress: None)
        users = await runtime.stores.shards.objects.list(Kind.USER, 0, VIEWERS)

        async def visit(user: int) -> Any:
            context = Context(runtime.stores, runtime.feeds, user, settings.url, lambda _: None)
            page = await executor.run(QUERY, {"first": PINS}, None, context)
            return json.loads(page.body())["data"]["homeFeed"]

        for user, _ in users:
            await visit(user)
        await _settle(runtime.stores)
        for user, _ in users:  # a later visit also shows what the first one did
            feed = await visit(user)
            assert len(feed["edges"]) == PINS, f"viewer {user} has only {len(feed['edges'])} pins"
            variables = {"first": PINS, "visit": feed["visitId"]}
            body = json.dumps({"query": QUERY, "variables": variables})
            requests.append({"authorization": f"Bearer {tokens.issue(user)}", "body": body})
        await _settle(runtime.stores)
    print(json.dumps(requests))


async def _settle(stores: Stores) -> None:
    """Do the jobs that are left."""
    while rows := await stores.shards.outbox.pending(epoch_ms() + 60_000, 100):
        for row in rows:
            await run_job(stores, Job(row.shard, row.id))


async def serve(kind: str, directory: Path, port: int) -> None:
    settings = settings_in(directory)
    executor: Any = new_executor(settings)
    if kind == "stock":
        executor = StockExecutor(executor.documents.get(QUERY).fields)
    async with running(settings) as runtime:
        config = uvicorn.Config(
            create_app(settings, runtime, executor),
            interface="asgi3",
            access_log=False,
            log_level="warning",
            lifespan="off",
        )
        with socket.create_server(("127.0.0.1", port)) as listener:
            await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    _what, _directory = sys.argv[1], Path(sys.argv[2])
    if _what == "prepare":
        uvloop.run(prepare(_directory))
    else:
        uvloop.run(serve(_what, _directory, int(sys.argv[3])))
