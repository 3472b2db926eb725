"""Notifications as clients read them: their order, folded likes, pages, marks, and the stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from datasources.clocks import now_ms
from feed_engine import writes
from feed_engine.own_data.requests import AGAIN_AFTER, KEPT_FOR
from resolvers import notifications
from resolvers.context import Context
from resolvers.live import notifications as stream_of_notifications
from tests.gateways import Gateway, embedded_gateway
from tests.unit.gateway.server.apps import until

pytestmark = pytest.mark.anyio
LIST = """query($first: Int, $after: String, $unread: Boolean) {
  notifications(first: $first, after: $after, unreadOnly: $unread) {
    edges { cursor node { id type at read otherCount actor { username } savedPin { title }
      subject { __typename ... on Pin { title } ... on Board { name }
        ... on Comment { text pin { title } } } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }
  unreadNotificationCount }"""
STREAM = """subscription { notified { unreadCount
  notification { type otherCount actor { username } } } }"""


class Gate:
    """In place of a Pace: a turn waits until the gate is open."""

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def turn(self) -> None:
        await self.open.wait()


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob", "cat", "dan", "eve")
        yield gateway


async def page(gateway: Gateway, viewer: str = "ann", **variables: Any) -> Any:
    await gateway.settle()
    return await gateway.data(LIST, viewer, **variables)


async def nodes(gateway: Gateway, viewer: str = "ann", **variables: Any) -> list[Any]:
    found = await page(gateway, viewer, **variables)
    return [edge["node"] for edge in found["notifications"]["edges"]]


async def like(gateway: Gateway, pin: str, *names: str) -> None:
    for name in names:
        await gateway.mutate(name, "likePin", "", pinId=pin)
        await gateway.settle()


async def mark(gateway: Gateway, **input: Any) -> Any:
    payload = await gateway.mutate("ann", "markNotificationsRead", COUNT, **input)
    return payload["unreadNotificationCount"]


COUNT = "unreadNotificationCount"


async def test_each_kind_of_act_has_its_actor_and_subject(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Cats")
    pin = await gateway.pin("ann", board, "Tabby")
    await gateway.mutate("bob", "followUser", "", userId=str(gateway.people["ann"]))
    await gateway.settle()
    await gateway.mutate("bob", "followBoard", "", boardId=board)
    await gateway.settle()
    to = await gateway.board("bob", "Mine")
    await gateway.mutate("bob", "repin", "", pinId=pin, boardId=to)
    await gateway.settle()
    await like(gateway, pin, "bob")
    await gateway.mutate("bob", "createComment", "", pinId=pin, text="Nice!")
    found = await nodes(gateway)
    assert {it["actor"]["username"] for it in found} == {"bob"}
    assert [(it["type"], it["subject"], it["savedPin"]) for it in found] == [
        ("COMMENTED", {"__typename": "Comment", "text": "Nice!", "pin": {"title": "Tabby"}}, None),
        ("LIKED", {"__typename": "Pin", "title": "Tabby"}, None),
        ("SAVED", {"__typename": "Pin", "title": "Tabby"}, {"title": "Tabby"}),
        ("FOLLOWED_BOARD", {"__typename": "Board", "name": "Cats"}, None),
        ("FOLLOWED_USER", None, None),
    ]
    assert len({it["id"] for it in found}) == 5
    assert await nodes(gateway, "bob") == []


async def test_the_likes_of_one_pin_are_one_entry_which_comes_up_again(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Cats")
    one, two = [await gateway.pin("ann", board, title) for title in ("one", "two")]
    await like(gateway, one, "bob", "cat")
    await like(gateway, two, "bob")
    found = await nodes(gateway)
    assert [(it["subject"]["title"], it["otherCount"]) for it in found] == [("two", 0), ("one", 1)]
    assert [it["actor"]["username"] for it in found] == ["bob", "cat"]
    await like(gateway, one, "dan")
    again = await nodes(gateway)
    assert [it["id"] for it in again] == [it["id"] for it in found[::-1]]
    assert (again[0]["actor"]["username"], again[0]["otherCount"]) == ("dan", 2)
    await gateway.mutate("dan", "unlikePin", "", pinId=one)
    assert [it["id"] for it in await nodes(gateway)] == [it["id"] for it in found]


async def test_pages_end_and_continue(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Cats")
    for number in range(5):
        await like(gateway, await gateway.pin("ann", board, f"{number}"), "bob")
    titles, after = list[str](), None
    for left in (True, True, False):
        found = (await page(gateway, first=2, after=after))["notifications"]
        info = found["pageInfo"]
        assert info["hasNextPage"] is left
        assert info["hasPreviousPage"] is (after is not None)
        titles += [edge["node"]["subject"]["title"] for edge in found["edges"]]
        cursors = [edge["cursor"] for edge in found["edges"]]
        assert (info["startCursor"], info["endCursor"]) == (cursors[0], cursors[-1])
        after = info["endCursor"]
    assert titles == ["4", "3", "2", "1", "0"]


async def test_a_page_reads_beyond_what_is_hidden(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Cats")
    pins = [await gateway.pin("ann", board, f"{number}") for number in range(6)]
    for pin in pins:
        await like(gateway, pin, "bob")
    for pin in pins[2:]:
        await gateway.mutate("ann", "deletePin", "", pinId=pin)
    found = await page(gateway, first=1)
    assert [e["node"]["subject"]["title"] for e in found["notifications"]["edges"]] == ["1"]
    assert found["notifications"]["pageInfo"]["hasNextPage"]
    assert found["unreadNotificationCount"] == 2


async def test_marks_hold_up_to_a_cursor_or_for_all(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Cats")
    pins = [await gateway.pin("ann", board, f"{number}") for number in range(3)]
    for pin in pins:
        await like(gateway, pin, "bob")
    found = await page(gateway)
    assert found["unreadNotificationCount"] == 3
    edges = found["notifications"]["edges"]
    assert [edge["node"]["read"] for edge in edges] == [False] * 3
    assert await mark(gateway, upTo=edges[1]["cursor"]) == 1
    assert await mark(gateway, upTo=edges[2]["cursor"]) == 1  # never taken back
    assert [it["read"] for it in await nodes(gateway)] == [False, True, True]
    assert [it["subject"]["title"] for it in await nodes(gateway, unread=True)] == ["2"]
    await like(gateway, pins[0], "cat")
    found = await nodes(gateway)
    assert [(it["subject"]["title"], it["read"]) for it in found] == [
        *(("0", False), ("2", False), ("1", True))
    ]
    assert await mark(gateway) == 0
    assert await nodes(gateway, unread=True) == []
    assert (await page(gateway))["unreadNotificationCount"] == 0


async def test_a_cursor_of_another_list_or_viewer_is_refused(gateway: Gateway) -> None:
    board = await gateway.board("ann", "Cats")
    await like(gateway, await gateway.pin("ann", board, "one"), "bob")
    cursor = (await page(gateway))["notifications"]["edges"][0]["cursor"]
    for viewer, wrong in (("bob", cursor), ("ann", "x")):
        refused = await gateway.try_to(viewer, "markNotificationsRead", COUNT, upTo=wrong)
        assert refused[COUNT] is None
        assert [(e["code"], e["field"]) for e in refused["errors"]] == [("BAD_USER_INPUT", "upTo")]
        response = await gateway.ask(LIST, viewer, after=wrong)
        assert response["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_strangers_have_no_notifications(gateway: Gateway) -> None:
    response = await gateway.ask(LIST)
    assert response["data"] == {"notifications": None, "unreadNotificationCount": None}
    assert [e["extensions"]["code"] for e in response["errors"]] == ["UNAUTHENTICATED"]


async def test_unread_notifications_are_counted_up_to_a_bound(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert notifications.MOST_COUNTED == 100
    monkeypatch.setattr(notifications, "MOST_COUNTED", 2)
    board = await gateway.board("ann", "Cats")
    for number in range(3):
        await like(gateway, await gateway.pin("ann", board, f"{number}"), "bob")
    assert (await page(gateway))["unreadNotificationCount"] == 2


async def test_a_new_notification_is_an_event_and_a_mark_too(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_of_notifications, "SOONEST", 0.0)
    board = await gateway.board("ann", "Cats")
    pin = await gateway.pin("ann", board, "one")
    async with AsyncExitStack() as opened:
        one, other = [
            await opened.enter_async_context(gateway.subscribed(STREAM, "ann")) for _ in range(2)
        ]
        of_bob = await opened.enter_async_context(gateway.subscribed(STREAM, "bob"))
        for stream in (one, other, of_bob):
            assert await stream.next() == {"unreadCount": 0, "notification": None}
        await like(gateway, pin, "bob")
        for stream in (one, other):
            assert await stream.next() == {
                "unreadCount": 1,
                "notification": {
                    "type": "LIKED",
                    "otherCount": 0,
                    "actor": {"username": "bob"},
                },
            }
        await like(gateway, pin, "cat")
        assert (await one.next())["notification"] == {
            **{"type": "LIKED", "otherCount": 1, "actor": {"username": "cat"}}
        }
        await gateway.mutate("ann", "markNotificationsRead", COUNT)
        assert await one.next() == {"unreadCount": 0, "notification": None}
        await gateway.mutate("ann", "likePin", "", pinId=pin)
        await gateway.mutate("bob", "createComment", "", pinId=pin, text="hm")
        await gateway.settle()
        assert (await one.next())["notification"]["type"] == "COMMENTED"
        await gateway.mutate("ann", "followUser", "", userId=str(gateway.people["bob"]))
        await gateway.settle()
        assert (await of_bob.next())["notification"]["type"] == "FOLLOWED_USER"


class Looks:
    """Counts the looks of streams."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count, self.looked = 0, asyncio.Event()
        monkeypatch.setattr(stream_of_notifications, "unread", self._look)

    async def _look(self, context: Context) -> list[notifications.Notification]:
        found = await notifications.unread(context)
        self.count += 1
        self.looked.set()
        return found


async def test_notifications_that_come_together_are_one_look(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream's next look waits until the test lets it go on."""
    board = await gateway.board("ann", "Cats")
    pins = [await gateway.pin("ann", board, f"{number}") for number in range(3)]
    gate, looks = Gate(), Looks(monkeypatch)
    monkeypatch.setattr(stream_of_notifications, "Pace", lambda seconds: gate)
    async with gateway.subscribed(STREAM, "ann") as stream:
        assert (await stream.next())["unreadCount"] == 0
        hub = gateway.runtime.live
        assert hub is not None
        heard = hub.counts.heard
        for pin in pins:
            await like(gateway, pin, "bob")
        await until(lambda: hub.counts.heard >= heard + len(pins))
        gate.open.set()
        assert (await stream.next())["unreadCount"] == 3
        later = asyncio.create_task(stream.next())
        await asyncio.sleep(0)  # the stream waits
        await like(gateway, pins[0], "cat")
        assert (await later)["notification"]["otherCount"] == 1
    assert looks.count == 3


async def test_what_the_viewer_may_not_see_is_no_event(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_of_notifications, "SOONEST", 0.0)
    pin = await gateway.pin("ann", await gateway.board("ann", "Cats"), "one")
    await gateway.mutate("ann", "muteUser", "", userId=str(gateway.people["bob"]))
    looks = Looks(monkeypatch)
    async with gateway.subscribed(STREAM, "ann") as stream:
        assert (await stream.next())["unreadCount"] == 0
        later = asyncio.create_task(stream.next())
        looks.looked.clear()
        await like(gateway, pin, "bob")
        await looks.looked.wait()
        await like(gateway, pin, "cat")
        assert await later == {
            "unreadCount": 1,
            "notification": {"type": "LIKED", "otherCount": 0, "actor": {"username": "cat"}},
        }
    assert looks.count == 3


async def test_a_file_with_the_viewers_data_is_an_event_and_an_entry_until_its_end(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_of_notifications, "SOONEST", 0.0)
    async with gateway.subscribed(STREAM, "ann") as stream:
        assert (await stream.next())["unreadCount"] == 0
        await gateway.mutate("ann", "requestMyData", "")
        await gateway.settle()
        assert await stream.next() == {
            "unreadCount": 1,
            "notification": {"type": "DATA_READY", "otherCount": 0, "actor": None},
        }
    [told] = await nodes(gateway)
    assert (told["type"], told["subject"], told["savedPin"]) == ("DATA_READY", None, None)
    assert told["read"] is False
    export = (await gateway.data("{ viewer { dataExport { readyAt } } }", "ann"))["viewer"]
    assert told["at"] == export["dataExport"]["readyAt"]
    assert await nodes(gateway, "bob") == []
    assert await mark(gateway) == 0
    assert [it["read"] for it in await nodes(gateway)] == [True]
    end = now_ms() + KEPT_FOR
    monkeypatch.setattr(notifications, "now_ms", lambda: end)
    assert await nodes(gateway) == []


async def test_a_further_file_takes_the_place_of_the_one_before_it(gateway: Gateway) -> None:
    ann = gateway.people["ann"]
    await writes.request_my_data(gateway.stores, ann, at=now_ms() - AGAIN_AFTER)
    [first] = await nodes(gateway)
    await mark(gateway)
    await writes.request_my_data(gateway.stores, ann)
    assert (await gateway.data(LIST, "ann"))["notifications"]["edges"] == []
    [second] = await nodes(gateway)
    assert (second["type"], second["read"]) == ("DATA_READY", False)
    assert second["id"] != first["id"]


async def test_a_stream_of_a_deleted_account_ends(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_of_notifications, "SOONEST", 0.0)
    board = await gateway.board("ann", "Cats")
    pin = await gateway.pin("ann", board, "one")
    async with gateway.subscribed(STREAM, "ann") as stream:
        assert (await stream.next())["unreadCount"] == 0
        await gateway.mutate("bob", "likePin", "", pinId=pin)
        await gateway.mutate("ann", "deleteAccount", "", username="ann")
        await gateway.stores.broadcasts.publish(
            "test", [(f"notifications:{gateway.people['ann']}", b"{}")]
        )
        assert await stream.response() is None


async def test_a_stream_needs_a_viewer(gateway: Gateway) -> None:
    context = gateway._context(None)
    result = await gateway.executor.run(
        STREAM, None, None, context, new_context=lambda: gateway._context(None)
    )
    assert result.codes == ["UNAUTHENTICATED"]
