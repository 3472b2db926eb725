"""A whole gateway inside a test's process, without HTTP."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson

from datasources import hbase, redis
from datasources.clocks import now_ms
from datasources.protocols import Job, Stores
from datasources.topology import ModShards, ShardRange, Topology, dump
from feed_engine.outbox.jobs import run_job
from gateway.execution.executor import Executor, Result
from gateway.execution.subscriptions import Results
from gateway.settings import Settings, read_settings
from gateway.site.executors import new_executor
from gateway.site.runtime import Runtime, running
from resolvers.context import Context
from tests.demo import empty_stores, ignore_sockets

PATIENT: dict[str, Any] = {
    "feeds.deadline": 60.0,
    "feeds.chunk_seconds": 60.0,  # also on a busy machine, a feed has all its candidates
    "http.request_timeout": 300.0,
}
"""Settings of gateways whose times no test is about."""

_IMPATIENT = (
    (redis, "RedisBroadcasts"),
    (redis, "RedisMappingCache"),
    (hbase, "HBaseWideColumns"),
)


@asynccontextmanager
async def patient(settings: Settings) -> AsyncIterator[Runtime]:
    """The runtime of a gateway, with new stores. Its calls of Redis and HBase may take as long as a
    busy machine needs: after a call that took too long, subscriptions tell their clients to read
    again, and a job fails."""
    async with AsyncExitStack() as stack:
        for module, client in _IMPATIENT:
            waiting = partial(getattr(module, client), deadline=60.0)
            stack.enter_context(patch.object(module, client, waiting))
        yield await stack.enter_async_context(running(settings, create=lambda progress: None))


@dataclass
class Subscribed:
    """The events of a subscription."""

    results: Results[Result]

    async def response(self) -> Any:
        """The whole response of the next event; None at the end of the stream."""
        async with asyncio.timeout(60):
            result = await self.results.next()
        return None if result is None else orjson.loads(result.body())

    async def next(self) -> Any:
        """The value of the root field in the next event; None at the end of the stream."""
        response = await self.response()
        if response is None:
            return None
        assert "errors" not in response, response["errors"]
        (value,) = response["data"].values()
        return value


@dataclass
class Gateway:
    """A gateway. `ask` returns the whole response; `data` returns only its data, and fails on
    errors."""

    runtime: Runtime
    executor: Executor
    people: dict[str, int] = field(default_factory=dict)

    @property
    def stores(self) -> Stores:
        return self.runtime.stores

    async def ask(self, query: str, viewer: str | None = None, **variables: Any) -> dict[str, Any]:
        """The response to an operation of the user with that name, or of an anonymous client."""
        context = self._context(viewer)
        result = await self.executor.run(query, variables, None, context)
        response: dict[str, Any] = orjson.loads(result.body())
        return response

    def _context(self, viewer: str | None) -> Context:
        runtime, viewer_id = self.runtime, self.people[viewer] if viewer else None
        return Context(
            *(runtime.stores, runtime.feeds, viewer_id, "http://pinway.test", str),
            walks=runtime.walks,
            search=runtime.search,
            live=runtime.live,
            waiting=runtime.waiting,
            sign_upload=lambda owner_id, id: (f"http://pinway.test/uploads/{id}", 2_000_000_000),
            sign_export=lambda owner_id, at: f"http://pinway.test/exports/{owner_id}.{at}",
        )

    @asynccontextmanager
    async def subscribed(
        self, query: str, viewer: str | None = None, **variables: Any
    ) -> AsyncIterator["Subscribed"]:
        """A subscription that has begun."""

        def new_context() -> Context:
            return self._context(viewer)

        result = await self.executor.run(
            query, variables, None, new_context(), new_context=new_context
        )
        assert result.stream is not None, result.body()
        try:
            yield Subscribed(result.stream)
        finally:
            await result.stream.end()

    async def data(self, query: str, viewer: str | None = None, **variables: Any) -> Any:
        response = await self.ask(query, viewer, **variables)
        assert "errors" not in response, response["errors"]
        return response["data"]

    async def mutate(self, viewer: str, field: str, selection: str, **input: Any) -> Any:
        """The payload of a mutation, which must succeed."""
        payload = await self.try_to(viewer, field, selection, **input)
        assert payload["errors"] == [], payload["errors"]
        return payload

    async def try_to(self, viewer: str, field: str, selection: str, **input: Any) -> Any:
        """The payload of a mutation, including its `errors`."""
        name = field[0].upper() + field[1:]
        for prefix, type_ in (
            ("Unfollow", "Follow"),
            ("Unlike", "Like"),
            ("Unhide", "Hide"),
            ("Unblock", "Block"),
            ("Unmute", "Mute"),
        ):
            name = name.replace(prefix, type_)
        if name in ("SeeLess", "SeeMore", "SeeAsUsual"):
            name = "FeedPreference"
        elif name in ("InviteCollaborator", "RemoveCollaborator"):
            name = "Collaborator"
        elif name in ("AcceptInvitation", "DeclineInvitation", "LeaveBoard"):
            name = "Membership"
        query = (
            f"mutation($input: {name}Input!) "
            f"{{ {field}(input: $input) {{ {selection} errors {{ code field message }} }} }}"
        )
        return (await self.data(query, viewer, input=input))[field]

    async def sign_up(self, *names: str) -> None:
        for name in names:
            payload = await self.data(
                "mutation($name: String!) { signUp(input: {username: $name}) "
                "{ user { id } errors { message } } }",
                name=name,
            )
            assert payload["signUp"]["errors"] == []
            self.people[name] = int(payload["signUp"]["user"]["id"])

    async def board(self, viewer: str, name: str, **input: Any) -> str:
        payload = await self.mutate(viewer, "createBoard", "board { id }", name=name, **input)
        return str(payload["board"]["id"])

    async def pin(self, viewer: str, board: str, title: str, **input: Any) -> str:
        payload = await self.mutate(
            viewer, "createPin", "pin { id }", boardId=board, title=title, **input
        )
        return str(payload["pin"]["id"])

    async def section(self, viewer: str, board: str, name: str) -> str:
        """The id of a new section on a board."""
        made = await self.mutate(
            viewer, "createSection", "section { id }", boardId=board, name=name
        )
        id: str = made["section"]["id"]
        return id

    async def settle(self) -> None:
        """Do all remaining work of the outbox now."""
        while rows := await self.stores.shards.outbox.pending(now_ms() + 60_000, 100):
            for row in rows:
                await run_job(self.stores, Job(row.shard, row.id), walks=self.runtime.walks)


@asynccontextmanager
async def embedded_gateway(
    directory: Path, values: Mapping[str, Any] | None = None
) -> AsyncIterator[Gateway]:
    """A gateway on new embedded stores. Jobs run when the test calls `settle`. `values` are
    settings, by full names."""
    options = {"data_dir": directory, "jobs.run": False, **PATIENT, **(values or {})}
    settings = read_settings(options=options)
    create_embedded(settings)
    async with gateway_on(settings) as gateway:
        yield gateway


def create_embedded(settings: Settings) -> None:
    """Create the embedded stores of these settings if all stores are embedded and new. They are
    copies, which take half of the processor time of new stores."""
    data = settings.data_dir
    if settings.stores == read_settings(options={"data_dir": data}).stores and not (
        data.exists() and any(data.iterdir())
    ):
        shutil.copytree(empty_stores(), data, ignore=ignore_sockets, dirs_exist_ok=True)


@asynccontextmanager
async def gateway_on(settings: Settings) -> AsyncIterator[Gateway]:
    """A gateway on the stores that the settings name, which are created if they are new."""
    async with patient(settings) as runtime:
        yield Gateway(runtime, new_executor(settings))
        await asyncio.sleep(0)


@asynccontextmanager
async def gateway_on_two_servers(directory: Path) -> AsyncIterator[tuple[Gateway, Topology]]:
    """An embedded gateway with shards 0 to 7 on "one", and 8 to 15 on "two"."""
    topology = Topology(
        epoch=1,
        servers={name: f"sqlite://{directory}/{name}" for name in ("one", "two")},
        shards=(ShardRange((0, 7), "one"), ShardRange((8, 15), "two")),
        mod=ModShards(4, (ShardRange((0, 3), "one"),)),
    )
    (directory / "topology.json").write_bytes(dump(topology))
    async with embedded_gateway(
        directory / "data", {"stores.topology": f"file://{directory}/topology.json"}
    ) as gateway:
        yield gateway, topology
