"""The mutation `report`, as clients send it."""

from collections.abc import AsyncIterator

import pytest

from datasources.protocols import ReportReason
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def stored(gateway: Gateway, id: str) -> list[tuple[int, ReportReason, str]]:
    found = await gateway.stores.shards.reports.case(int(id), 99)
    return [(it.reporter_id, it.reason, it.text) for it in found.reports] if found else []


async def test_every_reason_is_stored_in_place_of_the_one_before(gateway: Gateway) -> None:
    pin = await gateway.pin("bob", await gateway.board("bob", "Teas"), "Gyokuro")
    ann = gateway.people["ann"]
    for reason in ReportReason:
        made = await gateway.mutate(
            "ann", "report", "reportedId", id=pin, reason=reason.name, text=f"it is {reason.name}"
        )
        assert made["reportedId"] == pin
        assert await stored(gateway, pin) == [(ann, reason, f"it is {reason.name}")]


async def test_nothing_tells_the_reported_user(gateway: Gateway) -> None:
    bob = str(gateway.people["bob"])
    pin = await gateway.pin("bob", await gateway.board("bob", "Cups"), "Chawan")
    for id in (bob, pin):
        await gateway.mutate("ann", "report", "", id=id, reason="SPAM", text="by ann herself")
    await gateway.settle()
    seen = await gateway.data(
        "{ unreadNotificationCount notifications { edges { node { id } } } }", "bob"
    )
    assert seen["unreadNotificationCount"] == 0
    assert seen["notifications"]["edges"] == []


async def test_no_query_reads_reports(gateway: Gateway) -> None:
    found = await gateway.data("{ __schema { types { name fields { name } } } }")
    named = {
        (it["name"], field["name"])
        for it in found["__schema"]["types"]
        for field in it["fields"] or ()
        if "report" in field["name"].lower() or "Report" in it["name"]
    }
    assert named == {
        ("Mutation", "report"),
        ("ReportPayload", "reportedId"),
        ("ReportPayload", "errors"),
    }


async def test_bad_reports_are_errors_of_the_payload(gateway: Gateway) -> None:
    ann = str(gateway.people["ann"])
    bob = str(gateway.people["bob"])
    absent = str((int(bob) >> 36 << 36) + 999)
    for id, text, code, field, message in (
        (ann, "", "BAD_USER_INPUT", "id", "Nobody can report themselves: choose another user."),
        ("x", "", "BAD_USER_INPUT", "id", "'x' is not an id"),
        (bob, "x" * 1001, "BAD_USER_INPUT", "text", "at most 1000 are kept"),
        (absent, "", "NOT_FOUND", "id", f"There is no user {absent}."),
    ):
        payload = await gateway.try_to(
            "ann", "report", "reportedId", id=id, reason="SPAM", text=text
        )
        [error] = payload["errors"]
        assert (error["code"], error["field"]) == (code, field)
        assert message in error["message"]
        assert payload["reportedId"] is None


async def test_a_stranger_must_sign_in(gateway: Gateway) -> None:
    query = "mutation($id: ID!) { report(input: {id: $id, reason: SPAM}) { reportedId } }"
    answer = await gateway.ask(query, id=str(gateway.people["bob"]))
    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
