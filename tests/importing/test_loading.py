"""The writes of an import, the files that it refuses, and the objects that it leaves unchanged."""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from datasources import records
from datasources.errors import BadInput, ConfigError, StoreUnavailable
from datasources.ids import Kind, shard_of
from datasources.mappings import SEQUENCE_STEP, Edge, ListKey, Mapping, PageRequest
from datasources.protocols import Lease, Sides, Stores
from datasources.records import Board, Pin, Record
from feed_engine import writes
from feed_engine.feeds.rows import FOLLOWING, POOLS, POPULAR_ROWS, id_row
from feed_engine.writes import collaborators, sections
from gateway.operate.imports import collaborators as loading
from gateway.operate.imports.entries import json_lines
from gateway.operate.imports.loader import import_entries
from gateway.operate.imports.report import Bad, ImportOptions, ImportStopped, Progress, summary
from tests.audit import audit
from tests.embedded_stores import drain
from tests.faulty import Preceded
from tests.importing.files import (
    NO_FEEDS,
    block,
    board,
    collaborator,
    comment,
    follow,
    give,
    hide,
    import_file,
    interest,
    like,
    mute,
    pin,
    preference,
    section,
    take,
    user,
)
from tests.importing.worlds import bookmarks, canonical_set, large
from tests.interests import create_interest

pytestmark = pytest.mark.anyio

STRICT = replace(NO_FEEDS, strict=True)


async def objects(stores: Stores, kind: Kind) -> dict[str, Any]:
    """All objects of a kind by their keys."""
    found = await stores.shards.objects.list(kind, 0, 10**6)
    decoded: list[Record] = [records.decode(kind, id, data) for id, data in found]
    return {record.key or str(record.id): record for record in decoded}


async def rows(stores: Stores, mapping: Mapping, from_id: int) -> list[Edge]:
    request = PageRequest(ListKey(mapping, from_id), 1000)
    return (await stores.shards.mappings.pages([request]))[0]


async def test_lines_may_come_in_any_order(stores: Stores) -> None:
    report = await take(
        stores,
        like("ann", "p2"),
        comment("c", "p1", "ann"),
        pin("p2", "b", source="p1"),
        pin("p1", "b", interests=["tea"]),
        follow("ann", interest="tea"),
        follow("ann", user="bob"),
        board("b", "bob", cover="p1"),
        interest("tea"),
        user("bob"),
        user("ann"),
    )
    assert report.bad == []
    assert report.loaded == {
        "user": 2, "interest": 1, "board": 1, "pin": 2, "comment": 1, "like": 1, "follow": 2
    }  # fmt: skip
    pins, boards = await objects(stores, Kind.PIN), await objects(stores, Kind.BOARD)
    assert pins["p2"].source_id == pins["p1"].id
    assert boards["b"].cover_pin_id == pins["p1"].id
    assert await audit(stores) == []


async def test_a_second_run_counts_what_is_there_already(stores: Stores) -> None:
    first = [user("ann"), user("bob"), interest("tea"), board("b", "ann"), pin("p", "b")]
    await take(stores, *first, like("bob", "p"), follow("bob", user="ann"))
    report = await take(
        stores, *first, pin("q", "b"), like("bob", "p"), like("ann", "p"), follow("bob", board="b"),
        follow("bob", user="ann"), comment("c", "p", "ann"),
    )  # fmt: skip
    assert {kind: count for kind, count in report.new.items() if count} == {
        "pin": 1, "like": 1, "follow": 1, "comment": 1
    }  # fmt: skip
    assert summary(report) == (
        "new: 1 pin, 1 comment, 1 like, 1 follow; already there: 2 users, 1 interest, 1 board, "
        "1 pin, 1 like, 1 follow; 0 bad lines"
    )


async def test_files_of_different_sources_share_no_objects(stores: Stores) -> None:
    shop = replace(NO_FEEDS, source="shop")
    await take(stores, user("1"), board("1", "1"), pin("1", "1"))
    before = await give(stores)
    other = [user("1"), user("2"), interest("tea"), board("1", "1"), board("2", "2"), pin("2", "2")]
    report = await take(stores, *other, options=shop)
    assert [bad.message for bad in report.bad] == [
        "the user name 'user_1' is taken",
        "there is no user '1'",
    ]
    boards = await objects(stores, Kind.BOARD)
    assert {key: it.name for key, it in boards.items()} == {"1": "Board 1", "shop:2": "Board 2"}
    assert {*await objects(stores, Kind.PIN)} == {"1", "shop:2"}
    again = await take(stores, *other, section("3", "2"), options=shop)
    assert {kind: count for kind, count in again.new.items() if count} == {"section": 1}
    assert {*before.splitlines()} <= {*(await give(stores)).splitlines()}
    with pytest.raises(BadInput, match="the source 'A shop' is not a name of 1 to 30 letters"):
        replace(NO_FEEDS, source="A shop")


async def test_an_export_has_no_key_that_is_too_long_for_an_import(stores: Stores) -> None:
    long = "k" * 200
    await take(stores, user(long, username="ann"), options=replace(NO_FEEDS, source="shop"))
    [ann] = (await objects(stores, Kind.USER)).values()
    assert ann.key == f"shop:{long}"
    assert f'"key":"{ann.id}"'.encode() in await give(stores)


async def test_boards_lie_beside_their_owners_and_pins_and_comments_beside_those(
    stores: Stores,
) -> None:
    await take(stores, *large(500))
    boards, pins = await objects(stores, Kind.BOARD), await objects(stores, Kind.PIN)
    comments = await objects(stores, Kind.COMMENT)
    topology = stores.shards.objects.topology()
    for found in (await objects(stores, Kind.USER)).values():
        assert shard_of(found.id) == topology.place(found.username)
    assert all(shard_of(it.id) == shard_of(it.owner_id) for it in boards.values())
    assert all(shard_of(it.id) == shard_of(it.board_id) for it in pins.values())
    assert all(shard_of(it.id) == shard_of(it.pin_id) for it in comments.values())
    owners = {it.id: it.owner_id for it in boards.values()}
    assert {key for key, it in pins.items() if it.owner_id != owners[it.board_id]} == {
        f"p{number}" for number in range(6, 500, 7)
    }


async def test_a_board_shows_its_newest_pin_first_and_a_given_sequence_before_that(
    stores: Stores,
) -> None:
    high = str(2 * 10**12 * SEQUENCE_STEP)
    await take(
        stores,
        user("ann"),
        board("b", "ann"),
        pin("old", "b", created="2020-01-01T00:00:00Z"),
        pin("moved", "b", created="2019-01-01T00:00:00Z", sequence=high),
        pin("new", "b", created="2021-01-01T00:00:00Z"),
        pin("undated", "b"),
    )
    pins = {it.id: key for key, it in (await objects(stores, Kind.PIN)).items()}
    found = await rows(stores, Mapping.BOARD_HAS_PINS, (await objects(stores, Kind.BOARD))["b"].id)
    assert [pins[row.to_id] for row in found] == ["moved", "new", "old", "undated"]


async def test_pins_of_secret_boards_are_in_no_public_list(stores: Stores) -> None:
    await take(
        stores, user("ann"), interest("tea"), board("b", "ann", secret=True),
        pin("p", "b", interests=["tea"]),
    )  # fmt: skip
    ann = (await objects(stores, Kind.USER))["ann"].id
    tea = (await objects(stores, Kind.INTEREST))["tea"].id
    assert len(await rows(stores, Mapping.USER_HAS_PINS, ann)) == 1
    assert len(await rows(stores, Mapping.USER_HAS_BOARDS, ann)) == 1
    assert await rows(stores, Mapping.USER_HAS_PUBLIC_PINS, ann) == []
    assert await rows(stores, Mapping.USER_HAS_PUBLIC_BOARDS, ann) == []
    assert await rows(stores, Mapping.INTEREST_HAS_PINS, tea) == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{", "truncated"),
        (user("ann"), "user 'ann' is there already, in line 1"),
        (user("eve", username="USER_ANN"), "user name 'user_ann' is there already, in line 1"),
        (interest("te", slug="tea"), "slug 'tea' is there already, in line 2"),
        (board("b", "ann"), "board 'b' is there already, in line 3"),
        (board("x", "nobody"), "there is no user 'nobody'"),
        (board("x", "ann", cover="p"), "its cover 'p' is no pin of the board"),
        (pin("p", "b"), "pin 'p' is there already, in line 4"),
        (pin("x", "nowhere"), "there is no board 'nowhere'"),
        (pin("x", "b", source="nothing"), "there is no pin 'nothing'"),
        (pin("x", "b", source="x"), "its source 'x'"),
        (pin("x", "b", interests=["tea", "mud"]), "there is no interest 'mud'"),
        (pin("x", "b", sequence="5"), "sequence 5 on board 'b' is another pin's already"),
        (section("s", "b"), "section 's' is there already, in line 7"),
        (section("x", "nowhere"), "there is no board 'nowhere'"),
        (section("x", "b", sequence="7"), "sequence 7 on board 'b' is another section's already"),
        (section("x", "b", name=" "), "at `$.name`"),
        (pin("x", "b", owner="nobody"), "there is no user 'nobody'"),
        (collaborator("b", "bob"), "'bob' is on board 'b' already, in line 9"),
        (collaborator("b", "nobody"), "there is no user 'nobody'"),
        (collaborator("nowhere", "bob"), "there is no board 'nowhere'"),
        (collaborator("b", "ann"), "'ann' owns board 'b', and is no collaborator of it"),
        (pin("x", "b", section="nothing"), "its section 'nothing' is no section of its board"),
        (pin("x", "b", section_sequence="4"), "Expected `section` beside `section_sequence`"),
        (comment("c", "nothing", "ann"), "there is no pin 'nothing'"),
        (comment("c", "p", "nobody"), "there is no user 'nobody'"),
        (like("ann", "p"), "'ann' likes 'p' already, in line 5"),
        (like("nobody", "p"), "there is no user 'nobody'"),
        (like("ann", "nothing"), "there is no pin 'nothing'"),
        (follow("ann", board="b"), "'ann' follows board 'b' already, in line 6"),
        (follow("ann", user="b"), "there is no user 'b'"),
        (follow("ann", board="tea"), "there is no board 'tea'"),
        (follow("ann", interest="p"), "there is no interest 'p'"),
        (block("bob", "cleo"), "'bob' has a block of user 'cleo' already, in line 10"),
        (block("ann", "nobody"), "there is no user 'nobody'"),
        (block("nobody", "ann"), "there is no user 'nobody'"),
        (block("ann", "ann"), "user 'ann' can't block themselves"),
        (mute("ann", "ann"), "user 'ann' can't mute themselves"),
        (mute("ann", "nobody"), "there is no user 'nobody'"),
        (hide("ann", "nothing"), "there is no pin 'nothing'"),
        (preference("ann", "more", board="b"), "'ann' has a preference of board 'b' already"),
        (preference("ann", "less", board="tea"), "there is no board 'tea'"),
        (preference("ann", "less", interest="b"), "there is no interest 'b'"),
        (preference("ann", "usual", board="b"), "Invalid enum value 'usual' - at `$.see`"),
        (preference("ann", "less"), "Expected one of `user`, `board` and `interest`, got 0"),
        ({"type": "blok"}, "Invalid value 'blok' - at `$.type`"),
    ],
)
async def test_a_bad_line_is_told_by_its_number_and_the_rest_loaded(
    stores: Stores, line: bytes | dict[str, Any], says: str
) -> None:
    good = (
        user("ann"), interest("tea"), board("b", "ann"), pin("p", "b", sequence="5"),
        like("ann", "p"), follow("ann", board="b"), section("s", "b", sequence="7"),
        user("bob"), collaborator("b", "bob"), block("bob", "cleo"),
        preference("ann", "less", board="b"), user("cleo"),
    )  # fmt: skip
    heard: list[Bad] = []
    data = [x if isinstance(x, bytes) else msgspec.json.encode(x) for x in (*good, line)]
    lines = json_lines(io.BytesIO(b"\n".join(data)))
    report = await import_entries(stores, lines, options=NO_FEEDS, on_bad=heard.append)
    assert [bad.line for bad in report.bad] == [13]
    assert says in report.bad[0].message
    assert heard == report.bad
    assert report.bad_lines == 1
    exported = canonical_set(await give(stores))
    assert canonical_set(b"\n".join(data[:12])) <= exported
    assert await audit(stores) == []


async def test_an_import_that_is_repeated_keeps_what_people_did_with_sections(
    stores: Stores,
) -> None:
    in_sections = {"1": "s", "2": "s", "3": "t", "4": "u"}
    lines = [user("ann"), board("b", "ann"), *(section(key, "b") for key in "stu")]
    lines += [pin(key, "b", section=to) for key, to in in_sections.items()]
    assert (await take(stores, *lines)).bad == []
    me = (await objects(stores, Kind.USER))["ann"].id
    parts, pins = await objects(stores, Kind.SECTION), await objects(stores, Kind.PIN)
    await writes.move_pin_to_section(stores, me, pins["1"].id, parts["t"].id)
    await writes.move_pin_to_section(stores, me, pins["2"].id, None)
    await writes.delete_section(stores, me, parts["u"].id)
    await drain(stores)
    report = await take(stores, *lines, section("v", "b"), pin("5", "b", section="v"))
    assert report.bad == []
    assert {kind: count for kind, count in report.new.items() if count} == {"section": 1, "pin": 1}
    found = await objects(stores, Kind.PIN)
    parts = await objects(stores, Kind.SECTION)
    assert [found[key].section_id for key in "12345"] == [
        parts["t"].id, None, parts["t"].id, None, parts["v"].id
    ]  # fmt: skip
    assert not parts["u"].active
    assert await audit(stores) == []


async def test_the_sections_of_a_board_are_bounded_in_a_file_too(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sections, "MOST", 2)
    parts = [section(str(number), "b") for number in range(3)]
    report = await take(stores, user("ann"), board("b", "ann"), *parts, pin("p", "b", section="2"))
    assert [bad.message for bad in report.bad] == [
        "board 'b' has more than 2 sections",
        "its section '2' is no section of its board: made without a section",
    ]
    assert len(await objects(stores, Kind.SECTION)) == 2
    assert len(await objects(stores, Kind.PIN)) == 1


async def test_what_hangs_on_a_bad_line_is_left_out_with_it(stores: Stores) -> None:
    report = await take(
        stores,
        board("b", "nobody"),
        pin("p1", "b"),
        pin("p2", "b2", source="p1"),
        pin("p3", "b2", source="p2"),
        like("ann", "p3"),
        board("b2", "ann"),
        user("ann"),
        pin("p4", "b2", source="p5"),
        pin("p5", "b2", source="p4"),
    )
    assert sorted(bad.line for bad in report.bad) == [1, 2, 3, 4, 5, 8, 9]
    assert report.loaded["pin"] == 0
    assert len((await give(stores)).splitlines()) == 2


async def test_a_strict_import_stops_before_it_writes(stores: Stores) -> None:
    with pytest.raises(ImportStopped, match="line 3: there is no board 'x'"):
        await take(stores, user("ann"), board("b", "ann"), pin("p", "x"), options=STRICT)
    assert await give(stores) == b""


async def test_a_user_name_that_somebody_has_is_refused_with_all_that_is_theirs(
    stores: Stores,
) -> None:
    await writes.sign_up(stores, writes.NewUser(username="user_ann"))
    report = await take(stores, user("ann"), board("b", "ann"), pin("p", "b"), user("bob"))
    assert [str(bad) for bad in report.bad] == [
        "line 1: the user name 'user_ann' is taken",
        "line 2: there is no user 'ann'",
        "line 3: there is no board 'b'",
    ]
    assert report.loaded["user"] == 1


async def test_an_interest_that_is_there_is_shared(stores: Stores) -> None:
    made = await create_interest(stores, "Tea", "tea")
    await take(
        stores, user("ann"), board("b", "ann"), interest("t", slug="tea"),
        pin("p", "b", interests=["t"]),
    )  # fmt: skip
    assert (await objects(stores, Kind.PIN))["p"].interest_ids == (made.id,)


async def test_a_second_import_doubles_nothing_and_takes_nothing_back(stores: Stores) -> None:
    world = b"\n".join(large(300))
    await take(stores, world)
    users, pins = await objects(stores, Kind.USER), await objects(stores, Kind.PIN)
    boards = await objects(stores, Kind.BOARD)
    owner, board_id = pins["p0"].owner_id, pins["p0"].board_id
    await writes.delete_pin(stores, owner, pins["p0"].id)
    change = writes.BoardChange(name="Renamed", secret=not boards["b0"].secret)
    await writes.update_board(stores, boards["b0"].owner_id, boards["b0"].id, change)
    await writes.follow(stores, users["u0"].id, users["u1"].id)
    await writes.unfollow(stores, users["u0"].id, users["u1"].id)
    await drain(stores)
    assert board_id in {it.id for it in boards.values()}
    before = await give(stores)
    report = await take(stores, world)
    assert report.bad == []
    assert canonical_set(await give(stores)) == canonical_set(before)
    assert await audit(stores) == []


async def test_pins_for_a_board_that_became_secret_meanwhile_are_secret(stores: Stores) -> None:
    lines = (user("ann"), interest("tea"), board("b", "ann"))
    await take(stores, *lines)
    made: Board = (await objects(stores, Kind.BOARD))["b"]
    await writes.update_board(stores, made.owner_id, made.id, writes.BoardChange(secret=True))
    await drain(stores)
    await take(stores, *lines, pin("p", "b", interests=["tea"]))
    assert await rows(stores, Mapping.USER_HAS_PUBLIC_PINS, made.owner_id) == []
    assert await audit(stores) == []


async def test_pins_that_were_moved_or_deleted_since_are_not_brought_back(stores: Stores) -> None:
    lines = [
        user("ann"),
        interest("tea"),
        board("b", "ann"),
        board("s", "ann", secret=True),
        *(pin(key, "b", interests=["tea"]) for key in ("moved", "deleted", "back")),
    ]
    await take(stores, *lines)
    boards, pins = await objects(stores, Kind.BOARD), await objects(stores, Kind.PIN)
    me, open_board = boards["b"].owner_id, boards["b"].id
    await writes.move_pin(stores, me, pins["moved"].id, boards["s"].id)
    await writes.delete_pin(stores, me, pins["deleted"].id)
    for to in (boards["s"].id, open_board):
        await writes.move_pin(stores, me, pins["back"].id, to)
    for secret in (True, False) * 3:
        await writes.update_board(stores, me, open_board, writes.BoardChange(secret=secret))
    await drain(stores)
    await take(stores, *lines)
    await drain(stores)
    assert await audit(stores) == []


async def test_a_board_that_was_deleted_here_stays_deleted(stores: Stores) -> None:
    lines = (user("ann"), board("b", "ann"), pin("p", "b"))
    await take(stores, *lines)
    made: Board = (await objects(stores, Kind.BOARD))["b"]
    await writes.delete_board(stores, made.owner_id, made.id)
    await drain(stores)
    report = await take(stores, *lines, pin("p2", "b"))
    assert [str(bad) for bad in report.bad] == [
        "line 2: board 'Board b' has been deleted here",
        "line 3: it is on board 'Board b', which has been deleted here",
        "line 4: it is on board 'Board b', which has been deleted here",
    ]
    assert await audit(stores) == []


async def test_a_board_that_is_public_here_gets_no_pins_of_a_secret_board(stores: Stores) -> None:
    lines = (user("ann"), board("b", "ann", secret=True), pin("p", "b"), like("ann", "p2"))
    await take(stores, *lines[:3])
    made: Board = (await objects(stores, Kind.BOARD))["b"]
    await writes.update_board(stores, made.owner_id, made.id, writes.BoardChange(secret=False))
    await drain(stores)
    report = await take(stores, *lines, pin("p2", "b"))
    assert [str(bad) for bad in report.bad] == [
        "line 2: board 'Board b' is public here, and secret in the file: "
        "make it secret here, and import again",
        "line 3: it is on board 'Board b', which is public here, and secret in the file",
        "line 5: it is on board 'Board b', which is public here, and secret in the file",
        "line 4: there is no pin 'p2'",
    ]
    assert set(await objects(stores, Kind.PIN)) == {"p"}
    assert await audit(stores) == []


async def test_bookmarks_that_are_public_here_are_not_joined_by_secret_bookmarks(
    stores: Stores, tmp_path: Path
) -> None:
    file = tmp_path / "bookmarks.html"
    link = '<DT><A HREF="https://example.org/{0}" ADD_DATE="1">{0}</A>'
    file.write_text(f"<DL><DT><H3>Tea</H3><DL>{link.format('sencha')}</DL></DL>")
    await import_file(stores, file, options=replace(NO_FEEDS, owner="ann"))
    more = link.format("sencha") + link.format("diary")
    file.write_text(f"<DL><DT><H3>Tea</H3><DL>{more}</DL></DL>")
    report = await import_file(stores, file, options=replace(NO_FEEDS, owner="ann", secret=True))
    assert str(report.bad[0]).startswith("line 1: board 'Tea' is public here, and secret in the")
    assert [made.title for made in (await objects(stores, Kind.PIN)).values()] == ["sencha"]


async def test_a_file_whose_links_have_no_dates_may_be_touched_and_imported_again(
    stores: Stores, tmp_path: Path
) -> None:
    file = tmp_path / "bookmarks.html"
    links = "".join(f'<DT><A HREF="https://example.org/{n}">{n}</A>' for n in range(5))
    file.write_text(f"<DL>{links}<DT><H3>Tea</H3><DL>{links}</DL></DL>")
    os.utime(file, (1_000_000, 1_000_000))
    await import_file(stores, file, options=replace(NO_FEEDS, owner="ann"))
    before = await give(stores)
    for moment in (2_000_000, 500_000):
        os.utime(file, (moment, moment))
        report = await import_file(stores, file, options=replace(NO_FEEDS, owner="ann"))
        assert (report.new.get("pin", 0), report.bad) == (0, [])
        assert await give(stores) == before
        assert await audit(stores) == []


async def test_a_place_that_a_pin_was_moved_to_meanwhile_is_not_taken_from_it(
    stores: Stores,
) -> None:
    lines = (user("ann"), board("b", "ann"), pin("p1", "b", sequence="500"))
    await take(stores, *lines)
    report = await take(stores, *lines[:2], pin("p2", "b", sequence="500"))
    assert report.bad == []
    found: Board = (await objects(stores, Kind.BOARD))["b"]
    sequences = [row.sequence for row in await rows(stores, Mapping.BOARD_HAS_PINS, found.id)]
    assert sequences == [501, 500]
    again = await take(stores, *lines[:2], pin("p2", "b", sequence="500"))
    assert again.bad == []
    assert await audit(stores) == []


async def test_a_running_gateway_sees_what_was_imported(stores: Stores) -> None:
    """The gateway's caches have lists that have become longer, and a board with a new cover."""
    first = (user("ann"), user("bob"), board("b", "ann"))
    await take(stores, *first)
    made: Board = (await objects(stores, Kind.BOARD))["b"]
    keys = [
        ListKey(Mapping.BOARD_HAS_PINS, made.id),
        ListKey(Mapping.USER_HAS_PINS, made.owner_id),
        ListKey(Mapping.USER_FOLLOWED_BY_USERS, made.owner_id),
    ]
    heads = await stores.shards.mappings.heads(keys)
    leases = await stores.mapping_cache.heads(keys)
    await stores.mapping_cache.fill_heads(
        [(lease, heads[key]) for key, lease in leases.items() if isinstance(lease, Lease)]
    )
    raw = await stores.shards.objects.get([made.id])
    for id, lease in (await stores.object_cache.get([made.id])).items():
        assert isinstance(lease, Lease)
        await stores.object_cache.fill([(lease, raw[id])])
    rest = (board("b", "ann", cover="p"), pin("p", "b"), follow("bob", user="ann"))
    await take(stores, *first[:2], *rest)
    assert await audit(stores) == []
    assert all(
        isinstance(head, Lease) for head in (await stores.mapping_cache.heads(keys)).values()
    )


async def test_bookmarks_become_boards_and_pins_of_whom_they_are_imported_as(
    stores: Stores, tmp_path: Path
) -> None:
    ann = await writes.sign_up(stores, writes.NewUser(username="ann"))
    await drain(stores)
    path = tmp_path / "bookmarks.html"
    path.write_bytes(b"".join(bookmarks(500)))
    options = ImportOptions(feeds=False, owner="Ann")
    for _ in range(2):
        report = await import_file(stores, path, options=options)
        assert report.bad == []
        assert report.loaded["pin"] == 500
    found: dict[str, Pin] = await objects(stores, Kind.PIN)
    assert len(found) == 500
    assert {it.owner_id for it in found.values()} == {ann.id}
    assert {it.created for it in found.values()} == {
        1300000000_000 + n // 3 * 1000 for n in range(500)
    }
    assert len(await objects(stores, Kind.USER)) == 1
    assert await audit(stores) == []


async def test_bookmarks_without_an_owner_are_refused(stores: Stores, tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.html"
    path.write_bytes(b"<!DOCTYPE NETSCAPE-Bookmark-file-1>")
    with pytest.raises(BadInput, match="--as"):
        await import_file(stores, path)


async def test_a_directory_for_temporary_files_that_is_not_there_is_told(stores: Stores) -> None:
    with pytest.raises(ConfigError, match="temporary"):
        await take(stores, user("ann"), options=replace(NO_FEEDS, spool_dir="/nowhere"))


async def test_the_members_of_a_board_and_the_boards_of_a_user_are_bounded_in_a_file_too(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collaborators, "MOST", 2)
    monkeypatch.setattr(collaborators, "MOST_BOARDS", 1)
    people = [user(name) for name in ("ann", "bob", "cleo", "dan")]
    boards = [board(key, "ann") for key in "bcd"]
    report = await take(
        stores,
        *(*people, *boards),
        *(collaborator("b", name) for name in ("bob", "cleo", "dan")),
        collaborator("c", "bob"),
        *(collaborator(key, "cleo", invited=True) for key in "cd"),
    )
    assert [bad.message for bad in report.bad] == [
        "board 'b' has more than 2 collaborators and invited users",
        "user 'bob' has more than 1 boards to collaborate on",
        "user 'cleo' has more than 1 invitations",
    ]
    assert report.new["collaborator"] == 3
    assert await audit(stores) == []


async def test_a_board_that_is_full_here_gets_no_further_members(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [user("ann"), user("bob"), user("cleo"), board("b", "ann"), collaborator("b", "bob")]
    assert (await take(stores, *lines)).bad == []
    monkeypatch.setattr(loading, "MOST", 1)
    report = await take(stores, *lines, collaborator("b", "cleo"))
    assert [str(bad) for bad in report.bad] == [
        "line 6: board 'b' has 1 collaborators and invited users here already"
    ]
    assert report.new.get("collaborator") == 0
    assert await audit(stores) == []


async def test_a_member_whom_a_block_keeps_from_the_owner_is_none(stores: Stores) -> None:
    people = [user("ann"), user("bob"), board("b", "ann"), collaborator("b", "bob")]
    assert (await take(stores, *people[:3])).bad == []
    found = await objects(stores, Kind.USER)
    await writes.block_user(stores, found["bob"].id, found["ann"].id)
    await drain(stores)
    assert (await take(stores, *people)).bad == []
    await drain(stores)
    assert (await objects(stores, Kind.BOARD))["b"].collaborators == ()
    assert await audit(stores) == []


async def test_progress_is_told_stage_by_stage_up_to_the_total(stores: Stores) -> None:
    told: list[Progress] = []
    data = b"\n".join(large(200))
    await import_entries(stores, json_lines(io.BytesIO(data)), progress=told.append)
    stages = list(dict.fromkeys(step.stage for step in told))
    assert stages == [
        "reading", "users", "interests", "blocks", "boards", "collaborators", "pins", "comments",
        "likes", "follows", "mutes", "hides", "preferences", "feeds",
    ]  # fmt: skip
    for stage in stages:
        last = [step for step in told if step.stage == stage][-1]
        assert last.done == last.total


@pytest.mark.parametrize("refused", ["feeds", "pools"])
async def test_feeds_are_built_though_a_store_does_not_answer_for_a_moment(
    stores: Stores, refused: str
) -> None:
    told: list[str] = []

    async def refuse() -> None:
        told.append(refused)
        raise StoreUnavailable("no connection")

    sides = getattr(stores, refused)
    unwell = Sides(Preceded(sides.primary, "put", refuse), sides.standby)  # type: ignore[arg-type]
    # Without a follow, only popular pins are written to pools.
    more = [user("bob"), follow("bob", user="ann")] if refused == "feeds" else []
    lines = [user("ann"), board("b", "ann"), pin("p", "b"), like("ann", "p"), *more]
    report = await take(
        stores._replace(**{refused: unwell}),  # type: ignore[arg-type]
        *lines,
        options=ImportOptions(),
    )
    assert (report.bad, told) == ([], [refused])
    if refused == "pools":
        table, rows = POOLS, POPULAR_ROWS
    else:
        found = await stores.shards.mod.find("username", ["user_bob"])
        table, rows = FOLLOWING, [id_row(found["user_bob"])]
    for side in sides:
        assert sum([len(await side.read(table, row, limit=10)) for row in rows]) == 1


async def test_a_touched_file_completes_its_interrupted_import_with_the_first_dates(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bookmarks.html"
    file.write_text('<DL><DT><A HREF="https://example.org/tea">Tea</A></DL>')
    os.utime(file, (1_000_000, 1_000_000))
    options = replace(NO_FEEDS, owner="ann")

    async def interrupted(*_: object) -> None:
        raise RuntimeError("interrupted")

    with monkeypatch.context() as patch:
        patch.setattr("gateway.operate.imports.objects.place", interrupted)
        with pytest.raises(RuntimeError, match="interrupted"):
            await import_file(stores, file, options=options)
    os.utime(file, (2_000_000, 2_000_000))
    await import_file(stores, file, options=options)
    (made,) = (await objects(stores, Kind.PIN)).values()
    (row,) = await rows(stores, Mapping.USER_HAS_PINS, made.owner_id)
    assert row.sequence == made.created * SEQUENCE_STEP == 1_000_000_000 * SEQUENCE_STEP
    assert await audit(stores) == []
