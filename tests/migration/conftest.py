"""An unsharded database with a schema of its own, on a private MariaDB server."""

from collections.abc import Iterator

import pytest

from tests.migration.old_server import old_server
from tests.migration.old_world import PASSWORD, SCHEMA, USER, OldDatabase


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a running server."""
    with old_server(tmp_path_factory.mktemp("source")) as port:
        yield port


@pytest.fixture
def old(server: int) -> OldDatabase:
    """The old database, empty."""
    found = OldDatabase(server)
    found.run("DROP DATABASE IF EXISTS old", "CREATE DATABASE old CHARACTER SET utf8mb4")
    found.run(
        f"CREATE OR REPLACE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
        f"GRANT SELECT ON old.* TO '{USER}'@'127.0.0.1'",
        f"GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO '{USER}'@'127.0.0.1'",
        "USE old",
        *SCHEMA,
    )
    return found
