"""A private MariaDB server whose shards are dumped, so that tests may delete its binary logs."""

from collections.abc import Iterator

import pytest

from tests.private_mariadb import mariadb


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a running server."""
    with mariadb(tmp_path_factory.mktemp("mariadb")) as port:
        yield port
