"""`extensions.trace`: the batches, calls and caches of one response, for developers alone."""

import gc
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from datasources.recording import Recording, Span
from gateway.observe.extension import SLICE, described
from tests.http.test_admin import SIGN_UP, client, site
from tests.loop_turns import other_task

pytestmark = pytest.mark.anyio
NAMED = '{ user(username: "ann") { id username } }'


async def asked(c: httpx.AsyncClient, query: str = NAMED, **headers: str) -> dict[str, Any]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = await c.post("/graphql", json={"query": query}, headers=sent)
    return dict(answer.json())


async def test_a_response_tells_its_batches_calls_caches_and_levels(tmp_path: Path) -> None:
    async with site(tmp_path) as found, client(found.public) as c:
        await asked(c, SIGN_UP)
        query = '{ user(username: "ann") { id boards(first: 1) { edges { cursor } } } }'
        plain = await asked(c, query)
        answer = await asked(c, query, x_pinway_trace="1", x_pinway_cost="1")
    assert "extensions" not in plain
    assert answer["data"] == plain["data"]
    assert answer["extensions"]["cost"]["estimate"] > 0
    trace = answer["extensions"]["trace"]
    spans = {span["name"]: span for span in trace["spans"]}
    root, batch, call = spans[""], spans["UserIdByUsernameLoader"], spans["mod.find"]
    assert (root["parent"], batch["parent"], call["parent"]) == (None, root["id"], batch["id"])
    assert (batch["keys"], call["backend"], call["outcome"]) == (1, "sqlite", "ok")
    assert 0 <= batch["startMs"] <= call["startMs"]
    assert call["ms"] <= batch["ms"] <= trace["ms"]
    assert trace["caches"]["object_cache"]["keys"] >= 1
    loads = [name for level in trace["levels"] for name in level["loads"]]
    assert loads == ["UserIdByUsernameLoader", "EdgesByListLoader"]
    assert len(trace["levels"]) >= 2
    assert trace["leftOut"] == 0


async def test_a_refused_request_has_a_trace_too(tmp_path: Path) -> None:
    async with site(tmp_path) as found, client(found.public) as c:
        answer = await asked(c, "{ nothing }", x_pinway_trace="1")
    assert answer["errors"]
    spans = answer["extensions"]["trace"]["spans"]
    assert [span["outcome"] for span in spans if span["kind"] == "request"] == ["errors"]


@pytest.mark.parametrize(
    ("peer", "headers"),
    [
        ("203.0.113.5", {}),
        ("203.0.113.5", {"x-forwarded-for": "127.0.0.1"}),
        ("127.0.0.1", {"x-forwarded-for": "203.0.113.5"}),
        ("127.0.0.1", {"via": "1.1 proxy"}),
        ("127.0.0.1", {"host": "pinway.example"}),
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a_stranger_gets_none_and_its_work_is_not_recorded(
    tmp_path: Path, peer: str, headers: dict[str, str], method: str
) -> None:
    async with site(tmp_path) as found, client(found.public, peer) as c:
        sent = {"x-pinway-trace": "1", **headers}
        if method == "POST":
            answer = await c.post("/graphql", json={"query": NAMED}, headers=sent)
        else:
            answer = await c.get("/graphql", params={"query": NAMED}, headers=sent)
    assert answer.json() == {"data": {"user": None}}


async def test_without_a_demo_viewer_nobody_gets_one(tmp_path: Path) -> None:
    async with site(tmp_path, {"auth.demo_viewer": ""}) as found:
        for peer in ("127.0.0.1", "203.0.113.5"):
            async with client(found.public, peer) as c:
                assert "extensions" not in await asked(c, x_pinway_trace="1")


async def test_in_production_nobody_gets_one(tmp_path: Path) -> None:
    secret = "s" * 40
    values = {"production": True, "auth.demo_viewer": "", "auth.secret": secret}
    async with site(tmp_path, values) as found, client(found.public) as c:
        await asked(c, SIGN_UP)
        assert "extensions" not in await asked(c, x_pinway_trace="1")


async def test_other_requests_go_on_while_a_long_recording_is_described() -> None:
    recording = Recording("request", "")
    for _ in range(10 * SLICE):
        recording.root.begin("store", "pins.get").end()
    recording.close()
    async with other_task() as other:
        trace = orjson.loads(await described(recording))
    assert other.turns >= 10
    assert [span["id"] for span in trace["spans"]] == list(range(10 * SLICE + 1))


async def test_the_spans_of_a_request_are_freed_with_it(tmp_path: Path) -> None:
    async with site(tmp_path) as found, client(found.public) as c:
        await asked(c, SIGN_UP)
        await asked(c, x_pinway_trace="1")
        gc.collect()
        gc.disable()
        try:
            before = spans_alive()
            for _ in range(10):
                await asked(c, x_pinway_trace="1")
            assert spans_alive() - before <= 10 + 1  # the requests' own: one of each
        finally:
            gc.enable()


def spans_alive() -> int:
    return sum(isinstance(one, Span) for one in gc.get_objects())
