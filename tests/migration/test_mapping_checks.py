"""`pinway migrate check` and `preview` against a real server: faults name their place, and rows are
shown as they will arrive."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main
from tests.migration.old_world import HUGE, PASSWORD, ROWS, OldDatabase


def pinway(*words: str, password: str = PASSWORD) -> Result:
    return CliRunner(env={"PINWAY_SOURCE_PASSWORD": password}).invoke(main, ["migrate", *words])


def shown(file: Path) -> dict[str, dict[str, Any]]:
    """The previewed rows of each kind by their primary keys."""
    done = pinway("preview", str(file), "--json")
    assert done.exit_code == 0, done.output
    return {
        table["becomes"]: {row["row"]: row for row in table["rows"]}
        for table in json.loads(done.stdout)
    }


def test_a_mapping_that_fits_is_confirmed(old: OldDatabase, tmp_path: Path) -> None:
    done = pinway("check", str(old.mapping(tmp_path)))
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "the mapping fits the source")
    assert "refuse" not in done.stdout


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("username: login", "username: logni", "did you mean login?"),
        ("table: albums", "table: albmus", "did you mean albums?"),
        ("table: likes", "table: log", "log has no primary key"),
        ("key: id", "key: real_name", "is not unique, or may be NULL"),
        ("created: joined", "created: login", "a time is a DATE, DATETIME or TIMESTAMP"),
        ("column: made, unit: seconds", "column: made", "a number needs its unit"),
        ("created: joined", "subject: login", "a subject needs its issuer, once"),
        ("created: joined", "issuer: login", "name the subject's column, too"),
        ("created: joined", "email: joined", "an e-mail address is a text or a BLOB"),
        ("'%spam%'", "'%spam%' AND nothing = 1", "nothing"),
        ("headline NOT LIKE '%spam%'", "id > 1) OR (id < 1", "where: "),
        ("127.0.0.1:{port}/old", "127.0.0.1:{port}/odl", "there is no database 'odl'"),
    ],
)
def test_a_mapping_that_the_source_refutes_is_refused_with_the_place(
    old: OldDatabase, tmp_path: Path, before: str, after: str, told: str
) -> None:
    before, after = (text.format(port=old.port) for text in (before, after))
    file = old.mapping(tmp_path, changed={before: after})
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if after in text)
    done = pinway("check", str(file))
    assert done.exit_code == 1
    assert told in done.stderr
    assert f"{file}:{line}: " in done.stderr


@pytest.mark.parametrize(
    ("type", "told"),
    [
        ("ENUM('a', 'b')", "ENUM"),
        ("SET('a', 'b')", "SET"),
        ("BIT(8)", "BIT"),
        ("DECIMAL(20)", "DECIMAL"),
        ("DATETIME", "DATETIME"),
    ],
)
def test_a_table_that_can_be_copied_but_not_followed_is_named_with_its_column(
    old: OldDatabase, tmp_path: Path, type: str, told: str
) -> None:
    old.run(
        f"ALTER TABLE old.likes ADD kind {type} NOT NULL, DROP PRIMARY KEY, "
        "ADD PRIMARY KEY (member_id, bookmark_id, kind)"
    )
    file = old.mapping(tmp_path)
    done = pinway("check", str(file))
    assert done.exit_code == 0, done.stderr
    [line] = [line for line in done.stdout.splitlines() if "follow and cut-over refuse it" in line]
    assert line.startswith(
        f"likes can be copied, but follow and cut-over refuse it: the column kind of its primary "
        f"key is {told}: integers, BINARY, VARBINARY, CHAR and VARCHAR can be followed; "
    )
    [found] = json.loads(pinway("check", str(file), "--json").stdout)["not_followed"]
    assert (found["table"], found["column"]) == ("likes", "kind")


def test_a_source_that_counts_in_steps_is_read(old: OldDatabase, tmp_path: Path) -> None:
    """A master that has another master beside it counts so."""
    old.run("SET GLOBAL auto_increment_increment = 2")
    try:
        done = pinway("check", str(old.mapping(tmp_path)))
    finally:
        old.run("SET GLOBAL auto_increment_increment = 1")
    assert done.exit_code == 0, done.stderr


def test_all_faults_are_told_at_once(old: OldDatabase, tmp_path: Path) -> None:
    changes = {"username: login": "username: x", "owner: member_id": "owner: y"}
    done = pinway("check", str(old.mapping(tmp_path, changed=changes)))
    assert "columns.username" in done.stderr
    assert "columns.owner" in done.stderr


def test_a_wrong_password_is_one_line_without_it(old: OldDatabase, tmp_path: Path) -> None:
    done = pinway("check", str(old.mapping(tmp_path)), password="wr0ng")
    assert done.exit_code == 1
    assert "Access denied" in done.stderr
    assert "wr0ng" not in done.output


def test_rows_are_shown_as_they_will_arrive(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS)
    rows = shown(old.mapping(tmp_path))
    ann, bob, eve = (rows["user"][key] for key in ("1", str(HUGE), "3"))
    assert json.loads(ann["line"]) == {
        "about": "tea",
        "created": "2010-05-01T08:00:00Z",
        "full_name": "Ann Lee",
        "key": "1",
        "type": "user",
        "username": "ann",
    }
    assert json.loads(bob["line"])["about"] == "no \ufffd!"
    assert [change.partition(" ")[0] for change in bob["changes"]] == ["about", "created"]
    assert eve["line"] is None
    assert "a user name of 3 to 30" in eve["left_out"]


def test_boards_are_secret_unless_the_old_table_says_public(
    old: OldDatabase, tmp_path: Path
) -> None:
    old.run("USE old", *ROWS)
    boards = shown(old.mapping(tmp_path))["board"]
    assert "secret" not in json.loads(boards["1"]["line"])
    assert json.loads(boards["1"]["line"])["created"] == "2011-03-13T07:06:40Z"
    assert json.loads(boards["5"]["line"])["secret"]
    two = json.loads(boards["2"]["line"])
    assert (two["name"], two["secret"], two["owner"]) == ("Untitled", True, str(HUGE))
    assert "NULL" in boards["3"]["left_out"]


def test_pins_keep_their_order_and_lose_no_text(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS)
    pins = shown(old.mapping(tmp_path))["pin"]
    assert set(pins) == {"1", "3", "4", "6", str(HUGE)}  # `where` leaves spam out
    first, second = (json.loads(pins[key]["line"]) for key in (str(HUGE), "1"))
    assert int(first["sequence"]) > int(second["sequence"])
    assert first["description"] == "é\nsee the book"  # UTF-8 in a latin1 column
    assert (len(first["title"]), first["source"]) == (500, "1")
    assert len(pins[str(HUGE)]["changes"]) == 2
    assert second["created"] == "2012-01-01T00:00:00.250000Z"
    assert "source" not in json.loads(pins["3"]["line"])  # 0 means none


def test_edges_and_comments_have_old_ids(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS)
    rows = shown(old.mapping(tmp_path))
    assert json.loads(rows["comment"]["00ff0102"]["line"])["key"] == "00ff0102"
    assert rows["comment"]["00000001"]["line"] is None
    assert json.loads(rows["like"][f"1, {HUGE}"]["line"])["pin"] == str(HUGE)
    assert "can't follow themselves" in rows["follow"]["1, 1"]["left_out"]
