"""Blocks, mutes and preferences in imports and exports."""

from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.protocols import Stores
from datasources.records import Pin, User, decode
from feed_engine import writes
from feed_engine.feeds import preferences
from feed_engine.feeds.settings import Preferences
from feed_engine.transactions import blocks
from gateway.operate.imports import choice_lists, edges
from gateway.operate.imports.load import Load
from gateway.operate.imports.report import ImportOptions
from tests.audit import audit
from tests.embedded_stores import drain
from tests.gateways import Gateway, embedded_gateway
from tests.importing.conftest import Fresh
from tests.importing.files import (
    block,
    board,
    collaborator,
    follow,
    give,
    hide,
    interest,
    mute,
    pin,
    preference,
    take,
    user,
)

pytestmark = pytest.mark.anyio

PEOPLE = [user("ann"), user("bob"), user("cleo"), interest("tea")]
BOARDS = [board("a", "ann"), board("b", "bob"), pin("p", "b", interests=["tea"]), pin("q", "b")]


async def ids(stores: Stores) -> dict[str, int]:
    """The ids of users and pins, by user name or key."""
    found = dict[str, int]()
    for kind in (Kind.USER, Kind.PIN, Kind.INTEREST, Kind.BOARD):
        for id, data in await stores.shards.objects.list(kind, 0, 1000):
            record = decode(kind, id, data)
            name = record.username.removeprefix("user_") if isinstance(record, User) else record.key
            title = record.title if isinstance(record, Pin) else ""
            found[title or name or ""] = id
    return found


async def listed(stores: Stores, mapping: Mapping, id: int) -> list[int]:
    page = PageRequest(ListKey(mapping, id), 100)
    return [edge.to_id for edge in (await stores.shards.mappings.pages([page]))[0]]


async def ties(stores: Stores, id: int) -> list[int]:
    """The users and boards that a user follows, collaborates on, and is invited to."""
    mappings = (
        *(Mapping.USER_FOLLOWS_USERS, Mapping.USER_FOLLOWS_BOARDS),
        *(Mapping.USER_COLLABORATES_ON_BOARDS, Mapping.USER_INVITED_TO_BOARDS),
    )
    return [to_id for mapping in mappings for to_id in await listed(stores, mapping, id)]


async def test_what_people_chose_comes_back_elsewhere_and_only_once(fresh: Fresh) -> None:
    async with fresh() as stores:
        assert (await take(stores, *PEOPLE, *BOARDS)).bad == []
        on = await ids(stores)
        at = 1_700_000_000_000
        await writes.block_user(stores, on["ann"], on["bob"], at=at)
        await writes.block_user(stores, on["cleo"], on["ann"], at=at + 1)
        await writes.unblock_user(stores, on["cleo"], on["ann"])
        await writes.mute_user(stores, on["cleo"], on["bob"], at=at + 2)
        await writes.hide_pin(stores, on["cleo"], on["p"], at=at + 3)
        await writes.see_less(stores, on["cleo"], on["b"], at=at + 4)
        await writes.see_more(stores, on["cleo"], on["b"], at=at + 5)
        await writes.see_less(stores, on["cleo"], on["tea"], at=at + 6)
        await writes.see_more(stores, on["cleo"], on["ann"], at=at + 7)
        await drain(stores)
        first = await give(stores)
    assert first.count(b'"type":"block"') == first.count(b'"type":"mute"') == 1
    assert first.count(b'"type":"hide"') == 1
    assert first.count(b'"type":"preference"') == 3
    async with fresh() as stores:
        report = await take(stores, first)
        assert report.bad == []
        chosen = {"block": 1, "mute": 1, "hide": 1, "preference": 3}
        assert {what: report.new[what] for what in chosen} == chosen
        assert await give(stores) == first
        on = await ids(stores)
        assert await listed(stores, Mapping.USER_BLOCKS_USERS, on["ann"]) == [on["bob"]]
        assert await listed(stores, Mapping.USER_BLOCKED_BY_USERS, on["bob"]) == [on["ann"]]
        assert await preferences.read(stores, on["cleo"]) == Preferences(
            hidden=frozenset([on["p"]]),
            less=frozenset([on["tea"]]),
            more=frozenset([on["b"], on["ann"]]),
            muted=frozenset([on["bob"]]),
        )
        again = await take(stores, first)
        assert again.bad == []
        assert not any(again.new[what] for what in chosen)
        assert await give(stores) == first
        assert await audit(stores) == []


async def test_a_block_ends_follows_and_memberships_of_the_file_in_whatever_order(
    fresh: Fresh,
) -> None:
    between = [
        *(follow("ann", user="bob"), follow("bob", board="a"), follow("bob", user="cleo")),
        *(collaborator("a", "bob"), collaborator("b", "ann", invited=True)),
    ]
    lines = (block("ann", "bob"), between[:3], between[3:], [*PEOPLE, *BOARDS])
    expected = None
    for some in list(permutations(lines))[::5]:
        async with fresh() as stores:
            flat = [line for it in some for line in (it if isinstance(it, list) else [it])]
            for _ in range(2):
                assert (await take(stores, *flat)).bad == []
                await drain(stores)
                on = await ids(stores)
                assert await ties(stores, on["ann"]) == []
                assert await ties(stores, on["bob"]) == [on["cleo"]]
                assert await listed(stores, Mapping.USER_FOLLOWED_BY_USERS, on["bob"]) == []
                assert await audit(stores) == []
                exported = {*(await give(stores)).splitlines()}
                assert exported == (expected := expected or exported)


async def test_a_block_ends_what_the_stores_have_and_the_cached_blocks_go(stores: Stores) -> None:
    old = [follow("ann", user="bob"), follow("bob", board="a"), collaborator("a", "bob")]
    assert (await take(stores, *PEOPLE, *BOARDS, *old)).bad == []
    on = await ids(stores)
    for name in ("ann", "bob"):  # a gateway has read that nobody blocks them
        key = blocks.cache_key(on[name])
        lease = (await stores.object_cache.get([key]))[key]
        assert not isinstance(lease, bytes)
        await stores.object_cache.fill([(lease, blocks.encode(blocks.NONE))])
        assert isinstance((await stores.object_cache.get([key]))[key], bytes)
    assert (await take(stores, *PEOPLE[:2], block("ann", "bob"))).bad == []
    for name in ("ann", "bob"):
        key = blocks.cache_key(on[name])
        assert not isinstance((await stores.object_cache.get([key]))[key], bytes)
    assert await ties(stores, on["ann"]) == await ties(stores, on["bob"]) == []
    await drain(stores)
    assert await audit(stores) == []


async def test_a_follow_between_users_whom_a_block_keeps_apart_here_does_not_come(
    stores: Stores,
) -> None:
    assert (await take(stores, *PEOPLE, *BOARDS)).bad == []
    on = await ids(stores)
    await writes.block_user(stores, on["bob"], on["ann"])
    await drain(stores)
    lines = [follow("ann", user="bob"), follow("ann", board="b"), follow("bob", board="a")]
    assert (await take(stores, *PEOPLE, *BOARDS, *lines, follow("ann", user="cleo"))).bad == []
    assert await ties(stores, on["ann"]) == [on["cleo"]]
    assert await ties(stores, on["bob"]) == []
    await drain(stores)
    assert await audit(stores) == []


@pytest.mark.parametrize("after", [False, True])
async def test_a_block_that_is_made_during_an_import_ends_the_follows_of_the_file(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """The block's job runs just before the follows are written, or just after."""
    assert (await take(stores, *PEOPLE, *BOARDS)).bad == []
    on = await ids(stores)
    load_follows: Callable[[Load], Awaitable[None]] = edges.load_follows

    async def interrupted(load: Load) -> None:
        if after:
            await load_follows(load)
        await writes.block_user(stores, on["bob"], on["ann"])
        await drain(stores)
        if not after:
            await load_follows(load)

    monkeypatch.setattr(edges, "load_follows", interrupted)
    lines = [follow("ann", user="bob"), follow("ann", board="b"), follow("bob", board="a")]
    assert (await take(stores, *PEOPLE, *BOARDS, *lines)).bad == []
    await drain(stores)
    assert await ties(stores, on["ann"]) == await ties(stores, on["bob"]) == []
    assert await audit(stores) == []


async def test_what_people_chose_since_an_import_stays(stores: Stores) -> None:
    chosen = [
        *(block("ann", "bob"), mute("ann", "cleo"), hide("cleo", "p")),
        *(preference("ann", "less", user="cleo"), preference("ann", "less", interest="tea")),
    ]
    lines = [*PEOPLE, *BOARDS, *chosen]
    assert (await take(stores, *lines)).bad == []
    on = await ids(stores)
    await writes.unblock_user(stores, on["ann"], on["bob"])
    await writes.unmute_user(stores, on["ann"], on["cleo"])
    await writes.unhide_pin(stores, on["cleo"], on["p"])
    await writes.see_as_usual(stores, on["ann"], on["cleo"])
    await writes.see_more(stores, on["ann"], on["tea"])
    await writes.see_more(stores, on["ann"], on["b"])
    await writes.follow(stores, on["ann"], on["bob"])
    await drain(stores)
    before = await give(stores)
    report = await take(stores, *lines, preference("ann", "less", board="b"))
    assert report.bad == []
    assert not any(report.new.get(what) for what in ("block", "mute", "hide", "preference"))
    assert await give(stores) == before
    assert b'"follow"' in before
    assert await audit(stores) == []


async def test_a_hidden_repin_hides_its_picture(stores: Stores) -> None:
    lines = [*PEOPLE, *BOARDS, pin("r", "a", source="p"), hide("cleo", "r"), hide("cleo", "p")]
    report = await take(stores, *lines)
    assert (report.bad, report.new["hide"]) == ([], 1)
    on = await ids(stores)
    assert await listed(stores, Mapping.USER_HIDES_PINS, on["cleo"]) == [on["p"]]
    assert await audit(stores) == []


async def test_choices_about_deleted_objects_are_not_exported(stores: Stores) -> None:
    lines = [block("ann", "cleo"), hide("ann", "p"), preference("ann", "more", board="b")]
    assert (await take(stores, *PEOPLE, *BOARDS, *lines)).bad == []
    on = await ids(stores)
    await writes.delete_board(stores, on["bob"], on["b"])
    await drain(stores)
    exported = await give(stores)
    assert b'"type":"block"' in exported
    assert b'"type":"hide"' not in exported
    assert b'"type":"preference"' not in exported


async def test_the_choices_of_a_viewer_are_bounded_in_a_file_and_here(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    for mapping, (_, what) in choice_lists.LISTS.items():
        monkeypatch.setitem(choice_lists.LISTS, mapping, (1, what))  # type: ignore[misc]
    lines = [block("ann", "bob"), hide("ann", "p"), preference("ann", "less", board="a")]
    more = [block("ann", "cleo"), hide("ann", "q"), preference("ann", "less", board="b")]
    said = ("blocked users", "hidden pins", "users, boards and interests to see less of")
    report = await take(stores, *PEOPLE, *BOARDS, *lines, *more)
    assert [str(bad) for bad in report.bad] == [
        f"line {12 + n}: viewer 'ann' has more than 1 {what}" for n, what in enumerate(said)
    ]
    report = await take(stores, *PEOPLE, *BOARDS, *more)
    assert [str(bad) for bad in report.bad] == [
        f"line {9 + n}: viewer 'ann' has 1 {what} here already" for n, what in enumerate(said)
    ]
    assert await audit(stores) == []


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        yield gateway


PATHS = {
    "profile": "query($user: ID!) { user(id: $user) { username } }",
    "board": "query($board: ID!) { board(id: $board) { name } }",
    "pin": "query($pin: ID!) { pin(id: $pin) { title } }",
    "feed": "{ homeFeed { edges { node { title } } } }",
    "following": "{ followingFeed { edges { node { title } } } }",
}


async def test_imported_blocks_mutes_and_preferences_hold_in_a_gateway_with_full_feeds(
    gateway: Gateway,
) -> None:
    """Ann blocks Bob; Cleo mutes Bob, and hides a pin of Ann; all follow each other and tea."""
    stores = gateway.runtime.stores
    names = ("ann", "bob", "cleo")
    tied = [follow(one, user=other) for one, other in permutations(names, 2)]
    tied += [follow(name, interest="tea") for name in names]
    world = [
        *(*PEOPLE, board("a", "ann"), board("b", "bob"), *tied),
        *(
            pin(f"{key}{n}", key, title=f"{key}{n}", interests=["tea"])
            for key in "ab"
            for n in "12"
        ),
        *(block("ann", "bob"), mute("cleo", "bob"), hide("cleo", "a1")),
    ]
    assert (await take(stores, *world, options=ImportOptions())).bad == []
    await gateway.settle()
    on = await ids(stores)
    gateway.people.update({name: on[name] for name in names})

    async def seen(viewer: str, of: str) -> str:
        used: dict[str, Any] = {"user": of, "board": of[0], "pin": f"{of[0]}2"}
        given = {name: str(on[key]) for name, key in used.items()}
        answers = []
        for query in PATHS.values():
            asked = {name: id for name, id in given.items() if f"${name}:" in query}
            answers.append(await gateway.data(query, viewer, **asked))
        return str(answers)

    for viewer, other in (("ann", "bob"), ("bob", "ann")):
        answers = await seen(viewer, other)
        assert not any(trace in answers for trace in (f"user_{other}", f"{other[0]}1", "Board"))
        assert f"{other[0]}2" not in answers
    feed = str(await gateway.data(PATHS["feed"], "cleo"))
    following = str(await gateway.data(PATHS["following"], "cleo"))
    assert "a2" in feed
    assert "a1" not in feed
    assert "b1" not in feed + following
    assert "b2" not in feed + following
    assert "user_bob" in await seen("cleo", "bob")
