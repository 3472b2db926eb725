"""`pinway migrate follow` after statements that change rows or columns without an event for each
row, and after sessions with another row image."""

import signal
from pathlib import Path

import pytest

from datasources.mysql.binary_log import Statement
from datasources.mysql.source_log import remade_by
from tests.migration.old_world import ROWS, OldDatabase, many
from tests.migration.processes import (
    SECONDS,
    check_like_a_copy,
    copied,
    everything,
    followed,
    pinway,
    said,
    start,
)

MORE = """  - table: old-friends
    becomes: follow
    columns: {follower: a, user: b}
  - {table: parted, becomes: follow, columns: {follower: a, user: b}}
"""
EDGES = "(a BIGINT UNSIGNED, b BIGINT UNSIGNED, PRIMARY KEY (a, b))"


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("TRUNCATE likes", ["likes"]),
        ("/* the site */ truncate table `old`.`likes`", ["likes"]),
        ("TRUNCATE `old-friends` -- likes", ["old-friends"]),
        ("RENAME TABLE new TO Likes, m TO `old-friends`", ["likes", "old-friends"]),
        ("DROP TABLE IF EXISTS other, likes # m", ["likes"]),
        ("DROP DATABASE old", ["likes", "old-friends"]),
        ("ALTER /*!50100 ONLINE */ IGNORE TABLE likes TRUNCATE PARTITION p0", ["likes"]),
        ("ALTER TABLE x EXCHANGE PARTITION p WITH TABLE likes", ["likes"]),
        ("CREATE OR REPLACE TABLE likes (a INT)", ["likes"]),
        ("CREATE TABLE likes (a INT)", []),
        ("CREATE INDEX i ON likes (a)", []),
        ("ALTER TABLE other COMMENT 'likes'", []),
        ("SAVEPOINT likes", []),
    ],
)
def test_statements_name_the_tables_of_which_any_row_may_have_changed(
    text: str, tables: list[str]
) -> None:
    found = remade_by(Statement("old", text.encode()), "old", ["likes", "old-friends"])
    assert sorted(found) == tables
    assert remade_by(Statement("else", text.replace("old`", "x`").encode()), "odd", ["likes"]) == []


@pytest.fixture
def world(old: OldDatabase, tmp_path: Path) -> Path:
    old.run(
        "USE old",
        *ROWS,
        *many(members=12, albums=20, bookmarks=60),
        f"CREATE TABLE `old-friends` {EDGES}",
        f"CREATE TABLE parted {EDGES} PARTITION BY RANGE (a) (PARTITION low VALUES LESS THAN "
        "(1005), PARTITION high VALUES LESS THAN MAXVALUE)",
        "INSERT INTO `old-friends` VALUES (1001, 1002)",
        "INSERT INTO parted VALUES (1001, 1003), (1009, 1003)",
        "ALTER TABLE remarks ADD SYSTEM VERSIONING",
    )
    file = old.mapping(tmp_path)
    file.write_text(file.read_text() + MORE)
    return file


def test_tables_that_are_emptied_replaced_or_altered_end_like_a_copy(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run(
        "USE old",
        "/* the site */ TRUNCATE `old-friends`",
        "ALTER TABLE parted TRUNCATE PARTITION low",
        "DROP TABLE friends",
        f"CREATE TABLE friends {EDGES}",
        "INSERT INTO friends VALUES (1004, 1005)",
        "CREATE TABLE other LIKE albums",
        "INSERT INTO other SELECT id, member_id, CONCAT('new ', title), is_public, made "
        "FROM albums WHERE id != 1003",
        "INSERT INTO other VALUES (99, 1001, 'Found', 1, 1)",  # bookmark 4 was left out without it
        "RENAME TABLE albums TO was_albums, other TO albums",
        "UPDATE bookmarks SET headline = 'before' WHERE id = 1001",
        "DELETE FROM bookmarks WHERE id = 1002",
        "ALTER TABLE bookmarks MODIFY id BIGINT UNSIGNED AFTER position, ADD since DATE FIRST",
        "UPDATE bookmarks SET headline = 'after' WHERE id = 1003",
        "ALTER TABLE members MODIFY id BIGINT UNSIGNED AUTO_INCREMENT AFTER login",
        "UPDATE members SET real_name = 'Reordered' WHERE id = 1004",
    )
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")
    assert followed(world, data)["rows"] == 0


def test_a_follower_goes_on_with_the_columns_in_another_order(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    process = start("migrate", "follow", str(world), data=data)
    for change in (
        "ALTER TABLE old.bookmarks ADD since DATE FIRST",
        "UPDATE old.bookmarks SET headline = 'later' WHERE id = 1005",
    ):
        first = said(process.stderr)
        old.run(change, "UPDATE old.members SET real_name = CONCAT(id, NOW(6)) WHERE id = 1001")
        while said(process.stderr) == first:
            pass
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)
    assert process.returncode == 143
    assert any(b'"later"' in line for line in everything(data))


def test_keys_with_bytes_that_only_the_servers_latin1_has_are_followed(
    old: OldDatabase, tmp_path: Path
) -> None:
    old.run(
        "CREATE TABLE old.tags (slug VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY, name TEXT)",
        "INSERT INTO old.tags VALUES (x'C381', 'UTF-8 in latin1'), ('tea', 'Tea')",
    )
    file, data = old.mapping(tmp_path), tmp_path / "data"
    tags = "  - {table: tags, becomes: interest, columns: {key: slug, slug: slug, name: name}}\n"
    file.write_text(file.read_text() + tags)
    copied(file, data)
    old.run("UPDATE old.tags SET name = CONCAT(name, '!')")
    followed(file, data)
    assert any(b'"Tea!"' in line for line in everything(data))


def test_an_event_that_cannot_be_read_is_told(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS, "ALTER TABLE members MODIFY real_name TEXT COMPRESSED")
    file, data = old.mapping(tmp_path), tmp_path / "data"
    copied(file, data)
    old.run("UPDATE old.members SET real_name = 'tea' WHERE id = 1")
    error = pinway("migrate", "follow", str(file), data=data, status=1)
    assert "mysql-replication can't read the event after binlog." in error
    assert error.count("\n") == 1


def test_sessions_that_log_changed_columns_alone_are_followed(
    world: Path, old: OldDatabase, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    copied(world, data)
    old.run(
        "USE old",
        "SET SESSION binlog_row_image = MINIMAL",
        "UPDATE bookmarks SET headline = 'minimal' WHERE id = 1001",
        "UPDATE bookmarks SET id = 5000 WHERE id = 1004",
        "INSERT INTO members (login) VALUES ('counted')",
        "DELETE FROM likes WHERE bookmark_id = 1003",
        "UPDATE remarks SET words = 'of a table with versions' WHERE id = x'00ff0102'",
        "SET SESSION binlog_row_image = NOBLOB",
        "UPDATE members SET login = 'without_a_blob' WHERE id = 1002",
    )
    followed(world, data)
    check_like_a_copy(world, data, tmp_path / "fresh")
