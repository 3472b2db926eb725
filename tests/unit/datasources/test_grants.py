"""The answers of servers to SHOW GRANTS, of which the tests run only some."""

import pytest

from datasources.sql.grants import Grants

MYSQL, MARIADB = "8.0.36", "10.11.19-MariaDB-0+deb12u1"


def grants(*statements: str, user: str = "reader@%", version: str = MYSQL) -> Grants:
    return Grants(statements, user, version)


def test_versions_are_read() -> None:
    assert (grants().version, grants().is_mariadb) == ((8, 0, 36), False)
    found = grants(version=MARIADB)
    assert (found.version, found.is_mariadb) == ((10, 11, 19), True)
    assert grants(version="5.7").version == (5, 7, 0)


def test_a_right_that_mysql_revoked_for_one_database_does_not_count_there() -> None:
    found = grants(
        "GRANT SELECT, RELOAD ON *.* TO `reader`@`%`", "REVOKE SELECT ON `old`.* FROM `reader`@`%`"
    )
    assert found.has("SELECT", "other", "t")
    assert not found.has("SELECT", "old", "t")
    assert found.has("RELOAD")


def test_a_right_on_a_database_is_none_on_the_server() -> None:
    found = grants("GRANT ALL PRIVILEGES ON `old`.* TO `reader`@`%` WITH GRANT OPTION")
    assert found.has("INSERT", "old", "t")
    assert not found.has("INSERT", "new", "t")
    assert not found.has("RELOAD")


def test_all_rights_on_the_server_are_each_right() -> None:
    found = grants("GRANT ALL PRIVILEGES ON *.* TO `root`@`%` IDENTIFIED BY PASSWORD '*1'")
    assert found.has("READ ONLY ADMIN")
    assert found.has("SELECT", "old", "t")


def test_an_escaped_pattern_means_one_database() -> None:
    found = grants(r"GRANT SELECT ON `old\_site`.* TO `reader`@`%`")
    assert found.has("SELECT", "old_site", "t")
    assert not found.has("SELECT", "oldxsite", "t")
    assert found.statement(["SELECT"], "old_site") == (
        r"GRANT SELECT ON `old\_site`.* TO 'reader'@'%'"
    )


def test_a_pattern_means_all_names_that_match_it() -> None:
    found = grants("GRANT SELECT ON `ol_%`.* TO `reader`@`%`")
    assert found.has("SELECT", "old", "t")
    assert found.has("SELECT", "old_site", "t")
    assert not found.has("SELECT", "ol", "t")


def test_a_right_on_a_table_is_none_on_others() -> None:
    found = grants("GRANT SELECT ON `o``d`.`t` TO `reader`@`%`")
    assert found.has("SELECT", "o`d", "t")
    assert not found.has("SELECT", "old", "t")
    assert not found.has("SELECT", "o`d", "u")


def test_mariadb_writes_a_right_with_an_underscore() -> None:
    found = grants("GRANT READ_ONLY ADMIN ON *.* TO `reader`@`%`", version=MARIADB)
    assert found.has("READ ONLY ADMIN")


def test_other_statements_are_left_out() -> None:
    found = grants(
        "GRANT `role`@`%` TO `reader`@`%`",
        "GRANT PROXY ON ''@'' TO 'root'@'localhost' WITH GRANT OPTION",
        "GRANT EXECUTE ON PROCEDURE `old`.`p` TO `reader`@`%`",
        "GRANT USAGE ON *.* TO `reader`@`%`",
    )
    assert not any(found.has(right, "old", "p") for right in ("EXECUTE", "SELECT", "PROXY"))


@pytest.mark.parametrize("columns", ["`a`, `b) ON`", "a, `b) ON`"])
def test_columns_add_up(columns: str) -> None:
    found = grants(
        f"GRANT SELECT ({columns}), INSERT ON `old`.`t` TO `reader`@`%`",
        "GRANT SELECT (`c`) ON `old`.`t` TO `reader`@`%`",
    )
    assert found.has("SELECT", "old", "t", {"a", "b) ON", "c"})
    assert not found.has("SELECT", "old", "t", {"a", "d"})
    assert not found.has("SELECT", "old", "t")
    assert found.has("INSERT", "old", "t")


def test_names_are_quoted_in_the_statement() -> None:
    found = grants(user="o'neil@home@10.%")
    assert found.statement(["INSERT", "DELETE"], "o`d", "t.a") == (
        "GRANT INSERT, DELETE ON `o``d`.`t.a` TO 'o''neil@home'@'10.%'"
    )
