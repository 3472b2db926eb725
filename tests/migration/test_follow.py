"""`pinway migrate follow`: the changes of the source arrive, none twice, also when it is killed."""

import json
import signal
from pathlib import Path
from random import Random

import pytest

from tests.migration.old_world import CHANGES, ROWS, OldDatabase, many
from tests.migration.old_writer import OldSite
from tests.migration.processes import (
    SECONDS,
    check_like_a_copy,
    copied,
    everything,
    followed,
    killed_at,
    killed_later,
    pinway,
    said,
    start,
    verified,
)
from tests.scale import scaled, seeds

KILLS = scaled(2, 4)
KILLED = "tests.migration.killed_follow"
FOLLOW = ("follow", "--until-caught-up")


@pytest.fixture
def world(old: OldDatabase, tmp_path: Path) -> Path:
    """The mapping of a source with rows of all kinds."""
    old.run("USE old", *ROWS, *many(members=12, albums=20, bookmarks=60))
    return old.mapping(tmp_path)


def test_changes_end_like_a_copy_of_the_changed_rows(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("USE old", *CHANGES)
    assert followed(world, data)["behind"] < 1
    check_like_a_copy(world, data, tmp_path / "fresh")
    assert followed(world, data)["rows"] == 0


def test_names_that_members_swap_arrive(world: Path, old: OldDatabase, tmp_path: Path) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run(
        "USE old",
        "BEGIN",
        "UPDATE members SET login = 'aside' WHERE id = 1001",
        "UPDATE members SET login = 'user1' WHERE id = 1002",
        "UPDATE members SET login = 'user2' WHERE id = 1001",
        "COMMIT",
        "UPDATE members SET login = 'was3' WHERE login = 'user3'",
        "UPDATE members SET login = 'user3' WHERE login = 'user5'",
    )
    followed(world, data)
    assert verified(world, data)["differences"] == []
    names = {json.loads(line).get("username") for line in everything(data)}
    assert {"user1", "user2", "user3"} <= names
    assert "aside" not in names


def test_pins_that_become_their_own_repins_are_left_out_until_they_are_not(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    circle = (
        "UPDATE bookmarks SET copied_from = 1042 WHERE id = 1041",
        "UPDATE bookmarks SET copied_from = 1043 WHERE id = 1042",
        "UPDATE bookmarks SET copied_from = 1041 WHERE id = 1043",
        "UPDATE bookmarks SET copied_from = 1047 WHERE id = 1047",
    )
    for number, statements in enumerate((circle, ["UPDATE bookmarks SET copied_from = NULL"])):
        old.run("USE old", *statements)
        followed(world, data)
        check_like_a_copy(world, data, tmp_path / f"fresh{number}")


def test_rows_that_leave_without_being_logged_leave(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    old.run(
        "USE old",
        "DELETE FROM bookmarks WHERE album_id NOT IN (SELECT id FROM albums)",
        "ALTER TABLE bookmarks ADD FOREIGN KEY (album_id) REFERENCES albums (id) "
        "ON DELETE CASCADE ON UPDATE CASCADE",
    )
    copied(world, data)
    old.run(
        "USE old",
        "DELETE FROM albums WHERE id = 1",  # its bookmarks go without an event
        "UPDATE albums SET id = 5000 WHERE id = 1001",  # its bookmarks come to it without one
        "TRUNCATE likes",
        "TRUNCATE TABLE `old`.`friends`",
        "INSERT INTO likes VALUES (1001, 1002, NULL)",
    )
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")


# The next tests kill processes of the command. `test_killed_keys.py` has the seams of users' names
# and keys in one process, so most cases of them run nightly.
@pytest.mark.parametrize(
    ("made", "change"),
    [
        pytest.param(
            "INSERT INTO members VALUES (500, 'orphan', '', NULL, NULL)",
            "DELETE FROM members WHERE id = 500",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "INSERT INTO members VALUES (500, 'orphan', '', NULL, NULL)",
            "UPDATE members SET login = 'other' WHERE id = 500",
            marks=pytest.mark.nightly,
        ),
        (
            "INSERT INTO albums VALUES (500, 1001, 'Orphan', 1, 1)",
            "UPDATE albums SET member_id = 1002 WHERE id = 500",
        ),
        (
            "INSERT INTO bookmarks VALUES (500, 1002, 'Orphan', '', '', 1, NULL, NULL)",
            "DELETE FROM bookmarks WHERE id = 500",
        ),
    ],
)
def test_an_object_whose_follower_was_killed_is_taken_away_when_its_row_changes(
    world: Path, old: OldDatabase, tmp_path: Path, made: str, change: str
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("USE old", made)
    assert killed_at("_insert", world, data, *FOLLOW, module=KILLED) == 0  # no old id is claimed
    old.run("USE old", change)
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE members SET login = 'other' WHERE id = 500",
        pytest.param("DELETE FROM members WHERE id = 500", marks=pytest.mark.nightly),
    ],
)
def test_a_name_that_a_killed_follower_claimed_goes_to_a_row_that_waited_for_it(
    world: Path, old: OldDatabase, tmp_path: Path, change: str
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("INSERT INTO old.members VALUES (500, 'orphan', '', NULL, NULL)")
    assert killed_at("before claim", world, data, *FOLLOW, module=KILLED) == 0
    old.run(
        "USE old",
        "INSERT INTO members VALUES (501, 'late', '', NULL, NULL)",  # is looked at first
        change,
        "UPDATE members SET login = 'orphan' WHERE id = 501",
    )
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")


@pytest.mark.nightly
def test_a_name_that_a_user_kept_at_first_goes_to_a_row_that_waited_for_it(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("INSERT INTO old.members VALUES (500, 'orphan', '', NULL, NULL)")
    assert killed_at("before claim", world, data, *FOLLOW, module=KILLED) == 0
    old.run(
        "USE old",
        "UPDATE members SET bio = 'tea' WHERE id = 1001",  # is looked at first: stays user1
        "INSERT INTO members VALUES (501, 'late', '', NULL, NULL)",  # is next: user1 is taken
        "UPDATE members SET login = 'other' WHERE id = 500",
        "UPDATE members SET login = 'orphan' WHERE id = 1001",
        "UPDATE members SET login = 'user1' WHERE id = 501",
    )
    assert killed_at("_take_name", world, data, *FOLLOW, module=KILLED) == 0  # 1001 is orphan now
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")


@pytest.mark.parametrize(
    ("gets", "gotten", "given_up"),
    [
        pytest.param(
            "INSERT INTO members VALUES (500, 'brief', '', NULL, NULL)",
            *("before claim", "_insert"),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "INSERT INTO members VALUES (500, 'brief', '', NULL, NULL)",
            *("claim", "_take_name"),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "UPDATE members SET login = 'brief' WHERE id = 500",
            *("_take_name", "_take_name"),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_name_that_a_user_had_between_two_kills_goes_to_a_row_that_waited_for_it(
    world: Path, old: OldDatabase, tmp_path: Path, gets: str, gotten: str, given_up: str
) -> None:
    data = tmp_path / "data"
    if gets.startswith("UPDATE"):
        old.run("INSERT INTO old.members VALUES (500, 'early', '', NULL, NULL)")
    copied(world, data)
    old.run("USE old", gets)
    assert killed_at(gotten, world, data, *FOLLOW, module=KILLED) == 0  # 500 is brief
    old.run(
        "USE old",
        "INSERT INTO members VALUES (501, 'late', '', NULL, NULL)",  # is looked at first
        "UPDATE members SET login = 'other' WHERE id = 500",
        "UPDATE members SET login = 'brief' WHERE id = 501",
    )
    assert killed_at(given_up, world, data, *FOLLOW, module=KILLED) == 0
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")


@pytest.mark.nightly
@pytest.mark.parametrize("login", ["user3", "other"])
def test_the_name_of_an_account_whose_follower_was_killed_is_free(
    world: Path, old: OldDatabase, tmp_path: Path, login: str
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("DELETE FROM old.members WHERE id = 1003")
    assert killed_at("delete_account", world, data, *FOLLOW, module=KILLED) == 0
    old.run(
        "USE old",
        f"INSERT INTO members VALUES (501, '{'late' if login == 'user3' else 'user3'}', '', NULL, "
        "NULL)",
        f"INSERT INTO members VALUES (1003, '{login}', '', NULL, NULL)",
        "INSERT INTO friends VALUES (1, 1003)",
    )
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")


@pytest.mark.nightly
def test_a_name_is_free_after_a_user_who_was_stored_before_another_had_it(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("INSERT INTO old.members VALUES (500, 'brief', '', NULL, NULL)")
    assert killed_at("_insert", world, data, *FOLLOW, module=KILLED) == 0  # nobody is brief
    old.run(
        "USE old",
        "UPDATE members SET bio = 'tea' WHERE id = 1001",  # is looked at first
        "UPDATE members SET login = 'aside' WHERE id = 500",
        "UPDATE members SET login = 'brief' WHERE id = 1001",
    )
    assert killed_at("_take_name", world, data, *FOLLOW, module=KILLED) == 0  # 1001 is brief
    old.run(
        "USE old",
        "UPDATE members SET login = 'user1' WHERE id = 1001",
        "UPDATE members SET login = 'brief' WHERE id = 500",
    )
    followed(world, data)
    old.run(
        "USE old",
        "DELETE FROM members WHERE id = 500",
        "INSERT INTO members VALUES (502, 'brief', '', NULL, NULL)",
    )
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")


def test_a_follower_goes_on_until_it_is_stopped(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    process = start("migrate", "follow", str(world), data=data)
    first = said(process.stderr)
    old.run("INSERT INTO old.members VALUES (8, 'late', '', NULL, NULL)")
    while said(process.stderr) == first:
        pass
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)
    assert process.returncode == 143
    assert any(b'"late"' in line for line in everything(data))
    assert "migrate follow brings" in pinway("migrate", "copy", str(world), data=data, status=1)


def test_an_idle_follower_keeps_its_connections_and_sees_the_next_change(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    process = start("migrate", "follow", str(world), data=data)
    for _ in range(2):
        said(process.stderr)
    before = old.connections()
    for _ in range(3):  # a line each second
        said(process.stderr)
    assert old.connections() - before <= 2  # one of them asks for the number
    for statement in (
        "INSERT INTO old.members VALUES (8, 'late', '', NULL, NULL)",
        "TRUNCATE old.remarks",
        "UPDATE old.members SET login = 'later' WHERE id = 8",
    ):
        first = said(process.stderr)
        old.run(statement)
        while said(process.stderr) == first:
            pass
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)
    assert process.returncode == 143
    lines = b"".join(everything(data))
    assert b'"later"' in lines
    assert b'"comment"' not in lines


def test_a_follower_of_steady_writes_keeps_its_connections(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data, writes = tmp_path / "data", 5
    copied(world, data)
    process = start("migrate", "follow", str(world), data=data)
    said(process.stderr)

    def write(number: int) -> None:
        first = said(process.stderr)
        old.run(f"UPDATE old.members SET real_name = 'Ann {number}' WHERE id = 1")
        while said(process.stderr) == first:
            pass

    write(0)
    before = old.connections()
    for number in range(writes):
        write(1 + number)
    assert old.connections() - before <= writes + 2  # each write connects, and each count
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)
    assert process.returncode == 143
    assert any(f'"Ann {writes}"'.encode() in line for line in everything(data))


@pytest.mark.parametrize(
    ("setting", "value", "right"),
    [("binlog_format", "MIXED", "ROW"), ("binlog_row_image", "MINIMAL", "FULL")],
)
def test_a_log_without_whole_rows_is_refused(
    world: Path, old: OldDatabase, tmp_path: Path, setting: str, value: str, right: str
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run(f"SET GLOBAL {setting} = '{value}'")
    try:
        error = pinway("migrate", "follow", str(world), data=data, status=1)
    finally:
        old.run(f"SET GLOBAL {setting} = '{right}'")
    assert f"{setting} is {value}: it must be {right}" in error


def test_after_a_log_that_is_gone_a_repair_brings_its_changes_and_a_follow_goes_on(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("USE old", *CHANGES, "FLUSH BINARY LOGS", "FLUSH BINARY LOGS", "RESET MASTER")
    error = pinway("migrate", "follow", str(world), data=data, status=1)
    assert "no longer begins before binlog." in error
    assert "Run migrate verify --repair" in error
    assert verified(world, data, "--repair")["differences"] == []
    old.run(
        "INSERT INTO old.members VALUES (8, 'later', '', NULL, NULL)",
        "DELETE FROM old.bookmarks WHERE id = 1031",
    )
    assert followed(world, data)["behind"] < 1
    check_like_a_copy(world, data, tmp_path / "fresh")


def test_the_log_of_another_server_in_the_sources_place_is_not_read(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run("SET GLOBAL server_id = 2")
    try:
        error = pinway("migrate", "follow", str(world), data=data, status=1)
    finally:
        old.run("SET GLOBAL server_id = 1")
    assert "the server_id 2, and was 1, whose binary log has other positions" in error
    assert followed(world, data)["behind"] < 1


@pytest.mark.parametrize("run", seeds(1, 20))
@pytest.mark.timeout(900)
def test_nothing_is_missed_or_doubled_under_writes_and_kills(
    old: OldDatabase, tmp_path: Path, run: int
) -> None:
    old.run("USE old", *ROWS, *many(members=12, albums=20, bookmarks=60))
    file, data, random = old.mapping(tmp_path), tmp_path / "data", Random(run)
    with OldSite(old.port, str(run), pause=scaled(0.01, 0.002)) as site:
        killed_later(random, "copy", str(file), "--no-feeds", data=data)
        killed_later(random, "copy", str(file), "--no-feeds", data=data)
        copied(file, data)
        for _ in range(KILLS):
            killed_later(random, "follow", str(file), data=data)
        for _ in range(KILLS):
            killed_at(random.randrange(1, 400), file, data, *FOLLOW, module=KILLED)
    assert site.written > 100
    followed(file, data)
    check_like_a_copy(file, data, tmp_path / "fresh")
