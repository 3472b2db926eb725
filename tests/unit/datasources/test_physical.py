"""The positions and the files of a server's backup."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from datasources.errors import ConfigError, Damaged
from datasources.mysql.replication import physical


def test_a_position_has_the_last_transaction_of_each_domain() -> None:
    assert physical.later("1-1-5,2-3-9", "") == "1-1-5,2-3-9"
    assert physical.later("1-1-5,2-3-9", "1-2-7") == "1-2-7,2-3-9"
    assert physical.later("1-1-5", "1-1-4,3-1-1") == "1-1-5,3-1-1"
    assert physical.later("", "") == ""


def test_binary_logs_are_counted_on() -> None:
    assert physical._after("binlog.000009") == "binlog.000010"
    assert physical._after("my.logs.999999") == "my.logs.1000000"


def test_a_moment_is_told_in_utc() -> None:
    moment = datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))
    assert physical._stop(moment) == ["--stop-datetime=2026-01-31 10:00:00"]
    assert physical._stop(datetime(2026, 1, 31, 12, tzinfo=UTC))[0].endswith(" 12:00:00")
    assert physical._stop(None) == []


def test_a_folder_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no backup"):
        physical.read(tmp_path)
    (tmp_path / "backup.json").write_text("{}")
    with pytest.raises(Damaged, match="can't be read"):
        physical.read(tmp_path)
