"""Traces as a collector gets them: a request's batches, races and calls; its jobs, linked to it."""

from pathlib import Path

import pytest

from datasources.recording import TraceContext
from gateway.app import create_site
from gateway.observe.tracing import FOLLOWED, Tracer
from gateway.settings import read_settings
from gateway.site.runtime import running
from tests.http.test_admin import client
from tests.otlp import Collector, collecting

pytestmark = pytest.mark.anyio
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
HOME = "query Home { homeFeed(first: 3) { edges { node { id } } } }"
PEOPLE = "query People($name: String!) { user(username: $name) { id username } }"
BOARD = 'mutation Board { createBoard(input: {name: "Lamps"}) { board { id } } }'
PIN = """mutation Pin($board: ID!) {
  createPin(input: {boardId: $board, description: "a lamp", link: "https://a.example/"}) {
    pin { id } } }"""


async def asked(directory: Path, collector: Collector, share: float = 1.0) -> list[dict[str, str]]:
    """A few operations of a new user. Returns the headers of the answers, after all spans have
    arrived."""
    settings = read_settings(
        options={
            "data_dir": directory,
            "auth.demo_viewer": "ann",
            "telemetry.traces": collector.endpoint,
            "telemetry.traces_share": share,
        },
    )
    heads = []
    async with (
        running(settings, create=lambda progress: None) as runtime,
        client(create_site(settings, runtime).public) as c,
    ):
        signed = await c.post(
            "/graphql",
            json={"query": 'mutation { signUp(input: {username: "ann"}) { token } }'},
            headers=PARENT,
        )
        c.headers["authorization"] = f"Bearer {signed.json()['data']['signUp']['token']}"
        made = await c.post("/graphql", json={"query": BOARD}, headers=PARENT)
        board = made.json()["data"]["createBoard"]["board"]["id"]
        for query, variables, sent in (
            (PIN, {"board": board}, PARENT),
            (PEOPLE, {"name": "ann"}, {}),
            (HOME, {}, {}),
        ):
            response = await c.post(
                "/graphql", json={"query": query, "variables": variables}, headers=sent
            )
            assert "errors" not in response.json(), response.text
            heads.append(dict(response.headers))
        while (await runtime.stores.shards.outbox.backlog()).rows:
            await runtime.stores.queue.ping()  # jobs run meanwhile
    return heads


async def test_a_request_is_a_trace_with_its_loads_races_calls_and_jobs(tmp_path: Path) -> None:
    with collecting() as collector:
        heads = await asked(tmp_path, collector)
    [pin] = collector.named("mutation Pin")
    assert (pin["trace"], pin["parent"], pin["service"]) == (TRACE, SPAN, "pinway")
    assert pin["http.response.status_code"] == 200
    assert heads[0]["traceresponse"] == f"00-{TRACE}-{pin['id']}-01"
    assert heads[0]["x-request-id"] == pin["pinway.request_id"]
    [transaction] = [s for s in collector.below(pin) if s["name"] == "store objects.transact"]
    assert transaction["db.system.name"] == "sqlite"

    jobs = [span for span in collector.spans if (TRACE, pin["id"]) in span["links"]]
    assert {job["name"] for job in jobs} == {"job"}
    assert all(job["trace"] != TRACE for job in jobs)
    assert any(s["name"] == "store outbox.load" for s in collector.below(jobs[0]))

    [people] = collector.named("query People")
    assert people["trace"] != TRACE
    assert people["graphql.operation.name"] == "People"
    [batch] = [s for s in collector.below(people) if s["name"] == "batch UserIdByUsernameLoader"]
    assert [s["name"] for s in collector.below(batch)] == ["store mod.find"]

    [home] = collector.named("query Home")
    races = [s for s in collector.below(home) if s["name"].startswith("race ")]
    assert races
    legs = [leg for race in races for leg in collector.below(race)]
    assert {leg["name"] for leg in legs} <= {
        f"store {store}_{side}.{call}"
        for store in ("pools", "feeds")
        for side in ("primary", "standby")
        for call in ("read", "get")
    }
    assert legs
    assert all(span["seconds"] >= 0 for span in collector.spans)


async def test_what_is_not_sampled_is_not_sent_but_keeps_its_trace(tmp_path: Path) -> None:
    with collecting() as collector:
        heads = await asked(tmp_path, collector, share=0.0)
    servers = {span["name"] for span in collector.spans if span["kind"] == 2}
    assert servers == {"mutation", "mutation Board", "mutation Pin"}
    assert heads[1]["traceresponse"].endswith("-00")


async def test_strangers_who_ask_for_traces_get_a_bounded_number() -> None:
    now = 0.0
    tracer = Tracer("http://127.0.0.1:9", 0.0, clock=lambda: now)
    try:
        asked, silent = (TraceContext(TRACE, SPAN, sampled, "") for sampled in (True, False))
        places = [tracer.place(asked) for _ in range(3 * FOLLOWED)]
        assert [place.sampled for place in places] == [True] * FOLLOWED + [False] * 2 * FOLLOWED
        assert {place.trace_id for place in places} == {TRACE}
        now = 1.0
        assert tracer.place(asked).sampled
        assert not tracer.place(silent).sampled
    finally:
        await tracer.close()
    everything = Tracer("http://127.0.0.1:9", 1.0, clock=lambda: now)
    try:
        assert all(everything.place(asked).sampled for _ in range(2 * FOLLOWED))
    finally:
        await everything.close()
