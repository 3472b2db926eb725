"""`pinway migrate check` names each right that the source's user does not have, with the statement
that gives it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main
from tests.migration.old_world import PASSWORD, USER, OldDatabase
from tests.migration.processes import copied, followed

TABLES = ("members", "albums", "bookmarks", "likes", "remarks", "friends")
WHO = f"'{USER}'@'127.0.0.1'"


def check(file: Path) -> Result:
    command = ["migrate", "check", str(file), "--json"]
    return CliRunner(env={"PINWAY_SOURCE_PASSWORD": PASSWORD}).invoke(main, command)


def missing(file: Path) -> list[dict[str, Any]]:
    done = check(file)
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)["missing_rights"]
    return found


def rights(file: Path) -> set[tuple[str, str]]:
    """The missing rights and what they are on."""
    return {(right, one["on"]) for one in missing(file) for right in one["rights"]}


def test_the_statements_that_are_told_give_all_missing_rights(
    old: OldDatabase, tmp_path: Path
) -> None:
    file = old.mapping(tmp_path)
    old.run(f"REVOKE ALL, GRANT OPTION FROM {WHO}", f"GRANT SELECT ON old.* TO {WHO}")
    found = missing(file)
    assert rights(file) == {
        *((right, "") for right in ("REPLICATION SLAVE", "BINLOG MONITOR", "RELOAD")),
        ("READ ONLY ADMIN", ""),
        *((right, table) for right in ("INSERT", "UPDATE", "DELETE") for table in TABLES),
    }
    assert {"rights": ["RELOAD"], "on": "", "commands": ["cut-over"]}.items() <= found[3].items()
    for number, one in enumerate(found):
        assert one["grant"].endswith(f" TO {WHO}")
        old.run(one["grant"])
        assert missing(file) == found[number + 1 :]


def test_the_rights_that_follow_needs_are_enough_to_follow(
    old: OldDatabase, tmp_path: Path
) -> None:
    file, data = old.mapping(tmp_path), tmp_path / "data"
    old.run(f"REVOKE ALL, GRANT OPTION FROM {WHO}", f"GRANT SELECT ON old.* TO {WHO}")
    for one in missing(file):
        if "follow" in one["commands"]:
            old.run(one["grant"])
    copied(file, data)
    old.run("INSERT INTO old.members VALUES (1, 'ann', '', NULL, NULL)")
    assert followed(file, data)["rows"] == 1


def test_a_table_that_may_not_be_read_is_a_fault_with_the_statement(
    old: OldDatabase, tmp_path: Path
) -> None:
    file = old.mapping(tmp_path)
    old.run(f"REVOKE ALL, GRANT OPTION FROM {WHO}")
    done = check(file)
    assert done.exit_code == 1
    assert f"GRANT SELECT ON `old`.* TO {WHO};" in done.stderr
    some = [f"GRANT SELECT ON old.{table} TO {WHO}" for table in TABLES[:4]]
    old.run(*some, f"GRANT INSERT ON old.remarks TO {WHO}")
    done = check(file)
    assert done.exit_code == 1
    for table in TABLES[4:]:
        assert f"GRANT SELECT ON `old`.`{table}` TO {WHO};" in done.stderr
        assert f"`{TABLES[0]}`" not in done.stderr
        old.run(f"GRANT SELECT ON `old`.`{table}` TO {WHO}")
    assert check(file).exit_code == 0


def test_rights_on_columns_are_enough_to_read_the_columns(old: OldDatabase, tmp_path: Path) -> None:
    file = old.mapping(tmp_path)
    old.run(
        f"REVOKE ALL, GRANT OPTION FROM {WHO}",
        *(f"GRANT SELECT ON old.{table} TO {WHO}" for table in TABLES[1:]),
        f"GRANT SELECT (id, login, real_name, bio) ON old.members TO {WHO}",
    )
    done = check(file)
    assert done.exit_code == 1
    assert f"GRANT SELECT ON `old`.`members` TO {WHO};" in done.stderr
    old.run(f"GRANT SELECT (joined) ON old.members TO {WHO}")
    assert check(file).exit_code == 0


@pytest.mark.parametrize("database", ["*", "`ol_`", "`o%`", "old"])
def test_rights_on_all_databases_and_on_patterns_count(
    old: OldDatabase, tmp_path: Path, database: str
) -> None:
    file = old.mapping(tmp_path)
    assert ("UPDATE", "albums") in rights(file)
    old.run(f"GRANT INSERT, UPDATE, DELETE ON {database}.* TO {WHO}")
    assert rights(file) == {("RELOAD", ""), ("READ ONLY ADMIN", "")}


def test_rights_of_the_default_role_count(old: OldDatabase, tmp_path: Path) -> None:
    file = old.mapping(tmp_path)
    old.run(
        "CREATE OR REPLACE ROLE cutting",
        "GRANT RELOAD, READ ONLY ADMIN ON *.* TO cutting",
        f"GRANT cutting TO {WHO}",
    )
    assert ("RELOAD", "") in rights(file)
    old.run(f"SET DEFAULT ROLE cutting FOR {WHO}")
    assert not {("RELOAD", ""), ("READ ONLY ADMIN", "")} & rights(file)
    old.run("DROP ROLE cutting")


def test_people_get_a_line_for_each_with_its_commands(old: OldDatabase, tmp_path: Path) -> None:
    command = ["migrate", "check", str(old.mapping(tmp_path))]
    done = CliRunner(env={"PINWAY_SOURCE_PASSWORD": PASSWORD}).invoke(main, command)
    lines = done.stdout.splitlines()
    assert (
        f"cut-over and back need READ ONLY ADMIN: GRANT READ ONLY ADMIN ON *.* TO {WHO};" in lines
    )
    assert (
        "back needs INSERT and UPDATE and DELETE on likes: "
        f"GRANT INSERT, UPDATE, DELETE ON `old`.`likes` TO {WHO};" in lines
    )
