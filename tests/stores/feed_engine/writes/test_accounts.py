"""Deleted accounts: what ends at once, what the tasks end and erase, wherever they are stopped, and
a walk through all stores, which finds nothing but the id."""

import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import BadInput, Conflict, NotFound, StoreUnavailable
from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping
from datasources.protocols import EventKind, Job, Stores
from datasources.records import Board, Pin, User
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.feeds.rows import TABLES_FEEDS, TABLES_POOLS
from feed_engine.outbox.change import AccountDeleted, AccountErased
from feed_engine.outbox.completion import change_of, settle
from feed_engine.outbox.jobs import run_job
from feed_engine.transactions import access, blocks
from feed_engine.writes import account_erasure, account_tasks, accounts, comment_index
from feed_engine.writes.events import Happened
from tests.audit import audit
from tests.embedded_stores import embedded_config, embedded_stores, flush
from tests.people import People

pytestmark = pytest.mark.anyio
TEXT = "unmistakable"


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
async def stores(valkey: ValkeyServer, folder: Path) -> AsyncIterator[Stores]:
    """Stores of this test alone: the walk reads all of them."""
    await flush(valkey)
    config = replace(embedded_config(folder, valkey), pictures=f"folder://{folder}/pictures")
    async with embedded_stores(config) as opened:
        yield opened


@pytest.fixture
async def people(stores: Stores) -> AsyncIterator[People]:
    yield People(stores)
    await run_due(stores)
    assert [fault for fault in await audit(stores) if "work is left" not in fault] == []


@dataclass
class Life:
    """A user with something of each kind, and a friend on another shard. `shared` are lists of the
    friend's pins that have pins of both; one of each is the friend's."""

    ann: User
    bob: User
    ids: set[int]
    bobs_pin: Pin
    shared: list[ListKey]


async def live(stores: Stores, people: People) -> Life:
    await comment_index.index_comments(stores, lambda _: None)
    bob = await people.user()
    ann = await people.user(away_from=bob.id)
    interest = await people.interest()
    await writes.update_profile(stores, ann.id, writes.ProfileChange(about=TEXT, full_name=TEXT))
    ids, boards, pins = {ann.id}, list[Board](), list[Pin]()
    for secret in (False, True):
        new = writes.NewBoard(name=TEXT, description=TEXT, secret=secret)
        boards.append((await writes.create_board(stores, ann.id, new)).board)
        for _ in range(2):
            draft = writes.NewPin(
                board_id=boards[-1].id,
                title=TEXT,
                description=TEXT,
                link=f"https://{TEXT}.example/",
                interest_ids=(interest.id,),
            )
            pins.append((await writes.create_pin(stores, ann.id, draft)).pin)
    sections = list[int]()
    for board, name in zip((*boards, *boards), (TEXT, TEXT, TEXT, "gone"), strict=True):
        named = writes.NewSection(board_id=board.id, name=name)
        sections.append((await writes.create_section(stores, ann.id, named)).section.id)
    for pin, section_id in zip(pins, (0, 2, 1, 1), strict=True):
        await writes.move_pin_to_section(stores, ann.id, pin.id, sections[section_id])
    ids.update(sections)
    bobs_board = await people.board(bob)
    bobs_pin = await people.pin(bobs_board, interest)
    # boards of each that the other shares
    shared, asked = await people.board(bob, secret=True), await people.board(bob)
    for board, user in ((shared, ann), (boards[0], bob), (boards[1], bob)):
        await writes.invite_collaborator(stores, board.owner_id, board.id, user.id)
        await writes.accept_invitation(stores, user.id, board.id)
        draft = writes.NewPin(board_id=board.id, title=TEXT, interest_ids=(interest.id,))
        added = (await writes.create_pin(stores, user.id, draft)).pin
        ids.add(added.id)
        await writes.like_pin(stores, board.owner_id, added.id)
        await writes.hide_pin(stores, bob.id, added.id)
        comment = writes.NewComment(pin_id=added.id, text="hello")
        ids.add((await writes.create_comment(stores, bob.id, comment)).comment.id)
    await writes.invite_collaborator(stores, bob.id, asked.id, ann.id)
    added, shared = await in_sections_of_others(stores, people, ann, bob)
    ids |= added
    # what others did with ann's
    await writes.follow(stores, bob.id, ann.id)
    await writes.follow(stores, bob.id, boards[0].id)
    await writes.like_pin(stores, bob.id, pins[0].id)
    said = await writes.create_comment(
        stores, bob.id, writes.NewComment(pin_id=pins[0].id, text="hello")
    )
    ids.add(said.comment.id)
    await writes.hide_pin(stores, bob.id, pins[1].id)
    await writes.see_less(stores, bob.id, boards[0].id)
    await writes.see_more(stores, bob.id, ann.id)
    await writes.mute_user(stores, bob.id, ann.id)
    # what ann did with others'
    for target in (bob.id, bobs_board.id, interest.id):
        await writes.follow(stores, ann.id, target)
    await writes.like_pin(stores, ann.id, bobs_pin.id)
    own = await writes.create_comment(
        stores, ann.id, writes.NewComment(pin_id=bobs_pin.id, text=TEXT)
    )
    ids.add(own.comment.id)
    await writes.mute_user(stores, ann.id, bob.id)
    await writes.hide_pin(stores, ann.id, bobs_pin.id)
    opened = Happened(bobs_pin.id, EventKind.OPENED)
    await writes.record_events(stores, ann.id, [opened])
    for id in (bob.id, bobs_board.id, bobs_pin.id):
        await writes.report(stores, ann.id, writes.NewReport(id=id, reason=1, text=TEXT))
    for id in (ann.id, boards[0].id, pins[0].id, own.comment.id):
        await writes.report(stores, bob.id, writes.NewReport(id=id, reason=1))
    cat = await people.user()
    await writes.block_user(stores, ann.id, cat.id)
    dan = await people.user()
    await writes.block_user(stores, dan.id, ann.id)
    for name in ("c0ffee/236.webp", "c0ffee/474.webp", "uploads/1"):
        assert stores.pictures is not None
        await stores.pictures.put(f"{ann.id}/{name}", b"x")
    await writes.request_my_data(stores, ann.id)
    await writes.sign_out_everywhere(stores, ann.id)
    # what ann took back
    await writes.move_pin(stores, ann.id, pins[1].id, boards[1].id)
    await writes.delete_pin(stores, ann.id, pins[2].id)
    await writes.delete_section(stores, ann.id, sections[3])
    gone = await people.board(ann)
    await people.pin(gone)
    await writes.delete_board(stores, ann.id, gone.id)
    await run_due(stores)
    ids |= {it.id for it in (*boards, *pins, gone)}
    return Life(ann, bob, ids, bobs_pin, shared)


async def in_sections_of_others(
    stores: Stores, people: People, ann: User, bob: User
) -> tuple[set[int], list[ListKey]]:
    """Pins that ann adds to sections of bob's boards: one stays, one leaves its section, one comes
    to another board, and one is deleted. Returns their ids, and the lists of pins. Bob has a pin in
    each."""
    boards = [await people.board(bob), await people.board(bob, secret=True)]
    sections, added = list[int](), list[int]()
    for board in boards:
        await writes.invite_collaborator(stores, bob.id, board.id, ann.id)
        await writes.accept_invitation(stores, ann.id, board.id)
        named = writes.NewSection(board_id=board.id, name="Cats")
        sections.append((await writes.create_section(stores, bob.id, named)).section.id)
        kept = await people.pin(board)
        await writes.move_pin_to_section(stores, bob.id, kept.id, sections[-1])
    for _ in range(4):
        draft = writes.NewPin(board_id=boards[0].id, title=TEXT)
        added.append((await writes.create_pin(stores, ann.id, draft)).pin.id)
        await writes.move_pin_to_section(stores, ann.id, added[-1], sections[0])
    await writes.move_pin_to_section(stores, bob.id, added[1], None)
    await writes.move_pin(stores, ann.id, added[2], boards[1].id)
    await writes.move_pin_to_section(stores, ann.id, added[2], sections[1])
    await writes.delete_pin(stores, ann.id, added[3])
    await writes.update_board(
        stores, bob.id, boards[0].id, writes.BoardChange(cover_pin_id=added[0])
    )
    return {*added}, [
        *(ListKey(Mapping.BOARD_HAS_PINS, board.id) for board in boards),
        *(ListKey(Mapping.SECTION_HAS_PINS, id) for id in sections),
    ]


async def run_due(stores: Stores) -> None:
    """Run the jobs that are due now, until none is left."""
    await settle()
    while rows := await stores.shards.outbox.pending(stores_now(), 1000):
        for row in rows:
            assert not row.attempts, await stores.shards.outbox.parked()
            await run_job(stores, Job(row.shard, row.id))


def stores_now() -> int:
    return accounts.now_ms() + 60_000


async def delete(stores: Stores, user: User) -> None:
    await writes.delete_account(stores, user.id, writes.Deletion(username=user.username))


async def erase(stores: Stores) -> None:
    """Run the jobs of 30 days later."""
    for row in await stores.shards.outbox.pending(2**62, 1000):
        await run_job(stores, Job(row.shard, row.id))
    await run_due(stores)


async def sizes(stores: Stores, life: Life) -> list[int]:
    """The counts of the lists in which both have pins."""
    heads = await stores.shards.mappings.heads(life.shared)
    return [heads[key].size for key in life.shared]


async def visible(stores: Stores, find: Callable[[], Awaitable[Any]]) -> bool:
    try:
        await find()
    except NotFound:
        return False
    return True


async def test_a_wrong_name_deletes_nothing(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    with pytest.raises(BadInput):
        await writes.delete_account(stores, ann.id, writes.Deletion(username=bob.username))
    assert (await access.read(stores, User, [ann.id]))[ann.id].active


async def test_the_name_may_be_typed_as_people_type_it(stores: Stores, people: People) -> None:
    ann = await people.user()
    typed = writes.Deletion(username=f" {ann.username.upper()} ")
    await writes.delete_account(stores, ann.id, typed)
    assert await access.read(stores, User, [ann.id]) == {}


async def test_all_is_gone_at_the_acknowledgement_before_any_job(
    stores: Stores, people: People
) -> None:
    life = await live(stores, people)
    boards = await people.list(Mapping.USER_HAS_BOARDS, life.ann.id)
    pins = await people.list(Mapping.USER_HAS_PINS, life.ann.id)
    assert len(boards) == 2
    assert len(pins) == 7
    await delete(stores, life.ann)
    assert not await visible(stores, lambda: access.find_user(stores, life.bob.id, life.ann.id))
    for id in boards:
        assert not await visible(stores, lambda id=id: access.find_board(stores, life.bob.id, id))  # type: ignore[misc]
    for id in pins:
        assert not await visible(stores, lambda id=id: access.find_pin(stores, life.bob.id, id))  # type: ignore[misc]
    assert await people.list(Mapping.USER_HAS_BOARDS, life.ann.id) == []
    assert (await blocks.read(stores, life.ann.id)).closes(life.ann.id)


async def test_a_deleted_account_writes_nothing_any_more(stores: Stores, people: People) -> None:
    life = await live(stores, people)
    await delete(stores, life.ann)
    new = writes.NewBoard(name="another")
    for write in (
        writes.create_board(stores, life.ann.id, new),
        writes.follow(stores, life.ann.id, life.bob.id),
        writes.like_pin(stores, life.ann.id, life.bobs_pin.id),
        writes.create_comment(
            stores, life.ann.id, writes.NewComment(pin_id=life.bobs_pin.id, text="again")
        ),
    ):
        with pytest.raises(NotFound):
            await write


async def test_a_board_that_is_made_during_the_deletion_is_refused_or_deleted_too(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await people.user()

    async def end_boards(*args: Any) -> None:
        with pytest.raises(NotFound):
            await people.board(ann)
        await account_tasks.end_boards(*args)

    monkeypatch.setattr(accounts, "end_boards", end_boards)
    await delete(stores, ann)
    assert await people.list(Mapping.USER_HAS_BOARDS, ann.id) == []


async def test_a_repeated_deletion_changes_nothing(stores: Stores, people: People) -> None:
    ann = await people.user()
    given = writes.Deletion(username=ann.username)
    for key in ("k" * 20, "k" * 20, None, "another key" * 2):
        await writes.delete_account(stores, ann.id, given, key=key)
    later = [
        task
        for row in await stores.shards.outbox.pending(2**62, 1000)
        for task in change_of(row).tasks
        if isinstance(task, AccountErased)
    ]
    assert len(later) == 1


async def test_the_first_job_ends_what_others_see_and_corrects_their_counts(
    stores: Stores, people: People
) -> None:
    life = await live(stores, people)
    await delete(stores, life.ann)
    await run_due(stores)
    for mapping in (
        Mapping.USER_FOLLOWS_USERS,
        Mapping.USER_FOLLOWS_BOARDS,
        Mapping.USER_FOLLOWED_BY_USERS,
    ):
        assert await people.list(mapping, life.bob.id) == []
    for mapping in (Mapping.PIN_LIKED_BY_USERS, Mapping.PIN_HAS_COMMENTS):
        assert await people.list(mapping, life.bobs_pin.id) == []
    assert await people.list(Mapping.USER_HAS_PINS, life.ann.id) == []
    pins = await people.list(Mapping.USER_HAS_PINS, life.bob.id)
    assert life.bobs_pin.id in pins
    for key in life.shared:
        [left_over] = await people.list(*key)
        assert left_over in pins
    assert await sizes(stores, life) == [1, 1, 1, 1]
    for mapping in (Mapping.USER_COLLABORATES_ON_BOARDS, Mapping.USER_INVITED_TO_BOARDS):
        for user in (life.ann, life.bob):
            assert await people.list(mapping, user.id) == []
    for kind in (Kind.USER, Kind.BOARD, Kind.SECTION, Kind.COMMENT):
        found = await stores.shards.objects.list(kind, 0, 1000)
        assert not [id for id, data in found if TEXT.encode() in data]


async def test_nothing_is_left_in_any_store_but_the_id(
    stores: Stores, people: People, folder: Path, valkey: ValkeyServer
) -> None:
    life = await live(stores, people)
    assert await left(stores, folder, life)  # the walk finds the user
    await delete(stores, life.ann)
    await run_due(stores)
    await erase(stores)
    expire(folder)
    assert "\n".join(await left(stores, folder, life)) == ""
    assert await sizes(stores, life) == [1, 1, 1, 1]
    [stone] = (await stores.shards.objects.get([life.ann.id])).values()
    assert b'username":""' in stone
    assert life.ann.username.encode() not in stone
    assert await stores.shards.mod.find("username", [life.ann.username]) == {}
    again = await writes.sign_up(stores, writes.NewUser(username=life.ann.username))
    assert again.id != life.ann.id


async def test_the_name_is_not_free_before_the_account_is_erased(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    await delete(stores, ann)
    await run_due(stores)
    with pytest.raises(Conflict):
        await writes.sign_up(stores, writes.NewUser(username=ann.username))


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("module", [account_tasks, account_erasure])
async def test_a_job_that_is_killed_at_any_commit_does_the_rest_when_it_runs_again(
    stores: Stores, people: People, folder: Path, monkeypatch: pytest.MonkeyPatch, module: Any
) -> None:
    life = await live(stores, people)
    await delete(stores, life.ann)
    task = AccountDeleted if module is account_tasks else AccountErased
    if task is AccountErased:
        await run_due(stores)
    [row] = [
        row
        for row in await stores.shards.outbox.pending(2**62, 1000)
        if any(isinstance(it, task) for it in change_of(row).tasks)
    ]
    commit, state = account_tasks.commit, states(folder)
    seen = {state()}

    async def dying(*args: Any) -> None:
        """Commit, and be killed if anything changed."""
        await commit(*args)
        if (now := state()) not in seen:
            seen.add(now)
            raise Killed

    for used in (account_tasks, account_erasure):
        monkeypatch.setattr(used, "commit", dying)
    while await stores.shards.outbox.load(row.shard, row.id) is not None:
        with suppress(Killed):
            await run_job(stores, Job(row.shard, row.id))
    monkeypatch.undo()
    assert len(seen) > (5 if module is account_tasks else 20)
    await run_due(stores)
    await erase(stores)
    expire(folder)
    assert "\n".join(await left(stores, folder, life)) == ""


async def test_a_store_that_is_away_delays_the_job_and_loses_nothing(
    stores: Stores, people: People, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = await live(stores, people)
    await delete(stores, life.ann)

    async def away(*_: Any) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(account_tasks, "remove_rows", away)
        patch.setattr(comment_index, "COMMENTS", 1)
        [row] = [
            row
            for row in await stores.shards.outbox.pending(stores_now(), 1000)
            if any(isinstance(it, AccountDeleted) for it in change_of(row).tasks)
        ]
        with pytest.raises(StoreUnavailable):
            await run_job(stores, Job(row.shard, row.id))
    kept = await stores.shards.outbox.load(row.shard, row.id)
    assert kept is not None
    assert kept.cursor is not None
    await run_due(stores)
    await erase(stores)
    expire(folder)
    assert "\n".join(await left(stores, folder, life)) == ""


def expire(folder: Path) -> None:
    """Forget what is forgotten after some days: answers, counts of quotas."""
    for file in sqlite_files(folder):
        with sqlite3.connect(file) as db:
            for table in ("answers", "quotas"):
                if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchall():
                    db.execute(f"DELETE FROM {table}")


def sqlite_files(folder: Path) -> list[Path]:
    return [it for it in (folder / "shards").rglob("*") if it.is_file() and _is_sqlite(it)]


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(15) == b"SQLite format 3"


def states(folder: Path) -> Callable[[], int]:
    """A function that returns a hash of what the shards hold now, except their outboxes. It reads
    only the files that have changed since its last call."""
    opened = [sqlite3.connect(file) for file in sqlite_files(folder)]
    versions, hashes = [-1] * len(opened), [0] * len(opened)

    def state() -> int:
        for index, db in enumerate(opened):
            [(version,)] = db.execute("PRAGMA data_version")
            if version != versions[index]:
                versions[index], hashes[index] = version, hash(frozenset(rows_of(db)))
        return hash(tuple(hashes))

    return state


def rows_of(db: sqlite3.Connection) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """All rows of all tables, without the times of the objects' last writes."""
    named = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in named:
        if table != "outbox" and not table.startswith("sqlite_"):
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            kept = ", ".join(name for name in columns if name != "ts")
            for row in db.execute(f"SELECT {kept} FROM {table}"):
                yield table, row


async def left(stores: Stores, folder: Path, life: Life) -> list[str]:
    """All places that still have the user, or an object, a name or a text of the user."""
    assert stores.pictures is not None
    found = [*_in_shards(folder, life), *await stores.pictures.names(str(life.ann.id))]
    for sides, tables in ((stores.pools, TABLES_POOLS), (stores.feeds, TABLES_FEEDS)):
        for side in sides:
            for table in tables:
                async for row, cells in side.scan(table):
                    if row[:1] >= b"@":  # a log of changes, which is kept for three days
                        continue
                    for cell in cells:
                        whole = row + b"|" + cell.column + b"|" + cell.value
                        found += [
                            f"{table.name} {row!r} {cell}"
                            for id in life.ids
                            if id.to_bytes(8, "big") in whole or str(id).encode() in whole
                        ]
    return found


def _in_shards(folder: Path, life: Life) -> Iterator[str]:
    words = [*map(str, life.ids), TEXT, life.ann.username]
    for file in sqlite_files(folder):
        with closing(sqlite3.connect(file)) as db:
            for table, row in rows_of(db):
                texts = [_text(value) for value in row]
                hits = [word for word in words if any(_has(text, word) for text in texts)]
                if hits and not _is_mark(table, row, life.ann.id):
                    yield f"{file.name} {table} {row}: {hits}"


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _has(text: str, word: str) -> bool:
    if not word.isdecimal() or word not in text:
        return word in text
    return re.search(rf"(?<!\d){word}(?!\d)", text) is not None


def _is_mark(table: str, row: tuple[Any, ...], id: int) -> bool:
    """Whether the row is of the block that marks the account."""
    if table in ("user_blocks_users", "user_blocked_by_users"):
        return row[:2] == (id, id)
    codes = {Mapping.USER_BLOCKS_USERS.code, Mapping.USER_BLOCKED_BY_USERS.code}
    return table == "lists" and row[0] in codes and row[1] == id
