"""The rights that a migration needs on the servers that the tests don't run."""

import pytest

from datasources.sql.grants import Grants
from gateway.operate.migration.rights import missing_rights

FOLLOW = {"REPLICATION SLAVE", "RELOAD"}


def missing(version: str, *rights: str) -> set[str]:
    given = [f"GRANT {', '.join(rights)} ON *.* TO `reader`@`%`"] if rights else []
    found = missing_rights(Grants(given, "reader@%", version), "old", [])
    return {right for one in found for right in one.rights}


@pytest.mark.parametrize(
    ("version", "needed"),
    [
        ("5.7.19-log", {"REPLICATION CLIENT", "SUPER"}),
        (
            "8.0.15",
            {
                *("REPLICATION CLIENT", "SYSTEM_VARIABLES_ADMIN", "CONNECTION_ADMIN"),
                "XA_RECOVER_ADMIN",
            },
        ),
        ("10.3.39-MariaDB", {"REPLICATION CLIENT", "SUPER"}),
        ("10.6.16-MariaDB", {"BINLOG MONITOR", "READ ONLY ADMIN"}),
        ("11.4.2-MariaDB", {"BINLOG MONITOR", "READ ONLY ADMIN"}),
    ],
)
def test_each_server_has_names_of_its_own_for_the_rights(version: str, needed: set[str]) -> None:
    assert missing(version) == FOLLOW | needed
    assert missing(version, *FOLLOW, *needed) == set()


@pytest.mark.parametrize(
    ("version", "left"),
    [
        ("8.0.15", {"REPLICATION CLIENT", "XA_RECOVER_ADMIN"}),
        ("10.6.16-MariaDB", {"BINLOG MONITOR"}),
        ("10.11.19-MariaDB", {"BINLOG MONITOR", "READ ONLY ADMIN"}),
    ],
)
def test_super_includes_what_the_server_lets_it_include(version: str, left: set[str]) -> None:
    assert missing(version, *FOLLOW, "SUPER") == left
