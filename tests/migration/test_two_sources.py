"""Two migrations, or an import and a migration, into one Pinway: nobody is taken for somebody else
because of an equal old id and an equal user name."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from datasources.protocols import Stores
from feed_engine.transactions.inputs import (
    BoardChange,
    Deletion,
    NewBoard,
    NewComment,
    NewPin,
    NewUser,
)
from feed_engine.writes.accounts import delete_account
from feed_engine.writes.boards import create_board, update_board
from feed_engine.writes.collaborators import accept_invitation, invite_collaborator
from feed_engine.writes.comments import create_comment
from feed_engine.writes.follows import follow
from feed_engine.writes.likes import like_pin
from feed_engine.writes.pins import create_pin, repin
from feed_engine.writes.users import sign_up
from gateway.operate.migration.copying import find_old
from tests.importing.files import board, interest, pin, user
from tests.migration.old_world import SCHEMA, USER, OldDatabase
from tests.migration.pinway_site import write
from tests.migration.processes import (
    back,
    copied,
    cut_over,
    everything,
    exported,
    followed,
    killed_at,
    pinway,
    verified,
)
from tests.migration.test_copy import reports

TAKEN = [(True, "the user name 'ann' is taken")]
INTERESTS = """tables:
  - table: topics
    becomes: interest
    columns: {key: id, name: title, slug: slug}
"""


@pytest.fixture
def first(old: OldDatabase, tmp_path: Path) -> Path:
    """The mapping of a source with the user ann, whose old id is 1."""
    old.run(
        "USE old",
        "INSERT INTO members VALUES (1, 'ann', 'Ann Lee', NULL, NULL)",
        "INSERT INTO albums VALUES (1, 1, 'Tea', 1, 1)",
        "INSERT INTO bookmarks VALUES (1, 1, 'Gyokuro', '', '', 1, NULL, NULL)",
    )
    return old.mapping(_made(tmp_path / "first"))


@pytest.fixture
def second(old: OldDatabase, tmp_path: Path) -> Iterator[Path]:
    """The mapping of another source, where another ann has the old id 1."""
    old.run(
        "DROP DATABASE IF EXISTS other",
        "CREATE DATABASE other CHARACTER SET utf8mb4",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON other.* TO '{USER}'@'127.0.0.1'",
        f"GRANT RELOAD, READ ONLY ADMIN ON *.* TO '{USER}'@'127.0.0.1'",
        "USE other",
        *SCHEMA,
        "CREATE TABLE topics (id INT PRIMARY KEY, title TEXT, slug VARCHAR(90))",
        "INSERT INTO topics VALUES (1, 'Teas', 'tea')",
        "INSERT INTO members VALUES (1, 'ann', 'Ann Kay', NULL, NULL), (2, 'zoe', '', NULL, NULL)",
        "INSERT INTO albums VALUES (1, 1, 'Diary', 0, 1), (2, 2, 'Zen', 1, 1)",
        "INSERT INTO bookmarks VALUES (1, 1, 'Dear diary', '', '', 1, NULL, NULL), "
        "(2, 2, 'Garden', '', '', 1, NULL, NULL)",
        "INSERT INTO likes VALUES (1, 2, NULL)",
    )
    changed = {"name: old-site": "name: other-site", "/old\n": "/other\n", "tables:\n": INTERESTS}
    yield old.mapping(_made(tmp_path / "second"), changed=changed)
    old.run("SET GLOBAL read_only = OFF")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _forget_keys(journal: Path) -> None:
    with closing(sqlite3.connect(journal)) as db:
        db.execute("DELETE FROM facts WHERE name = 'keys'")
        db.commit()


def found(data: Path, kind: str) -> dict[str, dict[str, Any]]:
    """The exported lines of a kind, by their texts."""
    lines = [json.loads(line) for line in exported(data)]
    return {
        it.get("username") or it.get("name") or it.get("title"): it
        for it in lines
        if it["type"] == kind
    }


def test_equal_ids_and_names_of_two_sources_stay_apart(
    first: Path, second: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(first, data)
    before = everything(data)
    told = copied(second, data)
    assert {where: why for where, why in reports(told).items() if any(out for out, _ in why)} == {
        "members 1": TAKEN,
        "albums 1": [(True, "there is no user '1'")],
        "bookmarks 1": [(True, "there is no board '1'")],
        "likes 1, 2": [(True, "there is no user '1'")],
    }
    assert everything(data) >= before
    assert {*found(data, "board")} == {"Tea", "Zen"}
    assert {*found(data, "user")} == {"ann", "zoe"}
    words = ("migrate", "find", str(second), "user", "1", "--json")
    assert json.loads(pinway(*words, data=data)) == {"1": None}
    for file in (first, second):
        assert verified(file, data)["differences"] == []

    # The follower leaves the user out, too, and ends what it brought itself.
    old.run(
        "USE other",
        "UPDATE members SET real_name = 'Ann K.' WHERE id = 1",
        "UPDATE members SET login = 'Ann_K' WHERE id = 1",
        "INSERT INTO members VALUES (3, 'ann', 'A third one', NULL, NULL)",
    )
    followed(second, data)
    boards, users = found(data, "board"), found(data, "user")
    assert {name: it["full_name"] for name, it in users.items() if it.get("full_name")} == {
        "ann": "Ann Lee",
        "ann_k": "Ann K.",
    }
    assert boards["Diary"]["owner"] == users["ann_k"]["key"]
    assert boards["Tea"]["owner"] == users["ann"]["key"]
    old.run("DELETE FROM other.members WHERE id IN (1, 3)", "DELETE FROM other.albums WHERE id = 1")
    followed(second, data)
    old.run("INSERT INTO other.members VALUES (1, 'ann', 'Ann Kay', NULL, NULL)")
    followed(second, data)
    verified(second, data, "--repair")
    assert {*found(data, "user")} == {"ann", "zoe"}
    assert everything(data) >= before
    for file in (first, second):
        assert verified(file, data)["differences"] == []

    # The old id of a user who was left out stays free on the way back.
    cut_over(second, data)
    old.run("SET GLOBAL read_only = OFF")
    told = back(second, data, "--until-caught-up")
    assert (told["left"], told["staying"]) == (0, 1)
    rows = old.rows("SELECT real_name FROM other.members WHERE id = 1")
    assert rows == [("Ann Kay",)]


def test_users_of_other_migrations_and_imports_stay_in_pinway_on_the_way_back(
    first: Path, second: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data, lines = tmp_path / "data", tmp_path / "world.jsonl"
    given = [
        user("1", username="imported"),
        interest("1", slug="rice", name="Rice"),
        board("1", "1", name="Tokyo"),
        pin("1", "1", title="Asakusa"),
    ]
    lines.write_text("\n".join(map(json.dumps, given)))
    pinway("import", str(lines), data=data)
    copied(first, data)
    copied(second, data)
    cut_over(second, data)

    async def work(stores: Stores) -> None:
        async def id_of(name: str, kind: str, old_id: str) -> int:
            return (await find_old(stores, name, kind, [old_id]))[old_id]

        ann, zoe = await id_of("old-site", "user", "1"), await id_of("other-site", "user", "2")
        gyokuro, garden = await id_of("old-site", "pin", "1"), await id_of("other-site", "pin", "2")
        zen = await id_of("other-site", "board", "2")
        green = (await create_board(stores, ann, NewBoard(name="Green", secret=False))).board.id
        await create_pin(stores, ann, NewPin(board_id=green, title="Sencha"))
        await create_comment(stores, ann, NewComment(pin_id=gyokuro, text="Mine"))
        await like_pin(stores, ann, gyokuro)
        new = (await sign_up(stores, NewUser(username="newcomer"))).id
        theirs = (await create_board(stores, new, NewBoard(name="Theirs", secret=False))).board.id
        await create_pin(stores, new, NewPin(board_id=theirs, title="Hojicha"))
        await follow(stores, new, zoe)
        await create_comment(stores, ann, NewComment(pin_id=garden, text="What a garden"))
        await create_comment(stores, zoe, NewComment(pin_id=garden, text="Thanks"))
        await like_pin(stores, zoe, gyokuro)
        await repin(stores, zoe, gyokuro, zen)
        await follow(stores, ann, await id_of("other-site", "interest", "1"))
        tea = await id_of("old-site", "board", "1")
        for owner, on, guest, title in ((ann, tea, zoe, "By Zoe"), (zoe, zen, ann, "By Ann")):
            await invite_collaborator(stores, owner, on, guest)
            await accept_invitation(stores, guest, on)
            made = (await create_pin(stores, guest, NewPin(board_id=on, title=title))).pin.id
        await update_board(stores, zoe, zen, BoardChange(cover_pin_id=made))

    write(data, work)
    told = back(second, data, "--until-caught-up")
    assert told["staying"] == 2
    logins = old.rows("SELECT login FROM other.members ORDER BY login")
    assert logins == [("ann",), ("newcomer",), ("zoe",)]  # the row of this ann was left out
    titles = old.rows("SELECT title FROM other.albums ORDER BY title")
    assert titles == [("Diary",), ("Theirs",), ("Zen",)]
    headlines = old.rows("SELECT headline, copied_from FROM other.bookmarks ORDER BY headline")
    wanted = ["By Ann", "Dear diary", "Garden", "Gyokuro", "Hojicha"]
    assert [title for title, _ in headlines] == wanted
    assert {source for _, source in headlines} == {None}
    assert old.rows("SELECT count(*) FROM other.friends") == [(1,)]
    assert old.rows("SELECT HEX(id), words FROM other.remarks") == [("00000001", "Thanks")]
    assert old.rows("SELECT slug FROM other.topics ORDER BY slug") == [("rice",), ("tea",)]
    notes = [json.loads(line) for line in Path(told["report"]).read_text().splitlines()]
    assert {(note["kind"], note["message"].partition(": ")[0]) for note in notes} == {
        ("board", "cover"),
        ("comment", "its author is not in the old database"),
        ("pin", "its board stays in Pinway"),
        ("pin", "owner"),
        ("pin", "source"),
        ("user_likes_pins", "one of its ends stays in Pinway"),
    }
    assert back(second, data, "--until-caught-up")["changed"] == 0
    assert back(second, data, "--compare")["differences"] == []

    async def leave(stores: Stores) -> None:
        ann = (await find_old(stores, "old-site", "user", ["1"]))["1"]
        await delete_account(stores, ann, Deletion(username="ann"))

    write(data, leave)
    told = back(second, data, "--until-caught-up")
    assert (told["left"], told["staying"]) == (0, 1)


def test_interests_of_others_are_no_changes_left_out_without_a_table(
    first: Path, second: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(first, data)
    copied(second, data)
    cut_over(first, data)
    told = back(first, data, "--until-caught-up")
    assert (told["changed"], told["left"], told["staying"]) == (0, 0, 1)
    assert back(first, data, "--compare")["differences"] == []


def test_an_imported_user_is_not_taken_for_a_migrated_one(
    first: Path, second: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data, lines = tmp_path / "data", tmp_path / "world.jsonl"
    given = [
        user("1", username="ann", full_name="Ann Ito"),
        interest("1", slug="tea", name="Tea"),
        board("1", "1", name="Tokyo"),
        pin("1", "1", title="Asakusa"),
    ]
    lines.write_text("\n".join(map(json.dumps, given)))
    pinway("import", str(lines), data=data)
    before = everything(data)
    assert reports(copied(second, data))["members 1"] == TAKEN
    assert everything(data) >= before
    assert {*found(data, "board")} == {"Tokyo", "Zen"}
    old.run("DELETE FROM other.topics WHERE id = 1")  # the interest of the import
    followed(second, data)
    assert everything(data) >= before

    # The other way around
    data = tmp_path / "migrated"
    copied(first, data)
    before = everything(data)
    report = json.loads(pinway("import", str(lines), "--json", data=data))
    assert (report["bad_lines"], report["loaded"].get("user", 0)) == (3, 0)
    assert everything(data) >= before
    assert {*found(data, "board")} == {"Tea"}


def test_a_migration_of_an_earlier_version_goes_on_as_it_began(
    first: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    assert killed_at("add_page", first, data) == 0
    journal = data / "migrations" / "old-site" / "journal.sqlite"
    _forget_keys(journal)  # an earlier version stored nothing about them
    assert killed_at(20, first, data) == 0
    copied(first, data)
    keys = {name: it["key"] for name, it in found(data, "user").items()}
    assert keys == {"ann": "1"}
    old.run(
        "USE old",
        "INSERT INTO members VALUES (2, 'bob', '', NULL, NULL), (3, 'cat', '', NULL, NULL)",
        "UPDATE members SET real_name = 'Ann B' WHERE id = 1",
        "INSERT INTO albums VALUES (2, 2, 'Rice', 1, 1)",
        "UPDATE bookmarks SET album_id = 2 WHERE id = 1",  # to another owner
        "DELETE FROM albums WHERE id = 1",
    )
    followed(first, data)
    old.run("UPDATE old.members SET login = IF(id = 2, 'cat2', 'bob') WHERE id IN (2, 3)")
    followed(first, data)
    keys = {name: it["key"] for name, it in found(data, "user").items()}
    assert keys == {"ann": "1", "cat2": "2", "bob": "3"}
    assert found(data, "pin")["Gyokuro"]["board"] == "2"
    assert verified(first, data, "--repair")["differences"] == []

    # All is recognized also without the journal.
    before = everything(data)
    journal.unlink()
    assert copied(first, data)["new"] == {}
    assert verified(first, data)["differences"] == []
    assert everything(data) == before
