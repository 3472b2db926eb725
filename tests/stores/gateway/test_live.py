"""Subscriptions on embedded stores: which writes become which events, for whom, and where a stream
goes on."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from feed_engine.live import waiting
from feed_engine.live.hub import HELD
from feed_engine.live.shared import Shared
from gateway.execution import subscriptions
from resolvers.live import boards
from tests.gateways import Gateway, Subscribed, embedded_gateway

pytestmark = pytest.mark.anyio
BOARD = """subscription($id: ID!, $after: String) { boardChanged(boardId: $id, after: $after) {
  kind orderVersion cursor pinId abovePinId sectionId pin { id title } board { name } } }"""
PIN = """subscription($id: ID!) { pinChanged(pinId: $id) {
  kind pin { title likeCount commentCount } comment { text } commentId } }"""


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def kinds(stream: Subscribed, count: int) -> list[str]:
    return [(await stream.next())["kind"] for _ in range(count)]


async def order_of(gateway: Gateway, board: str) -> list[str]:
    query = "query($id: ID!) { board(id: $id) { pins(first: 100) { edges { node { id } } } } }"
    found = await gateway.data(query, "ann", id=board)
    return [edge["node"]["id"] for edge in found["board"]["pins"]["edges"]]


def apply(pins: list[str], event: Any) -> None:
    """Change a list of pins as a client does."""
    pin = event["pinId"]
    if event["kind"] in ("SAVED", "REORDERED"):
        if pin in pins:
            pins.remove(pin)
        above = event["abovePinId"]
        pins.insert(pins.index(above) + 1 if above else 0, pin)
    elif event["kind"] == "REMOVED":
        pins.remove(pin)


async def test_each_change_of_a_board_is_an_event_and_the_events_give_its_order(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "first")
    other = await gateway.board("ann", "other")
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        assert (await stream.next())["kind"] == "STARTED"
        pins = [await gateway.pin("ann", board, title) for title in "abcd"]
        await gateway.mutate(
            "ann", "reorderPin", "pin { id }", boardId=board, pinId=pins[0], beforePinId=pins[2]
        )
        away = await gateway.pin("ann", other, "e")
        await gateway.mutate(
            "ann", "movePin", "pin { id }", pinId=away, boardId=board, afterPinId=pins[1]
        )
        await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pins[0], title="A")
        await gateway.mutate("ann", "movePin", "pin { id }", pinId=pins[3], boardId=other)
        await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pins[2])
        await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, name="renamed")
        events = [await stream.next() for _ in range(10)]
    assert [event["kind"] for event in events] == [
        *["SAVED"] * 4,
        *("REORDERED", "SAVED", "EDITED", "REMOVED", "REMOVED", "BOARD_EDITED"),
    ]
    versions = [int(event["orderVersion"]) for event in events]
    assert versions == sorted(versions)
    assert events[6]["pin"]["title"] == "A"
    assert events[9]["board"]["name"] == "renamed"
    shown: list[str] = []
    for event in events:
        apply(shown, event)
    assert shown == await order_of(gateway, board)


async def test_events_tell_the_section_of_a_pin(gateway: Gateway) -> None:
    board, other = [await gateway.board("ann", name) for name in ("first", "other")]
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        assert await kinds(stream, 1) == ["STARTED"]
        part = await gateway.section("ann", board, "part")
        assert await kinds(stream, 1) == ["BOARD_EDITED"]
        pin = await gateway.pin("ann", board, "a", sectionId=part)
        given = {"pinId": pin, "boardId": board, "sectionId": part}
        copy = (await gateway.mutate("ann", "repin", "pin { id }", **given))["pin"]["id"]
        await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="A")
        for section in (None, part):
            await gateway.mutate(
                "ann", "movePinToSection", "pin { id }", pinId=copy, sectionId=section
            )
        for there in (other, board):
            await gateway.mutate("ann", "movePin", "pin { id }", pinId=pin, boardId=there)
        events = [await stream.next() for _ in range(7)]
    assert [(event["kind"], event["pinId"], event["sectionId"]) for event in events] == [
        ("SAVED", pin, part),
        ("SAVED", copy, part),
        ("EDITED", pin, part),
        ("EDITED", copy, None),
        ("EDITED", copy, part),
        ("REMOVED", pin, None),
        ("SAVED", pin, None),
    ]


async def test_pins_put_in_order_together_let_the_client_read_again(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    pins = [await gateway.pin("ann", board, title) for title in "abc"]
    async with gateway.subscribed(BOARD, "ann", id=board) as stream:
        assert await kinds(stream, 1) == ["STARTED"]
        await gateway.mutate("ann", "reorderPins", "board { id }", boardId=board, pinIds=pins)
        assert await kinds(stream, 1) == ["REFETCH"]
        await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pins[0])
        assert await kinds(stream, 1) == ["REMOVED"]


async def test_likes_comments_and_edits_of_a_pin_are_events(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    pin = await gateway.pin("ann", board, "a")
    async with gateway.subscribed(PIN, None, id=pin) as stream:
        assert (await stream.next())["kind"] == "STARTED"
        await gateway.mutate("bob", "likePin", "pin { id }", pinId=pin)
        event = await stream.next()
        assert (event["kind"], event["pin"]["likeCount"]) == ("LIKED", 1)
        await gateway.mutate("bob", "unlikePin", "pin { id }", pinId=pin)
        event = await stream.next()
        assert (event["kind"], event["pin"]["likeCount"]) == ("UNLIKED", 0)
        made = await gateway.mutate(
            "bob", "createComment", "comment { id }", pinId=pin, text="nice"
        )
        event = await stream.next()
        assert (event["kind"], event["comment"]) == ("COMMENTED", {"text": "nice"})
        comment = made["comment"]["id"]
        assert (event["commentId"], event["pin"]["commentCount"]) == (comment, 1)
        await gateway.mutate("bob", "deleteComment", "deletedCommentId", commentId=comment)
        event = await stream.next()
        assert (event["kind"], event["commentId"]) == ("COMMENT_DELETED", comment)
        await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="A")
        event = await stream.next()
        assert (event["kind"], event["pin"]["title"]) == ("EDITED", "A")


async def test_work_that_is_done_later_is_not_an_event_again(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    pin = await gateway.pin("ann", board, "a")
    async with gateway.subscribed(PIN, None, id=pin) as stream:
        await gateway.mutate("bob", "likePin", "pin { id }", pinId=pin)
        assert await kinds(stream, 2) == ["STARTED", "LIKED"]
        await gateway.settle()
        await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="A")
        assert await kinds(stream, 1) == ["EDITED"]


async def test_a_board_that_becomes_secret_ends_the_streams_of_others_at_once(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "first")
    pin = await gateway.pin("ann", board, "a")
    async with (
        gateway.subscribed(BOARD, "bob", id=board) as theirs,
        gateway.subscribed(BOARD, "ann", id=board) as own,
        gateway.subscribed(PIN, "bob", id=pin) as of_pin,
    ):
        for stream in (theirs, own, of_pin):
            assert await kinds(stream, 1) == ["STARTED"]
        await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=True)
        await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="hidden")
        assert await theirs.response() is None
        assert await of_pin.response() is None
        assert await kinds(own, 2) == ["BOARD_EDITED", "EDITED"]


async def test_an_event_that_waited_while_its_board_became_secret_is_not_delivered(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        assert await kinds(stream, 1) == ["STARTED"]
        await gateway.pin("ann", board, "private")
        await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=True)
        assert await stream.response() is None


async def test_a_board_that_was_secret_before_its_events_were_read_is_read_again(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        assert await kinds(stream, 1) == ["STARTED"]
        for secret in (True, False):
            await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=secret)
            if secret:
                pin = await gateway.pin("ann", board, "hidden")
                await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pin)
        assert await kinds(stream, 1) == ["REFETCH"]
        await gateway.pin("ann", board, "b")
        events = [await stream.next()]
        while events[-1]["kind"] != "SAVED":
            events.append(await stream.next())
        assert pin not in {event["pinId"] for event in events}


async def test_a_pin_that_moved_to_a_secret_board_is_removed_and_not_shown(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "first")
    secret = await gateway.board("ann", "secret", secret=True)
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        assert await kinds(stream, 1) == ["STARTED"]
        pin = await gateway.pin("ann", board, "a")
        await gateway.mutate("ann", "movePin", "pin { id }", pinId=pin, boardId=secret)
        saved, removed = await stream.next(), await stream.next()
    assert (saved["kind"], saved["pin"]) == ("SAVED", None)
    assert (removed["kind"], removed["pinId"], removed["pin"]) == ("REMOVED", pin, None)


@pytest.mark.parametrize("query", [BOARD, PIN])
async def test_what_is_hidden_or_absent_can_not_be_subscribed(gateway: Gateway, query: str) -> None:
    secret = await gateway.board("ann", "secret", secret=True)
    pin = await gateway.pin("ann", secret, "a")
    gone = await gateway.board("ann", "gone")
    gone_pin = await gateway.pin("ann", gone, "b")
    await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=gone_pin)
    await gateway.mutate("ann", "deleteBoard", "deletedBoardId", boardId=gone)
    said = set()
    for id in (secret, gone) if query is BOARD else (pin, gone_pin):
        context = gateway._context("bob")
        result = await gateway.executor.run(
            query, {"id": id}, None, context, new_context=lambda: gateway._context("bob")
        )
        assert result.codes == ["NOT_FOUND"]
        assert result.stream is None
        said.add(result.body().replace(id.encode(), b""))
    assert len(said) == 1
    assert gateway.runtime.live is not None
    assert gateway.runtime.live.streams == 0


async def test_a_stream_goes_on_after_the_cursor_of_its_last_event(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        started = await stream.next()
        await gateway.pin("ann", board, "a")
        saved = await stream.next()
    pin = await gateway.pin("ann", board, "b")
    await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title="B")
    async with gateway.subscribed(BOARD, "bob", id=board, after=saved["cursor"]) as stream:
        assert await kinds(stream, 2) == ["SAVED", "EDITED"]
        await gateway.pin("ann", board, "c")
        last = await stream.next()
        assert (last["kind"], last["pin"]["title"]) == ("SAVED", "c")
    async with gateway.subscribed(BOARD, "bob", id=board, after=started["cursor"]) as stream:
        assert await kinds(stream, 4) == ["SAVED", "SAVED", "EDITED", "SAVED"]
    async with gateway.subscribed(BOARD, "bob", id=board, after=last["cursor"]) as stream:
        await gateway.pin("ann", board, "d")
        assert (await stream.next())["pin"]["title"] == "d"


async def test_a_stream_that_can_not_go_on_lets_the_client_read_again(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        cursor = (await stream.next())["cursor"]
    await gateway.pin("ann", board, "a")
    cache: Any = gateway.runtime.opened
    await cache.broadcasts._redis.command("FLUSHDB")
    async with gateway.subscribed(BOARD, "bob", id=board, after=cursor) as stream:
        assert await kinds(stream, 1) == ["REFETCH"]
        await gateway.pin("ann", board, "b")
        assert (await stream.next())["pin"]["title"] == "b"


async def test_what_happened_while_the_board_was_secret_is_not_told_later(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "first")
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        cursor = (await stream.next())["cursor"]
        await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=True)
        assert await stream.response() is None
    pin = await gateway.pin("ann", board, "hidden")
    await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pin)
    await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=False)
    async with gateway.subscribed(BOARD, "bob", id=board, after=cursor) as stream:
        assert await kinds(stream, 1) == ["REFETCH"]
        await gateway.pin("ann", board, "b")
        assert (await stream.next())["pin"]["title"] == "b"


async def test_another_boards_cursor_is_refused(gateway: Gateway) -> None:
    board, other = await gateway.board("ann", "first"), await gateway.board("ann", "other")
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        cursor = (await stream.next())["cursor"]
    for after in (cursor, "nonsense", "é"):
        result = await gateway.executor.run(
            BOARD,
            {"id": other, "after": after},
            None,
            gateway._context("bob"),
            new_context=lambda: gateway._context("bob"),
        )
        assert result.codes == ["BAD_USER_INPUT"]


async def test_a_gap_in_the_order_lets_the_client_read_again(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "PATIENCE", 0.0)
    board = await gateway.board("ann", "first")
    async with gateway.subscribed(BOARD, "bob", id=board) as stream:
        assert await kinds(stream, 1) == ["STARTED"]
        broadcasts: Any = gateway.runtime.opened
        raw = broadcasts.broadcasts
        command, raw._redis.script = raw._redis.script, _lost
        await gateway.pin("ann", board, "lost")
        raw._redis.script = command
        await gateway.pin("ann", board, "heard")
        assert await kinds(stream, 1) == ["REFETCH"]
        await gateway.pin("ann", board, "next")
        assert (await stream.next())["pin"]["title"] == "next"


async def test_changes_of_sections_and_of_the_pins_in_them_are_events(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    pins = [await gateway.pin("ann", board, title) for title in "ab"]
    async with (
        gateway.subscribed(BOARD, "bob", id=board) as stream,
        gateway.subscribed(PIN, "bob", id=pins[0]) as of_pin,
    ):
        assert await kinds(stream, 1) == await kinds(of_pin, 1) == ["STARTED"]
        parts = [await gateway.section("ann", board, name) for name in ("one", "two")]
        one, two = parts
        await gateway.mutate("ann", "renameSection", "", sectionId=one, name="eins")
        await gateway.mutate("ann", "renameSection", "", sectionId=one, name="eins")  # no change
        await gateway.mutate("ann", "reorderSection", "", sectionId=one, afterSectionId=two)
        assert await kinds(stream, 4) == ["BOARD_EDITED"] * 4
        for pin in pins:
            await gateway.mutate("ann", "movePinToSection", "", pinId=pin, sectionId=one)
        await gateway.mutate(
            "ann", "movePinToSection", "", pinId=pins[0], sectionId=one, afterPinId=pins[1]
        )
        await gateway.mutate("ann", "movePinToSection", "", pinId=pins[0])
        events = [await stream.next() for _ in range(4)]
        assert [event["kind"] for event in events] == ["EDITED"] * 4
        assert [event["pin"]["id"] for event in events] == [pins[0], pins[1], pins[0], pins[0]]
        await gateway.mutate("ann", "deleteSection", "", sectionId=one)
        assert await kinds(stream, 1) == ["BOARD_EDITED"]
        assert await kinds(of_pin, 2) == ["EDITED"] * 2


async def _lost(*_: Any, **__: Any) -> None:
    """A publication that does not arrive."""


async def test_a_late_reader_is_told_to_read_again(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    pin = await gateway.pin("ann", board, "a")
    async with gateway.subscribed(PIN, "bob", id=pin) as stream:
        assert await kinds(stream, 1) == ["STARTED"]
        live = gateway.runtime.live
        assert live is not None
        for number in range(HELD + 1):
            await gateway.mutate("ann", "updatePin", "pin { id }", pinId=pin, title=str(number))
        async with asyncio.timeout(60):
            while not live.counts.overrun:  # noqa: ASYNC110 nobody tells
                await asyncio.sleep(0)
        assert await kinds(stream, 1) == ["REFETCH"]


async def test_a_subscription_is_refused_where_it_can_not_be_delivered(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    answer = await gateway.ask(BOARD, "ann", id=board)
    assert "data" not in answer
    assert "text/event-stream" in answer["errors"][0]["message"]


async def test_errors_and_nulls_of_an_event_are_the_executors(gateway: Gateway) -> None:
    board = await gateway.board("ann", "first")
    query = """subscription($id: ID!) { it: boardChanged(boardId: $id) {
      kind board { pins(first: 1, last: 1) { edges { cursor } } } } }"""
    async with gateway.subscribed(query, "ann", id=board) as stream:
        response = await stream.response()
    assert response["errors"][0]["path"] == ["it", "board", "pins"]
    assert response["data"]["it"]["kind"] == "STARTED"


HOME = "subscription { homeFeedUpdated { waiting more } }"


async def test_new_pins_for_the_home_feed_are_counted_and_not_used_up(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "SOONEST", 0.001)
    monkeypatch.setattr(waiting, "LATEST", 0.001)
    board = await gateway.board("ann", "first")
    await gateway.pin("ann", board, "before")
    followed = await gateway.mutate(
        "bob", "followUser", "user { id }", userId=str(gateway.people["ann"])
    )
    assert followed["user"]
    await gateway.settle()
    async with gateway.subscribed(HOME, "bob") as one, gateway.subscribed(HOME, "bob") as other:
        for stream in (one, other):
            assert await stream.next() == {"waiting": 0, "more": False}
        pins = [await gateway.pin("ann", board, title) for title in "ab"]
        await gateway.settle()
        for stream in (one, other):
            while (event := await stream.next())["waiting"] < 2:
                pass
            assert event == {"waiting": 2, "more": False}
        await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=True)
        await gateway.settle()
        assert await one.next() == {"waiting": 0, "more": False}
        await gateway.mutate("ann", "updateBoard", "board { id }", boardId=board, secret=False)
        await gateway.settle()
        while (event := await one.next())["waiting"] < 2:
            pass
        home = "{ homeFeed(first: 10) { edges { node { id } } } }"
        feed = await gateway.data(home, "bob")
        assert {*pins} <= {edge["node"]["id"] for edge in feed["homeFeed"]["edges"]}
        await gateway.settle()
        assert await one.next() == {"waiting": 0, "more": False}


async def test_a_home_feed_without_a_viewer_has_no_stream(gateway: Gateway) -> None:
    context = gateway._context(None)
    result = await gateway.executor.run(
        HOME, None, None, context, new_context=lambda: gateway._context(None)
    )
    assert result.codes == ["UNAUTHENTICATED"]


async def test_streams_of_one_viewer_and_document_execute_an_event_once(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streams of other viewers and documents execute it for themselves. Only the stream that
    executes it takes a turn of its client."""
    board = await gateway.board("ann", "first")
    made, turns = list[Any](), list[Any]()
    make = Shared._make

    async def in_turn(work: Coroutine[Any, Any, Any]) -> Any:
        turns.append(work)
        return await work

    async def counted(self: Shared, key: Any, *rest: Any) -> None:
        made.append(key)
        await make(self, key, *rest)

    monkeypatch.setattr(subscriptions, "at_once", in_turn)
    async with AsyncExitStack() as opened:
        streams = [
            await opened.enter_async_context(gateway.subscribed(query, viewer, id=board))
            for query in (BOARD, BOARD.replace("board {", "it: board {"))
            for viewer in ("ann", "bob", None)
            for _ in range(3)
        ]
        assert [await kinds(stream, 1) for stream in streams] == [["STARTED"]] * len(streams)
        assert len(turns) == len(streams)
        monkeypatch.setattr(Shared, "_make", counted)
        pin = await gateway.pin("ann", board, "a")
        events = await asyncio.gather(*(stream.next() for stream in streams))
    assert {(event["kind"], event["pin"]["id"]) for event in events} == {("SAVED", pin)}
    assert len([key for key in made if key is not None]) == 6  # the event was read
    assert len([key for key in made if key is None]) == 6  # the operation was executed
    assert len(turns) == len(streams) + 6


async def test_viewers_who_share_a_document_see_their_own_part_of_an_event(
    gateway: Gateway,
) -> None:
    """Only the owner sees her secret boards."""
    board = await gateway.board("ann", "first")
    query = """subscription($id: ID!) { boardChanged(boardId: $id) {
      kind pin { id } board { owner { boards(first: 9) { edges { node { name } } } } } } }"""
    await gateway.board("ann", "hidden", secret=True)
    async with (
        gateway.subscribed(query, "ann", id=board) as own,
        gateway.subscribed(query, "bob", id=board) as other,
        gateway.subscribed(query, None, id=board) as stranger,
    ):
        for stream in (own, other, stranger):
            await stream.next()
        await gateway.pin("ann", board, "a")
        events = await asyncio.gather(*(stream.next() for stream in (own, other, stranger)))
    names = [
        {edge["node"]["name"] for edge in event["board"]["owner"]["boards"]["edges"]}
        for event in events
    ]
    assert names == [{"first", "hidden"}, {"first"}, {"first"}]
