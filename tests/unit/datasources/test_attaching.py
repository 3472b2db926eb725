"""Whether a server's binlog has events that its master's has not."""

import pytest

from datasources.mysql.replication.attaching import contains


@pytest.mark.parametrize(
    ("master", "own", "expected"),
    [
        ("1-1-54", "1-1-54", True),
        ("1-1-54,1-2-60", "1-1-54", True),
        ("1-1-54,1-2-60", "1-1-127", False),
        ("1-2-60", "1-1-54", False),
        ("1-1-54,2-3-9", "1-1-50,2-3-10", False),
        ("1-1-54", "", True),
    ],
)
def test_a_server_is_behind_only_if_its_master_has_all_its_events(
    master: str, own: str, expected: bool
) -> None:
    assert contains(master, own) is expected
