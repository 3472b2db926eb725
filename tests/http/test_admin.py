"""Strangers learn a status; metrics, faults and the demo's token are for this machine's clients."""

import asyncio
import math
import os
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from gateway.app import Site, create_site
from gateway.observe import admin
from gateway.observe.exposition import of_workers
from gateway.server.process import serve
from gateway.server.siblings import Siblings
from gateway.settings import Http, Jobs, Settings, read_settings
from gateway.site.runtime import running
from tests.happened import happened

pytestmark = pytest.mark.anyio
SIGN_UP = 'mutation { signUp(input: {username: "ann"}) { user { id } } }'
STRANGER = "203.0.113.5"


@asynccontextmanager
async def site(directory: Path, values: Mapping[str, object] | None = None) -> AsyncIterator[Site]:
    settings = read_settings(
        options={"data_dir": directory, "auth.demo_viewer": "ann", **(values or {})}
    )
    async with running(settings, jobs=False, create=lambda progress: None) as runtime:
        yield create_site(settings, runtime)


def client(app: object, peer: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, client=(peer, 1234))  # type: ignore[arg-type]
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=sent)


async def test_this_machine_is_told_everything_and_a_stranger_a_status(tmp_path: Path) -> None:
    async with site(tmp_path) as found:
        for peer in ("127.0.0.1", "::1"):
            async with client(found.public, peer) as local:
                assert (await local.get("/healthz")).json()["process"] == os.getpid()
                assert (await local.get("/readyz")).json()["required"] == {}
                assert "pinway_http" in (await local.get("/metrics")).text
                assert "Pinway status" in (await local.get("/statusz")).text
                assert (await local.get("/statusz.json")).json()["ready"] is True
        strangers = (
            client(found.public, STRANGER),
            client(found.public, x_forwarded_for=STRANGER),
            client(found.public, STRANGER, x_forwarded_for="127.0.0.1"),
            client(found.public, x_forwarded_for="127.0.0.1"),
            client(found.public, forwarded=f"for={STRANGER}"),
            client(found.public, x_real_ip=STRANGER),
        )
        for one in strangers:
            async with one as stranger:
                assert (await stranger.get("/healthz")).json() == {"status": "ok"}
                assert (await stranger.get("/readyz")).json() == {"status": "ok"}
                for told in ("/metrics", "/statusz", "/statusz.json"):
                    assert (await stranger.get(told)).status_code == 404


async def test_a_listener_for_operators_is_the_only_place_then(tmp_path: Path) -> None:
    async with site(tmp_path, {"http.admin_port": 9}) as found:
        async with client(found.public) as local:
            assert (await local.get("/healthz")).json() == {"status": "ok"}
            assert (await local.get("/readyz")).json() == {"status": "ok"}
            assert (await local.get("/metrics")).status_code == 404
        async with client(found.admin, STRANGER) as operator:
            assert (await operator.get("/healthz")).json()["process"] == os.getpid()
            assert (await operator.get("/readyz")).json()["required"] == {}
            assert "pinway_http" in (await operator.get("/metrics")).text
            assert (await operator.get("/graphql")).status_code == 404
            page = await operator.get("/statusz")
            assert "default-src 'self'" in page.headers["content-security-policy"]
            assert (await operator.get("/statusz/statusz.js")).status_code == 200
            status = (await operator.get("/statusz.json")).json()
            assert {store["name"] for store in status["stores"]} >= {"shards local", "queue"}
            assert status["sums"]["pinway_cache_hits_total"].keys() >= {"object_cache"}
            assert status["feeds"].keys() == {"feeds", "pools"}
            assert status["outbox"]["rows"] == 0


async def test_strangers_ask_the_stores_once_a_second_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    readiness = admin.readiness

    async def counted(stores: object) -> object:
        nonlocal asked
        asked += 1
        return await readiness(stores)  # type: ignore[arg-type]

    monkeypatch.setattr(admin, "readiness", counted)
    monkeypatch.setattr(admin, "KEPT_SECONDS", 1000.0)
    async with site(tmp_path) as found, client(found.public, STRANGER) as stranger:
        answers = await asyncio.gather(*(stranger.get("/readyz") for _ in range(20)))
        assert {answer.status_code for answer in answers} == {200}
        assert asked == 1
        monkeypatch.setattr(admin, "KEPT_SECONDS", -1.0)
        await stranger.get("/readyz")
        assert asked == 2


async def test_the_demo_viewers_token_is_told_to_this_machine_alone(tmp_path: Path) -> None:
    async with site(tmp_path) as found:
        async with client(found.public) as local:
            await local.post("/graphql", json={"query": SIGN_UP})
            assert (await local.get("/graphiql/boot.json")).json()["token"]
        for one in (
            client(found.public, STRANGER, host="localhost"),
            client(found.public, STRANGER, host="localhost", x_forwarded_for="127.0.0.1"),
            client(found.public, host="localhost", x_forwarded_for=STRANGER),
            client(found.public, host="localhost", forwarded="for=127.0.0.1"),
        ):
            async with one as stranger:
                boot = (await stranger.get("/graphiql/boot.json")).json()
                assert (boot["token"], boot["viewer"]) == (None, None)


async def test_a_process_answers_operators_while_it_serves(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, jobs=Jobs(run=False), http=Http(admin_port=9))
    ready = asyncio.Event()
    with socket.create_server(("127.0.0.1", 0)) as public:
        operators = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{operators.getsockname()[1]}"
        serving = asyncio.create_task(
            serve(settings, public, operators=operators, on_ready=ready.set)
        )
        await happened(ready, serving)
        async with httpx.AsyncClient() as operator:
            text = (await operator.get(f"{url}/metrics")).text
        assert "pinway_http_connections 0.0" in text
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        assert public.fileno() == operators.fileno() == -1  # the loop watches neither any more


async def test_any_worker_tells_the_metrics_of_all(tmp_path: Path) -> None:
    def counted(value: int) -> bytes:
        sample = f'pinway_things_total{{kind="a"}} {value}.0'
        return f"# TYPE pinway_things_total counter\n{sample}\n".encode()

    def telling(one: Siblings, value: int) -> AbstractAsyncContextManager[None]:
        return one.serving(partial(asyncio.sleep, 0, counted(value)))

    one, two, three = (Siblings(tmp_path, number, 3, patience=math.inf) for number in (1, 2, 3))
    async with telling(one, 1), telling(two, 2):
        for worker, own in ((one, counted(1)), (two, counted(2))):
            text = (await of_workers(await worker.metrics(own))).decode()
            assert 'pinway_things_total{kind="a",worker="1"} 1.0' in text
            assert 'pinway_things_total{kind="a",worker="2"} 2.0' in text
            assert text.count("# TYPE pinway_things_total counter") == 1
            ups = [line for line in text.splitlines() if line.startswith("pinway_worker_up")]
            assert [line.rpartition(" ")[2] for line in ups] == ["1.0", "1.0", "0.0"]
        async with telling(three, 3):
            text = (await of_workers(await one.metrics(counted(1)))).decode()
            assert 'pinway_things_total{kind="a",worker="3"} 3.0' in text


async def test_everything_that_is_exposed_survives_the_merge(tmp_path: Path) -> None:
    async with site(tmp_path) as found:
        async with client(found.public) as local:
            await local.post("/graphql", json={"query": SIGN_UP})
        own = (await found.metrics()).decode()
        merged = (await of_workers({1: own.encode()})).decode()
    samples = [line for line in own.splitlines() if not line.startswith("#")]
    kept = [line for line in merged.splitlines() if not line.startswith("#")]
    assert len(kept) == len(samples) + 1  # pinway_worker_up
    types = {line for line in own.splitlines() if line.startswith("# TYPE")}
    assert types <= set(merged.splitlines())


async def test_errors_are_counted_by_their_code(tmp_path: Path) -> None:
    async with site(tmp_path) as found, client(found.public) as local:
        for query in (
            "{ nothing }",
            "{ viewer",
            "mutation { createBoard(input: {}) { board { id } } }",
        ):
            await local.post("/graphql", json={"query": query})
        await local.post("/graphql", json={"query": "{ viewer { id } pin(id: 1) { id } }"})
        await local.get(
            "/graphql", params={"query": "{a}"}, headers={"sec-fetch-site": "cross-site"}
        )
        await local.post("/graphql", json={"query": "{a}"}, headers={"authorization": "Bearer x"})
        text = (await local.get("/metrics")).text
    counts = dict(re.findall(r'pinway_errors_total\{code="(\w+)"\} (\S+)', text))
    assert counts == {
        "BAD_USER_INPUT": "1.0",
        "FORBIDDEN": "1.0",
        "GRAPHQL_PARSE_FAILED": "1.0",
        "GRAPHQL_VALIDATION_FAILED": "2.0",
        "UNAUTHENTICATED": "1.0",
    }
