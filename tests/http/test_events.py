"""`recordEvents` and `deleteEvents`, as clients send them."""

from collections.abc import AsyncIterator

import pytest

from datasources.protocols import EventKind
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def kept(gateway: Gateway) -> set[tuple[str, EventKind]]:
    events = await gateway.stores.shards.events.of_user(gateway.people["ann"], 99)
    return {(str(event.pin_id), event.kind) for event in events}


async def test_events_of_all_kinds_are_kept_until_their_viewer_deletes_them(
    gateway: Gateway,
) -> None:
    board = await gateway.board("bob", "Teas")
    pin = await gateway.pin("bob", board, "Gyokuro")
    secret = await gateway.board("bob", "Hidden", secret=True)
    unseen = await gateway.pin("bob", secret, "a secret")
    kinds = ("OPENED", "LINK_FOLLOWED", "SEEN")
    events = [{"pinId": id, "kind": kind} for id in (pin, unseen) for kind in kinds]
    await gateway.mutate("ann", "recordEvents", "", events=events)
    await gateway.settle()
    assert await kept(gateway) == {(pin, kind) for kind in EventKind}
    await gateway.mutate("ann", "deleteEvents", "")
    assert await kept(gateway) == set()


async def test_bad_events_are_errors_of_the_payload(gateway: Gateway) -> None:
    ann = str(gateway.people["ann"])
    for events, message in (
        ([], "Send 1 to 100 events at once, not 0."),
        ([{"pinId": ann, "kind": "SEEN"}], f"{ann} is the id of a user, not of a pin"),
        ([{"pinId": "x", "kind": "SEEN"}], "'x' is not an id"),
    ):
        payload = await gateway.try_to("ann", "recordEvents", "", events=events)
        [error] = payload["errors"]
        assert (error["code"], error["field"]) == ("BAD_USER_INPUT", "events")
        assert message in error["message"]


async def test_a_stranger_must_sign_in(gateway: Gateway) -> None:
    query = "mutation { deleteEvents(input: {}) { errors { code } } }"
    answer = await gateway.ask(query)
    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
