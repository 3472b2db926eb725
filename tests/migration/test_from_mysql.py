"""A whole migration from MySQL 8: check, copy, follow, verify, cut-over, and the way back."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from datasources.protocols import Stores
from feed_engine.transactions.inputs import NewPin, PinChange
from feed_engine.writes.pins import create_pin, update_pin
from gateway.cli import main
from tests.migration.old_world import (
    CHANGES,
    PASSWORD,
    ROWS,
    SCHEMA,
    USER,
    OldDatabase,
    many,
)
from tests.migration.old_writer import OldSite
from tests.migration.pinway_site import new_ids, pinway_stores, settled
from tests.migration.processes import (
    back,
    check_like_a_copy,
    copied,
    followed,
    killed_at,
    killed_later,
    pinway,
    verified,
)
from tests.private_mysql import mysql

pytestmark = pytest.mark.nightly
COUNTS = {"members": 12, "albums": 20, "bookmarks": 60}
WHO = f"'{USER}'@'127.0.0.1'"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a MySQL server."""
    with mysql(tmp_path_factory.mktemp("mysql")) as port:
        yield port


@pytest.fixture
def world(server: int, tmp_path: Path) -> Iterator[tuple[OldDatabase, Path]]:
    """The old database on MySQL, and the mapping of a user with the rights that `check` tells."""
    old = OldDatabase(server)
    old.run(
        "DROP DATABASE IF EXISTS old",
        "CREATE DATABASE old CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        f"DROP USER IF EXISTS {WHO}, site@localhost",
        f"CREATE USER {WHO} IDENTIFIED BY '{PASSWORD}'",
        f"GRANT SELECT ON old.* TO {WHO}",
        "CREATE USER site@localhost",
        "GRANT ALL ON old.* TO site@localhost",
        "USE old",
        *SCHEMA,
        *ROWS,
        *sequences(),
        *many(**COUNTS),
        "ALTER TABLE bookmarks MODIFY copied_from BIGINT UNSIGNED",
    )
    file = old.mapping(tmp_path)
    for one in missing(file):
        old.run(one["grant"])
    assert missing(file) == []
    yield old, file
    old.run("SET GLOBAL read_only = OFF")


def sequences() -> list[str]:
    """Statements that make the tables which MariaDB has for `many` by itself."""
    found = []
    for last in {*COUNTS.values(), COUNTS["bookmarks"] // 2}:
        found.append(f"CREATE TABLE seq_1_to_{last} (seq INT PRIMARY KEY)")
        values = ", ".join(f"({number})" for number in range(1, last + 1))
        found.append(f"INSERT INTO seq_1_to_{last} VALUES {values}")
    return found


def missing(file: Path) -> list[dict[str, str]]:
    """The rights that the user does not have, as `check` tells them."""
    command = ["migrate", "check", str(file), "--json"]
    done = CliRunner(env={"PINWAY_SOURCE_PASSWORD": PASSWORD}).invoke(main, command)
    assert done.exit_code == 0, done.output
    found: list[dict[str, str]] = json.loads(done.stdout)["missing_rights"]
    return found


def test_changes_end_like_a_copy_of_the_changed_rows(
    world: tuple[OldDatabase, Path], tmp_path: Path
) -> None:
    (old, file), data = world, tmp_path / "data"
    copied(file, data)
    old.run("USE old", *CHANGES, "TRUNCATE friends")
    assert followed(file, data)["behind"] < 1
    check_like_a_copy(file, data, tmp_path / "fresh")


def test_nothing_is_missed_or_doubled_by_killed_commands_and_a_cut_over_under_writes(
    world: tuple[OldDatabase, Path], tmp_path: Path
) -> None:
    (old, file), data, random = world, tmp_path / "data", Random("mysql")
    opened = tmp_path / "opened"
    with OldSite(old.port, "mysql", pause=0.02, user="site") as site:
        killed_later(random, "copy", str(file), "--no-feeds", data=data)
        copied(file, data)
        killed_later(random, "follow", str(file), data=data)
        for _ in range(3):
            words = ("follow", "--until-caught-up")
            seam = random.randrange(1, 200)
            killed_at(seam, file, data, *words, module="tests.migration.killed_follow")
        then = f"touch {opened}"
        pinway("migrate", "cut-over", str(file), "--within", "60", "--then", then, data=data)
        written = site.written
    assert written > 50
    assert site.refused
    assert opened.exists()
    check_like_a_copy(file, data, tmp_path / "fresh")


def test_pinways_writes_come_back_until_the_old_database_takes_them(
    world: tuple[OldDatabase, Path], tmp_path: Path
) -> None:
    (old, file), data = world, tmp_path / "data"
    copied(file, data)
    pinway("migrate", "cut-over", str(file), "--within", "20", data=data)
    with pytest.raises(Exception, match="read-only"):
        old.run("DELETE FROM old.likes", user="site")

    async def write() -> None:
        async with pinway_stores(data) as stores:
            await change(stores)
            await settled(stores)

    async def change(stores: Stores) -> None:
        [ann] = await new_ids(stores, "user", 1)
        [board] = await new_ids(stores, "board", 1)
        [pin] = await new_ids(stores, "pin", 1)
        await update_pin(stores, ann, pin, PinChange(title="Sencha 煎茶"))
        await create_pin(stores, ann, NewPin(board_id=board, title="Matcha"))

    asyncio.run(write())
    assert back(file, data, "--until-caught-up")["left"] == 0
    titles = {title for (title,) in old.rows("SELECT headline FROM old.bookmarks")}
    assert {"Sencha 煎茶", "Matcha"} <= titles
    back(file, data, "--end")
    old.run("DELETE FROM old.likes", user="site")
    assert followed(file, data)["behind"] < 1
    assert verified(file, data, "--repair")["differences"] == []
