"""`pinway migrate back`: after a cut-over, Pinway's writes arrive in the old database, until the
operator ends it."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from datasources.protocols import Stores
from datasources.records import Board, Image, User
from feed_engine.ordering.reorder import reorder_pin
from feed_engine.transactions import access
from feed_engine.transactions.inputs import (
    BoardChange,
    Deletion,
    NameChange,
    NewBoard,
    NewComment,
    NewPin,
    NewSection,
    NewUser,
    PinChange,
    ProfileChange,
)
from feed_engine.transactions.key_kinds import USERNAME
from feed_engine.writes.accounts import delete_account
from feed_engine.writes.boards import create_board, delete_board, update_board
from feed_engine.writes.collaborators import accept_invitation, invite_collaborator, leave_board
from feed_engine.writes.comments import create_comment
from feed_engine.writes.follows import follow, unfollow
from feed_engine.writes.key_tasks import free
from feed_engine.writes.keys import change_user_name, end_of
from feed_engine.writes.likes import like_pin
from feed_engine.writes.move import move_pin
from feed_engine.writes.pins import create_pin, delete_pin, repin, update_pin
from feed_engine.writes.sections import create_section, move_pin_to_section
from feed_engine.writes.users import sign_up, update_profile
from gateway.operate.migration.back.command import opened_back
from gateway.operate.migration.mapping import read_mapping
from gateway.operate.migration.opening import PASSWORD as PASSWORD_VARIABLE
from gateway.settings import Settings
from tests.migration.old_world import COVER, HUGE, PASSWORD, USER, OldDatabase
from tests.migration.pinway_site import content, new_ids, write
from tests.migration.pinway_writer import PinwaySite
from tests.migration.processes import (
    SECONDS,
    back,
    copied,
    cut_over,
    exported,
    followed,
    killed_at,
    killed_later,
    pinway,
    start,
    verified,
)
from tests.scale import scaled, seed, seeds

BACK = ("migrate", "back")
KILLED = "tests.migration.killed_back"
KILLS = scaled(2, 4)
CATCH_UP = ("back", "--until-caught-up")


@pytest.fixture
def world(old: OldDatabase, tmp_path: Path) -> Iterator[Path]:
    """The mapping of a source whose user may write, also while the server is read-only."""
    yield old.mapping_of_way_back(tmp_path)
    old.run("SET GLOBAL read_only = OFF")


@pytest.fixture
def data(world: Path, tmp_path: Path) -> Path:
    """A directory with the stores of a Pinway that has taken the writes."""
    data = tmp_path / "data"
    copied(world, data)
    cut_over(world, data)
    return data


async def write_all(stores: Stores) -> None:
    """Writes of all kinds, to old and new objects."""
    ann, one, two, gone = await new_ids(stores, "user", 1, 1001, 1002, 1003)
    tea, album = await new_ids(stores, "board", 1, 1012)
    first, second, third = await new_ids(stores, "pin", 1, 6, HUGE)
    await update_profile(stores, ann, ProfileChange(full_name="Ann Brown", about="new tea ☕"))
    await change_user_name(stores, one, NameChange(username="aside"))
    await change_user_name(stores, two, NameChange(username="renamed"))
    await update_board(stores, ann, tea, BoardChange(name="Green tea", secret=True))
    await update_pin(stores, ann, first, PinChange(title="Sencha", link="https://example.com/new"))
    await delete_pin(stores, ann, second)
    await reorder_pin(stores, ann, tea, first, before_pin_id=None, after_pin_id=third)
    new = await sign_up(stores, NewUser(username="newcomer", full_name="New Comer", about="hi"))
    board = (await create_board(stores, new.id, NewBoard(name="New board", secret=True))).board
    made = []
    for number in range(3):
        wanted = NewPin(board_id=board.id, title=f"New {number}", description="two")
        made.append((await create_pin(stores, new.id, wanted)).pin)
    copy = (await repin(stores, new.id, (await new_ids(stores, "pin", 1020))[0], board.id)).pin
    await update_pin(stores, new.id, copy.id, PinChange(title="A copy"))
    await move_pin(stores, new.id, made[0].id, board.id, after_pin_id=made[2].id)
    await update_board(stores, new.id, board.id, BoardChange(cover_pin_id=made[1].id, secret=False))
    await create_comment(stores, new.id, NewComment(pin_id=made[1].id, text="Where?"))
    await like_pin(stores, ann, made[1].id)
    await like_pin(stores, new.id, (await new_ids(stores, "pin", 1020))[0])
    await follow(stores, new.id, ann)
    await unfollow(stores, ann, (await new_ids(stores, "user", HUGE))[0])
    user = (await access.read(stores, User, [gone]))[gone]
    await delete_account(stores, gone, Deletion(username=user.username))
    await delete_board(stores, (await access.read(stores, Board, [album]))[album].owner_id, album)


def test_writes_arrive_and_the_old_database_is_like_pinway(
    world: Path, old: OldDatabase, data: Path, tmp_path: Path
) -> None:
    write(data, write_all)
    found = back(world, data, "--until-caught-up")
    assert (found["left"], found["changed"] > 20) == (0, True)
    assert back(world, data, "--until-caught-up")["changed"] == 0
    assert back(world, data, "--compare")["differences"] == []
    assert back(world, data, "--end")["ended"]
    copied(world, tmp_path / "fresh")
    assert content(exported(data)) == content(exported(tmp_path / "fresh"))


@pytest.mark.parametrize("run", seeds(1, 20))
@pytest.mark.timeout(900)
def test_nothing_is_missed_or_doubled_under_writes_and_kills(
    world: Path, data: Path, tmp_path: Path, run: int
) -> None:
    random = Random(run)
    with PinwaySite(data, run) as site:
        for _ in range(KILLS):
            killed_later(random, "back", str(world), data=data)
        for _ in range(KILLS):
            killed_at(
                random.randrange(1, 120), world, data, "back", "--until-caught-up", module=KILLED
            )
    assert site.written > 20
    back(world, data, "--until-caught-up")
    assert back(world, data, "--compare")["left"] == 0
    assert back(world, data, "--end")["ended"]
    copied(world, tmp_path / "fresh")
    assert content(exported(data)) == content(exported(tmp_path / "fresh"))


def test_an_interrupted_run_inserts_no_row_twice(world: Path, data: Path, tmp_path: Path) -> None:
    write(data, write_all)
    random = Random(seed("back"))
    ended = [
        killed_at(random.randrange(1, 60), world, data, *CATCH_UP, module=KILLED)
        for _ in range(scaled(4, 20))
    ]
    assert ended[0] == 0
    assert killed_at(random.randrange(1, 5), world, data, "back", "--end", module=KILLED) == 0
    assert back(world, data, "--end")["ended"]
    copied(world, tmp_path / "fresh")
    assert content(exported(data)) == content(exported(tmp_path / "fresh"))


def test_a_killed_run_leaves_no_row_in_a_table_without_transactions(
    world: Path, data: Path, old: OldDatabase
) -> None:
    old.run("ALTER TABLE old.members ENGINE = MyISAM")

    async def work(stores: Stores) -> None:
        await sign_up(stores, NewUser(username="newcomer"))

    write(data, work)
    assert killed_at("before keep", world, data, *CATCH_UP, module=KILLED) == 0
    assert back(world, data, "--until-caught-up")["left"] == 0
    assert back(world, data, "--compare")["differences"] == []


def test_a_row_that_is_refused_again_and_again_uses_no_numbers_up(
    world: Path, data: Path, old: OldDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(stores: Stores) -> None:
        await sign_up(stores, NewUser(username="newcomer"))

    async def rounds(count: int) -> int:
        """The changes that were left out after some rounds in one run."""
        settings = Settings(data_dir=data)
        async with opened_back(settings, read_mapping(world)) as opened:
            await opened.way.begin()
            return [(await opened.way.round()).left for _ in range(count)][-1]

    def next_number() -> int:
        [(_, table)] = old.rows("SHOW CREATE TABLE old.members")
        return int(table.partition(" AUTO_INCREMENT=")[2].split()[0])

    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    write(data, work)
    old.run("INSERT INTO old.members VALUES (500, 'newcomer', '', NULL, NULL)")
    assert asyncio.run(rounds(1)) == 1
    first = next_number()
    assert asyncio.run(rounds(1)) == 1
    once = next_number() - first
    assert asyncio.run(rounds(5)) == 1
    assert next_number() - first == 2 * once
    old.run("DELETE FROM old.members WHERE id = 500")
    assert asyncio.run(rounds(1)) == 0


def test_users_may_swap_names(world: Path, data: Path, old: OldDatabase) -> None:
    async def swap(stores: Stores) -> None:
        one, two = await new_ids(stores, "user", 1001, 1002)
        for user, name in ((one, "aside"), (two, "user1"), (one, "user2")):
            await change_user_name(stores, user, NameChange(username=name))
            for kept in (await access.read(stores, User, [user]))[user].kept_names:
                await free(stores, end_of(USERNAME, user, kept))

    write(data, swap)
    assert back(world, data, "--until-caught-up")["left"] == 0
    names = old.rows("SELECT login FROM old.members WHERE id IN (1001, 1002) ORDER BY id")
    assert names == [("user2",), ("user1",)]


def test_changes_that_the_old_database_can_not_have_are_told(
    world: Path, data: Path, old: OldDatabase
) -> None:
    async def work(stores: Stores) -> None:
        [ann] = await new_ids(stores, "user", 1)
        [pin] = await new_ids(stores, "pin", 1)
        picture = Image("https://example.com/ann.png")
        await update_profile(stores, ann, ProfileChange(full_name="Ann B", avatar=picture))
        await update_pin(stores, ann, pin, PinChange(title="Tea", description="y" * 200))
        await sign_up(stores, NewUser(username="newcomer"))

    write(data, work)
    old.run("INSERT INTO old.members VALUES (500, 'newcomer', '', NULL, NULL)")
    found = back(world, data, "--until-caught-up")
    told = {(note["kind"], note["old"]): note for note in reports(found)}
    assert "no column of members has it" in told["user", "1"]["message"]
    assert "Data too long for column 'note'" in told["pin", "1"]["message"]
    [left_out] = [note for note in reports(found) if note["left_out"]]
    assert "Duplicate entry 'newcomer'" in left_out["message"]
    assert old.rows("SELECT real_name FROM old.members WHERE id = 1") == [("Ann B",)]
    assert old.rows("SELECT headline FROM old.bookmarks WHERE id = 1") == [("Tea",)]
    old.run("UPDATE old.albums SET title = 'Changed meanwhile' WHERE id = 1010")
    words = pinway(*BACK, str(world), "--compare", data=data, status=3)
    assert "row of members 500: unknown in Pinway, a row in the source" in words
    assert 'name: "Album 10" in Pinway, "Changed meanwhile" in the source' in words

    ended = back(world, data, "--end", status=3)
    assert not ended["ended"]
    assert old.rows("SELECT title FROM old.albums WHERE id = 1010") == [("Album 10",)]
    assert any("changed in the old database" in note["message"] for note in reports(ended))
    old.run("DELETE FROM old.members WHERE id = 500")  # the row that was in the way
    old.run("ALTER TABLE old.bookmarks MODIFY note VARCHAR(200) CHARACTER SET latin1")
    found = back(world, data, "--until-caught-up")
    [avatar] = reports(found)
    assert avatar == told["user", "1"]
    assert old.rows("SELECT count(*) FROM old.members WHERE login = 'newcomer'") == [(1,)]
    assert old.rows("SELECT length(note) FROM old.bookmarks WHERE id = 1") == [(200,)]
    assert back(world, data, "--end", "--leave-out")["ended"]


def test_what_the_old_database_has_no_place_for_is_told_and_stays(
    world: Path, data: Path, old: OldDatabase
) -> None:
    async def work(stores: Stores) -> None:
        ann, one = await new_ids(stores, "user", 1, 1001)
        [tea] = await new_ids(stores, "board", 1)
        await invite_collaborator(stores, ann, tea, one)
        await accept_invitation(stores, one, tea)
        section = await create_section(stores, ann, NewSection(board_id=tea, name="Green"))
        pin = (await create_pin(stores, one, NewPin(board_id=tea, title="Shared"))).pin
        await move_pin_to_section(stores, one, pin.id, section.section.id)

    write(data, work)
    process = start(*BACK, str(world), "--until-caught-up", data=data)
    _, error = process.communicate(timeout=SECONDS)
    assert error.decode().count("collaborators and invitations, stay in Pinway") == 1
    assert old.rows("SELECT album_id FROM old.bookmarks WHERE headline = 'Shared'") == [(1,)]
    found = back(world, data, "--until-caught-up")
    [note] = reports(found)
    assert (found["changed"], note["left_out"]) == (0, False)
    assert note["message"].endswith("added it; a row is its board's owner's")
    assert back(world, data, "--compare")["differences"] == []
    shared = pin_of_title(data, "Shared")
    assert back(world, data, "--end", "--leave-out")["ended"]
    assert verified(world, data, "--repair")["differences"] == []
    after = pin_of_title(data, "Shared")
    assert (after["key"], after["owner"]) == (shared["key"], "old-site:1001")


def test_a_pin_of_a_former_collaborator_goes_with_its_row(
    world: Path, data: Path, old: OldDatabase
) -> None:
    async def work(stores: Stores) -> None:
        ann, one = await new_ids(stores, "user", 1, 1001)
        [tea] = await new_ids(stores, "board", 1)
        await invite_collaborator(stores, ann, tea, one)
        await accept_invitation(stores, one, tea)
        await create_pin(stores, one, NewPin(board_id=tea, title="Shared"))
        await leave_board(stores, one, tea)
        await update_board(stores, ann, tea, BoardChange(secret=True))

    write(data, work)
    assert back(world, data, "--end", "--leave-out")["ended"]
    assert b"Shared" in b"".join(exported(data))
    old.run("DELETE FROM old.bookmarks WHERE headline = 'Shared'", user="site")
    followed(world, data)
    assert b"Shared" not in b"".join(exported(data))


def test_the_migration_goes_on_after_the_way_back(
    world: Path, data: Path, old: OldDatabase, tmp_path: Path
) -> None:
    write(data, write_all)
    opened = tmp_path / "opened"
    told = back(world, data, "--end", "--then", f"touch {opened}")
    assert (told["ended"], opened.exists()) == (True, True)
    assert "has ended" in pinway(*BACK, str(world), data=data, status=1)
    assert back(world, data, "--end")["ended"]  # again, as after a kill
    assert followed(world, data)["rows"] == 0  # its own writes are no changes
    old.run("UPDATE old.members SET real_name = 'Ann C' WHERE id = 1", user="site")
    assert followed(world, data)["rows"] > 0
    assert verified(world, data, "--repair")["differences"] == []
    copied(world, tmp_path / "fresh")
    assert content(exported(data)) == content(exported(tmp_path / "fresh"))
    cut_over(world, data)
    assert back(world, data, "--until-caught-up")["left"] == 0
    assert back(world, data, "--compare")["differences"] == []


def test_an_old_id_that_a_table_gives_again_leads_to_the_new_object(
    world: Path, data: Path, old: OldDatabase
) -> None:
    made = []

    async def delete(stores: Stores) -> None:
        [last] = await new_ids(stores, "board", 1020)
        await delete_board(stores, (await access.read(stores, Board, [last]))[last].owner_id, last)

    async def create(stores: Stores) -> None:
        [ann] = await new_ids(stores, "user", 1)
        made.append((await create_board(stores, ann, NewBoard(name="New", secret=False))).board.id)

    write(data, delete)
    assert back(world, data, "--end")["ended"]
    assert verified(world, data, "--repair")["differences"] == []
    cut_over(world, data)
    write(data, create)
    assert back(world, data, "--until-caught-up")["left"] == 0
    assert old.rows("SELECT id FROM old.albums WHERE title = 'New'") == [(1020,)]
    found = json.loads(pinway("migrate", "find", str(world), "board", "1020", "--json", data=data))
    assert [int(found["1020"])] == made


def test_new_pins_have_numbers_of_their_own(world: Path, data: Path, old: OldDatabase) -> None:
    old.run(
        "USE old",
        "UPDATE bookmarks SET position = id % 997",
        "ALTER TABLE bookmarks MODIFY position INT NOT NULL, ADD UNIQUE (album_id, position)",
    )

    async def work(stores: Stores) -> None:
        [ann] = await new_ids(stores, "user", 1)
        new = (await create_board(stores, ann, NewBoard(name="New", secret=False))).board.id
        for board in [new, *await new_ids(stores, "board", 1)]:
            for number in range(3):
                await create_pin(stores, ann, NewPin(board_id=board, title=f"Pin {number}"))

    write(data, work)
    assert back(world, data, "--until-caught-up")["left"] == 0
    assert back(world, data, "--compare")["differences"] == []


def test_rows_that_refer_to_each_other_go(world: Path, data: Path, old: OldDatabase) -> None:
    old.run(
        "USE old",
        "SET foreign_key_checks = 0",  # some rows refer to missing ones
        "ALTER TABLE albums ADD FOREIGN KEY (cover) REFERENCES bookmarks (id)",
        "ALTER TABLE bookmarks ADD FOREIGN KEY (album_id) REFERENCES albums (id), "
        "ADD FOREIGN KEY (copied_from) REFERENCES bookmarks (id)",
    )

    ids: dict[str, int] = {}

    async def come(stores: Stores) -> None:
        new = ids["user"] = (await sign_up(stores, NewUser(username="newcomer"))).id
        for name in ("New", "Other"):
            board = (await create_board(stores, new, NewBoard(name=name, secret=False))).board.id
            pin = (await create_pin(stores, new, NewPin(board_id=board, title=name))).pin.id
            ids[name] = (await repin(stores, new, pin, board)).pin.id
            await update_pin(stores, new, ids[name], PinChange(title=f"Copy of {name}"))
            await update_board(stores, new, board, BoardChange(cover_pin_id=ids[name]))
            ids[f"source of {name}"] = pin

    async def delete(stores: Stores) -> None:
        for name in ("Other", "source of New"):
            await delete_pin(stores, ids["user"], ids[name])

    async def leave(stores: Stores) -> None:
        await delete_account(stores, ids["user"], Deletion(username="newcomer"))

    write(data, come)
    assert back(world, data, "--until-caught-up")["left"] == 0
    covers = (
        "SELECT headline, copied_from IS NULL FROM old.bookmarks p JOIN old.albums ON cover = p.id "
        "ORDER BY headline"
    )
    assert old.rows(covers) == [("Copy of New", 0), ("Copy of Other", 0)]
    write(data, delete)
    assert reports(back(world, data, "--until-caught-up")) == []
    assert old.rows(covers) == [("Copy of New", 1)]
    assert old.rows("SELECT cover FROM old.albums WHERE title = 'Other'") == [(None,)]
    write(data, leave)
    assert reports(back(world, data, "--until-caught-up")) == []
    assert old.rows("SELECT id FROM old.members WHERE login = 'newcomer'") == []
    assert back(world, data, "--compare")["differences"] == []


@pytest.mark.parametrize(
    ("column", "brought"),
    [("ENUM('yes', 'no') NOT NULL", [("New", "no")]), ("ENUM('yes') NOT NULL", [])],
)
def test_a_secret_board_is_not_public_in_the_old_database(
    world: Path, data: Path, old: OldDatabase, column: str, brought: list[tuple[str, str]]
) -> None:
    old.run(
        "USE old",
        "UPDATE albums SET is_public = 'yes'",
        f"ALTER TABLE albums MODIFY is_public {column}",
    )

    async def work(stores: Stores) -> None:
        [ann] = await new_ids(stores, "user", 1)
        new = (await create_board(stores, ann, NewBoard(name="New", secret=True))).board.id
        await create_pin(stores, ann, NewPin(board_id=new, title="New"))

    write(data, work)
    back(world, data, "--until-caught-up")
    assert old.rows("SELECT title, is_public FROM old.albums WHERE title = 'New'") == brought
    pins = old.rows("SELECT count(*) FROM old.bookmarks WHERE headline = 'New'")
    assert pins == [(len(brought),)]


def test_rows_may_be_marked_as_deleted(old: OldDatabase, world: Path, tmp_path: Path) -> None:
    old.run("ALTER TABLE old.bookmarks ADD gone INT, ADD kind INT NOT NULL")
    file = old.mapping(
        tmp_path,
        changed={
            "name: title\n": COVER,
            "'%spam%'\n": "'%spam%' AND gone IS NULL\n"
            "    back: {new: {kind: 7}, deleted: {gone: 1}}\n",
        },
    )
    data = tmp_path / "data"
    copied(file, data)
    cut_over(file, data)

    async def work(stores: Stores) -> None:
        [ann, pin] = [*await new_ids(stores, "user", 1), *await new_ids(stores, "pin", 1)]
        [tea] = await new_ids(stores, "board", 1)
        await delete_pin(stores, ann, pin)
        await create_pin(stores, ann, NewPin(board_id=tea, title="New"))

    write(data, work)
    assert back(file, data, "--until-caught-up")["left"] == 0
    assert old.rows("SELECT gone FROM old.bookmarks WHERE id = 1") == [(1,)]
    assert old.rows("SELECT kind FROM old.bookmarks WHERE headline = 'New'") == [(7,)]


def test_a_way_back_needs_a_cut_over_and_rights(
    old: OldDatabase, world: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    error = pinway(*BACK, str(world), data=data, status=1)
    assert "was not cut over: until then, the source has the newer state" in error
    cut_over(world, data)
    old.run(f"REVOKE UPDATE ON old.* FROM '{USER}'@'127.0.0.1'")

    async def work(stores: Stores) -> None:
        [ann] = await new_ids(stores, "user", 1)
        await update_profile(stores, ann, ProfileChange(about="other"))

    write(data, work)
    error = pinway(*BACK, str(world), data=data, status=1)
    assert "the way back needs INSERT, UPDATE and DELETE" in error


def pin_of_title(data: Path, title: str) -> dict[str, Any]:
    """The exported line of a pin."""
    [found] = [it for it in map(json.loads, exported(data)) if it.get("title") == title]
    return dict(found)


def reports(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(found["report"]).read_text().splitlines()]
